#include "ingest/formats/json/text.h"

#include "ingest/base/text/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES_MAX 400
#define REPLACEMENT "\xEF\xBF\xBD"

/* --- strings --- */

static void append_code_point(struct buf *out, uint32_t c)
{
    char bytes[4];
    size_t len = 0;
    if (c < 0x80) {
        bytes[len++] = (char)c;
    } else if (c < 0x800) {
        bytes[len++] = (char)(0xC0 | c >> 6);
        bytes[len++] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        bytes[len++] = (char)(0xE0 | c >> 12);
        bytes[len++] = (char)(0x80 | (c >> 6 & 0x3F));
        bytes[len++] = (char)(0x80 | (c & 0x3F));
    } else {
        bytes[len++] = (char)(0xF0 | c >> 18);
        bytes[len++] = (char)(0x80 | (c >> 12 & 0x3F));
        bytes[len++] = (char)(0x80 | (c >> 6 & 0x3F));
        bytes[len++] = (char)(0x80 | (c & 0x3F));
    }
    buf_append(out, bytes, len);
}

static void replace_nul(struct buf *out, const char *at, struct json_repairs *repairs)
{
    buf_append(out, REPLACEMENT, 3);
    if (repairs != NULL && repairs->nul_count++ == 0) {
        repairs->first_nul = at;
    }
}

static void replace_surrogate(struct buf *out, const char *at, struct json_repairs *repairs)
{
    buf_append(out, REPLACEMENT, 3);
    if (repairs != NULL && repairs->utf8_count++ == 0) {
        repairs->first_utf8 = at;
    }
}

/* The four hex digits of a \uXXXX at `at`, or -1. */
static int32_t hex4(const char *at, const char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') {
        return -1;
    }
    int32_t value = 0;
    for (int i = 2; i < 6; i++) {
        char lower = (char)(at[i] | 0x20);
        if (json_is_digit(at[i])) {
            value = value * 16 + (at[i] - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            value = value * 16 + (lower - 'a' + 10);
        } else {
            return -1;
        }
    }
    return value;
}

static const char *
decode_unicode(const char *at, const char *end, struct buf *out, struct json_repairs *repairs)
{
    int32_t unit = hex4(at, end);
    if (unit < 0) {
        buf_putc(out, '\\');
        return at + 1;
    }
    if (unit == 0) {
        replace_nul(out, at, repairs);
        return at + 6;
    }
    if (unit < 0xD800 || unit > 0xDFFF) {
        append_code_point(out, (uint32_t)unit);
        return at + 6;
    }
    int32_t low = unit < 0xDC00 ? hex4(at + 6, end) : -1;
    if (low < 0xDC00 || low > 0xDFFF) {
        replace_surrogate(out, at, repairs);
        return at + 6;
    }
    append_code_point(out, 0x10000U + ((uint32_t)(unit - 0xD800) << 10) + (uint32_t)(low - 0xDC00));
    return at + 12;
}

/* `at` is at a backslash; the answer is behind what it escapes. */
static const char *
decode_escape(const char *at, const char *end, struct buf *out, struct json_repairs *repairs)
{
    static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (at + 1 < end && at[1] == 'u') {
        return decode_unicode(at, end, out, repairs);
    }
    for (size_t i = 0; at + 1 < end && i + 1 < sizeof escapes; i += 2) {
        if (escapes[i] == at[1]) {
            buf_putc(out, escapes[i + 1]);
            return at + 2;
        }
    }
    buf_putc(out, '\\');
    return at + 1;
}

/* Appends characters that are not ASCII up to the next that is. */
static const char *decode_wide(const char *at, const char *end, struct buf *out)
{
    while (at < end && (unsigned char)*at >= 0x80) {
        uint32_t c;
        size_t len = utf8_decode(at, (size_t)(end - at), &c);
        if (c == UTF8_INVALID) {
            buf_append(out, REPLACEMENT, 3);
        } else {
            buf_append(out, at, len);
        }
        at += len;
    }
    return at;
}

