/* Kernel tables: kernels by cleaned name and their launches, part of a table in some order. */
#include "ingest/model/tables.h"
#include "ingest/store/db/fields.h"
#include "ingest/store/results/page.h"

/* The search looks at all texts of the trace, which are few beside the launches that share them. */
#define FOUND                                                         \
    " IN (SELECT n.id FROM text AS n WHERE n.trace_id = " PARAM_TRACE \
    " AND ks_match(n.value, " PARAM_MATCHER "))"
/* Rows of the trace whose cleaned or full name is found. */
#define SEARCHED_ROWS                                                              \
    "o.trace_id = " PARAM_TRACE " AND (" PARAM_HAS_QUERY " = 0 OR o.name_id" FOUND \
    " OR o.full_name_id" FOUND ")"

/* ---- kernels ---- */

static const struct page_table kernel_table = {
    .rows = &table_kernel_utilisation,
    .where = SEARCHED_ROWS,
};

bool store_kernel_utilisation(struct store *store,
                              struct arena *arena,
                              int64_t trace_id,
                              const struct store_page *page,
                              struct kernel_utilisation_row **rows,
                              size_t *count,
                              int64_t *total,
                              struct err *err)
{
    struct page_filter filter = {.trace_id = trace_id};
    void *memory = NULL;
    bool ok = page_read_with(store, arena, &kernel_table, &filter, page, &memory, count, total,
                             NULL, NULL, err);
    *rows = memory;
    return ok;
}

/* ---- launches ---- */

static const struct page_table launch_table = {
    .rows = &table_kernel_utilisation_launch,
    .where =
        SEARCHED_ROWS " AND (" PARAM_NAME " IS NULL OR o.name_id IN (SELECT n.id FROM text AS n"
                      " WHERE n.trace_id = " PARAM_TRACE " AND n.value = " PARAM_NAME "))",
    .filters = PAGE_BY_NAME,
};

/* ---- their other metrics ---- */

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
    struct page_filter filter = {.trace_id = trace_id, .name = name};
    struct values of_page = {0};
    void *memory = NULL;
    bool ok = page_read_with(store, arena, &launch_table, &filter, page, &memory, count, total,
                             values == NULL ? NULL : read_values, &of_page, err);
    *rows = memory;
    if (values != NULL) {
        *values = of_page.rows;
        *value_count = of_page.count;
    }
    return ok;
}
