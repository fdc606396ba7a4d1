#include "ingest/query/views/kernel_measured.h"

#include "ingest/analysis/kernel_utilisation/kernel_utilisation.h"
#include "ingest/base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char cut_mark[] = "...";
#define CUT_MARK_LEN (sizeof cut_mark - 1)

/* ---- figures ---- */

static void mean_add(struct measured_mean *mean, double value, double weight)
{
    if (!isnan(value)) {
        mean->sum += value * weight;
        mean->weight += weight;
    }
}

static double mean_value(const struct measured_mean *mean)
{
    return mean->weight > 0 ? mean->sum / mean->weight : (double)NAN;
}

static void mean_merge(struct measured_mean *into, const struct measured_mean *from)
{
    into->sum += from->sum;
    into->weight += from->weight;
}

static void use_add(
    struct measured_use *sum, double tensor, double dram, double sm, int64_t ns, int64_t launches)
{
    mean_add(&sum->tensor, tensor, (double)ns);
    mean_add(&sum->dram, dram, (double)ns);
    mean_add(&sum->sm, sm, (double)ns);
    sum->launches += launches;
}

static void use_merge(struct measured_use *into, const struct measured_use *from)
{
    mean_merge(&into->tensor, &from->tensor);
    mean_merge(&into->dram, &from->dram);
    mean_merge(&into->sm, &from->sm);
    into->launches += from->launches;
}

struct kernel_match_use
measured_figures(const struct measured_use *use, int64_t total_ns, bool by_launch)
{
    struct kernel_match_use out = {
        .tensor = mean_value(&use->tensor),
        .dram = mean_value(&use->dram),
        .sm = mean_value(&use->sm),
        .launches = use->launches,
        .by_launch = by_launch,
    };
    out.use = kernel_utilisation_classify(out.tensor, out.dram, out.sm);
    out.headroom_ns = (double)total_ns * (1 - fmax(fmax(out.tensor, out.dram), out.sm));
    return out;
}

/* ---- the tables ---- */

static size_t prefix_len_of(const char *name)
{
    size_t len = strlen(name);
    bool cut = len > CUT_MARK_LEN && strcmp(name + len - CUT_MARK_LEN, cut_mark) == 0;
    return cut ? len - CUT_MARK_LEN : 0;
}

ORDER_BY(compare_kernels, struct measured_kernel, ORDER_TEXT(name))

struct measured_kernel *measured_find(const struct measured *measured, const char *name)
{
    const struct measured_kernel key = {.name = name};
    return measured->kernel_count == 0 ? NULL
                                       : bsearch(&key, measured->kernels, measured->kernel_count,
                                                 sizeof key, compare_kernels);
}

/* One item a cleaned name, however many tables have it. */
static void merge_kernels(struct measured *measured)
{
    size_t kept = 0;
    qsort(measured->kernels, measured->kernel_count, sizeof *measured->kernels, compare_kernels);
    for (size_t i = 0; i < measured->kernel_count; i++) {
        const struct measured_kernel *next = &measured->kernels[i];
        if (kept > 0 && strcmp(measured->kernels[kept - 1].name, next->name) == 0) {
            measured->kernels[kept - 1].total_ns += next->total_ns;
            use_merge(&measured->kernels[kept - 1].use, &next->use);
        } else {
            measured->kernels[kept++] = *next;
        }
    }
    measured->kernel_count = kept;
}

/* What the store has of one table. */
struct table {
    struct kernel_utilisation_row *rows;
    size_t count;
    struct kernel_utilisation_launch_row *launches;
    size_t launch_count;
};

struct table_list {
    struct table *tables;
    size_t count;
    size_t rows, launches; /* of all */
};

