#include "ingest/formats/ascend/csv.h"

#include "ingest/base/saturating.h"
#include "ingest/formats/json/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CELLS_MAX 256
#define FRACTION_DIGITS 12
#define EXPONENT_MAX 40

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct ascend_csv ascend_csv_of(const char *bytes, size_t len)
{
    return (struct ascend_csv){.at = bytes, .end = bytes + len, .line = 1};
}

void ascend_csv_cell(struct ascend_csv *csv, struct ascend_cell *cell, bool *is_last)
{
    size_t len = 0;
    bool is_quoted = false;
    for (; csv->at < csv->end; csv->at++) {
        char c = *csv->at;
        csv->line += c == '\n';
        if (c == '"') {
            is_quoted = !is_quoted;
            continue;
        }
        if (!is_quoted && (c == ',' || c == '\n')) {
            break;
        }
        if (len < sizeof cell->text - 1 && (len > 0 || !is_blank(c))) {
            cell->text[len++] = c;
        }
    }
    while (len > 0 && is_blank(cell->text[len - 1])) {
        len--;
    }
    cell->text[len] = '\0';
    *is_last = csv->at >= csv->end || *csv->at == '\n';
    csv->at += csv->at < csv->end;
}

static bool is_blank_line(struct ascend_csv *csv)
{
    const char *at = csv->at;
    while (at < csv->end && is_blank(*at)) {
        at++;
    }
    return at < csv->end && *at == '\n';
}

static void skip_blank_lines(struct ascend_csv *csv)
{
    struct ascend_cell cell;
    bool is_last;
    while (is_blank_line(csv)) {
        ascend_csv_cell(csv, &cell, &is_last);
    }
}

static bool read_header(struct ascend_csv *csv,
                        const char *bytes,
                        size_t len,
                        const struct ascend_columns *columns,
                        struct ascend_fault *fault)
{
    bool is_last = len == 0;
    struct ascend_cell cell;
    *csv = ascend_csv_of(bytes, len);
    if (len >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0)) {
        (void)snprintf(fault->text, sizeof fault->text, "text in UTF-16: save it as UTF-8");
        return false;
    }
    while (csv->column_count < ASCEND_COLUMNS_MAX && columns->names[csv->column_count] != NULL) {
        csv->column_of[csv->column_count++] = -1;
    }
    for (int at = 0; !is_last && at < CELLS_MAX; at++) {
        ascend_csv_cell(csv, &cell, &is_last);
        csv->cell_count++;
        for (size_t i = 0; i < csv->column_count; i++) {
            bool is_it = strcasecmp(cell.text, columns->names[i]) == 0;
            csv->column_of[i] = is_it ? at : csv->column_of[i];
        }
    }
    for (size_t i = 0; i < columns->needed; i++) {
        if (csv->column_of[i] < 0) {
            (void)snprintf(fault->text, sizeof fault->text, "line 1: no column %s",
                           columns->names[i]);
            return false;
        }
    }
    return true;
}

/* ---- damage ---- */

static bool is_number(const char *text)
{
    static const char others[] = "eE+-.";
    size_t digits = 0;
    const char *at = text + (*text == '-' || *text == '+');
    for (; json_is_digit(*at) || (*at != '\0' && strchr(others, *at) != NULL); at++) {
        digits += json_is_digit(*at);
    }
    return *text == '\0' || strcmp(text, "N/A") == 0 || (*at == '\0' && digits > 0);
}

/* The first of the wanted columns that stands at `at`, or behind it. */
static size_t wanted_at(const struct ascend_csv *csv, int at, bool is_behind, size_t count)
{
    size_t found = count;
    for (size_t i = 0; i < count; i++) {
        bool fits = is_behind ? csv->column_of[i] > at : csv->column_of[i] == at;
        bool is_nearer = found == count || csv->column_of[i] < csv->column_of[found];
        found = fits && is_nearer ? i : found;
    }
    return found;
}

static bool say(const struct ascend_csv *csv,
                size_t column,
                const struct ascend_columns *columns,
                const char *what,
                int line,
                struct ascend_fault *fault)
{
    (void)snprintf(fault->text, sizeof fault->text, "line %d, column %d (%s): %s", line,
                   csv->column_of[column] + 1, columns->names[column], what);
    return false;
}

