/* Turns slices of JSON text into values: decodes strings, parses numbers, prints any value as
 * Python's str() does. */
#ifndef KS_FORMATS_JSON_TEXT_H
#define KS_FORMATS_JSON_TEXT_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"
#include "ingest/formats/json/scan.h"

#include <stdbool.h>
#include <stdint.h>

/* What was replaced while a string was decoded, with the places of the first ones in the slice. */
struct json_repairs {
    uint32_t nul_count;
    uint32_t utf8_count; /* lone surrogates; bytes that are no UTF-8 are counted where windows are
                            read */
    const char *first_nul;
    const char *first_utf8;
};

/* Appends the text of a string as UTF-8: escapes undone, NULs, lone surrogates and bytes that are
 * no UTF-8 become U+FFFD. `repairs` may be NULL. */
void json_text_string(const struct json_value *value,
                      struct buf *out,
                      struct json_repairs *repairs);

/* Appends Python's str() of the value: strings as they are, `None`, `True`, floats in repr form,
 * lists and dicts with ", " and ": " and quoted strings. Bare words inside: NaN and Infinity as
 * Python's floats, N/A as a string. What else cannot be read is appended as it stands. In
 * json_python.c. */
void json_text_python(const struct json_value *value,
                      struct buf *out,
                      struct json_repairs *repairs);

enum json_time { JSON_TIME_OK, JSON_TIME_NONE, JSON_TIME_RANGE };

/* Times beyond +-2^62 ns (146 years) are out of range, so that sums and differences of two stay
 * within int64. */
#define JSON_TIME_MAX_NS ((int64_t)1 << 62)

/* json_text_time and json_text_int for what is not JSON_PARSED, or too large. */
enum json_time json_text_read_time(const struct json_value *value, int64_t *ns, bool *decimal);
bool json_text_read_int(const struct json_value *value, int64_t *number);

/* Decimal microseconds (a number, or a string that holds one) as nanoseconds, exactly; what lies
 * beyond the third decimal is rounded half away from zero. *decimal is set when it has a fraction
 * or exponent. */
static inline enum json_time
json_text_time(const struct json_value *value, int64_t *ns, bool *decimal)
{
    static const int64_t scales[] = {1000, 100, 10, 1};
    static const int64_t plain_max[] = {JSON_TIME_MAX_NS / 1000, JSON_TIME_MAX_NS / 100,
                                        JSON_TIME_MAX_NS / 10, JSON_TIME_MAX_NS};
    if ((value->flags & JSON_PARSED) == 0 || value->digits > 3 ||
        value->number >= plain_max[value->digits] || value->number <= -plain_max[value->digits]) {
        return json_text_read_time(value, ns, decimal);
    }
    *ns = value->number * scales[value->digits];
    *decimal = *decimal || value->digits != 0;
    return JSON_TIME_OK;
}

/* A JSON number with an integral value that fits. */
static inline bool json_text_int(const struct json_value *value, int64_t *number)
{
    if (KS_LIKELY((value->flags & (JSON_PARSED | JSON_DECIMAL)) == JSON_PARSED)) {
        *number = value->number;
        return true;
    }
    return json_text_read_int(value, number);
}

/* The same to 2^64 - 1, as its 64 bits; negative numbers too. */
bool json_text_bits(const struct json_value *value, int64_t *bits);
/* A JSON number. */
bool json_text_double(const struct json_value *value, double *number);
/* An integer as Python's int() reads it from a text: sign and spaces around are allowed. */
bool json_text_parse_int(const char *text, size_t len, int64_t *number);

#endif
