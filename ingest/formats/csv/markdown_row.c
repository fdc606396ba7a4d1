#include "ingest/formats/csv/markdown_row.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

void markdown_row_init(struct markdown_row *row)
{
    *row = (struct markdown_row){.cells = NULL};
    buf_init(&row->scratch, SIZE_MAX / 2);
}

void markdown_row_free(struct markdown_row *row)
{
    scratch_free(row->cells);
    buf_free(&row->scratch);
    *row = (struct markdown_row){.cells = NULL};
}

static bool add_cell(struct markdown_row *row, const char *text, const char *end)
{
    struct csv_cell *grown =
        scratch_grow(row->cells, row->cell_count, &row->cell_capacity, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    row->cells = grown;
    row->cells[row->cell_count++] = (struct csv_cell){.text = text, .len = (size_t)(end - text)};
    return true;
}

static const char *next_bar(const char *at, const char *end)
{
    while (at < end && *at != '|') {
        at += *at == '\\' && at + 1 < end && at[1] == '|' ? 2 : 1;
    }
    return at < end ? at : NULL;
}

static void join_first(struct markdown_row *row, size_t columns)
{
    size_t surplus = row->cell_count - columns;
    const struct csv_cell *last = &row->cells[surplus];
    row->cells[0].len = (size_t)(last->text + last->len - row->cells[0].text);
    memmove(row->cells + 1, last + 1, (columns - 1) * sizeof *row->cells);
    row->cell_count = columns;
}

char markdown_entity_at(const char *at, const char *end, size_t *len)
{
    static const struct {
        const char *text;
        char stands_for;
    } entities[] = {{"&lt;", '<'}, {"&#93;", ']'}, {"&#58;", ':'}, {"&#124;", '|'}, {"&amp;", '&'}};
    for (size_t i = 0; *at == '&' && i < sizeof entities / sizeof entities[0]; i++) {
        *len = strlen(entities[i].text);
        if ((size_t)(end - at) >= *len && memcmp(at, entities[i].text, *len) == 0) {
            return entities[i].stands_for;
        }
    }
    return 0;
}

/* Backslashes before bars go. The scratch buffer has room for the line. */
static void unescape(struct markdown_row *row, struct csv_cell *cell)
{
    size_t start = row->scratch.len;
    const char *end = cell->text + cell->len;
    for (const char *at = cell->text; at < end; at++) {
        size_t len = 0;
        char meant = markdown_entity_at(at, end, &len);
        if (meant != 0) {
            buf_putc(&row->scratch, meant);
            at += len - 1;
            continue;
        }
        at += *at == '\\' && at + 1 < end && at[1] == '|';
        buf_putc(&row->scratch, *at);
    }
    cell->text = row->scratch.ptr + start;
    cell->len = row->scratch.len - start;
}

static bool finish_cells(struct markdown_row *row, size_t line_len)
{
    bool has_room = false;
    buf_clear(&row->scratch);
    for (size_t i = 0; i < row->cell_count; i++) {
        struct csv_cell *cell = &row->cells[i];
        *cell = csv_trim(*cell);
        if (cell->len == 0 || (memchr(cell->text, '\\', cell->len) == NULL &&
                               memchr(cell->text, '&', cell->len) == NULL)) {
            continue;
        }
        /* The whole room at once, so that the texts do not move. */
        if (!has_room && buf_reserve(&row->scratch, line_len + 1) == NULL) {
            return false;
        }
        has_room = true;
        unescape(row, cell);
    }
    return !row->scratch.failed;
}

bool markdown_row_split(struct markdown_row *row, const char *line, size_t len, size_t columns)
{
    struct csv_cell whole = csv_trim((struct csv_cell){.text = line, .len = len});
    const char *at = whole.text + 1;
    const char *end = whole.text + whole.len;
    const char *bar;
    row->cell_count = 0;
    for (; (bar = next_bar(at, end)) != NULL; at = bar + 1) {
        if (!add_cell(row, at, bar)) {
            return false;
        }
    }
    if (at != end) {
        row->cell_count = 0;
    }
    if (columns > 0 && row->cell_count > columns) {
        join_first(row, columns);
    }
    return finish_cells(row, len);
}

bool markdown_row_is_rule(const struct markdown_row *row)
{
    for (size_t i = 0; i < row->cell_count; i++) {
        const struct csv_cell *cell = &row->cells[i];
        if (cell->len < 2) {
            return false;
        }
        for (size_t j = 0; j < cell->len; j++) {
            if (cell->text[j] != '-' && cell->text[j] != ':') {
                return false;
            }
        }
    }
    return row->cell_count > 0;
}
