/* Operators, kernels and launches of a trace or of a kernel table: part of a table in some order.
 */
#include "ingest/model/tables.h"

#include "ingest/store/db/rows_reader.h"
#include "ingest/store/db/text_cache.h"
#include "ingest/store/results/page.h"

#include <string.h>

/* The share of an operator is that of the time that the trace's operators are judged by. */
static bool name_share(struct store_snapshot *snapshot,
                       int64_t trace_id,
                       struct store_page *page,
                       struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (page->sort == NULL || strcmp(page->sort, "share") != 0) {
        return true;
    }
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    db_prepare(&st, db, "SELECT operators_have_device FROM trace WHERE id = ?");
    db_put_int(&st, trace_id);
    page->sort = db_next(&st) && db_get_bool(&st) ? "device_self_ns" : "host_self_ns";
    return db_done(&st, err);
}

bool store_operators(struct store_snapshot *snapshot,
                     struct arena *arena,
                     int64_t trace_id,
                     enum operator_group group,
                     const char *name,
                     const char *shape,
                     const struct store_page *page,
                     struct operator_row **rows,
                     size_t *count,
                     int64_t *total,
                     struct err *err)
{
    struct page_query query = {.table = &table_operator,
                               .trace_id = trace_id,
                               .group = (int)group,
                               .name = name,
                               .shape = shape};
    struct store_page sorted = *page;
    void *memory = NULL;
    bool ok = name_share(snapshot, trace_id, &sorted, err) &&
              page_read(snapshot, arena, &query, &sorted, &memory, count, total, NULL, NULL, err);
    *rows = memory;
    return ok;
}

bool store_kernels(struct store_snapshot *snapshot,
                   struct arena *arena,
                   int64_t trace_id,
                   const struct store_page *page,
                   struct kernel_row **rows,
                   size_t *count,
                   int64_t *total,
                   struct err *err)
{
    struct page_query query = {.table = &table_kernel, .trace_id = trace_id};
    void *memory = NULL;
    bool ok = page_read(snapshot, arena, &query, page, &memory, count, total, NULL, NULL, err);
    *rows = memory;
    return ok;
}

bool store_kernel_launches(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           const struct store_page *page,
                           struct kernel_launch_row **rows,
                           size_t *count,
                           int64_t *total,
                           struct err *err)
{
    struct page_query query = {.table = &table_kernel_launch, .trace_id = trace_id};
    void *memory = NULL;
    bool ok = page_read(snapshot, arena, &query, page, &memory, count, total, NULL, NULL, err);
    *rows = memory;
    return ok;
}

/* ---- kernel tables ---- */

bool store_kernel_utilisation(struct store_snapshot *snapshot,
                              struct arena *arena,
                              int64_t trace_id,
                              const struct store_page *page,
                              struct kernel_utilisation_row **rows,
                              size_t *count,
                              int64_t *total,
                              struct err *err)
{
    struct page_query query = {.table = &table_kernel_utilisation, .trace_id = trace_id};
    void *memory = NULL;
    bool ok = page_read(snapshot, arena, &query, page, &memory, count, total, NULL, NULL, err);
    *rows = memory;
    return ok;
}

/* ---- other metrics of launches ---- */

struct values {
    void *rows;
    size_t count;
};

/* `index`: of the launch in the page. */
static bool read_values_of(struct text_cache *texts,
                           const struct kernel_utilisation_launch_row *launch,
                           int64_t index,
                           struct values *values,
                           struct err *err)
{
    struct db_stmt st;
    size_t first = values->count;
    db_prepare(&st, texts->db, table_kernel_utilisation_value.select_sql);
    db_put_int(&st, texts->owner_id);
    db_put_int(&st, launch->position);
    rows_append(&st, texts, &table_kernel_utilisation_value, &values->rows, &values->count);
    for (size_t i = first; i < values->count; i++) {
        ((struct kernel_utilisation_value_row *)values->rows)[i].launch = index;
    }
    return db_done(&st, err);
}

static bool read_values(struct db *db,
                        struct arena *arena,
                        const void *rows,
                        size_t count,
                        void *context,
                        struct err *err)
{
    const struct kernel_utilisation_launch_row *launches = rows;
    struct text_cache texts;
    bool ok = true;
    text_cache_init(&texts, db, arena, RESULTS_LOG_ID);
    for (size_t i = 0; ok && i < count; i++) {
        ok = read_values_of(&texts, &launches[i], (int64_t)i, context, err);
    }
    text_cache_free(&texts);
    return ok;
}

bool store_kernel_utilisation_launches(struct store_snapshot *snapshot,
                                       struct arena *arena,
                                       int64_t trace_id,
                                       const char *name,
                                       const struct store_page *page,
                                       struct kernel_utilisation_launch_row **rows,
                                       size_t *count,
                                       int64_t *total,
                                       struct kernel_utilisation_value_row **values,
                                       size_t *value_count,
                                       struct err *err)
{
    struct page_query query = {
        .table = &table_kernel_utilisation_launch, .trace_id = trace_id, .name = name};
    struct values of_page = {0};
    void *memory = NULL;
    bool ok = page_read(snapshot, arena, &query, page, &memory, count, total,
                        values == NULL ? NULL : read_values, &of_page, err);
    *rows = memory;
    if (values != NULL) {
        *values = of_page.rows;
        *value_count = of_page.count;
    }
    return ok;
}
