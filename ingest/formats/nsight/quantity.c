#include "ingest/formats/nsight/quantity.h"

#include "ingest/formats/csv/scan.h"
#include "ingest/formats/json/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES_MAX 64
/* 2^63: the first double that no int64 holds */
#define NS_END 9223372036854775808.0

/* ---- numbers ---- */

/* The length of the separator at `at`, which is no point or comma: blanks of all widths that
 * locales use, and apostrophes; 0: there is none. */
static size_t separator_len(const char *at, const char *end)
{
    static const char *const separators[] = {
        " ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89", "\xE2\x80\x99",
    };
    for (size_t i = 0; i < sizeof separators / sizeof separators[0]; i++) {
        size_t len = strlen(separators[i]);
        if ((size_t)(end - at) >= len && memcmp(at, separators[i], len) == 0) {
            return len;
        }
    }
    return 0;
}

/* A number taken apart: digits with separators, and an exponent as it stands. */
struct printed {
    const char *begin; /* behind the sign */
    const char *end;   /* of the digits */
    bool is_negative;
    unsigned points;
    unsigned commas;
    const char *last_point;
    const char *last_comma;
};

static bool take_apart(const char *text, size_t len, struct printed *out)
{
    const char *end = text + len;
    *out = (struct printed){.is_negative = len > 0 && *text == '-'};
    text += len > 0 && (*text == '-' || *text == '+');
    out->begin = text;
    bool has_digit = false;
    while (text < end && *text != 'e' && *text != 'E') {
        size_t blank = separator_len(text, end);
        if (*text == '.') {
            out->points++;
            out->last_point = text;
        } else if (*text == ',') {
            out->commas++;
            out->last_comma = text;
        } else if (json_is_digit(*text)) {
            has_digit = true;
        } else if (blank == 0) {
            return false;
        }
        text += blank > 0 ? blank : 1;
    }
    out->end = text;
    return has_digit;
}

/* See the header: whether a single comma groups digits. */
static bool comma_groups(const struct printed *printed)
{
    const char *comma = printed->last_comma;
    size_t before = (size_t)(comma - printed->begin);
    size_t behind = (size_t)(printed->end - comma) - 1;
    return behind == 3 && before >= 1 && before <= 3 && *printed->begin != '0';
}

/* Where the decimal point is, or NULL; false: this is no number. */
static bool find_decimal_point(const struct printed *printed, const char **point)
{
    *point = NULL;
    if (printed->points > 0 && printed->commas > 0) {
        *point =
            printed->last_point > printed->last_comma ? printed->last_point : printed->last_comma;
        return (**point == '.' ? printed->points : printed->commas) == 1;
    }
    if (printed->points == 1) {
        *point = printed->last_point;
    } else if (printed->commas == 1 && !comma_groups(printed)) {
        *point = printed->last_comma;
    }
    return true;
}

/* The digits before `end` without their separators; false: they do not stand in threes. */
static bool copy_grouped(const char *at, const char *end, char *out, size_t *len)
{
    size_t group = 0;
    bool is_grouped = false;
    while (at < end) {
        if (json_is_digit(*at)) {
            if (*len >= NUMBER_BYTES_MAX) {
                return false;
            }
            out[(*len)++] = *at++;
            group++;
            continue;
        }
        size_t step = separator_len(at, end);
        if (group == 0 || group > 3 || (is_grouped && group != 3)) {
            return false;
        }
        at += step > 0 ? step : 1;
        is_grouped = true;
        group = 0;
    }
    return !is_grouped || group == 3;
}

static bool copy_rest(const char *at, const char *end, char *out, size_t *len)
{
    for (; at < end; at++) {
        if (*len >= NUMBER_BYTES_MAX) {
            return false;
        }
        out[(*len)++] = *at;
    }
    return true;
}

static bool is_plain(const char *at, const char *end, const char *others)
{
    for (; at < end; at++) {
        if (!json_is_digit(*at) && (*at == '\0' || strchr(others, *at) == NULL)) {
            return false;
        }
    }
    return true;
}

static bool read_number(const char *text, size_t len, double *value)
{
    struct printed printed;
    const char *point;
    char plain[NUMBER_BYTES_MAX + 2];
    size_t plain_len = 0;
    if (!take_apart(text, len, &printed) || !find_decimal_point(&printed, &point)) {
        return false;
    }
    const char *whole_end = point == NULL ? printed.end : point;
    if (!copy_grouped(printed.begin, whole_end, plain, &plain_len)) {
        return false;
    }
    if (point != NULL) {
        plain[plain_len++] = '.';
        if (!is_plain(point + 1, printed.end, "") ||
            !copy_rest(point + 1, printed.end, plain, &plain_len)) {
            return false;
        }
    }
    if (!is_plain(printed.end, text + len, "eE+-") ||
        !copy_rest(printed.end, text + len, plain, &plain_len)) {
        return false;
    }
    plain[plain_len] = '\0';
    char *stop;
    double number = strtod(plain, &stop);
    *value = printed.is_negative ? -number : number;
    return *stop == '\0' && isfinite(number);
}

