/* A declared table as an answer: reads the parameters of a request, filters, sorts and pages rows
 * in memory (rows of the store come as a page), and writes JSON or CSV. A handler fills rows and
 * says what stands beside them. */
#ifndef KS_API_TABLE_TABLE_VIEW_H
#define KS_API_TABLE_TABLE_VIEW_H

#include "api/call.h"
#include "api/table/field.h"
#include "api/table/table_params.h"
#include "ingest/model/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_view {
    const struct row_table *table;
    const char *stem; /* name of the CSV file, without suffix */
    uint32_t parts;   /* WHEN_…: which optional columns the answer has */
    struct table_params params;
    const void *rows;
    const size_t *shown; /* indices of the page's rows; NULL: all rows in their order */
    size_t count;        /* rows of the page */
    int64_t total;       /* rows that match, before limit and offset */
    const void *context;
    /* What a row has behind its columns; `row` NULL for a header. NULL: nothing. */
    void (*write_row_end)(struct field_out *out, const void *context, const void *row);
    const char *group_by; /* member of the answer; NULL: none */
    /* Members beside "rows"; NULL: group_by and those of the parameters. */
    void (*write_members)(struct json_write *w, const void *context);
};

/* Reads sort, order, q, limit, offset and format. Texts and columns that ASCEND sort ascending by
 * default, other numbers descending. ERR_BAD_REQUEST for bad numbers and unknown words. */
bool table_view_read(struct table_view *view,
                     const struct api_call *call,
                     const char *default_sort,
                     int64_t default_limit,
                     struct err *err) KS_MUST_USE;
/* Takes all rows of a table: keeps those that match `q`, sorts them and chooses the page. Equal
 * rows keep their order; unknown values come last in either order. ERR_BAD_REQUEST for an unknown
 * column (lists the known ones) or a bad regular expression. The rows stay where they are. */
bool table_view_run(struct table_view *view,
                    struct api_call *call,
                    const void *rows,
                    size_t count,
                    struct err *err) KS_MUST_USE;
/* Takes rows that are filtered and sorted already, and chooses the page. */
void table_view_slice(struct table_view *view, const void *rows, size_t count);
/* The members total, sort, order, q, limit and offset. */
void table_view_members(struct json_write *w, const struct table_view *view, const char *group_by);
/* Writes "key": the rows of the page. */
void table_view_rows(struct json_write *w, const char *key, const struct table_view *view);
/* Answers; true, so that a handler can end with it. */
bool table_view_answer(const struct table_view *view, struct api_call *call);

#endif
