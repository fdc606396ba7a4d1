#include "ingest/formats/csv/scan.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/formats/json/scan.h"

#include <string.h>

#define HEADER_BYTES_MAX \
    ((ptrdiff_t)256 << 10) /* traces are often one line: no need to search it */
/* After a row that is given up reading goes on with the line behind the one where it began, so that
 * a stray quote costs one line. After so many it costs all that was searched for the row's end, or
 * a hostile text would be searched once a line. */
#define ROWS_FORGIVEN 16

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for a row of the table");
}

void csv_open(struct csv_scan *scan, struct text_stream *stream, char separator, uint64_t line)
{
    *scan = (struct csv_scan){.stream = stream, .separator = separator, .next_line = line};
    buf_init(&scan->scratch, CSV_ROW_BYTES_MAX * 2);
}

void csv_close(struct csv_scan *scan)
{
    scratch_free(scan->cells);
    buf_free(&scan->scratch);
    *scan = (struct csv_scan){.stream = NULL};
}

const char *csv_flaw_text(enum csv_flaw flaw)
{
    static const char *const texts[] = {
        [CSV_WHOLE] = "whole",
        [CSV_OPEN_QUOTE] = "a quote is not closed",
        [CSV_TOO_LONG] = "the row is too long",
    };
    return texts[flaw];
}

/* --- where rows and cells end --- */

/* Behind the quote that closes the cell whose opening quote lies before `at`; NULL: none does. */
static const char *skip_quoted(const char *at, const char *end)
{
    while (at < end && (at = memchr(at, '"', (size_t)(end - at))) != NULL) {
        if (at + 1 >= end || at[1] != '"') {
            return at + 1;
        }
        at += 2;
    }
    return NULL;
}

/* The separator or newline behind the cell at `at`, or `end`; NULL: a quote is open there. */
static const char *skip_cell(const char *at, const char *end, char separator)
{
    if (at < end && *at == '"') {
        at = skip_quoted(at + 1, end);
        if (at == NULL) {
            return NULL;
        }
    }
    while (at < end && *at != separator && *at != '\n') {
        at++;
    }
    return at;
}

static bool add_cell(struct csv_scan *scan, const char *text, size_t len)
{
    struct csv_cell *grown =
        scratch_grow(scan->cells, scan->cell_count, &scan->cell_capacity, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    scan->cells = grown;
    scan->cells[scan->cell_count++] = (struct csv_cell){.text = text, .len = len};
    return true;
}

enum split { SPLIT_DONE, SPLIT_MORE, SPLIT_OPEN_QUOTE, SPLIT_TOO_MANY, SPLIT_NO_MEMORY };

/* Cells of the row at `at` as they stand, quotes and all; *row_end is its newline, or how far it
 * was searched. */
static enum split
split_row(struct csv_scan *scan, const char *at, const char *end, const char **row_end)
{
    scan->cell_count = 0;
    for (;;) {
        const char *behind = skip_cell(at, end, scan->separator);
        *row_end = behind == NULL ? end : behind;
        if (behind == NULL) {
            return SPLIT_OPEN_QUOTE;
        }
        if (scan->cell_count == CSV_CELLS_MAX) {
            return SPLIT_TOO_MANY;
        }
        if (!add_cell(scan, at, (size_t)(behind - at))) {
            return SPLIT_NO_MEMORY;
        }
        if (behind == end || *behind == '\n') {
            return behind == end ? SPLIT_MORE : SPLIT_DONE;
        }
        at = behind + 1;
    }
}

/* --- from slices to texts --- */

/* The text of a quoted cell in place of its slice. The scratch buffer has room for the row. */
static void unquote(struct csv_scan *scan, struct csv_cell *cell)
{
    struct buf *out = &scan->scratch;
    const char *end = cell->text + cell->len;
    const char *closing = skip_quoted(cell->text + 1, end);
    const char *inner_end = closing == NULL ? end : closing - 1;
    size_t start = out->len;
    for (const char *at = cell->text + 1; at < inner_end;) {
        const char *quote = memchr(at, '"', (size_t)(inner_end - at));
        const char *stop = quote == NULL ? inner_end : quote + 1;
        buf_append(out, at, (size_t)(stop - at));
        at = quote == NULL ? inner_end : quote + 2;
    }
    if (closing != NULL) {
        buf_append(out, closing, (size_t)(end - closing));
    }
    cell->text = out->ptr + start;
    cell->len = out->len - start;
}

/* Undoes quotes and takes the CR of the row's end away. */
static bool finish_cells(struct csv_scan *scan, size_t row_len, bool *is_quoted)
{
    struct csv_cell *last = &scan->cells[scan->cell_count - 1];
    if (last->len > 0 && last->text[last->len - 1] == '\r') {
        last->len--;
    }
    buf_clear(&scan->scratch);
    *is_quoted = false;
    for (size_t i = 0; i < scan->cell_count; i++) {
        struct csv_cell *cell = &scan->cells[i];
        if (cell->len == 0 || cell->text[0] != '"') {
            continue;
        }
        /* The whole room at once, so that the texts do not move. */
        if (!*is_quoted && buf_reserve(&scan->scratch, row_len + 1) == NULL) {
            return false;
        }
        *is_quoted = true;
        unquote(scan, cell);
    }
    return !scan->scratch.failed;
}

static uint64_t newlines_in(const char *at, const char *end)
{
    uint64_t count = 0;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        count++;
        at++;
    }
    return count;
}

static bool is_blank(const struct csv_scan *scan)
{
    const struct csv_cell *cell = &scan->cells[0];
    return scan->cell_count == 1 && csv_trim(*cell).len == 0;
}

/* --- rows --- */

