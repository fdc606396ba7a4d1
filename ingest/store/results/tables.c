/* Operators, kernels and launches of a trace or of a kernel table: part of a table in some order.
 */
#include "ingest/model/tables.h"

#include "ingest/store/db/fields.h"
#include "ingest/store/db/text_cache.h"
#include "ingest/store/results/page.h"

#include <string.h>

/* The share of an operator is that of the time that the trace's operators are judged by. */
static bool
name_share(struct store *store, int64_t trace_id, struct store_page *page, struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (page->sort == NULL || strcmp(page->sort, "share") != 0) {
        return true;
    }
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db, "SELECT operators_have_device FROM trace WHERE id = ?");
    db_put_int(&st, trace_id);
    page->sort = db_next(&st) && db_get_bool(&st) ? "device_self_ns" : "host_self_ns";
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool store_operators(struct store *store,
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
    bool ok = name_share(store, trace_id, &sorted, err) &&
              page_read(store, arena, &query, &sorted, &memory, count, total, NULL, NULL, err);
    *rows = memory;
    return ok;
}

bool store_kernels(struct store *store,
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
    bool ok = page_read(store, arena, &query, page, &memory, count, total, NULL, NULL, err);
    *rows = memory;
    return ok;
}

bool store_kernel_launches(struct store *store,
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
    bool ok = page_read(store, arena, &query, page, &memory, count, total, NULL, NULL, err);
    *rows = memory;
    return ok;
}

/* ---- kernel tables ---- */

bool store_kernel_utilisation(struct store *store,
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
    bool ok = page_read(store, arena, &query, page, &memory, count, total, NULL, NULL, err);
    *rows = memory;
    return ok;
}

/* ---- other metrics of launches ---- */

struct values {
    struct kernel_utilisation_value_row *rows;
    size_t count;
    size_t cap;
};

static struct kernel_utilisation_value_row *next_value(struct values *values, struct arena *arena)
{
    if (values->count == values->cap) {
        size_t cap = values->cap == 0 ? 64 : values->cap * 2;
        struct kernel_utilisation_value_row *grown = arena_calloc(arena, cap, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        for (size_t i = 0; i < values->count; i++) {
            grown[i] = values->rows[i];
        }
        values->rows = grown;
        values->cap = cap;
    }
    return &values->rows[values->count++];
}

static bool read_values_of(struct text_cache *texts,
                           const struct kernel_utilisation_launch_row *launch,
                           int64_t index,
                           struct values *values,
                           struct err *err)
{
    struct db_stmt only;
    struct db_stmt *st = &only;
    db_prepare(st, texts->db,
               "SELECT position" KERNEL_UTILISATION_VALUE_FIELDS(
                   FIELD_COLUMN) " FROM kernel_use_value WHERE trace_id = ? AND launch = ? ORDER "
                                 "BY position");
    db_put_int(st, texts->owner_id);
    db_put_int(st, launch->position);
    while (db_next(st)) {
        struct kernel_utilisation_value_row *row = next_value(values, texts->arena);
        if (row == NULL) {
            db_fail_memory(st);
            break;
        }
        (void)db_get_int(st);
        KERNEL_UTILISATION_VALUE_FIELDS(FIELD_READ)
        row->launch = index;
    }
    return db_done(st, err);
}

static bool read_values(struct db *db,
                        struct arena *arena,
                        int64_t trace_id,
                        const void *rows,
                        size_t count,
                        void *context,
                        struct err *err)
{
    const struct kernel_utilisation_launch_row *launches = rows;
    struct text_cache texts;
    bool ok = true;
    text_cache_init(&texts, db, arena, trace_id);
    for (size_t i = 0; ok && i < count; i++) {
        ok = read_values_of(&texts, &launches[i], (int64_t)i, context, err);
    }
    text_cache_free(&texts);
    return ok;
}

bool store_kernel_utilisation_launches(struct store *store,
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
    bool ok = page_read(store, arena, &query, page, &memory, count, total,
                        values == NULL ? NULL : read_values, &of_page, err);
    *rows = memory;
    if (values != NULL) {
        *values = of_page.rows;
        *value_count = of_page.count;
    }
    return ok;
}
