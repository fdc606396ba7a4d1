/* Row query: filters, sorts and pages rows in memory, for tables that the store does not keep row
 * by row. */
#ifndef KS_API_TABLE_PICK_H
#define KS_API_TABLE_PICK_H

#include "api/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pick_kind {
    PICK_UNKNOWN, /* sorts last in either order */
    PICK_NUMBER,
    PICK_REAL,
    PICK_TEXT
};

/* The sort key of a row. */
struct pick_value {
    enum pick_kind kind;
    int64_t number;
    double real;
    const char *text;
};

struct pick_source {
    const void *rows;
    size_t count;
    const char *const *columns;                       /* sortable columns; NULL-terminated */
    const char *(*name)(const void *rows, size_t at); /* the text that q searches */
    struct pick_value (*value)(const void *rows, size_t at, size_t column);
};

struct picked {
    size_t *rows; /* indices of the page's rows, in the arena */
    size_t count;
    int64_t total; /* rows that match, before limit and offset */
};

struct pick_value pick_number(int64_t number);
struct pick_value pick_known_number(int64_t number); /* INT64_MIN: unknown */
struct pick_value pick_real(double real);            /* NaN: unknown */
struct pick_value pick_text(const char *text);       /* NULL: unknown */

/* Fills *out with the page. Equal rows keep their order. ERR_BAD_REQUEST for an unknown column
 * (lists the known ones) or a bad regular expression. */
bool pick_page(struct picked *out,
               struct api_call *call,
               const struct store_page *page,
               const struct pick_source *source,
               struct err *err) KS_MUST_USE;

#endif
