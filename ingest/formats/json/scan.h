/* Strict scanner of JSON text in a window: finds where values begin and end, and decodes nothing.
 *
 * All functions may read (never use) up to INPUT_PADDING_BYTES after `end`. They return JSON_MORE
 * when the window ends before the item does, and JSON_BAD, with `at` at the offending byte, when
 * the text is not JSON. They accept and report raw control characters inside strings, because real
 * traces have them. */
#ifndef KS_FORMATS_JSON_SCAN_H
#define KS_FORMATS_JSON_SCAN_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 512

enum json_status { JSON_OK, JSON_MORE, JSON_BAD };

enum json_kind {
    JSON_KIND_NULL,
    JSON_KIND_FALSE,
    JSON_KIND_TRUE,
    JSON_KIND_NUMBER,
    JSON_KIND_STRING,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT,
    JSON_KIND_BARE /* N/A, NaN and their like: only the lenient scanner gives it */
};

#define JSON_ESCAPED 1u /* the string has backslashes */
#define JSON_CONTROL 2u /* the string has raw control characters */
#define JSON_DECIMAL 4u /* the number has a fraction or an exponent */
#define JSON_LOOSE 8u   /* quotes and backslashes in the string may stand for themselves */
#define JSON_PARSED 16u /* `number` is the integer, or the decimal without its point */
#define JSON_KNOWN 32u  /* `number` is the value's id in kineto_texts */

/* A value as a slice of the window: strings without their quotes. */
struct json_value {
    const char *ptr;
    uint32_t len;
    uint8_t kind;   /* enum json_kind */
    uint8_t flags;  /* JSON_ESCAPED ... */
    uint8_t digits; /* JSON_PARSED: behind the point */
    int64_t number; /* with JSON_PARSED or JSON_KNOWN, which only key_path gives */
};

struct json_scan {
    const char *at;
    const char *end;
    const char *control;     /* first raw control character met, NULL: none */
    uint32_t control_values; /* strings that have some */
};

/* The first quote, backslash or control character in [at, end), or an address >= end. */
const char *json_find_special(const char *at, const char *end);
/* The same a byte at a time: what json_find_special is where no vector unit is known. */
const char *json_find_special_plain(const char *at, const char *end);

/* `at` is at the opening quote; afterwards behind the closing one. */
enum json_status json_scan_string(struct json_scan *scan, struct json_value *value) KS_MUST_USE;
/* Any value; arrays and objects are checked whole, to JSON_DEPTH_MAX levels. */
enum json_status json_scan_value(struct json_scan *scan, struct json_value *value) KS_MUST_USE;

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool json_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool json_is_hex(char c)
{
    char lower = (char)(c | 0x20);
    return json_is_digit(c) || (lower >= 'a' && lower <= 'f');
}

/* Whether a number or a word ends in front of it. */
static inline bool json_ends_scalar(char c)
{
    return json_is_space(c) || c == ',' || c == ':' || c == ']' || c == '}' || c == '[' ||
           c == '{' || c == '"';
}

/* Null, or a bare word such as NaN. */
static inline bool json_is_missing(const struct json_value *value)
{
    return value->kind == JSON_KIND_NULL || value->kind == JSON_KIND_BARE;
}

static inline const char *json_behind_space(const char *at, const char *end)
{
    while (at < end && json_is_space(*at)) {
        at++;
    }
    return at;
}

/* False: the window ends first. */
static inline bool json_skip_space(struct json_scan *scan)
{
    scan->at = json_behind_space(scan->at, scan->end);
    return scan->at < scan->end;
}

/* Skipping a value of any size that need not lie in one window. Brackets must match, and outside of
 * strings only characters of JSON values may stand, so that a lost quote is noticed at once. What
 * else is no JSON is skipped too, and told in `flaws`. */
struct json_skip {
    uint64_t is_object[JSON_DEPTH_MAX / 64];
    uint32_t depth;
    bool in_string;
    bool after_brace;
    uint8_t
        escape; /* 1: behind a backslash; above: within a \u, one more than the digits it lacks */
    uint8_t scalar; /* how far a number or word has come, 0: there is none */
    uint8_t expects;
    uint8_t flaws; /* JSON_FLAW_... of what was skipped */
};

#define JSON_FLAW_SYNTAX 1u  /* commas, colons, keys, numbers */
#define JSON_FLAW_WORD 2u    /* bare words: NaN, N/A */
#define JSON_FLAW_ESCAPE 4u  /* backslashes that escape nothing */
#define JSON_FLAW_CONTROL 8u /* raw control characters in strings */

/* Goes on at *at, with a zeroed struct at a value's first byte. JSON_OK: *at is behind the value.
 */
enum json_status
json_skip_value(struct json_skip *skip, const char **at, const char *end) KS_MUST_USE;

#endif
