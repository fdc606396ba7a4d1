#include "ingest/store/results/page.h"

#include "ingest/base/text/buf.h"
#include "ingest/store/db/rows_reader.h"

#include <stdio.h>

#define SQL_MAX_BYTES 8192
#define KEY_BYTES 256
#define LIST_MAX_BYTES 2048

static bool can_sort(const struct table_column *column)
{
    return (column->flags & UNSORTED) == 0 && (column->stored != NULL || column->sort_sql != NULL);
}

static bool refuse_sort(const struct row_table *table, const char *name, struct err *err)
{
    struct buf list;
    buf_init(&list, LIST_MAX_BYTES);
    for (size_t i = 0; i < table->column_count; i++) {
        if (can_sort(&table->columns[i])) {
            buf_printf(&list, "%s%s", i == 0 ? "" : ", ", table->columns[i].name);
        }
    }
    (void)err_set(err, ERR_BAD_REQUEST, "cannot sort by \"%.40s\"; sort is one of %s", name,
                  list.ptr);
    buf_free(&list);
    return false;
}

/* The SQL expression that a page sorts by; "": stored order. */
static bool
find_key(char key[KEY_BYTES], const struct row_table *table, const char *sort, struct err *err)
{
    key[0] = '\0';
    if (sort == NULL || sort[0] == '\0') {
        return true;
    }
    const struct table_column *column = table_column_find(table, sort);
    if (column == NULL || !can_sort(column)) {
        return refuse_sort(table, sort, err);
    }
    if (column->stored == NULL) {
        (void)snprintf(key, KEY_BYTES, "%s", column->sort_sql);
    } else if (column->kind == TABLE_SHARED) {
        (void)snprintf(key, KEY_BYTES,
                       "(SELECT value FROM text WHERE trace_id = o.trace_id AND id = o.%s)",
                       column->stored);
    } else {
        (void)snprintf(key, KEY_BYTES, "o.%s", column->stored);
    }
    return true;
}

static void
compose(struct buf *sql, const struct page_table *table, const char *key, bool descending)
{
    const char *name = table->rows->name;
    const char *columns = table->rows->columns_sql;
    if (key[0] == '\0') {
        buf_printf(
            sql,
            "SELECT o.position%s FROM %s AS o WHERE %s ORDER BY o.position%s LIMIT " PARAM_LIMIT
            " OFFSET " PARAM_OFFSET,
            columns, name, table->where, descending ? " DESC" : "");
        return;
    }
    /* Equal keys stay in stored order in both directions, so that pages fit together. */
    const char *direction = descending ? "DESC" : "ASC";
    buf_printf(
        sql,
        "SELECT o.position%s FROM (SELECT o.position AS place, %s AS key FROM %s AS o WHERE %s"
        " ORDER BY key %s, o.position LIMIT " PARAM_LIMIT " OFFSET " PARAM_OFFSET ") AS page"
        " CROSS JOIN %s AS o ON o.trace_id = " PARAM_TRACE "%s AND o.position = page.place"
        " ORDER BY page.key %s, page.place",
        columns, key, name, table->where, direction, name,
        table->filters == PAGE_BY_GROUP ? " AND o.grouping = " PARAM_GROUPING : "", direction);
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
    buf_printf(&sql, "SELECT count(*), " PARAM_LIMIT ", " PARAM_OFFSET " FROM %s AS o WHERE %s",
               table->rows->name, table->where);
    db_prepare_buf(&st, db, &sql);
    put_filter(&st, table, filter, 0, 0);
    *total = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

static void read_rows(struct db_stmt *st,
                      struct text_cache *texts,
                      const struct row_table *table,
                      unsigned char *rows,
                      size_t rows_max,
                      size_t *count)
{
    const struct table_column *place = table_column_find(table, "position");
    for (*count = 0; *count < rows_max && db_next(st); (*count)++) {
        unsigned char *row = rows + *count * table->row_bytes;
        int64_t position = db_get_int(st);
        rows_read_columns(st, texts, table, row);
        if (place != NULL) {
            *(int64_t *)(void *)(row + place->offset) = position;
        }
    }
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
    char key[KEY_BYTES];
    if (!find_key(key, table->rows, page->sort, err) ||
        !store_check_figures(db, filter->trace_id, err) ||
        !count_rows(db, table, filter, total, err)) {
        return false;
    }
    struct buf sql;
    struct db_stmt st;
    struct text_cache texts;
    size_t rows_max = sort_page_rows(page, *total);
    *rows = arena_calloc(arena, rows_max, table->rows->row_bytes);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the rows of a table");
    }
    buf_init(&sql, SQL_MAX_BYTES);
    compose(&sql, table, key, page->descending);
    db_prepare_buf(&st, db, &sql);
    put_filter(&st, table, filter, (int64_t)rows_max, page->offset);
    text_cache_init(&texts, db, arena, filter->trace_id);
    read_rows(&st, &texts, table->rows, *rows, rows_max, count);
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
