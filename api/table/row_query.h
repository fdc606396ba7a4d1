/* Filters, sorts and pages rows that are all at hand: for tables that the store does not keep row
 * by row. */
#ifndef KS_API_TABLE_ROW_QUERY_H
#define KS_API_TABLE_ROW_QUERY_H

#include "api/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum row_query_kind {
    ROW_QUERY_UNKNOWN, /* comes last, whatever the order */
    ROW_QUERY_NUMBER,
    ROW_QUERY_REAL,
    ROW_QUERY_TEXT
};

/* What a row is sorted by. */
struct row_query_value {
    enum row_query_kind kind;
    int64_t number;
    double real;
    const char *text;
};

struct row_query_source {
    const void *rows;
    size_t count;
    const char *const *columns;                       /* those that sort; NULL-terminated */
    const char *(*name)(const void *rows, size_t at); /* what q looks in */
    struct row_query_value (*value)(const void *rows, size_t at, size_t column);
};

struct row_query_page {
    size_t *rows; /* indices of the page's rows, in the arena */
    size_t count;
    int64_t total; /* rows that match, before limit and offset */
};

struct row_query_value row_query_number(int64_t number);
struct row_query_value row_query_known_number(int64_t number); /* INT64_MIN: not known */
struct row_query_value row_query_real(double real);            /* NaN: not known */
struct row_query_value row_query_text(const char *text);       /* NULL: not known */

/* Rows that compare equal keep their order. ERR_BAD_REQUEST for an unknown column, with the known
 * ones, and for a wrong regular expression. */
bool row_query_run(struct row_query_page *out,
                   struct api_call *call,
                   const struct store_page *page,
                   const struct row_query_source *source,
                   struct err *err) KS_MUST_USE;

#endif
