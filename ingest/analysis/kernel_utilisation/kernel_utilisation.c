#include "ingest/analysis/kernel_utilisation/kernel_utilisation.h"

#include "ingest/analysis/kernel_utilisation/rows.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <string.h>

/* ---- names ---- */

const char *kernel_utilisation_copy(struct kernel_utilisation *use, uint32_t name)
{
    if (use->copies[name] == NULL) {
        const struct strtab *strings = use->table->strings;
        use->copies[name] = arena_strndup(&use->results->arena, strtab_text(strings, name),
                                          strtab_len(strings, name));
    }
    return use->copies[name];
}

const char *kernel_utilisation_clean_copy(struct kernel_utilisation *use, uint32_t name)
{
    uint32_t clean = use->clean_of_name[name];
    if (use->clean_copies[clean] == NULL) {
        use->clean_copies[clean] =
            arena_strndup(&use->results->arena, strtab_text(use->clean_names, clean),
                          strtab_len(use->clean_names, clean));
    }
    return use->clean_copies[clean];
}

static bool clean_name(struct kernel_utilisation *use, struct arena *scratch, uint32_t name)
{
    if (use->clean_of_name[name] != STRTAB_NONE) {
        return true;
    }
    const struct strtab *strings = use->table->strings;
    const char *clean = kernel_utilisation_clean_name(scratch, strtab_text(strings, name),
                                                      strtab_len(strings, name));
    if (clean != NULL) {
        use->clean_of_name[name] = strtab_intern(use->clean_names, clean, strlen(clean));
    }
    arena_free(scratch);
    return use->clean_of_name[name] != STRTAB_NONE;
}

static bool clean_names(struct kernel_utilisation *use)
{
    const struct kernel_table *table = use->table;
    uint32_t name_count = strtab_count(table->strings);
    struct arena scratch;
    arena_init(&scratch, 0);
    use->clean_names = strtab_create();
    use->clean_of_name = scratch_none(name_count);
    use->copies = scratch_calloc(name_count, sizeof *use->copies);
    bool ok = use->clean_names != NULL && use->clean_of_name != NULL && use->copies != NULL;
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        ok = table->launches[i].kind != KERNEL_TABLE_KERNEL ||
             clean_name(use, &scratch, table->launches[i].name);
    }
    for (uint32_t i = 0; ok && i < table->summary_count; i++) {
        ok = clean_name(use, &scratch, table->summaries[i].name);
    }
    if (ok) {
        use->clean_copies =
            scratch_calloc(strtab_count(use->clean_names), sizeof *use->clean_copies);
    }
    return ok && use->clean_copies != NULL;
}

/* ---- what a table shows and lacks ---- */

/* The range that the launches span; the sum of their times where the file has no positions. */
static void fill_times(struct trace_results *results, const struct kernel_table *table)
{
    int64_t start_ns = INT64_MAX;
    int64_t end_ns = INT64_MIN;
    int64_t sum_ns = 0;
    for (uint32_t i = 0; i < table->launch_count; i++) {
        const struct kernel_table_launch *launch = &table->launches[i];
        sum_ns = saturating_add(sum_ns, launch->dur_ns);
        if (launch->start_ns != INT64_MIN) {
            start_ns = i64_min(start_ns, launch->start_ns);
            end_ns = i64_max(end_ns, saturating_add(launch->start_ns, launch->dur_ns));
        }
    }
    for (uint32_t i = 0; i < table->summary_count && table->launch_count == 0; i++) {
        sum_ns = saturating_add(sum_ns, table->summaries[i].total_ns);
    }
    bool has_times = start_ns <= end_ns;
    results->start_ns = has_times ? start_ns : 0;
    results->first_event_ns = results->start_ns;
    results->duration_ns = has_times ? saturating_sub(end_ns, start_ns) : sum_ns;
}

