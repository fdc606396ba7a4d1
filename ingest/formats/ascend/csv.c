#include "ingest/formats/ascend/csv.h"

#include "ingest/base/saturating.h"
#include "ingest/formats/json/text.h"

#include <string.h>

#define CELLS_MAX 256
#define FRACTION_DIGITS 12
#define EXPONENT_MAX 40

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Takes a cell; *is_last: the row ends behind it. */
static void take_cell(struct ascend_csv *csv, struct ascend_cell *cell, bool *is_last)
{
    size_t len = 0;
    bool is_quoted = false;
    for (; csv->at < csv->end; csv->at++) {
        char c = *csv->at;
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

bool ascend_csv_open(struct ascend_csv *csv,
                     const char *bytes,
                     size_t len,
                     const char *const *columns,
                     size_t needed)
{
    static const char mark[] = "\xEF\xBB\xBF";
    bool has_mark = len >= 3 && memcmp(bytes, mark, 3) == 0;
    bool is_last = len == 0;
    struct ascend_cell cell;
    *csv = (struct ascend_csv){.at = bytes + (has_mark ? 3 : 0), .end = bytes + len};
    while (csv->column_count < ASCEND_COLUMNS_MAX && columns[csv->column_count] != NULL) {
        csv->column_of[csv->column_count++] = -1;
    }
    for (int at = 0; !is_last && at < CELLS_MAX; at++) {
        take_cell(csv, &cell, &is_last);
        for (size_t i = 0; i < csv->column_count; i++) {
            csv->column_of[i] = strcmp(cell.text, columns[i]) == 0 ? at : csv->column_of[i];
        }
    }
    for (size_t i = 0; i < needed; i++) {
        if (csv->column_of[i] < 0) {
            return false;
        }
    }
    return true;
}

bool ascend_csv_next(struct ascend_csv *csv, struct ascend_cell cells[ASCEND_COLUMNS_MAX])
{
    bool is_last = false;
    struct ascend_cell cell;
    if (csv->at >= csv->end) {
        return false;
    }
    for (size_t i = 0; i < csv->column_count; i++) {
        cells[i].text[0] = '\0';
    }
    for (int at = 0; !is_last; at++) {
        take_cell(csv, &cell, &is_last);
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
