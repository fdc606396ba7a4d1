/* Markdown tables as the reference's report has them [CMP-8]: which columns are numbers, how they
 * are printed and aligned is decided by what stands in their cells. */
#ifndef KS_API_TABLE_MARKDOWN_TABLE_H
#define KS_API_TABLE_MARKDOWN_TABLE_H

#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum markdown_table_column {
    MARKDOWN_TABLE_NAME, /* text, whatever it looks like; what would break the table is escaped */
    MARKDOWN_TABLE_CELL  /* a number when all cells of the column are */
};

enum markdown_table_floats {
    MARKDOWN_TABLE_G,        /* 6 significant digits */
    MARKDOWN_TABLE_THOUSANDS /* 1,234.50 */
};

struct markdown_table {
    size_t row_count;
    size_t column_count;
    const char *const *headers; /* Markdown: texts from outside through markdown_table_cell */
    const enum markdown_table_column *columns;
    enum markdown_table_floats floats;
    /* Appends the text of a cell, always the same for the same cell. */
    void (*cell)(const void *ctx, size_t row, size_t column, struct buf *out);
    const void *ctx;
};

/* Header, rule and rows, each ended by LF. */
void markdown_table_write(struct buf *out, const struct markdown_table *table);

/* 1,234.50, -0.25, nan, inf: thousands separators and two decimals. */
void markdown_table_thousands(struct buf *out, double value);

/* 1.235 ms, 3 GiB of a value in "ns" or "bytes"; false, and nothing is written, for one below 1 us
 * or 1 KiB, NaN, and any other unit. */
bool markdown_table_scaled(struct buf *out, double value, const char *unit);

/* Text on one line of a table or sentence: control characters become blanks, bytes that are no
 * UTF-8 U+FFFD. */
void markdown_table_line(struct buf *out, const char *text);
/* The same for Markdown, where the text becomes neither a link nor an element of HTML in any
 * renderer: "<" and what begins a link or an entity are written as entities. */
void markdown_table_text(struct buf *out, const char *text);
/* The same for a cell or a header of a table: a bar does not end it. */
void markdown_table_cell(struct buf *out, const char *text);

#endif
