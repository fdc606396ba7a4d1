/* Ends every table: writes its rows as JSON with further members, or as CSV. */
#ifndef KS_API_TABLE_TABLE_ANSWER_H
#define KS_API_TABLE_TABLE_ANSWER_H

#include "api/call.h"
#include "api/table/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Requests a blank row with the fields of the others: the header of CSV. */
#define TABLE_BLANK_ROW SIZE_MAX

struct table_answer {
    const char *stem; /* name of the CSV file, without suffix */
    const void *table;
    size_t count; /* rows */
    void (*write_row)(struct field_out *out, const void *table, size_t at);
    void (*write_members)(struct json_write *w, const void *table); /* beside "rows" */
};

void table_answer(struct api_call *call, bool csv, const struct table_answer *answer);
/* Begins a text/csv answer that a browser saves as "<stem>.csv". */
void table_answer_begin_csv(struct api_call *call, const char *stem);

#endif