/* Longer cells are texts. */
static bool
check_row(struct ascend_csv *csv, const struct ascend_columns *columns, struct ascend_fault *fault)
{
    bool is_last = false;
    int line = csv->line;
    struct ascend_cell cell;
    int at = 0;
    for (; !is_last; at++) {
        ascend_csv_cell(csv, &cell, &is_last);
        size_t column = wanted_at(csv, at, false, csv->column_count);
        if (column < csv->column_count && (columns->numbers >> column & 1) != 0 &&
            !is_number(cell.text)) {
            return say(csv, column, columns, "no number", line, fault);
        }
    }
    size_t missing = wanted_at(csv, at - 1, true, columns->needed);
    if (missing < columns->needed) {
        return say(csv, missing, columns, "the line ends before it", line, fault);
    }
    if (at < csv->cell_count && csv->at[-1] != '\n') { /* the table's last line */
        (void)snprintf(fault->text, sizeof fault->text,
                       "line %d, column %d: the table ends within the line", line, at);
        return false;
    }
    return true;
}

bool ascend_csv_open(struct ascend_csv *csv,
                     const char *bytes,
                     size_t len,
                     const struct ascend_columns *columns,
                     struct ascend_fault *fault)
{
    if (!read_header(csv, bytes, len, columns, fault)) {
        return false;
    }
    struct ascend_csv rows = *csv;
    bool ok = true;
    for (skip_blank_lines(&rows); ok && rows.at < rows.end; skip_blank_lines(&rows)) {
        ok = check_row(&rows, columns, fault);
    }
    return ok;
}

/* ---- rows ---- */

bool ascend_csv_next(struct ascend_csv *csv, struct ascend_cell cells[ASCEND_COLUMNS_MAX])
{
    bool is_last = false;
    struct ascend_cell cell;
    skip_blank_lines(csv);
    if (csv->at >= csv->end) {
        return false;
    }
    for (size_t i = 0; i < csv->column_count; i++) {
        cells[i].text[0] = '\0';
    }
    for (int at = 0; !is_last; at++) {
        ascend_csv_cell(csv, &cell, &is_last);
        for (size_t i = 0; i < csv->column_count; i++) {
            if (csv->column_of[i] == at) {
                cells[i] = cell;
            }
        }
    }
    return true;
}

/* ---- numbers ---- */

/* The digits of a decimal as one number, and how many of them stand behind the point. */
struct decimal {
    uint64_t digits;
    int scale;
    bool is_negative;
};

static struct decimal read_decimal(const char *text, size_t len)
{
    struct decimal out = {.is_negative = len > 0 && *text == '-'};
    bool is_fraction = false;
    size_t at = out.is_negative ? 1 : 0;
    for (; at < len && (json_is_digit(text[at]) || (text[at] == '.' && !is_fraction)); at++) {
        if (text[at] == '.') {
            is_fraction = true;
        } else if (out.digits < UINT64_MAX / 100) {
            out.digits = out.digits * 10 + (uint64_t)(text[at] - '0');
            out.scale += is_fraction;
        } else {
            out.scale -= !is_fraction;
        }
    }
    if (at + 1 < len && (text[at] == 'e' || text[at] == 'E')) {
        int64_t exponent = 0;
        bool has_plus = text[at + 1] == '+';
        if (json_text_parse_int(text + at + 1 + has_plus, len - at - 1 - has_plus, &exponent)) {
            out.scale -= (int)i64_max(-EXPONENT_MAX, i64_min(exponent, EXPONENT_MAX));
        }
    }
    return out;
}

int64_t ascend_scaled(const char *text, size_t len, int64_t factor)
{
    struct decimal decimal = read_decimal(text, len);
    uint64_t unit = 1;
    for (; decimal.scale > FRACTION_DIGITS; decimal.scale--) {
        decimal.digits /= 10;
    }
    for (; decimal.scale < 0 && decimal.digits < UINT64_MAX / 100; decimal.scale++) {
        decimal.digits *= 10;
    }
    for (int i = 0; i < decimal.scale; i++) {
        unit *= 10;
    }
    uint64_t part = (decimal.digits % unit * (uint64_t)factor + unit / 2) / unit;
    int64_t value =
        saturating_add(saturating_mul((int64_t)(decimal.digits / unit), factor), (int64_t)part);
    return decimal.is_negative ? saturating_sub(0, value) : value;
}

int64_t ascend_us(const char *text, size_t len, int64_t none)
{
    const struct json_value value = {.ptr = text, .len = (uint32_t)len, .kind = JSON_KIND_STRING};
    int64_t ns = 0;
    bool is_decimal = false;
    return len > 0 && json_text_time(&value, &ns, &is_decimal) == JSON_TIME_OK ? ns : none;
}
