#include "api/table/table_view.h"

#include "api/table/table_answer.h"
#include "ingest/store/db/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 64
#define HEADER SIZE_MAX

static const struct table_column *column_of(const struct row_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, name) == 0) {
            return &table->columns[i];
        }
    }
    return NULL;
}

bool table_view_read(struct table_view *view,
                     const struct api_call *call,
                     const char *default_sort,
                     int64_t default_limit,
                     struct err *err)
{
    const char *sort = query_string_word(&call->query, "sort");
    const struct table_column *column = column_of(view->table, sort == NULL ? default_sort : sort);
    bool ascends =
        column != NULL && (table_column_is_text(column) || (column->flags & ASCENDS) != 0);
    const char *const ascending[] = {ascends ? column->name : NULL, NULL};
    return table_params_read(&view->params, call, ascending, default_sort, default_limit, err);
}

/* ---- sorting ---- */

enum key_kind { KEY_UNKNOWN, KEY_NUMBER, KEY_REAL, KEY_TEXT };

struct key {
    enum key_kind kind;
    int64_t number;
    double real;
    const char *text;
    size_t len; /* of a text that sorts by it first; else 0 */
    size_t index;
    bool descending;
};

static void set_key(struct key *key, const struct table_column *column, const void *row)
{
    switch (column->kind) {
    case TABLE_INT:
    case TABLE_INT_OR_NULL:
    case TABLE_SIZE:
    case TABLE_FLAG:
    case TABLE_BITS:
    case TABLE_MAYBE:
    case TABLE_ADDRESS:
    case TABLE_DELTA:
        key->number = table_int(column, row);
        key->kind = column->kind == TABLE_INT_OR_NULL && key->number == INT64_MIN ? KEY_UNKNOWN
                                                                                  : KEY_NUMBER;
        break;
    case TABLE_REAL:
    case TABLE_REAL_OR_NULL:
    case TABLE_NUMBER:
    case TABLE_RATIO:
        key->real = table_real(column, row);
        key->kind = isnan(key->real) ? KEY_UNKNOWN : KEY_REAL;
        break;
    case TABLE_WIDE:
        key->real = (double)table_wide(column, row);
        key->kind = table_wide(column, row) == WIDE_NONE ? KEY_UNKNOWN : KEY_REAL;
        break;
    case TABLE_TEXT:
    case TABLE_SHARED:
    case TABLE_SHARED_4:
    case TABLE_WORD:
    case TABLE_JSON:
        key->text = table_text(column, row);
        key->kind = key->text == NULL ? KEY_UNKNOWN : KEY_TEXT;
        key->len = (column->flags & DIGITS) != 0 && key->text != NULL ? strlen(key->text) : 0;
        break;
    }
}

static int compare_keys(const struct key *a, const struct key *b)
{
    switch (a->kind) {
    case KEY_NUMBER:
        return (a->number > b->number) - (a->number < b->number);
    case KEY_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case KEY_TEXT:
        return a->len != b->len ? (a->len > b->len ? 1 : -1) : strcmp(a->text, b->text);
    case KEY_UNKNOWN:
        break;
    }
    return 0;
}

static int compare_rows(const void *a_void, const void *b_void)
{
    const struct key *a = a_void;
    const struct key *b = b_void;
    if (a->kind != b->kind) { /* one of both is not known */
        return a->kind == KEY_UNKNOWN ? 1 : -1;
    }
    int order = compare_keys(a, b);
    order = a->descending ? -order : order;
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static bool matches(const struct row_table *table,
                    uint32_t parts,
                    const struct matcher *matcher,
                    const void *row)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        bool is_searched =
            (column->flags & SEARCHED) != 0 && (column->flags & TABLE_PARTS & ~parts) == 0;
        const char *text = is_searched ? table_text(column, row) : NULL;
        if (text != NULL && match_test(matcher, text)) {
            return true;
        }
    }
    return false;
}

static const void *row_at(const struct table_view *view, size_t index)
{
    return (const unsigned char *)view->rows + index * view->table->row_bytes;
}

/* The column to sort by, of those that the answer has. */
static const struct table_column *
find_sort(const struct table_view *view, const struct api_call *call, struct err *err)
{
    const char *names[COLUMNS_MAX + 1] = {NULL};
    size_t count = 0;
    size_t choice = 0;
    for (size_t i = 0; i < view->table->column_count && count < COLUMNS_MAX; i++) {
        const struct table_column *column = &view->table->columns[i];
        if ((column->flags & UNSORTED) == 0 && (column->flags & TABLE_PARTS & ~view->parts) == 0) {
            names[count++] = column->name;
        }
    }
    return table_params_choice(call, "sort", names, &choice, err)
               ? column_of(view->table, view->params.page.sort)
               : NULL;
}

