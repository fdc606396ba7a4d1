#include "api/table/pick.h"

#include "api/table/table_params.h"
#include "ingest/store/db/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pick_value pick_number(int64_t number)
{
    return (struct pick_value){.kind = PICK_NUMBER, .number = number};
}

struct pick_value pick_known_number(int64_t number)
{
    return number == INT64_MIN ? (struct pick_value){.kind = PICK_UNKNOWN} : pick_number(number);
}

struct pick_value pick_real(double real)
{
    return isnan(real) ? (struct pick_value){.kind = PICK_UNKNOWN}
                       : (struct pick_value){.kind = PICK_REAL, .real = real};
}

struct pick_value pick_text(const char *text)
{
    return text == NULL ? (struct pick_value){.kind = PICK_UNKNOWN}
                        : (struct pick_value){.kind = PICK_TEXT, .text = text};
}

struct pick {
    struct pick_value value;
    size_t index;
    bool descending;
};

static int compare_values(const struct pick_value *a, const struct pick_value *b)
{
    switch (a->kind) {
    case PICK_NUMBER:
        return (a->number > b->number) - (a->number < b->number);
    case PICK_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case PICK_TEXT:
        return strcmp(a->text, b->text);
    case PICK_UNKNOWN:
        break;
    }
    return 0;
}

static int compare_picks(const void *a_void, const void *b_void)
{
    const struct pick *a = a_void;
    const struct pick *b = b_void;
    if (a->value.kind != b->value.kind) { /* one of both is not known */
        return a->value.kind == PICK_UNKNOWN ? 1 : -1;
    }
    int order = compare_values(&a->value, &b->value);
    order = a->descending ? -order : order;
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static bool find_column(const struct api_call *call,
                        const struct store_page *page,
                        const struct pick_source *source,
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

static size_t fill(struct pick *picks,
                   const struct store_page *page,
                   const struct pick_source *source,
                   size_t column,
                   const struct matcher *matcher)
{
    size_t count = 0;
    for (size_t i = 0; i < source->count; i++) {
        if (matcher == NULL || match_test(matcher, source->name(source->rows, i))) {
            picks[count++] = (struct pick){.value = source->value(source->rows, i, column),
                                           .index = i,
                                           .descending = page->descending};
        }
    }
    return count;
}

bool pick_page(struct picked *out,
               struct api_call *call,
               const struct store_page *page,
               const struct pick_source *source,
               struct err *err)
{
    size_t column = 0;
    struct matcher matcher;
    *out = (struct picked){.count = 0};
    if (!find_column(call, page, source, &column, err) ||
        (page->q != NULL && !match_init(&matcher, page->q, err))) {
        return false;
    }
    struct pick *picks = calloc(source->count + 1, sizeof *picks);
    size_t matching = 0;
    if (picks != NULL) {
        matching = fill(picks, page, source, column, page->q == NULL ? NULL : &matcher);
        qsort(picks, matching, sizeof *picks, compare_picks);
    }
    if (page->q != NULL) {
        match_free(&matcher);
    }
    size_t offset = 0;
    out->count = table_params_slice(page, matching, &offset);
    out->total = (int64_t)matching;
    out->rows = arena_calloc(call_arena(call), out->count + 1, sizeof *out->rows);
    for (size_t i = 0; picks != NULL && out->rows != NULL && i < out->count; i++) {
        out->rows[i] = picks[offset + i].index;
    }
    bool ok = picks != NULL && out->rows != NULL;
    free(picks);
    return ok || err_set(err, ERR_NO_MEMORY, "No memory to sort %zu rows", source->count);
}
