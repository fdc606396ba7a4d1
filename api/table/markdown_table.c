#include "api/table/markdown_table.h"

#include "ingest/base/text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_PADDING 2
/* The largest double with two decimals and separators, and some air. */
#define NUMBER_BYTES 480
#define NO_DECIMALS (-1)

enum number_kind { NUMBER_INT, NUMBER_FLOAT, NUMBER_NONE };

struct column {
    enum number_kind kind;
    long decimals; /* most digits behind the point of a cell */
    size_t width;
};

/* ---- texts ---- */

void markdown_table_line(struct buf *out, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        uint32_t point;
        size_t len = utf8_decode(text, left, &point);
        if (point == UTF8_INVALID) {
            buf_puts(out, "\xEF\xBF\xBD");
        } else if (point < 0x20 || (point >= 0x7F && point < 0xA0)) {
            buf_putc(out, ' ');
        } else {
            buf_append(out, text, len);
        }
        text += len;
        left -= len;
    }
}

void markdown_table_thousands(struct buf *out, double value)
{
    char text[NUMBER_BYTES];
    if (!isfinite(value)) {
        buf_puts(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    (void)snprintf(text, sizeof text, "%.2f", value);
    const char *digits = text + (*text == '-');
    size_t count = strcspn(digits, ".");
    buf_append(out, text, (size_t)(digits - text));
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) {
            buf_putc(out, ',');
        }
        buf_putc(out, digits[i]);
    }
    buf_puts(out, digits + count);
}

bool markdown_table_scaled(struct buf *out, double value, const char *unit)
{
    static const struct {
        const char *unit, *shown;
        double size;
    } scales[] = {{"ns", "s", 1e9},         {"ns", "ms", 1e6},        {"ns", "us", 1e3},
                  {"bytes", "GiB", 0x1p30}, {"bytes", "MiB", 0x1p20}, {"bytes", "KiB", 0x1p10}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        if (strcmp(scales[i].unit, unit) == 0 && fabs(value) >= scales[i].size) {
            buf_printf(out, "%.4g %s", value / scales[i].size, scales[i].shown);
            return true;
        }
    }
    return false;
}

static size_t count_points(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return count;
}

/* ---- numbers ---- */

static enum number_kind kind_of(const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    size_t digits = strspn(at, "0123456789");
    at += digits;
    if (*at == '\0' && digits > 0) {
        return NUMBER_INT;
    }
    if (strcmp(text, "nan") == 0 || strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0) {
        return NUMBER_FLOAT;
    }
    if (*at == '.') {
        size_t behind = strspn(at + 1, "0123456789");
        digits += behind;
        at += 1 + behind;
    }
    if (*at == 'e' && digits > 0) {
        at += 1 + (at[1] == '-' || at[1] == '+');
        size_t exponent = strspn(at, "0123456789");
        digits = exponent;
        at += exponent;
    }
    return digits > 0 && *at == '\0' ? NUMBER_FLOAT : NUMBER_NONE;
}

static long decimals_of(const char *text)
{
    if (kind_of(text) != NUMBER_FLOAT) {
        return NO_DECIMALS;
    }
    const char *point = strchr(text, '.');
    point = point == NULL ? strchr(text, 'e') : point;
    return point == NULL ? NO_DECIMALS : (long)strlen(point + 1);
}

/* ---- cells ---- */

static void strip(struct buf *text, size_t from)
{
    while (text->len > from && text->ptr[text->len - 1] == ' ') {
        text->ptr[--text->len] = '\0';
    }
    size_t lead = strspn(text->ptr + from, " ");
    if (lead > 0) {
        text->len -= lead;
        memmove(text->ptr + from, text->ptr + from + lead, text->len - from + 1);
    }
}

/* A bar would end the cell; so would one whose backslash is escaped by another before it. */
static void escape_bars(struct buf *out, const char *text)
{
    char before = '\0';
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            buf_puts(out, before == '\\' ? "&#124;" : "\\|");
        } else {
            buf_putc(out, *text);
        }
        before = *text;
    }
}

