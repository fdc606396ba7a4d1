/* What a table has beside times and utilisation: other metrics, copies and sets of memory. */
#include "ingest/analysis/kernel_utilisation/rows.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <stdlib.h>

/* ---- metrics ---- */

struct metric_sum {
    struct weighted_mean mean;
    double min;
    double max;
};

struct metric_sums {
    struct key_map keys; /* rank of the kernel, metric, unit */
    struct metric_sum *sums;
    size_t capacity;
};

static bool add_metric(struct kernel_utilisation *use,
                       struct metric_sums *sums,
                       const struct kernel_table_metric *metric,
                       uint32_t group)
{
    uint32_t rank = use->groups.groups[group].rank;
    uint32_t count = sums->keys.count;
    uint32_t number = key_map_add(&sums->keys, (struct key){{rank, metric->name, metric->unit, 0}});
    if (number == KEY_MAP_NONE) {
        return false;
    }
    if (number == count) {
        struct metric_sum *grown =
            scratch_grow(sums->sums, count, &sums->capacity, sizeof *sums->sums);
        if (grown == NULL) {
            return false;
        }
        sums->sums = grown;
        sums->sums[number] = (struct metric_sum){.min = (double)INFINITY, .max = -(double)INFINITY};
    }
    struct metric_sum *sum = &sums->sums[number];
    weighted_mean_add(&sum->mean, metric->value, use->table->launches[metric->launch].dur_ns);
    sum->min = fmin(sum->min, metric->value);
    sum->max = fmax(sum->max, metric->value);
    return true;
}

static int by_kernel(uint32_t a, uint32_t b, const void *ctx)
{
    const struct key_map *keys = ctx;
    return (keys->keys[a].id[0] > keys->keys[b].id[0]) -
           (keys->keys[a].id[0] < keys->keys[b].id[0]);
}

static bool write_metric_rows(struct kernel_utilisation *use, const struct metric_sums *sums)
{
    struct trace_results *results = use->results;
    uint32_t count = sums->keys.count;
    struct kernel_utilisation_metric_row *rows = arena_calloc(&results->arena, count, sizeof *rows);
    uint32_t *order = scratch_alloc(count, sizeof *order);
    bool ok = rows != NULL && order != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, count, by_kernel, &sums->keys);
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct key *key = &sums->keys.keys[order[i]];
        const struct metric_sum *sum = &sums->sums[order[i]];
        rows[i] = (struct kernel_utilisation_metric_row){
            .kernel = key->id[0],
            .metric = kernel_utilisation_copy(use, key->id[1]),
            .unit = kernel_utilisation_copy(use, key->id[2]),
            .launches = sum->mean.count,
            .mean = weighted_mean_of(&sum->mean),
            .min = sum->min,
            .max = sum->max};
        ok = rows[i].metric != NULL && rows[i].unit != NULL;
    }
    scratch_free(order);
    results->kernel_utilisation_metrics = rows;
    results->kernel_utilisation_metric_count = ok ? count : 0;
    return ok;
}

/* Values go by the place of their launch among the kernels. */
static bool write_values(struct kernel_utilisation *use, uint32_t count)
{
    struct trace_results *results = use->results;
    const struct kernel_table *table = use->table;
    struct kernel_utilisation_value_row *rows = arena_calloc(&results->arena, count, sizeof *rows);
    bool ok = rows != NULL;
    uint32_t launch = 0;
    int64_t kernel = 0;
    size_t written = 0;
    for (uint32_t i = 0; ok && i < table->metric_count; i++) {
        const struct kernel_table_metric *metric = &table->metrics[i];
        for (; launch < metric->launch; launch++) {
            kernel += use->groups.of_launch[launch] != KERNEL_GROUP_NONE;
        }
        if (use->groups.of_launch[launch] == KERNEL_GROUP_NONE || isnan(metric->value)) {
            continue;
        }
        rows[written] = (struct kernel_utilisation_value_row){
            .launch = kernel,
            .metric = kernel_utilisation_copy(use, metric->name),
            .unit = kernel_utilisation_copy(use, metric->unit),
            .value = metric->value};
        ok = rows[written].metric != NULL && rows[written].unit != NULL;
        written++;
    }
    results->kernel_utilisation_values = rows;
    results->kernel_utilisation_value_count = ok ? written : 0;
    return ok;
}

bool kernel_utilisation_fill_metrics(struct kernel_utilisation *use)
{
    const struct kernel_table *table = use->table;
    struct metric_sums sums = {.sums = NULL};
    uint32_t count = 0;
    bool ok = true;
    key_map_init(&sums.keys);
    for (uint32_t i = 0; ok && i < table->metric_count; i++) {
        uint32_t group = use->groups.of_launch[table->metrics[i].launch];
        if (group != KERNEL_GROUP_NONE && !isnan(table->metrics[i].value)) {
            ok = add_metric(use, &sums, &table->metrics[i], group);
            count++;
        }
    }
    ok = ok && write_metric_rows(use, &sums) && write_values(use, count);
    key_map_free(&sums.keys);
    scratch_free(sums.sums);
    return ok;
}

/* ---- transfers ---- */

static void add_transfer(struct transfer_row *row, const struct kernel_table_launch *launch)
{
    if (row->operations == 0) {
        row->min_ns = launch->dur_ns;
        row->max_ns = launch->dur_ns;
    }
    row->operations++;
    row->total_ns = saturating_add(row->total_ns, launch->dur_ns);
    row->min_ns = i64_min(row->min_ns, launch->dur_ns);
    row->max_ns = i64_max(row->max_ns, launch->dur_ns);
    bool is_known = row->size_bytes != INT64_MIN && launch->size_bytes != INT64_MIN;
    row->size_bytes = is_known ? saturating_add(row->size_bytes, launch->size_bytes) : INT64_MIN;
}

ORDER_BY(by_total, struct transfer_row, ORDER_DOWN(total_ns), ORDER_TEXT(name))

bool kernel_utilisation_fill_transfers(struct kernel_utilisation *use)
{
    struct trace_results *results = use->results;
    const struct kernel_table *table = use->table;
    uint32_t *row_of_name = scratch_none(strtab_count(table->strings));
    bool ok = row_of_name != NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        const struct kernel_table_launch *launch = &table->launches[i];
        if (launch->kind != KERNEL_TABLE_KERNEL && row_of_name[launch->name] == UINT32_MAX) {
            row_of_name[launch->name] = count++;
        }
    }
    struct transfer_row *rows = arena_calloc(&results->arena, count, sizeof *rows);
    ok = ok && rows != NULL;
    for (uint32_t i = 0; ok && i < table->launch_count; i++) {
        const struct kernel_table_launch *launch = &table->launches[i];
        if (launch->kind == KERNEL_TABLE_KERNEL) {
            continue;
        }
        struct transfer_row *row = &rows[row_of_name[launch->name]];
        row->name = kernel_utilisation_copy(use, launch->name);
        row->kind = launch->kind == KERNEL_TABLE_MEMCPY ? "memcpy" : "memset";
        add_transfer(row, launch);
        ok = row->name != NULL;
    }
    scratch_free(row_of_name);
    if (ok && count > 0) {
        qsort(rows, count, sizeof *rows, by_total);
    }
    results->transfers = rows;
    results->transfer_count = ok ? count : 0;
    return ok;
}
