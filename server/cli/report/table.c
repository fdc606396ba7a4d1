#include "server/cli/report/table.h"

#include "server/cli/text.h"

#include <string.h>

void report_table_init(struct report_table *table,
                       struct arena *arena,
                       const struct report_column *columns)
{
    table->arena = arena;
    table->column_count = 0;
    table->cell_count = 0;
    for (; columns->head != NULL; columns++) {
        if (columns->head[0] != '\0') {
            table->heads[table->column_count] = columns->head;
            table->is_text[table->column_count++] = columns->is_text;
        }
    }
}

void report_table_cell(struct report_table *table, const char *text)
{
    size_t row = table->cell_count / table->column_count;
    if (row < REPORT_TABLE_ROWS_MAX) {
        const char *copy = arena_strdup(table->arena, text);
        table->cells[row][table->cell_count % table->column_count] = copy == NULL ? "" : copy;
        table->cell_count++;
    }
}

static void pad(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_putc(out, ' ');
    }
}

/* Whether a text that stands where a block may begin would begin one: a heading, a list, a block of
 * code. */
static bool begins_block(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    char mark = text[digits];
    char behind = '\0';
    if (mark != '\0') {
        behind = text[digits + 1];
    }
    bool is_bullet = digits == 0 && (mark == '-' || mark == '+') && behind == ' ';
    bool is_heading = digits == 0 && mark == '#';
    bool is_number =
        digits > 0 && (mark == '.' || mark == ')') && (behind == ' ' || behind == '\0');
    return *text == ' ' || is_bullet || is_heading || is_number;
}

/* Not every renderer takes a backslash before "<" and "&". */
void report_table_markdown(struct buf *out, const char *text)
{
    if (begins_block(text)) {
        buf_printf(out, "&#%d;", *text);
        text++;
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '<' || *c == '&') {
            buf_puts(out, *c == '<' ? "&lt;" : "&amp;");
            continue;
        }
        if (*c == ':' && strncmp(c, "://", 3) == 0) {
            buf_puts(out, "&#58;");
            continue;
        }
        if (strchr("|\\`*_>[]", *c) != NULL) {
            buf_putc(out, '\\');
        }
        buf_putc(out, *c);
    }
}

static void
write_markdown_row(const struct report_table *table, const char *const *cells, struct buf *out)
{
    buf_putc(out, '|');
    for (size_t column = 0; column < table->column_count; column++) {
        buf_putc(out, ' ');
        report_table_markdown(out, cells[column]);
        buf_puts(out, " |");
    }
    buf_putc(out, '\n');
}

static void write_markdown(const struct report_table *table, size_t rows, struct buf *out)
{
    write_markdown_row(table, table->heads, out);
    buf_putc(out, '|');
    for (size_t column = 0; column < table->column_count; column++) {
        buf_puts(out, table->is_text[column] ? "---|" : "---:|");
    }
    buf_putc(out, '\n');
    for (size_t row = 0; row < rows; row++) {
        write_markdown_row(table, table->cells[row], out);
    }
}

static void write_text_row(const struct report_table *table,
                           const char *const *cells,
                           const size_t *widths,
                           struct buf *out)
{
    for (size_t column = 0; column < table->column_count; column++) {
        size_t room = widths[column] - text_width(cells[column]);
        bool last = column + 1 == table->column_count;
        buf_puts(out, "  ");
        if (!table->is_text[column]) {
            pad(out, room);
        }
        buf_puts(out, cells[column]);
        if (table->is_text[column] && !last) {
            pad(out, room);
        }
    }
    buf_putc(out, '\n');
}

static void write_text(const struct report_table *table, size_t rows, struct buf *out)
{
    size_t widths[REPORT_TABLE_COLUMNS_MAX] = {0};
    for (size_t column = 0; column < table->column_count; column++) {
        widths[column] = text_width(table->heads[column]);
        for (size_t row = 0; row < rows; row++) {
            size_t width = text_width(table->cells[row][column]);
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    write_text_row(table, table->heads, widths, out);
    for (size_t row = 0; row < rows; row++) {
        write_text_row(table, table->cells[row], widths, out);
    }
}

void report_table_write(const struct report_table *table, bool markdown, struct buf *out)
{
    size_t rows = table->cell_count / table->column_count;
    if (markdown) {
        write_markdown(table, rows, out);
    } else {
        write_text(table, rows, out);
    }
}