/* Whether the "&" here begins an entity, which would be read as another character. */
static bool begins_entity(const char *text)
{
    static const char word[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *name = text + 1 + (text[1] == '#');
    size_t len = strspn(name, word);
    return len > 0 && name[len] == ';';
}

/* What stands for one character of a text, which would begin an element, an address or a link;
 * NULL: the character itself. Renderers disagree on which "<" begin an element (`<int onclick=…>`,
 * `<at::Half>`), so all of them are replaced. `formats/markdown_row` reads these entities back. */
static const char *entity_of(const char *text)
{
    switch (*text) {
    case '<':
        return "&lt;";
    case ']':
        return text[1] == '(' ? "&#93;" : NULL;
    case '&':
        return begins_entity(text) ? "&amp;" : NULL;
    case ':':
        return strncmp(text, "://", 3) == 0 ? "&#58;" : NULL;
    default:
        return NULL;
    }
}

void markdown_table_text(struct buf *out, const char *text)
{
    struct buf line;
    buf_init(&line, out->max_bytes);
    markdown_table_line(&line, text);
    for (const char *at = line.len == 0 ? "" : line.ptr; *at != '\0'; at++) {
        const char *entity = entity_of(at);
        if (entity != NULL) {
            buf_puts(out, entity);
        } else {
            buf_putc(out, *at);
        }
    }
    buf_free(&line);
}

void markdown_table_cell(struct buf *out, const char *text)
{
    struct buf line;
    buf_init(&line, out->max_bytes);
    markdown_table_text(&line, text);
    escape_bars(out, line.len == 0 ? "" : line.ptr);
    buf_free(&line);
}

/* The raw text of a cell into `raw`. */
static const char *
raw_cell(const struct markdown_table *table, size_t row, size_t column, struct buf *raw)
{
    buf_clear(raw);
    table->cell(table->ctx, row, column, raw);
    return raw->ptr;
}

/* The text of a cell as printed, without padding, into `shown`. */
static void show_cell(const struct markdown_table *table,
                      const struct column *column,
                      const char *raw,
                      enum markdown_table_column type,
                      struct buf *shown)
{
    buf_clear(shown);
    if (column->kind == NUMBER_FLOAT) {
        double value = strtod(raw, NULL);
        if (table->floats == MARKDOWN_TABLE_THOUSANDS) {
            markdown_table_thousands(shown, value);
        } else {
            buf_printf(shown, "%g", value);
        }
    } else if (type == MARKDOWN_TABLE_NAME) {
        markdown_table_cell(shown, raw);
        strip(shown, 0);
    } else {
        buf_puts(shown, raw);
        strip(shown, 0);
    }
}

static void put_blanks(struct buf *out, size_t count)
{
    static const char blanks[] = "                                                                ";
    while (count > 0) {
        size_t run = count < sizeof blanks - 1 ? count : sizeof blanks - 1;
        buf_append(out, blanks, run);
        count -= run;
    }
}

/* ---- the table ---- */

struct scratch {
    struct buf raw;
    struct buf shown;
};

static enum number_kind
column_kind(const struct markdown_table *table, size_t column, struct scratch *scratch)
{
    enum number_kind kind = NUMBER_INT;
    if (table->columns[column] == MARKDOWN_TABLE_NAME || table->row_count == 0) {
        return NUMBER_NONE;
    }
    for (size_t row = 0; row < table->row_count && kind != NUMBER_NONE; row++) {
        enum number_kind here = kind_of(raw_cell(table, row, column, &scratch->raw));
        kind = here > kind ? here : kind;
    }
    return kind;
}

static struct column
measure(const struct markdown_table *table, size_t column, struct scratch *scratch)
{
    const char *header = table->headers[column];
    struct column out = {.kind = column_kind(table, column, scratch), .decimals = NO_DECIMALS};
    out.width = count_points(header, strlen(header)) + HEADER_PADDING;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < table->row_count; row++) {
            const char *raw = raw_cell(table, row, column, &scratch->raw);
            show_cell(table, &out, raw, table->columns[column], &scratch->shown);
            bool is_number = out.kind != NUMBER_NONE;
            long decimals = is_number ? decimals_of(scratch->shown.ptr) : NO_DECIMALS;
            if (pass == 0) {
                out.decimals = decimals > out.decimals ? decimals : out.decimals;
                continue;
            }
            size_t width = count_points(scratch->shown.ptr, scratch->shown.len) +
                           (size_t)(is_number ? out.decimals - decimals : 0);
            out.width = width > out.width ? width : out.width;
        }
    }
    return out;
}

/* " text " padded to the width on the side of its column. */
static void put_cell(struct buf *out, const struct column *column, const char *text, size_t behind)
{
    size_t used = count_points(text, strlen(text)) + behind;
    size_t padding = column->width > used ? column->width - used : 0;
    buf_putc(out, ' ');
    put_blanks(out, column->kind == NUMBER_NONE ? 0 : padding);
    buf_puts(out, text);
    put_blanks(out, behind + (column->kind == NUMBER_NONE ? padding : 0));
    buf_puts(out, " |");
}

static void put_rule(struct buf *out, const struct column *columns, size_t count)
{
    buf_putc(out, '|');
    for (size_t i = 0; i < count; i++) {
        bool is_text = columns[i].kind == NUMBER_NONE;
        buf_puts(out, is_text ? ":" : "");
        for (size_t k = 0; k < columns[i].width + 1; k++) {
            buf_putc(out, '-');
        }
        buf_puts(out, is_text ? "|" : ":|");
    }
    buf_putc(out, '\n');
}

static void put_rows(struct buf *out,
                     const struct markdown_table *table,
                     const struct column *columns,
                     struct scratch *scratch)
{
    for (size_t row = 0; row < table->row_count && !out->failed; row++) {
        buf_putc(out, '|');
        for (size_t i = 0; i < table->column_count; i++) {
            const char *raw = raw_cell(table, row, i, &scratch->raw);
            show_cell(table, &columns[i], raw, table->columns[i], &scratch->shown);
            bool is_number = columns[i].kind != NUMBER_NONE;
            long behind = is_number ? columns[i].decimals - decimals_of(scratch->shown.ptr) : 0;
            put_cell(out, &columns[i], scratch->shown.ptr, (size_t)behind);
        }
        buf_putc(out, '\n');
    }
}

void markdown_table_write(struct buf *out, const struct markdown_table *table)
{
    struct column *columns = calloc(table->column_count, sizeof *columns);
    struct scratch scratch;
    buf_init(&scratch.raw, out->max_bytes);
    buf_init(&scratch.shown, out->max_bytes);
    if (columns == NULL) {
        out->failed = true;
        return;
    }
    buf_putc(out, '|');
    for (size_t i = 0; i < table->column_count; i++) {
        columns[i] = measure(table, i, &scratch);
        put_cell(out, &columns[i], table->headers[i], 0);
    }
    buf_putc(out, '\n');
    put_rule(out, columns, table->column_count);
    put_rows(out, table, columns, &scratch);
    out->failed = out->failed || scratch.raw.failed || scratch.shown.failed;
    buf_free(&scratch.raw);
    buf_free(&scratch.shown);
    free(columns);
}
