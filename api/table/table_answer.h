/* The two tails of every table: its rows as JSON with what stands beside them, or as CSV. */
#ifndef KS_API_TABLE_TABLE_ANSWER_H
#define KS_API_TABLE_TABLE_ANSWER_H

#include "api/call.h"
#include "api/table/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Asks a table for a row without content that has the fields of the others: the header of CSV. */
#define TABLE_BLANK_ROW SIZE_MAX

struct table_answer {
    const char *stem; /* of the CSV file's name */
    const void *table;
    size_t count; /* rows */
    void (*write_row)(struct field_out *out, const void *table, size_t at);
    void (*write_members)(struct json_write *w, const void *table); /* beside "rows" */
};

void table_answer(struct api_call *call, bool csv, const struct table_answer *answer);
/* Begins an answer of text/csv that a browser keeps as "<stem>.csv". */
void table_answer_begin_csv(struct api_call *call, const char *stem);

#endif
