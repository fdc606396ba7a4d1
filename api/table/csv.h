/* Writes RFC 4180 text: quotes cells where needed, ends rows with CRLF. Prefixes an apostrophe to
 * texts that a spreadsheet would take for a formula (they begin with = + - @, a tab or an end of
 * line). Quotes texts with a semicolon or a tab, which some programs take for the end of a cell, so
 * that no formula can begin after one. */
#ifndef KS_API_TABLE_CSV_H
#define KS_API_TABLE_CSV_H

#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct csv_write {
    struct buf *out;
    bool row_has_cells;
};

void csv_write_init(struct csv_write *csv, struct buf *out);
void csv_text(struct csv_write *csv, const char *text); /* NULL: an empty cell */
void csv_int(struct csv_write *csv, int64_t value);
void csv_double(struct csv_write *csv, double value); /* non-finite: an empty cell */
/* So many digits behind the point, not as the first cell of a row; non-finite: an empty cell. */
void csv_fixed(struct csv_write *csv, double value, int digits);
void csv_row_end(struct csv_write *csv);
/* With LF alone, as the reference of cycles and comparisons does on Linux. */
void csv_line_end(struct csv_write *csv);

#endif
