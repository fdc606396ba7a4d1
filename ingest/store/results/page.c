#include "ingest/store/results/page.h"

#include "ingest/base/text/buf.h"
#include "ingest/store/db/match.h"
#include "ingest/store/db/sort.h"
#include "ingest/store/results/packed/row_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX_BYTES 2048
#define TESTED_TEXTS ((size_t)256) /* a power of 2 */

/* A row that passes, by what it is sorted by. */
struct page_key {
    int64_t number;
    const char *text;
    size_t at;
};

struct tested_text {
    const char *text; /* by address: rows share texts */
    bool matches;
};

struct selection {
    const struct page_query *query;
    const struct table_column *name;
    const struct table_column *shape;
    const struct table_column *sort; /* NULL: stored order */
    bool by_text;
    bool descending;
    struct matcher *matcher; /* NULL: no search */
    struct tested_text tested[TESTED_TEXTS];
    struct page_key *keys;
    size_t count;
};

/* ---- columns to sort by ---- */

static bool refuse_sort(const struct row_table *table, const char *name, struct err *err)
{
    struct buf list;
    buf_init(&list, LIST_MAX_BYTES);
    for (size_t i = 0; i < table->column_count; i++) {
        if (table_column_sorts(&table->columns[i])) {
            buf_printf(&list, "%s%s", i == 0 ? "" : ", ", table->columns[i].name);
        }
    }
    (void)err_set(err, ERR_BAD_REQUEST, "cannot sort by \"%.40s\"; sort is one of %s", name,
                  list.ptr);
    buf_free(&list);
    return false;
}

static bool find_sort(struct selection *s, const struct store_page *page, struct err *err)
{
    const struct row_table *table = s->query->table;
    if (page->sort == NULL || page->sort[0] == '\0') {
        return true;
    }
    s->sort = table_column_find(table, page->sort);
    if (s->sort == NULL || !table_column_sorts(s->sort)) {
        return refuse_sort(table, page->sort, err);
    }
    if (s->sort->sort_by != NULL) {
        s->sort = table_column_find(table, s->sort->sort_by);
    }
    s->by_text = s->sort->kind == TABLE_TEXT || s->sort->kind == TABLE_SHARED;
    return true;
}

/* ---- rows that pass ---- */

static bool is_wanted(const struct table_column *column, const char *wanted, const void *row)
{
    const char *text = wanted == NULL ? NULL : table_text(column, row);
    return wanted == NULL || (text != NULL && strcmp(text, wanted) == 0);
}

static bool matches(struct selection *s, const char *text)
{
    uint64_t address = (uint64_t)(uintptr_t)text;
    struct tested_text *tested = &s->tested[(address >> 4 ^ address >> 12) % TESTED_TEXTS];
    if (text != NULL && tested->text != text) {
        *tested = (struct tested_text){text, match_test(s->matcher, text)};
    }
    return text != NULL && tested->matches;
}

static bool is_found(struct selection *s, const void *row)
{
    const struct row_table *table = s->query->table;
    bool found = s->matcher == NULL;
    for (size_t i = 0; !found && i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        found = (column->flags & SEARCHED) != 0 && matches(s, table_text(column, row));
    }
    return found;
}

/* Numbers in the order of the reals; what is not a number comes first. */
static int64_t number_of_real(double real)
{
    int64_t bits = 0;
    real += 0.0; /* -0.0 is 0.0 */
    memcpy(&bits, &real, sizeof bits);
    return isnan(real) ? INT64_MIN : bits < 0 ? INT64_MIN - bits : bits;
}

static bool is_real(const struct table_column *column)
{
    return column->kind == TABLE_REAL || column->kind == TABLE_REAL_OR_NULL ||
           column->kind == TABLE_RATIO;
}

/* `row` may be NULL in stored order. */
static struct page_key key_of(const struct selection *s, const void *row, size_t at)
{
    struct page_key key = {.number = (int64_t)at, .at = at};
    if (s->by_text) {
        key.text = table_text(s->sort, row);
    } else if (s->sort != NULL) {
        key.number =
            is_real(s->sort) ? number_of_real(table_real(s->sort, row)) : table_int(s->sort, row);
    }
    key.number = s->descending ? ~key.number : key.number;
    return key;
}

/* Equal keys stay in stored order in both directions, so that pages fit together. */
static int compare_places(const struct page_key *a, const struct page_key *b)
{
    return (a->at > b->at) - (a->at < b->at);
}

static int compare_numbers(const void *a_void, const void *b_void)
{
    const struct page_key *a = a_void;
    const struct page_key *b = b_void;
    int order = (a->number > b->number) - (a->number < b->number);
    return order != 0 ? order : compare_places(a, b);
}

