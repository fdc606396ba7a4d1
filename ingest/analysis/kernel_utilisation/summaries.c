/* Kernels of which a file has only the summary (cuda_gpu_kern_sum of Nsight Systems). */
#include "ingest/analysis/kernel_utilisation/rows.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <stdlib.h>

static void add_summary(struct kernel_utilisation_row *row,
                        const struct kernel_table_summary *summary)
{
    bool is_first = row->launches == 0;
    bool has_min = summary->min_ns != INT64_MIN && (is_first || row->min_ns != INT64_MIN);
    bool has_max = summary->max_ns != INT64_MIN && (is_first || row->max_ns != INT64_MIN);
    int64_t min_ns = is_first ? summary->min_ns : i64_min(row->min_ns, summary->min_ns);
    int64_t max_ns = is_first ? summary->max_ns : i64_max(row->max_ns, summary->max_ns);
    row->min_ns = has_min ? min_ns : INT64_MIN;
    row->max_ns = has_max ? max_ns : INT64_MIN;
    /* The median of several kernels together does not follow from theirs. */
    row->p50_ns = is_first ? summary->median_ns : (double)NAN;
    row->launches = saturating_add(row->launches, summary->launches);
    row->total_ns = saturating_add(row->total_ns, summary->total_ns);
    row->mean_ns = (double)row->total_ns / (double)row->launches;
}

ORDER_BY(by_total, struct kernel_utilisation_row, ORDER_DOWN(total_ns), ORDER_TEXT(full_name))

static bool
new_row(struct kernel_utilisation *use, struct kernel_utilisation_row *row, uint32_t name)
{
    double unknown = (double)NAN;
    *row = (struct kernel_utilisation_row){.name = kernel_utilisation_clean_copy(use, name),
                                           .full_name = kernel_utilisation_copy(use, name),
                                           .p95_ns = unknown,
                                           .p99_ns = unknown,
                                           .tensor = unknown,
                                           .dram = unknown,
                                           .sm = unknown,
                                           .headroom_ns = unknown,
                                           .use = USE_UNKNOWN};
    return row->name != NULL && row->full_name != NULL;
}

static void fill_totals(struct trace_results *results)
{
    double unknown = (double)NAN;
    struct kernel_utilisation_totals totals = {.kernels =
                                                   (int64_t)results->kernel_utilisation_count,
                                               .tensor = unknown,
                                               .dram = unknown,
                                               .sm = unknown,
                                               .headroom_ns = unknown};
    for (size_t i = 0; i < results->kernel_utilisation_count; i++) {
        totals.launches = saturating_add(totals.launches, results->kernel_utilisation[i].launches);
        totals.total_ns = saturating_add(totals.total_ns, results->kernel_utilisation[i].total_ns);
    }
    totals.class_ns[USE_UNKNOWN] = totals.total_ns;
    totals.class_launches[USE_UNKNOWN] = totals.launches;
    results->kernel_utilisation_totals = totals;
}

bool kernel_utilisation_fill_summaries(struct kernel_utilisation *use)
{
    struct trace_results *results = use->results;
    const struct kernel_table *table = use->table;
    uint32_t *row_of_name = scratch_none(strtab_count(use->clean_names));
    struct kernel_utilisation_row *rows =
        arena_calloc(&results->arena, table->summary_count, sizeof *rows);
    bool ok = row_of_name != NULL && rows != NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; ok && i < table->summary_count; i++) {
        const struct kernel_table_summary *summary = &table->summaries[i];
        uint32_t clean = use->clean_of_name[summary->name];
        if (row_of_name[clean] == UINT32_MAX) {
            row_of_name[clean] = count;
            ok = new_row(use, &rows[count++], summary->name);
        }
        add_summary(&rows[row_of_name[clean]], summary);
    }
    scratch_free(row_of_name);
    if (ok && count > 0) {
        qsort(rows, count, sizeof *rows, by_total);
    }
    results->kernel_utilisation = rows;
    results->kernel_utilisation_count = ok ? count : 0;
    fill_totals(results);
    return ok;
}