static bool read_tables(struct table_list *list,
                        struct store_snapshot *snapshot,
                        struct arena *arena,
                        const int64_t *table_ids,
                        size_t table_count,
                        bool launches,
                        struct err *err)
{
    const struct store_page all = {.limit = 0};
    list->tables = arena_calloc(arena, table_count, sizeof *list->tables);
    if (list->tables == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the kernel tables of the run");
    }
    for (; list->count < table_count; list->count++) {
        struct table *table = &list->tables[list->count];
        int64_t id = table_ids[list->count];
        int64_t total = 0;
        if (!store_kernel_utilisation(snapshot, arena, id, &all, &table->rows, &table->count,
                                      &total, err) ||
            (launches &&
             !store_kernel_utilisation_launches(snapshot, arena, id, NULL, &all, &table->launches,
                                                &table->launch_count, &total, NULL, NULL, err))) {
            return false;
        }
        list->rows += table->count;
        list->launches += table->launch_count;
    }
    return true;
}

static void add_kernels(struct measured *measured, const struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct kernel_utilisation_row *row = &table->rows[i];
        struct measured_kernel *kernel = &measured->kernels[measured->kernel_count++];
        kernel->name = row->name;
        kernel->prefix_len = prefix_len_of(row->name);
        kernel->total_ns = (double)row->total_ns;
        use_add(&kernel->use, row->tensor, row->dram, row->sm, row->total_ns, row->launches);
    }
}

ORDER_BY(
    compare_launches, struct measured_launch, ORDER_UP(kernel), ORDER_TEXT(grid), ORDER_TEXT(block))

static void add_launches(struct measured *measured, const struct table *table)
{
    for (size_t i = 0; i < table->launch_count; i++) {
        const struct kernel_utilisation_launch_row *row = &table->launches[i];
        const struct measured_kernel *kernel = measured_find(measured, row->name);
        if (kernel == NULL || row->grid == NULL || row->block == NULL) {
            continue;
        }
        struct measured_launch *launch = &measured->launches[measured->launch_count++];
        launch->kernel = kernel;
        launch->grid = row->grid;
        launch->block = row->block;
        use_add(&launch->use, row->tensor, row->dram, row->sm, row->dur_ns, 1);
    }
}

static void merge_launches(struct measured *measured)
{
    size_t kept = 0;
    qsort(measured->launches, measured->launch_count, sizeof *measured->launches, compare_launches);
    for (size_t i = 0; i < measured->launch_count; i++) {
        const struct measured_launch *next = &measured->launches[i];
        if (kept > 0 && compare_launches(&measured->launches[kept - 1], next) == 0) {
            use_merge(&measured->launches[kept - 1].use, &next->use);
        } else {
            measured->launches[kept++] = *next;
        }
    }
    measured->launch_count = kept;
}

static bool index_tables(struct measured *measured,
                         struct arena *arena,
                         const struct table_list *list,
                         struct err *err)
{
    measured->kernels = arena_calloc(arena, list->rows + 1, sizeof *measured->kernels);
    measured->launches = arena_calloc(arena, list->launches + 1, sizeof *measured->launches);
    if (measured->kernels == NULL || measured->launches == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the kernels of the tables");
    }
    for (size_t i = 0; i < list->count; i++) {
        add_kernels(measured, &list->tables[i]);
    }
    merge_kernels(measured);
    for (size_t i = 0; i < list->count; i++) {
        add_launches(measured, &list->tables[i]);
    }
    merge_launches(measured);
    return true;
}

bool measured_read(struct measured *out,
                   struct store_snapshot *snapshot,
                   struct arena *arena,
                   const int64_t *table_ids,
                   size_t table_count,
                   bool launches,
                   struct err *err)
{
    struct table_list tables = {.count = 0};
    return read_tables(&tables, snapshot, arena, table_ids, table_count, launches, err) &&
           index_tables(out, arena, &tables, err);
}

const struct measured_launch *measured_find_launch(const struct measured *measured,
                                                   const struct measured_kernel *kernel,
                                                   const char *grid,
                                                   const char *block)
{
    const struct measured_launch key = {.kernel = kernel, .grid = grid, .block = block};
    return measured->launch_count == 0 ? NULL
                                       : bsearch(&key, measured->launches, measured->launch_count,
                                                 sizeof key, compare_launches);
}