static int text_order(const struct page_key *a, const struct page_key *b)
{
    if (a->text == NULL || b->text == NULL) { /* none comes first */
        return (a->text != NULL) - (b->text != NULL);
    }
    return a->text == b->text ? 0 : strcmp(a->text, b->text);
}

static int compare_texts(const void *a_void, const void *b_void)
{
    int order = text_order(a_void, b_void);
    return order != 0 ? order : compare_places(a_void, b_void);
}

static int compare_texts_down(const void *a_void, const void *b_void)
{
    int order = text_order(b_void, a_void);
    return order != 0 ? order : compare_places(a_void, b_void);
}

static bool looks_at_rows(const struct selection *s)
{
    return s->sort != NULL || s->matcher != NULL || s->query->name != NULL ||
           s->query->shape != NULL;
}

static bool select_rows(struct selection *s, struct row_blocks *blocks, struct err *err)
{
    bool looks = looks_at_rows(s);
    s->keys = calloc(blocks->row_count + 1, sizeof *s->keys);
    if (s->keys == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to sort %zu rows", blocks->row_count);
    }
    for (size_t at = 0; at < blocks->row_count; at++) {
        const void *row = looks ? row_blocks_row(blocks, at, err) : NULL;
        if (looks && row == NULL) {
            return false;
        }
        if (!looks || (is_wanted(s->name, s->query->name, row) &&
                       is_wanted(s->shape, s->query->shape, row) && is_found(s, row))) {
            s->keys[s->count++] = key_of(s, row, at);
        }
    }
    qsort(s->keys, s->count, sizeof *s->keys,
          !s->by_text     ? compare_numbers
          : s->descending ? compare_texts_down
                          : compare_texts);
    return true;
}

/* ---- the page ---- */

/* In stored order, so that each block is read once: the number of a key becomes the position of
 * its row, `at` its place on the page. */
static bool copy_rows(const struct selection *s,
                      struct row_blocks *blocks,
                      struct page_key *keys,
                      unsigned char *rows,
                      size_t count,
                      struct err *err)
{
    size_t row_bytes = s->query->table->row_bytes;
    for (size_t i = 0; i < count; i++) {
        keys[i].number = (int64_t)keys[i].at;
        keys[i].at = i;
    }
    qsort(keys, count, sizeof *keys, compare_numbers);
    for (size_t i = 0; i < count; i++) {
        const void *row = row_blocks_row(blocks, (size_t)keys[i].number, err);
        if (row == NULL) {
            return false;
        }
        memcpy(rows + keys[i].at * row_bytes, row, row_bytes);
    }
    return true;
}

static bool read_blocks(struct selection *s,
                        struct row_blocks *blocks,
                        const struct store_page *page,
                        void **rows,
                        size_t *count,
                        int64_t *total,
                        struct err *err)
{
    if (!select_rows(s, blocks, err)) {
        return false;
    }
    *total = (int64_t)s->count;
    *count = sort_page_rows(page, *total);
    *rows = arena_calloc(blocks->arena, *count, s->query->table->row_bytes);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the rows of a table");
    }
    size_t offset = *count == 0 || page->offset < 0 ? 0 : (size_t)page->offset;
    return copy_rows(s, blocks, s->keys + offset, *rows, *count, err);
}

static bool read_selected(struct selection *s,
                          struct db *db,
                          struct arena *arena,
                          const struct store_page *page,
                          void **rows,
                          size_t *count,
                          int64_t *total,
                          struct err *err)
{
    struct row_blocks blocks;
    const struct page_query *query = s->query;
    bool ok = row_blocks_open(&blocks, db, arena, query->table, query->group, err) &&
              read_blocks(s, &blocks, page, rows, count, total, err);
    row_blocks_close(&blocks);
    free(s->keys);
    return ok;
}

bool page_read(struct store_snapshot *snapshot,
               struct arena *arena,
               const struct page_query *query,
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
    struct selection s = {.query = query,
                          .name = table_column_find(query->table, "name"),
                          .shape = table_column_find(query->table, "input_shape"),
                          .descending = page->descending};
    if (page->q != NULL && page->q[0] != '\0') {
        if (!match_init(&matcher, page->q, err)) {
            return false;
        }
        s.matcher = &matcher;
    }
    bool ok = store_snapshot_read(snapshot, &db, err) && find_sort(&s, page, err) &&
              store_check_figures(db, query->trace_id, err) &&
              store_snapshot_tables(snapshot, query->trace_id, &db, err) &&
              read_selected(&s, db, arena, page, rows, count, total, err) &&
              (more == NULL || more(db, arena, *rows, *count, context, err));
    match_free(&matcher);
    return ok;
}
