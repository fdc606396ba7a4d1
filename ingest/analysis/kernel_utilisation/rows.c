/* Rows by cleaned name and by launch, and the totals over them. */
#include "ingest/analysis/kernel_utilisation/rows.h"

#include "ingest/analysis/classify/tensor_core.h"
#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/analysis/kernel_utilisation/kernel_utilisation.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/num.h"

#define LOW_USE (1.0 / 3.0)

enum use_class kernel_utilisation_classify(double tensor, double dram, double sm)
{
    /* fmax leaves a NaN out when the other is a number. */
    double compute = fmax(tensor, sm);
    if (isnan(compute) || isnan(dram)) {
        return USE_UNKNOWN;
    }
    if (compute < LOW_USE) {
        return dram < LOW_USE ? USE_BOTH_LOW : USE_LOW_COMPUTE;
    }
    return dram < LOW_USE ? USE_LOW_DRAM : USE_NEITHER_LOW;
}

/* total x (1 - the larger of the measured uses), never below 0; NaN when none was measured. */
static double headroom_of(int64_t total_ns, double tensor, double dram, double sm)
{
    double larger = fmax(fmax(tensor, sm), dram);
    return isnan(larger) ? (double)NAN : (double)total_ns * fmax(0.0, 1.0 - larger);
}

struct uses {
    struct weighted_mean tensor;
    struct weighted_mean dram;
    struct weighted_mean sm;
};

static void add_uses(struct uses *uses, const struct kernel_table_launch *launch)
{
    weighted_mean_add(&uses->tensor, launch->tensor, launch->dur_ns);
    weighted_mean_add(&uses->dram, launch->dram, launch->dur_ns);
    weighted_mean_add(&uses->sm, launch->sm, launch->dur_ns);
}

static struct kernel_utilisation_row row_of(const struct kernel_group *group,
                                            const struct uses *uses)
{
    size_t count = (size_t)group->launches;
    struct kernel_utilisation_row row = {
        .launches = group->launches,
        .total_ns = group->total_ns,
        .mean_ns = (double)group->total_ns / (double)group->launches,
        .min_ns = group->durations_ns[0],
        .max_ns = group->durations_ns[count - 1],
        .p50_ns = num_percentile_sorted(group->durations_ns, count, 0.50),
        .p95_ns = num_percentile_sorted(group->durations_ns, count, 0.95),
        .p99_ns = num_percentile_sorted(group->durations_ns, count, 0.99),
        .tensor = weighted_mean_of(&uses->tensor),
        .dram = weighted_mean_of(&uses->dram),
        .sm = weighted_mean_of(&uses->sm),
    };
    row.headroom_ns = headroom_of(row.total_ns, row.tensor, row.dram, row.sm);
    row.use = kernel_utilisation_classify(row.tensor, row.dram, row.sm);
    return row;
}

/* Sums over rows and launches; the headroom is that of the rows that have one. */
static void fill_totals(struct kernel_utilisation *use, const struct uses *uses)
{
    struct trace_results *results = use->results;
    struct kernel_utilisation_totals *totals = &results->kernel_utilisation_totals;
    *totals =
        (struct kernel_utilisation_totals){.kernels = (int64_t)results->kernel_utilisation_count,
                                           .tensor = weighted_mean_of(&uses->tensor),
                                           .dram = weighted_mean_of(&uses->dram),
                                           .sm = weighted_mean_of(&uses->sm),
                                           .headroom_ns = (double)NAN};
    for (size_t i = 0; i < results->kernel_utilisation_count; i++) {
        const struct kernel_utilisation_row *row = &results->kernel_utilisation[i];
        totals->launches += row->launches;
        totals->total_ns = saturating_add(totals->total_ns, row->total_ns);
        if (!isnan(row->headroom_ns)) {
            totals->headroom_ns =
                row->headroom_ns + (isnan(totals->headroom_ns) ? 0 : totals->headroom_ns);
        }
    }
    for (uint32_t i = 0; i < use->table->launch_count; i++) {
        const struct kernel_table_launch *launch = &use->table->launches[i];
        if (launch->kind == KERNEL_TABLE_KERNEL) {
            enum use_class class =
                kernel_utilisation_classify(launch->tensor, launch->dram, launch->sm);
            totals->class_ns[class] = saturating_add(totals->class_ns[class], launch->dur_ns);
            totals->class_launches[class]++;
        }
    }
}

