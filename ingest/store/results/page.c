#include "ingest/store/results/page.h"

#include "ingest/base/text/buf.h"

#define SQL_MAX_BYTES 8192

static void
compose(struct buf *sql, const struct page_table *table, const char *key, bool descending)
{
    if (key == NULL) {
        buf_printf(sql,
                   "SELECT %s FROM %s WHERE %s ORDER BY o.position%s LIMIT " PARAM_LIMIT
                   " OFFSET " PARAM_OFFSET,
                   table->columns, table->from, table->where, descending ? " DESC" : "");
        return;
    }
    /* Equal keys stay in stored order in both directions, so that pages fit together. */
    const char *direction = descending ? "DESC" : "ASC";
    buf_printf(sql,
               "SELECT %s FROM (SELECT o.position AS place, %s AS key FROM %s WHERE %s"
               " ORDER BY key %s, o.position LIMIT " PARAM_LIMIT " OFFSET " PARAM_OFFSET ") AS page"
               " CROSS JOIN %s ON o.trace_id = " PARAM_TRACE "%s AND o.position = page.place"
               " ORDER BY page.key %s, page.place",
               table->columns, key, table->from, table->where, direction, table->from,
               table->filters == PAGE_BY_GROUP ? " AND o.grouping = " PARAM_GROUPING : "",
               direction);
}

static void put_filter(struct db_stmt *st,
                       const struct page_table *table,
                       const struct page_filter *filter,
                       int64_t limit,
                       int64_t offset)
{
    db_put_int(st, filter->trace_id);
    db_put_int(st, limit);
    db_put_int(st, offset);
    db_put_int(st, filter->matcher != NULL);
    db_put_pointer(st, filter->matcher, MATCH_POINTER);
    if (table->filters >= PAGE_BY_NAME) {
        db_put_text(st, filter->name);
    }
    if (table->filters >= PAGE_BY_GROUP) {
        db_put_int(st, filter->group);
        db_put_text(st, filter->shape);
    }
}

static bool count_rows(struct db *db,
                       const struct page_table *table,
                       const struct page_filter *filter,
                       int64_t *total,
                       struct err *err)
{
    struct buf sql;
    struct db_stmt st;
    buf_init(&sql, SQL_MAX_BYTES);
    /* The limits stand here only so that the parameters are the same everywhere. */
    buf_printf(&sql, "SELECT count(*), " PARAM_LIMIT ", " PARAM_OFFSET " FROM %s WHERE %s",
               table->from, table->where);
    db_prepare_buf(&st, db, &sql);
    put_filter(&st, table, filter, 0, 0);
    *total = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

bool page_read(struct db *db,
               struct arena *arena,
               const struct page_table *table,
               const struct page_filter *filter,
               const struct store_page *page,
               void **rows,
               size_t *count,
               int64_t *total,
               struct err *err)
{
    const char *key = NULL;
    if (!sort_find(table->sorts, table->sort_count, page->sort, &key, err) ||
        !store_check_figures(db, filter->trace_id, err) ||
        !count_rows(db, table, filter, total, err)) {
        return false;
    }
    struct buf sql;
    struct db_stmt st;
    struct text_cache texts;
    size_t rows_max = sort_page_rows(page, *total);
    char *memory = arena_calloc(arena, rows_max, table->row_bytes);
    if (memory == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the rows of a table");
    }
    buf_init(&sql, SQL_MAX_BYTES);
    compose(&sql, table, key, page->descending);
    db_prepare_buf(&st, db, &sql);
    put_filter(&st, table, filter, (int64_t)rows_max, page->offset);
    text_cache_init(&texts, db, arena, filter->trace_id);
    struct page_reader reader = {.st = &st, .texts = &texts};
    *count = 0;
    *rows = memory;
    while (*count < rows_max && db_next(&st)) {
        reader.position = db_get_int(&st);
        table->read_row(&reader, memory + *count * table->row_bytes);
        (*count)++;
    }
    text_cache_free(&texts);
    return db_done(&st, err);
}

bool page_read_with(struct store *store,
                    struct arena *arena,
                    const struct page_table *table,
                    const struct page_filter *filter,
                    const struct store_page *page,
                    void **rows,
                    size_t *count,
                    int64_t *total,
                    page_more *more,
                    void *context,
                    struct err *err)
{
    struct db *db;
    struct matcher matcher = {0};
    struct page_filter with_query = *filter;
    if (page->q != NULL && page->q[0] != '\0') {
        if (!match_init(&matcher, page->q, err)) {
            return false;
        }
        with_query.matcher = &matcher;
    }
    bool ok = store_read_begin(store, &db, err);
    if (ok) {
        ok = page_read(db, arena, table, &with_query, page, rows, count, total, err) &&
             (more == NULL || more(db, arena, filter->trace_id, *rows, *count, context, err));
        store_read_end(store, db);
    }
    match_free(&matcher);
    return ok;
}