void json_text_string(const struct json_value *value, struct buf *out, struct json_repairs *repairs)
{
    const char *at = value->ptr;
    const char *end = at + value->len;
    while (at < end) {
        const char *run = at;
        while (at < end && *at != '\\' && *at != '\0' && (unsigned char)*at < 0x80) {
            at++;
        }
        buf_append(out, run, (size_t)(at - run));
        if (at == end) {
            break;
        }
        if (*at == '\\') {
            at = decode_escape(at, end, out, repairs);
        } else if (*at == '\0') {
            replace_nul(out, at, repairs);
            at++;
        } else {
            at = decode_wide(at, end, out);
        }
    }
}

/* --- numbers --- */

/* A parsed number whose digits are exact as a double: so are the powers, and the quotient is
 * rounded once, as by strtod. */
static bool parsed_double(const struct json_value *value, double *number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    const int64_t exact_max = (int64_t)1 << 53;
    if ((value->flags & JSON_PARSED) == 0 || value->number > exact_max ||
        value->number < -exact_max || value->digits >= sizeof powers / sizeof powers[0]) {
        return false;
    }
    *number = (double)value->number / powers[value->digits];
    return true;
}

bool json_text_double(const struct json_value *value, double *number)
{
    char text[NUMBER_BYTES_MAX];
    if (parsed_double(value, number)) {
        return true;
    }
    if (value->kind != JSON_KIND_NUMBER || value->len >= sizeof text) {
        return false;
    }
    memcpy(text, value->ptr, value->len);
    text[value->len] = '\0';
    *number = strtod(text, NULL);
    return true;
}

bool json_text_parse_int(const char *text, size_t len, int64_t *number)
{
    while (len > 0 && (json_is_space(*text))) {
        text++;
        len--;
    }
    while (len > 0 && json_is_space(text[len - 1])) {
        len--;
    }
    bool negative = len > 0 && *text == '-';
    if (len > 0 && (*text == '-' || *text == '+')) {
        text++;
        len--;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++) {
        if (!json_is_digit(text[i]) || sum > (UINT64_MAX - 9) / 10) {
            return false;
        }
        sum = sum * 10 + (uint64_t)(text[i] - '0');
    }
    if (len == 0 || sum > INT64_MAX) {
        return false;
    }
    *number = negative ? -(int64_t)sum : (int64_t)sum;
    return true;
}

/* Integral values that are written with a fraction or exponent. */
static bool
whole_double(const struct json_value *value, double lowest, double beyond, double *number)
{
    return (value->flags & JSON_DECIMAL) != 0 && json_text_double(value, number) &&
           *number >= lowest && *number < beyond && floor(*number) >= *number;
}

bool json_text_read_int(const struct json_value *value, int64_t *number)
{
    if (value->kind != JSON_KIND_NUMBER) {
        return false;
    }
    if (KS_LIKELY((value->flags & JSON_DECIMAL) == 0)) {
        return json_text_parse_int(value->ptr, value->len, number);
    }
    double whole;
    if (!whole_double(value, -0x1p63, 0x1p63, &whole)) {
        return false;
    }
    *number = (int64_t)whole;
    return true;
}