bool kernel_utilisation_fill_rows(struct kernel_utilisation *use)
{
    struct trace_results *results = use->results;
    const struct kernel_table *table = use->table;
    uint32_t count = use->groups.count;
    struct uses all = {.tensor = {0}};
    struct uses *uses = scratch_calloc(count, sizeof *uses);
    results->kernel_utilisation =
        arena_calloc(&results->arena, count, sizeof *results->kernel_utilisation);
    bool ok = uses != NULL && results->kernel_utilisation != NULL;
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        uint32_t group = use->groups.of_launch[i];
        if (group != KERNEL_GROUP_NONE) {
            add_uses(&uses[group], &table->launches[i]);
            add_uses(&all, &table->launches[i]);
        }
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t g = use->groups.order[i];
        uint32_t name = table->launches[use->groups.groups[g].first_launch].name;
        struct kernel_utilisation_row *row = &results->kernel_utilisation[i];
        *row = row_of(&use->groups.groups[g], &uses[g]);
        row->name = kernel_utilisation_clean_copy(use, name);
        row->full_name = kernel_utilisation_copy(use, name);
        ok = row->name != NULL && row->full_name != NULL;
    }
    scratch_free(uses);
    if (ok) {
        results->kernel_utilisation_count = count;
        fill_totals(use, &all);
    }
    return ok;
}

/* ---- by launch ---- */

static const char *copy_if_any(struct kernel_utilisation *use, uint32_t text, bool *ok)
{
    if (text == STRTAB_NONE) {
        return NULL;
    }
    const char *copy = kernel_utilisation_copy(use, text);
    *ok = *ok && copy != NULL;
    return copy;
}

static bool launch_row(struct kernel_utilisation *use,
                       const struct kernel_table_launch *from,
                       struct kernel_utilisation_launch_row *to)
{
    bool ok = true;
    bool has_start = from->start_ns != INT64_MIN;
    *to = (struct kernel_utilisation_launch_row){
        .name = kernel_utilisation_clean_copy(use, from->name),
        .full_name = kernel_utilisation_copy(use, from->name),
        .grid = copy_if_any(use, from->grid, &ok),
        .block = copy_if_any(use, from->block, &ok),
        .start_ns = has_start ? saturating_sub(from->start_ns, use->results->start_ns) : INT64_MIN,
        .dur_ns = from->dur_ns,
        .device = from->device,
        .stream = from->stream,
        .tensor = from->tensor,
        .dram = from->dram,
        .sm = from->sm,
        .use = kernel_utilisation_classify(from->tensor, from->dram, from->sm),
    };
    return ok && to->name != NULL && to->full_name != NULL;
}

bool kernel_utilisation_fill_launches(struct kernel_utilisation *use)
{
    struct trace_results *results = use->results;
    const struct kernel_table *table = use->table;
    struct kernel_utilisation_launch_row *rows =
        arena_calloc(&results->arena, table->launch_count, sizeof *rows);
    bool ok = rows != NULL;
    size_t count = 0;
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        if (table->launches[i].kind == KERNEL_TABLE_KERNEL) {
            ok = launch_row(use, &table->launches[i], &rows[count++]);
        }
    }
    results->kernel_utilisation_launches = rows;
    results->kernel_utilisation_launch_count = ok ? count : 0;
    return ok;
}

/* ---- the rows of the kernel view ---- */

static bool
read_kernel_row(const struct kernel_group *group, const char *name, struct kernel_row *out)
{
    size_t count = (size_t)group->launches;
    bool is_listed = tensor_core_listed_kernel(name);
    struct kernel_class class;
    if (!kernel_class_of(NULL, name, &class)) {
        return false;
    }
    *out = (struct kernel_row){
        .name = name,
        .calls = group->launches,
        .total_ns = group->total_ns,
        .min_ns = group->durations_ns[0],
        .max_ns = group->durations_ns[count - 1],
        .p50_ns = llround(num_percentile_sorted(group->durations_ns, count, 0.50)),
        .p95_ns = llround(num_percentile_sorted(group->durations_ns, count, 0.95)),
        .p99_ns = llround(num_percentile_sorted(group->durations_ns, count, 0.99)),
        .tensor_used = is_listed || class.matrix_unit == MATRIX_UNIT_USED,
    };
    return true;
}

static void fill_pie(struct trace_results *results)
{
    double total_ns = 0;
    double tensor_ns = 0;
    for (size_t i = 0; i < results->kernel_count; i++) {
        const struct kernel_row *row = &results->kernels[i];
        total_ns += (double)row->total_ns;
        tensor_ns += row->tensor_used ? (double)row->total_ns : 0;
    }
    results->tensor_pie_used = total_ns > 0 ? tensor_ns / total_ns : 0;
}

bool kernel_utilisation_fill_kernels(struct kernel_utilisation *use)
{
    struct trace_results *results = use->results;
    const struct kernel_table *table = use->table;
    struct kernel_groups groups;
    bool ok = kernel_groups_make(&groups, table, NULL, strtab_count(table->strings));
    if (ok) {
        results->kernels = arena_calloc(&results->arena, groups.count, sizeof *results->kernels);
        ok = results->kernels != NULL;
    }
    for (uint32_t i = 0; ok && i < groups.count; i++) {
        const struct kernel_group *group = &groups.groups[groups.order[i]];
        const char *name = kernel_utilisation_copy(use, table->launches[group->first_launch].name);
        ok = name != NULL;
        ok = ok && read_kernel_row(group, name, &results->kernels[results->kernel_count]);
        results->kernel_count += ok;
    }
    if (ok) {
        fill_pie(results);
    }
    kernel_groups_free(&groups);
    return ok;
}
