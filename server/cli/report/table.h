/* A small table, aligned for a terminal or as Markdown. */
#ifndef KS_SERVER_CLI_REPORT_TABLE_H
#define KS_SERVER_CLI_REPORT_TABLE_H

#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define REPORT_TABLE_COLUMNS_MAX 8
#define REPORT_TABLE_ROWS_MAX 128

struct report_column {
    const char *head; /* "": the table goes without this column; NULL ends a list of columns */
    bool is_text;     /* left-aligned; numbers are right-aligned */
};

struct report_table {
    struct arena *arena;
    size_t column_count;
    const char *heads[REPORT_TABLE_COLUMNS_MAX];
    bool is_text[REPORT_TABLE_COLUMNS_MAX];
    const char *cells[REPORT_TABLE_ROWS_MAX][REPORT_TABLE_COLUMNS_MAX];
    size_t cell_count;
};

void report_table_init(struct report_table *table,
                       struct arena *arena,
                       const struct report_column *columns);
/* Adds the next cell, row by row; copies the text, which must be safe already. Drops cells beyond
 * the last row. */
void report_table_cell(struct report_table *table, const char *text);
void report_table_write(const struct report_table *table, bool markdown, struct buf *out);
/* Text (already clean) that Markdown shows as it is: no table, link, element or emphasis. */
void report_table_markdown(struct buf *out, const char *text);

#endif