/* keys NULL: rows are in order. */
static bool choose_page(struct table_view *view,
                        struct api_call *call,
                        const struct key *keys,
                        size_t matching,
                        struct err *err)
{
    size_t offset = 0;
    view->count = table_params_slice(&view->params.page, matching, &offset);
    view->total = (int64_t)matching;
    size_t *shown = arena_calloc(call_arena(call), view->count + 1, sizeof *shown);
    if (shown == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to show %zu rows", view->count);
    }
    for (size_t i = 0; i < view->count; i++) {
        shown[i] = keys == NULL ? offset + i : keys[offset + i].index;
    }
    view->shown = shown;
    return true;
}

static struct key
key_of(const struct table_view *view, const struct table_column *column, size_t index)
{
    struct key key = {.index = index, .descending = view->params.page.descending};
    set_key(&key, column, row_at(view, index));
    return key;
}

/* Rows of a trace are many, and mostly asked for as they stand. */
static bool
are_in_order(const struct table_view *view, const struct table_column *column, size_t count)
{
    struct key before;
    for (size_t i = 0; i < count; i++) {
        struct key key = key_of(view, column, i);
        if (i > 0 && compare_rows(&before, &key) > 0) {
            return false;
        }
        before = key;
    }
    return true;
}

static size_t fill_keys(struct key *keys,
                        const struct table_view *view,
                        size_t count,
                        const struct table_column *column,
                        const struct matcher *matcher)
{
    size_t matching = 0;
    for (size_t i = 0; i < count; i++) {
        const void *row = row_at(view, i);
        if (matcher == NULL || matches(view->table, view->parts, matcher, row)) {
            keys[matching++] = key_of(view, column, i);
        }
    }
    return matching;
}

bool table_view_run(
    struct table_view *view, struct api_call *call, const void *rows, size_t count, struct err *err)
{
    const struct store_page *page = &view->params.page;
    const struct table_column *column = find_sort(view, call, err);
    struct matcher matcher;
    view->rows = rows;
    if (column == NULL || (page->q != NULL && !match_init(&matcher, page->q, err))) {
        return false;
    }
    if (page->q == NULL && are_in_order(view, column, count)) {
        return choose_page(view, call, NULL, count, err);
    }
    struct key *keys = calloc(count + 1, sizeof *keys);
    size_t matching = 0;
    if (keys != NULL) {
        matching = fill_keys(keys, view, count, column, page->q == NULL ? NULL : &matcher);
        qsort(keys, matching, sizeof *keys, compare_rows);
    }
    if (page->q != NULL) {
        match_free(&matcher);
    }
    bool ok = keys != NULL ? choose_page(view, call, keys, matching, err)
                           : err_set(err, ERR_NO_MEMORY, "No memory to sort %zu rows", count);
    free(keys);
    return ok;
}

void table_view_slice(struct table_view *view, const void *rows, size_t count)
{
    size_t offset = 0;
    view->rows = rows;
    view->total = (int64_t)count;
    view->count = table_params_slice(&view->params.page, count, &offset);
    view->rows = row_at(view, offset);
}

/* ---- answering ---- */

static void write_row(struct field_out *out, const struct table_view *view, size_t at)
{
    const void *row =
        at == HEADER ? NULL : row_at(view, view->shown == NULL ? at : view->shown[at]);
    field_row_begin(out);
    field_columns(out, view->table, row, view->parts);
    if (view->write_row_end != NULL) {
        view->write_row_end(out, view->context, row);
    }
    field_row_end(out);
}

static void answer_csv(const struct table_view *view, struct api_call *call)
{
    struct csv_write csv;
    table_answer_begin_csv(call, view->stem);
    csv_write_init(&csv, &call->response->body);
    struct field_out out = {.notation = FIELD_CSV_HEADER, .csv = &csv};
    write_row(&out, view, HEADER);
    out.notation = FIELD_CSV;
    for (size_t i = 0; i < view->count; i++) {
        write_row(&out, view, i);
    }
}

void table_view_members(struct json_write *w, const struct table_view *view, const char *group_by)
{
    table_params_members(w, &view->params.page, view->total, group_by);
}

void table_view_rows(struct json_write *w, const char *key, const struct table_view *view)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < view->count; i++) {
        write_row(&out, view, i);
    }
    jw_array_end(w);
}

bool table_view_answer(const struct table_view *view, struct api_call *call)
{
    if (view->params.csv) {
        answer_csv(view, call);
        return true;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    table_view_rows(&w, "rows", view);
    if (view->write_members != NULL) {
        view->write_members(&w, view->context);
    } else {
        table_view_members(&w, view, view->group_by);
    }
    jw_object_end(&w);
    return true;
}
