/* What cells of a table say: numbers and missing values. */
#include "ingest/base/text/affix.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/json/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PANDAS_DIGITS 17
#define DECIMAL_EXPONENT_MAX 308
#define EXPONENT_MAX 10000 /* counted no further: beyond doubles, whatever the digits are */
#define PRINTED_BYTES_MAX 400

bool csv_is_missing(const struct csv_cell *cell)
{
    static const char *const words[] = {
        "",         "N/A",    "NA",      "nan",     "NaN",      "null", "NULL",
        "None",     "n/a",    "<NA>",    "#N/A",    "#NA",      "-nan", "-NaN",
        "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
    };
    if (cell->len > strlen("-1.#QNAN")) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (csv_cell_equals(cell, words[i])) {
            return true;
        }
    }
    return false;
}

static bool skip_sign(const char **at, const char *end)
{
    bool is_negative = *at < end && **at == '-';
    *at += *at < end && (**at == '-' || **at == '+');
    return is_negative;
}

static bool is_infinity(const char *at, const char *end)
{
    static const char *const words[] = {"inf", "infinity"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i]);
        size_t same = 0;
        while (same < len && at + same < end && text_lower(at[same]) == words[i][same]) {
            same++;
        }
        if (same == len && at + len == end) {
            return true;
        }
    }
    return false;
}

struct decimal {
    double digits;
    int digit_count;
    int exponent;
};

/* Digits before and behind the point; false: there are none. */
static bool read_digits(const char **at, const char *end, struct decimal *decimal)
{
    const char *first = *at;
    for (; *at < end && json_is_digit(**at); (*at)++) {
        if (decimal->digit_count < PANDAS_DIGITS) {
            decimal->digits = decimal->digits * 10 + (**at - '0');
            decimal->digit_count++;
        } else if (decimal->exponent <= EXPONENT_MAX) {
            decimal->exponent++;
        }
    }
    bool has_digits = *at > first;
    if (*at == end || **at != '.') {
        return has_digits;
    }
    for ((*at)++; *at < end && json_is_digit(**at); (*at)++) {
        has_digits = true;
        if (decimal->digit_count < PANDAS_DIGITS) {
            decimal->digits = decimal->digits * 10 + (**at - '0');
            decimal->digit_count++;
            decimal->exponent--;
        }
    }
    return has_digits;
}

/* An exponent, if there is one; false: an "e" without digits. */
static bool read_exponent(const char **at, const char *end, struct decimal *decimal)
{
    if (*at == end || text_lower(**at) != 'e') {
        return true;
    }
    (*at)++;
    bool is_negative = skip_sign(at, end);
    const char *first = *at;
    int exponent = 0;
    for (; *at < end && json_is_digit(**at); (*at)++) {
        exponent = exponent > EXPONENT_MAX ? exponent : exponent * 10 + (**at - '0');
    }
    decimal->exponent += is_negative ? -exponent : exponent;
    return *at > first;
}

/* 10^exponent for 0 to DECIMAL_EXPONENT_MAX, each the double nearest to it. */
static double power_of_ten(int exponent)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if ((size_t)exponent < sizeof exact / sizeof exact[0]) {
        return exact[exponent];
    }
    const char text[] = {'1',
                         'e',
                         (char)('0' + exponent / 100),
                         (char)('0' + exponent / 10 % 10),
                         (char)('0' + exponent % 10),
                         '\0'};
    return strtod(text, NULL);
}

static double scale(const struct decimal *decimal)
{
    int exponent = decimal->exponent;
    if (exponent > DECIMAL_EXPONENT_MAX) {
        return decimal->digits == 0 ? 0 : HUGE_VAL;
    }
    if (exponent >= 0) {
        return decimal->digits * power_of_ten(exponent);
    }
    if (exponent >= -DECIMAL_EXPONENT_MAX) {
        return decimal->digits / power_of_ten(-exponent);
    }
    int rest = -DECIMAL_EXPONENT_MAX - exponent;
    rest = rest < DECIMAL_EXPONENT_MAX ? rest : DECIMAL_EXPONENT_MAX;
    return decimal->digits / power_of_ten(rest) / power_of_ten(DECIMAL_EXPONENT_MAX);
}

bool csv_number(const struct csv_cell *cell, double *number)
{
    struct csv_cell trimmed = csv_trim(*cell);
    const char *at = trimmed.text;
    const char *end = at + trimmed.len;
    bool is_negative = skip_sign(&at, end);
    struct decimal decimal = {.digits = 0};
    if (is_infinity(at, end)) {
        *number = is_negative ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    if (!read_digits(&at, end, &decimal) || !read_exponent(&at, end, &decimal) || at != end) {
        return false;
    }
    double value = scale(&decimal);
    if (isinf(value)) {
        return false;
    }
    *number = is_negative ? -value : value;
    return true;
}

/* Copies a number without its thousands separators, which stand before groups of three digits
 * only. False: it is none that printf could have printed. */
static bool copy_printed(const char *at, const char *end, char *out)
{
    size_t group = 0; /* digits since the last separator */
    bool has_separator = false;
    bool is_whole = true;
    for (; at < end; at++) {
        bool is_end_of_group = is_whole && !json_is_digit(*at);
        if (is_end_of_group && has_separator && group != 3) {
            return false;
        }
        if (*at == ',' && (!is_whole || group == 0 || group > 3)) {
            return false;
        }
        if (*at == ',') {
            has_separator = true;
            group = 0;
            continue;
        }
        is_whole = is_whole && json_is_digit(*at);
        group += is_whole;
        *out++ = *at;
    }
    *out = '\0';
    return !is_whole || !has_separator || group == 3;
}

/* strtod also reads hexadecimal, inf and nan. */
static bool is_decimal_text(const char *text)
{
    bool has_digit = false;
    for (; *text != '\0'; text++) {
        has_digit = has_digit || json_is_digit(*text);
        if (!json_is_digit(*text) && strchr(".eE+-", *text) == NULL) {
            return false;
        }
    }
    return has_digit;
}

bool csv_printed_number(const struct csv_cell *cell, double *number)
{
    struct csv_cell trimmed = csv_trim(*cell);
    const char *at = trimmed.text;
    const char *end = at + trimmed.len;
    char text[PRINTED_BYTES_MAX];
    char *stop;
    bool is_negative = skip_sign(&at, end);
    if (at == end || end - at >= PRINTED_BYTES_MAX || *at == '+' || *at == '-' ||
        !copy_printed(at, end, text) || !is_decimal_text(text)) {
        return false;
    }
    double value = strtod(text, &stop);
    if (*stop != '\0' || isinf(value)) {
        return false;
    }
    *number = is_negative ? -value : value;
    return true;
}

bool csv_integer(const struct csv_cell *cell, int64_t *number)
{
    struct csv_cell trimmed = csv_trim(*cell);
    const char *at = trimmed.text;
    const char *end = at + trimmed.len;
    char text[PRINTED_BYTES_MAX];
    bool is_negative = skip_sign(&at, end);
    if (at == end || end - at >= PRINTED_BYTES_MAX || !copy_printed(at, end, text) ||
        !json_is_digit(*text)) {
        return false;
    }
    uint64_t value = 0;
    const char *digit = text;
    for (; json_is_digit(*digit); digit++) {
        if (value > (INT64_MAX - (uint64_t)(*digit - '0')) / 10) {
            return false;
        }
        value = value * 10 + (uint64_t)(*digit - '0');
    }
    const char *fraction = *digit == '.' ? digit + 1 : digit;
    fraction += strspn(fraction, "0");
    if (*fraction != '\0') {
        return false;
    }
    *number = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}
