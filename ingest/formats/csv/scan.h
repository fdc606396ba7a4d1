/* Rows of a CSV text, one at a time, from a stream of any size.
 *
 * A cell may stand in double quotes, inside which separators and newlines are text and a doubled
 * quote is one. A quote elsewhere is text. Lines end with LF or CRLF. Blank lines are skipped.
 *
 *     text_stream -> csv_next -> one row of slices (of the window, or of a scratch buffer where
 * quotes had to be undone); nothing is allocated a cell.
 */
#ifndef KS_FORMATS_CSV_SCAN_H
#define KS_FORMATS_CSV_SCAN_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_ROW_BYTES_MAX ((size_t)4 << 20)
#define CSV_CELLS_MAX 16384
#define CSV_NO_COLUMN SIZE_MAX

struct csv_cell {
    const char *text; /* not NUL-terminated */
    size_t len;
};

enum csv_flaw {
    CSV_WHOLE,
    CSV_OPEN_QUOTE, /* a quote that nothing closes: the line it began in is given up */
    CSV_TOO_LONG    /* longer than CSV_ROW_BYTES_MAX, or more cells than CSV_CELLS_MAX */
};

/* Valid until the next call of csv_next. */
struct csv_row {
    const struct csv_cell *cells;
    size_t cell_count; /* 0 with a flaw */
    uint64_t line;     /* of its first byte, from 1 */
    uint64_t byte_off; /* the same in the decompressed input */
    enum csv_flaw flaw;
    bool is_last_line; /* no newline follows: the last cell may be cut */
};

struct csv_scan {
    struct text_stream *stream;
    struct csv_row row;
    char separator;
    /* The rest is private. */
    uint64_t next_line;
    struct csv_cell *cells;
    size_t cell_count;
    size_t cell_capacity;
    struct buf scratch;
    uint64_t rows_given_up;
};

/* Rows from stream->at on, the first of which is line `line`. Takes nothing from the heap yet. */
void csv_open(struct csv_scan *scan, struct text_stream *stream, char separator, uint64_t line);
void csv_close(struct csv_scan *scan);
/* Steps to the next row that is not blank, scan->row; *more is false at the end. Errors: those of
 * text_stream_more, ERR_NO_MEMORY. */
bool csv_next(struct csv_scan *scan, bool *more, struct err *err) KS_MUST_USE;
/* One row for its context. False ends the reading, with the error set. */
typedef bool csv_row_fn(void *context, const struct csv_row *row, struct err *err);
/* Calls `visit` for each row that is left. */
bool csv_each_row(struct csv_scan *scan, csv_row_fn *visit, void *context, struct err *err)
    KS_MUST_USE;
/* Why a row with a flaw cannot be read, in words. */
const char *csv_flaw_text(enum csv_flaw flaw);

/* The column of this name (blanks around it do not count) in a header row, or CSV_NO_COLUMN. */
size_t csv_column(const struct csv_row *header, const char *name);
/* Whether the first line of the text that is not blank is a header row with all these names (the
 * list ends with NULL), in any order. JSON never is. */
bool csv_is_header(const char *text, size_t len, char separator, const char *const *names);

bool csv_cell_equals(const struct csv_cell *cell, const char *text);
struct csv_cell csv_trim(struct csv_cell cell); /* without blanks around it */

/* What pandas takes for a missing value by default: "", "NA", "N/A", "nan", "None", ... */
bool csv_is_missing(const struct csv_cell *cell);
/* A number as pandas' default reader reads it [CMP-4a], which may lie an ulp from the nearest
 * double. Blanks around it are allowed, and inf. False: no number, or beyond doubles. */
bool csv_number(const struct csv_cell *cell, double *number);
/* A number as people print it: blanks around it, thousands separators (","), correctly rounded.
 * inf and nan are none. */
bool csv_printed_number(const struct csv_cell *cell, double *number);
/* An integer; "5.0" and "1,024" are integers too. */
bool csv_integer(const struct csv_cell *cell, int64_t *number);

#endif