static bool fill_missing(struct trace_results *results)
{
    static const struct missing_row no_use = {
        "utilisation", "The table has times only: no utilisation was measured.",
        "ncu --csv --metrics gpu__time_duration.sum,"
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,"
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed,"
        "sm__throughput.avg.pct_of_peak_sustained_elapsed"};
    static const struct missing_row no_launches = {
        "kernels", "The table sums launches up: no sequence, no percentiles.",
        "nsys stats --report cuda_gpu_trace --format csv"};
    const struct kernel_utilisation_totals *totals = &results->kernel_utilisation_totals;
    results->missing = arena_calloc(&results->arena, 2, sizeof *results->missing);
    if (results->missing == NULL) {
        return false;
    }
    if (isnan(totals->tensor) && isnan(totals->dram) && isnan(totals->sm)) {
        results->missing[results->missing_count++] = no_use;
    }
    if (results->kernel_utilisation_launch_count == 0 && results->kernel_utilisation_count > 0) {
        results->missing[results->missing_count++] = no_launches;
    }
    return true;
}

static bool copy_bad_rows(struct trace_results *results, const struct kernel_table *table)
{
    results->bad_rows =
        arena_calloc(&results->arena, table->bad_row_count, sizeof *results->bad_rows);
    for (size_t i = 0; results->bad_rows != NULL && i < table->bad_row_count; i++) {
        results->bad_rows[i] = arena_strdup(&results->arena, table->bad_rows[i]);
        if (results->bad_rows[i] == NULL) {
            return false;
        }
        results->bad_row_count++;
    }
    return results->bad_rows != NULL;
}

static void fill_head(struct trace_results *results, const struct kernel_table *table)
{
    bool has_launches = table->launch_count > 0;
    results->has_kernel_use = true;
    results->device_type = "GPU";
    results->event_count = has_launches ? table->launch_count : table->summary_count;
    results->has_kernel = results->kernel_utilisation_count > 0;
    results->has_memcpy_or_memset = results->transfer_count > 0;
    results->views = 1u << VIEW_UTILISATION;
    results->views |= results->kernel_count > 0 ? 1u << VIEW_KERNEL : 0;
    results->warnings = table->warnings;
}

/* ---- the whole ---- */

static bool make_groups(struct kernel_utilisation *use)
{
    struct kernel_groups groups;
    bool ok =
        kernel_groups_make(&groups, use->table, use->clean_of_name, strtab_count(use->clean_names));
    use->groups = groups;
    return ok;
}

static bool fill(struct kernel_utilisation *use)
{
    struct trace_results *results = use->results;
    const struct kernel_table *table = use->table;
    bool is_summary = table->launch_count == 0 && table->summary_count > 0;
    fill_times(results, table);
    if (!clean_names(use) || !make_groups(use)) {
        return false;
    }
    bool ok =
        is_summary ? kernel_utilisation_fill_summaries(use) : kernel_utilisation_fill_rows(use);
    ok = ok && kernel_utilisation_fill_launches(use) && kernel_utilisation_fill_kernels(use) &&
         kernel_utilisation_fill_metrics(use) && kernel_utilisation_fill_transfers(use) &&
         fill_missing(results) && copy_bad_rows(results, table);
    fill_head(results, table);
    return ok;
}

bool kernel_utilisation_run(const struct kernel_table *table,
                            struct trace_results **out,
                            struct err *err)
{
    struct kernel_utilisation use = {.table = table, .results = results_create()};
    bool ok = use.results != NULL && fill(&use);
    kernel_groups_free(&use.groups);
    strtab_destroy(use.clean_names);
    SCRATCH_FREE(use.clean_of_name, (void *)use.copies, (void *)use.clean_copies);
    if (!ok) {
        results_destroy(use.results);
        use.results = NULL;
        (void)err_set(err, ERR_NO_MEMORY, "no memory for the figures of a kernel table");
    }
    *out = use.results;
    return ok;
}