/* Gives the row at stream->at up and steps behind its first line. */
static bool skip_line(struct csv_scan *scan, enum csv_flaw flaw, struct err *err)
{
    struct text_stream *stream = scan->stream;
    scan->row.flaw = flaw;
    scan->next_line++;
    for (;;) {
        const char *newline = memchr(stream->at, '\n', (size_t)(stream->end - stream->at));
        stream->at = newline == NULL ? stream->end : newline + 1;
        if (newline != NULL || stream->ended) {
            scan->row.is_last_line = newline == NULL;
            return true;
        }
        if (!text_stream_more(stream, err)) {
            return false;
        }
    }
}

static bool give_up(struct csv_scan *scan, enum split split, const char *searched, struct err *err)
{
    struct text_stream *stream = scan->stream;
    enum csv_flaw flaw = split == SPLIT_OPEN_QUOTE ? CSV_OPEN_QUOTE : CSV_TOO_LONG;
    if (++scan->rows_given_up > ROWS_FORGIVEN) {
        scan->next_line += newlines_in(stream->at, searched);
        stream->at = searched;
    }
    return skip_line(scan, flaw, err);
}

/* The row at stream->at, whose end is in the window, into scan->row. */
static bool take_row(struct csv_scan *scan, const char *row_end, struct err *err)
{
    struct text_stream *stream = scan->stream;
    bool is_quoted;
    if (!finish_cells(scan, (size_t)(row_end - stream->at), &is_quoted)) {
        return no_memory(err);
    }
    scan->row.cells = scan->cells;
    scan->row.cell_count = scan->cell_count;
    scan->row.is_last_line = row_end == stream->end;
    if (is_quoted) {
        scan->next_line += newlines_in(stream->at, row_end);
    }
    scan->next_line += !scan->row.is_last_line;
    stream->at = scan->row.is_last_line ? row_end : row_end + 1;
    return true;
}

/* One row or line, a blank one too. */
static bool read_row(struct csv_scan *scan, struct err *err)
{
    struct text_stream *stream = scan->stream;
    scan->row = (struct csv_row){.line = scan->next_line};
    scan->row.byte_off = text_stream_offset(stream, stream->at);
    for (;;) {
        const char *row_end;
        enum split split = split_row(scan, stream->at, stream->end, &row_end);
        bool is_cut = split == SPLIT_MORE || split == SPLIT_OPEN_QUOTE;
        bool is_final = stream->ended || (size_t)(stream->end - stream->at) > CSV_ROW_BYTES_MAX;
        if (split == SPLIT_NO_MEMORY) {
            return no_memory(err);
        }
        if (split == SPLIT_DONE || (split == SPLIT_MORE && stream->ended)) {
            return take_row(scan, row_end, err);
        }
        if (!is_cut || is_final) {
            return give_up(scan, split, row_end, err);
        }
        if (!text_stream_more(stream, err)) {
            return false;
        }
    }
}

bool csv_next(struct csv_scan *scan, bool *more, struct err *err)
{
    struct text_stream *stream = scan->stream;
    do {
        if (stream->at == stream->end && !stream->ended && !text_stream_more(stream, err)) {
            return false;
        }
        *more = stream->at < stream->end;
        if (!*more) {
            return true;
        }
        if (!read_row(scan, err)) {
            return false;
        }
    } while (scan->row.flaw == CSV_WHOLE && is_blank(scan));
    return true;
}

bool csv_each_row(struct csv_scan *scan, csv_row_fn *visit, void *context, struct err *err)
{
    bool more = true;
    bool ok = true;
    while (ok && more) {
        ok = csv_next(scan, &more, err) && (!more || visit(context, &scan->row, err));
    }
    return ok;
}

/* --- header rows --- */

bool csv_cell_equals(const struct csv_cell *cell, const char *text)
{
    return strlen(text) == cell->len && memcmp(cell->text, text, cell->len) == 0;
}

struct csv_cell csv_trim(struct csv_cell cell)
{
    while (cell.len > 0 && json_is_space(cell.text[cell.len - 1])) {
        cell.len--;
    }
    while (cell.len > 0 && json_is_space(*cell.text)) {
        cell.text++;
        cell.len--;
    }
    return cell;
}

size_t csv_column(const struct csv_row *header, const char *name)
{
    for (size_t i = 0; i < header->cell_count; i++) {
        struct csv_cell cell = csv_trim(header->cells[i]);
        if (csv_cell_equals(&cell, name)) {
            return i;
        }
    }
    return CSV_NO_COLUMN;
}

/* Whether the cell is in this line as it stands or in quotes. */
static bool line_has(const char *at, const char *end, char separator, const char *name)
{
    while (at <= end) {
        const char *behind = skip_cell(at, end, separator);
        if (behind == NULL) {
            return false;
        }
        struct csv_cell cell = csv_trim((struct csv_cell){at, (size_t)(behind - at)});
        if (cell.len >= 2 && cell.text[0] == '"' && cell.text[cell.len - 1] == '"') {
            cell.text++;
            cell.len -= 2;
        }
        if (csv_cell_equals(&cell, name)) {
            return true;
        }
        at = behind + 1;
    }
    return false;
}

bool csv_is_header(const char *text, size_t len, char separator, const char *const *names)
{
    const char *end = text + len;
    while (text < end && json_is_space(*text)) {
        text++;
    }
    if (text == end || *text == '{' || *text == '[') {
        return false;
    }
    end = end - text > HEADER_BYTES_MAX ? text + HEADER_BYTES_MAX : end;
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    for (; *names != NULL; names++) {
        if (!line_has(text, newline == NULL ? end : newline, separator, *names)) {
            return false;
        }
    }
    return true;
}