bool json_text_bits(const struct json_value *value, int64_t *bits)
{
    if (json_text_int(value, bits)) {
        return true;
    }
    if (value->kind != JSON_KIND_NUMBER || value->len == 0 || *value->ptr == '-') {
        return false;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < value->len; i++) {
        if (!json_is_digit(value->ptr[i])) {
            return false;
        }
        uint64_t digit = (uint64_t)(value->ptr[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    memcpy(bits, &sum, sizeof sum);
    return true;
}

/* --- times --- */

/* A decimal number taken apart: digits as an integer, times 10^exponent. */
struct decimal {
    uint64_t digits;
    int64_t exponent;
    bool negative;
    bool is_decimal;
    bool is_cut;
    uint8_t cut; /* the first digit that `digits` has no room for */
};

#define DIGITS_MAX_BEFORE ((uint64_t)1000000000000000000)

static void take_digit(struct decimal *d, char c, bool fraction)
{
    if (d->digits < DIGITS_MAX_BEFORE) {
        d->digits = d->digits * 10 + (uint64_t)(c - '0');
        d->exponent -= fraction;
    } else {
        d->exponent += !fraction;
        d->cut = d->is_cut ? d->cut : (uint8_t)(c - '0');
        d->is_cut = true;
    }
}

static bool parse_decimal(const char *text, size_t len, struct decimal *d)
{
    size_t i = 0;
    size_t digit_count = 0;
    *d = (struct decimal){0};
    if (i < len && (text[i] == '-' || text[i] == '+')) {
        d->negative = text[i++] == '-';
    }
    for (; i < len && json_is_digit(text[i]); i++, digit_count++) {
        take_digit(d, text[i], false);
    }
    if (i < len && text[i] == '.') {
        d->is_decimal = true;
        for (i++; i < len && json_is_digit(text[i]); i++, digit_count++) {
            take_digit(d, text[i], true);
        }
    }
    if (digit_count > 0 && i < len && (text[i] == 'e' || text[i] == 'E')) {
        int64_t exponent;
        d->is_decimal = true;
        if (!json_text_parse_int(text + i + 1, len - i - 1, &exponent) || exponent > 100000 ||
            exponent < -100000) {
            return false;
        }
        d->exponent += exponent;
        i = len;
    }
    return digit_count > 0 && i == len;
}

/* digits * 10^(exponent + 3), rounded half away from zero. */
static enum json_time scale_to_ns(const struct decimal *d, int64_t *ns)
{
    uint64_t value = d->digits;
    int64_t exponent = d->exponent + 3;
    for (; exponent > 0 && value != 0; exponent--) {
        if (value > (uint64_t)JSON_TIME_MAX_NS / 10) {
            return JSON_TIME_RANGE;
        }
        value *= 10;
    }
    uint64_t last = d->cut;
    for (; exponent < 0; exponent++) {
        if (value == 0 && last == 0) {
            break;
        }
        last = value % 10;
        value /= 10;
    }
    value += last >= 5;
    if (value >= (uint64_t)JSON_TIME_MAX_NS) {
        return JSON_TIME_RANGE;
    }
    *ns = d->negative ? -(int64_t)value : (int64_t)value;
    return JSON_TIME_OK;
}

/* Up to 15 digits and up to 3 decimals, which is what profilers write; false: something else. */
static inline bool plain_time(const char *text, size_t len, int64_t *ns, bool *decimal)
{
    uint64_t value = 0;
    size_t i = 0;
    size_t digits_max = len < 16 ? len : 16;
    for (; i < digits_max && json_is_digit(text[i]); i++) {
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    if (i == 0) {
        return false;
    }
    value *= 1000;
    if (i == len) {
        *ns = (int64_t)value;
        return value < (uint64_t)JSON_TIME_MAX_NS;
    }
    if (text[i] != '.' || len - i > 4 || len - i < 2) {
        return false;
    }
    uint64_t scale = 100;
    for (i++; i < len; i++, scale /= 10) {
        if (!json_is_digit(text[i])) {
            return false;
        }
        value += (uint64_t)(text[i] - '0') * scale;
    }
    *decimal = true;
    *ns = (int64_t)value;
    return value < (uint64_t)JSON_TIME_MAX_NS;
}

enum json_time json_text_read_time(const struct json_value *value, int64_t *ns, bool *decimal)
{
    if (value->kind != JSON_KIND_NUMBER && value->kind != JSON_KIND_STRING) {
        return JSON_TIME_NONE;
    }
    if (KS_LIKELY(plain_time(value->ptr, value->len, ns, decimal))) {
        return JSON_TIME_OK;
    }
    struct decimal d;
    if (!parse_decimal(value->ptr, value->len, &d)) {
        return JSON_TIME_NONE;
    }
    *decimal = *decimal || d.is_decimal;
    return scale_to_ns(&d, ns);
}