static bool is_missing(const struct csv_cell *cell)
{
    static const char *const words[] = {"-", "--", "N.A.", "(!) n/a", "inf", "-inf", "Inf"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (csv_cell_equals(cell, words[i])) {
            return true;
        }
    }
    return csv_is_missing(cell);
}

enum quantity quantity_read(const char *text, size_t len, double *value)
{
    struct csv_cell cell = csv_trim((struct csv_cell){text, len});
    if (is_missing(&cell)) {
        return QUANTITY_MISSING;
    }
    if (cell.text[cell.len - 1] == '%') {
        cell.len--;
        cell = csv_trim(cell);
    }
    return read_number(cell.text, cell.len, value) ? QUANTITY_NUMBER : QUANTITY_NONE;
}

enum quantity quantity_read_integer(const char *text, size_t len, int64_t *value)
{
    double number;
    enum quantity quantity = quantity_read(text, len, &number);
    if (quantity != QUANTITY_NUMBER) {
        return quantity;
    }
    bool fits = number >= -NS_END && number < NS_END && number == floor(number);
    *value = fits ? (int64_t)number : 0;
    return fits ? QUANTITY_NUMBER : QUANTITY_NONE;
}

bool quantity_to_ns(double value, double unit_ns, int64_t *ns)
{
    double rounded = round(value * unit_ns);
    if (!(rounded >= 0) || rounded >= NS_END) {
        return false;
    }
    *ns = (int64_t)rounded;
    return true;
}

/* ---- units ---- */

struct unit {
    const char *name;
    double factor;
};

static double factor_of(const struct unit *units, size_t count, const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(units[i].name) == len && memcmp(units[i].name, name, len) == 0) {
            return units[i].factor;
        }
    }
    return 0;
}

double quantity_time_ns(const char *unit, size_t len)
{
    static const struct unit units[] = {
        {"ns", 1},          {"nsec", 1},          {"nsecond", 1},
        {"nanosecond", 1},  {"nseconds", 1},      {"us", 1e3},
        {"usec", 1e3},      {"usecond", 1e3},     {"\xC2\xB5s", 1e3},
        {"\xCE\xBCs", 1e3}, {"useconds", 1e3},    {"microsecond", 1e3},
        {"ms", 1e6},        {"msec", 1e6},        {"msecond", 1e6},
        {"mseconds", 1e6},  {"millisecond", 1e6}, {"s", 1e9},
        {"sec", 1e9},       {"second", 1e9},      {"seconds", 1e9},
    };
    return factor_of(units, sizeof units / sizeof units[0], unit, len);
}

double quantity_size_bytes(const char *unit, size_t len)
{
    static const struct unit units[] = {
        {"B", 1},       {"byte", 1},     {"bytes", 1},    {"KB", 1e3},        {"kB", 1e3},
        {"Kbyte", 1e3}, {"MB", 1e6},     {"Mbyte", 1e6},  {"GB", 1e9},        {"Gbyte", 1e9},
        {"TB", 1e12},   {"Tbyte", 1e12}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0},
    };
    return factor_of(units, sizeof units / sizeof units[0], unit, len);
}

static double frequency_hz(const char *unit, size_t len)
{
    static const struct unit units[] = {
        {"hz", 1},    {"Hz", 1},    {"Khz", 1e3}, {"KHz", 1e3}, {"kHz", 1e3},
        {"Mhz", 1e6}, {"MHz", 1e6}, {"Ghz", 1e9}, {"GHz", 1e9},
    };
    return factor_of(units, sizeof units / sizeof units[0], unit, len);
}

double quantity_base_unit(const char *unit, size_t len, char base[QUANTITY_UNIT_BYTES])
{
    const char *slash = memchr(unit, '/', len);
    size_t head_len = slash == NULL ? len : (size_t)(slash - unit);
    const char *tail = slash == NULL ? "" : slash + 1;
    size_t tail_len = slash == NULL ? 0 : len - head_len - 1;
    double time_ns = quantity_time_ns(unit, head_len);
    double size_bytes = quantity_size_bytes(unit, head_len);
    double hz = frequency_hz(unit, head_len);
    double per_ns = quantity_time_ns(tail, tail_len);
    const char *head = NULL;
    double factor = 1;
    if (slash == NULL && time_ns > 0) {
        head = "ns";
        factor = time_ns;
    } else if (size_bytes > 0) {
        head = "byte";
        factor = size_bytes;
    } else if (slash == NULL && hz > 0) {
        head = "hz";
        factor = hz;
    }
    int max = QUANTITY_UNIT_BYTES - 1;
    int head_bytes =
        head == NULL ? (int)(head_len < (size_t)max ? head_len : (size_t)max) : (int)strlen(head);
    int tail_bytes = tail_len < (size_t)max ? (int)tail_len : max;
    if (slash != NULL && per_ns > 0) {
        tail = "second";
        tail_bytes = (int)strlen(tail);
        factor *= 1e9 / per_ns;
    }
    (void)snprintf(base, QUANTITY_UNIT_BYTES, "%.*s%s%.*s", head_bytes, head == NULL ? unit : head,
                   slash == NULL ? "" : "/", tail_bytes, tail);
    return factor;
}
