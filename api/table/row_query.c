#include "api/table/row_query.h"

#include "api/table/table_params.h"
#include "ingest/store/db/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row_query_value row_query_number(int64_t number)
{
    return (struct row_query_value){.kind = ROW_QUERY_NUMBER, .number = number};
}

struct row_query_value row_query_known_number(int64_t number)
{
    return number == INT64_MIN ? (struct row_query_value){.kind = ROW_QUERY_UNKNOWN}
                               : row_query_number(number);
}

struct row_query_value row_query_real(double real)
{
    return isnan(real) ? (struct row_query_value){.kind = ROW_QUERY_UNKNOWN}
                       : (struct row_query_value){.kind = ROW_QUERY_REAL, .real = real};
}

struct row_query_value row_query_text(const char *text)
{
    return text == NULL ? (struct row_query_value){.kind = ROW_QUERY_UNKNOWN}
                        : (struct row_query_value){.kind = ROW_QUERY_TEXT, .text = text};
}

struct match {
    struct row_query_value value;
    size_t index;
    bool descending;
};

static int compare_values(const struct row_query_value *a, const struct row_query_value *b)
{
    switch (a->kind) {
    case ROW_QUERY_NUMBER:
        return (a->number > b->number) - (a->number < b->number);
    case ROW_QUERY_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case ROW_QUERY_TEXT:
        return strcmp(a->text, b->text);
    case ROW_QUERY_UNKNOWN:
        break;
    }
    return 0;
}

static int compare_matches(const void *a_void, const void *b_void)
{
    const struct match *a = a_void;
    const struct match *b = b_void;
    if (a->value.kind != b->value.kind) { /* one of both is not known */
        return a->value.kind == ROW_QUERY_UNKNOWN ? 1 : -1;
    }
    int order = compare_values(&a->value, &b->value);
    order = a->descending ? -order : order;
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static bool find_column(const struct api_call *call,
                        const struct store_page *page,
                        const struct row_query_source *source,
                        size_t *column,
                        struct err *err)
{
    if (!table_params_choice(call, "sort", source->columns, column, err)) {
        return false;
    }
    for (*column = 0; source->columns[*column] != NULL; (*column)++) {
        if (strcmp(source->columns[*column], page->sort) == 0) {
            break;
        }
    }
    return true;
}

static size_t fill(struct match *matches,
                   const struct store_page *page,
                   const struct row_query_source *source,
                   size_t column,
                   const struct matcher *matcher)
{
    size_t count = 0;
    for (size_t i = 0; i < source->count; i++) {
        if (matcher == NULL || match_test(matcher, source->name(source->rows, i))) {
            matches[count++] = (struct match){.value = source->value(source->rows, i, column),
                                              .index = i,
                                              .descending = page->descending};
        }
    }
    return count;
}

bool row_query_run(struct row_query_page *out,
                   struct api_call *call,
                   const struct store_page *page,
                   const struct row_query_source *source,
                   struct err *err)
{
    size_t column = 0;
    struct matcher matcher;
    *out = (struct row_query_page){.count = 0};
    if (!find_column(call, page, source, &column, err) ||
        (page->q != NULL && !match_init(&matcher, page->q, err))) {
        return false;
    }
    struct match *matches = calloc(source->count + 1, sizeof *matches);
    size_t matching = 0;
    if (matches != NULL) {
        matching = fill(matches, page, source, column, page->q == NULL ? NULL : &matcher);
        qsort(matches, matching, sizeof *matches, compare_matches);
    }
    if (page->q != NULL) {
        match_free(&matcher);
    }
    size_t offset = 0;
    out->count = table_params_slice(page, matching, &offset);
    out->total = (int64_t)matching;
    out->rows = arena_calloc(call_arena(call), out->count + 1, sizeof *out->rows);
    for (size_t i = 0; matches != NULL && out->rows != NULL && i < out->count; i++) {
        out->rows[i] = matches[offset + i].index;
    }
    bool ok = matches != NULL && out->rows != NULL;
    free(matches);
    return ok || err_set(err, ERR_NO_MEMORY, "No memory to sort %zu rows", source->count);
}
