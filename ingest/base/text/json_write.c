#include "ingest/base/text/json_write.h"

#include "ingest/base/text/num.h"
#include "ingest/base/text/utf8.h"

#include <math.h>
#include <string.h>

#define DEPTH_MAX 62

static const char hex_digits[] = "0123456789abcdef";

void jw_init(struct json_write *w, struct buf *out, bool ascii)
{
    *w = (struct json_write){.out = out, .ascii = ascii};
}

static void begin_item(struct json_write *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    uint64_t bit = (uint64_t)1 << w->depth;
    if ((w->has_items & bit) != 0) {
        buf_append(w->out, ", ", 2);
    }
    w->has_items |= bit;
}

static void begin_level(struct json_write *w, char bracket)
{
    begin_item(w);
    buf_putc(w->out, bracket);
    if (w->depth == DEPTH_MAX) {
        w->out->failed = true;
        return;
    }
    w->depth++;
    w->has_items &= ~((uint64_t)1 << w->depth);
}

static void end_level(struct json_write *w, char bracket)
{
    if (w->depth == 0) {
        w->out->failed = true;
        return;
    }
    w->depth--;
    buf_putc(w->out, bracket);
}

void jw_object_begin(struct json_write *w)
{
    begin_level(w, '{');
}

void jw_object_end(struct json_write *w)
{
    end_level(w, '}');
}

void jw_array_begin(struct json_write *w)
{
    begin_level(w, '[');
}

void jw_array_end(struct json_write *w)
{
    end_level(w, ']');
}

static inline bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The number of leading bytes that stand in JSON as they are, eight looked at together. */
static size_t plain_run(const char *text, size_t len)
{
    const uint64_t ones = 0x0101010101010101U;
    const uint64_t tops = 0x8080808080808080U;
    size_t at = 0;
    for (; at + 8 <= len; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, sizeof word);
        uint64_t quote = word ^ ones * '"';
        uint64_t backslash = word ^ ones * '\\';
        /* A byte below n borrows from its top bit; a false alarm only ends this loop early. */
        uint64_t special = (word - ones * 0x20) | (quote - ones) | (backslash - ones) | word;
        if ((special & tops) != 0) {
            break;
        }
    }
    while (at < len && is_plain((unsigned char)text[at])) {
        at++;
    }
    return at;
}

static void put_unicode_escape(struct buf *out, uint32_t unit)
{
    char text[6] = {'\\',
                    'u',
                    hex_digits[unit >> 12 & 15],
                    hex_digits[unit >> 8 & 15],
                    hex_digits[unit >> 4 & 15],
                    hex_digits[unit & 15]};
    buf_append(out, text, sizeof text);
}

static void put_ascii_escape(struct buf *out, unsigned char c)
{
    static const char from[] = "\"\\\n\r\t\b\f";
    static const char to[] = "\"\\nrtbf";
    const char *found = c == 0 ? NULL : strchr(from, c);
    if (found == NULL) {
        put_unicode_escape(out, c);
        return;
    }
    char text[2] = {'\\', to[found - from]};
    buf_append(out, text, sizeof text);
}

/* Writes one character beyond ASCII and returns its length. */
static size_t put_wide(struct json_write *w, const char *text, size_t len)
{
    uint32_t code_point;
    size_t char_len = utf8_decode(text, len, &code_point);
    bool invalid = code_point == UTF8_INVALID;
    if (!w->ascii) {
        buf_append(w->out, invalid ? "\xEF\xBF\xBD" : text, invalid ? 3 : char_len);
    } else if (invalid) {
        put_unicode_escape(w->out, UTF8_REPLACEMENT);
    } else if (code_point >= 0x10000) {
        put_unicode_escape(w->out, 0xD800 + ((code_point - 0x10000) >> 10));
        put_unicode_escape(w->out, 0xDC00 + ((code_point - 0x10000) & 0x3FF));
    } else {
        put_unicode_escape(w->out, code_point);
    }
    return char_len;
}

static void put_string(struct json_write *w, const char *text, size_t len)
{
    buf_putc(w->out, '"');
    size_t at = 0;
    while (at < len) {
        size_t run = plain_run(text + at, len - at);
        buf_append(w->out, text + at, run);
        at += run;
        if (at == len) {
            break;
        }
        if ((unsigned char)text[at] < 0x80) {
            put_ascii_escape(w->out, (unsigned char)text[at]);
            at++;
        } else {
            at += put_wide(w, text + at, len - at);
        }
    }
    buf_putc(w->out, '"');
}

void jw_key(struct json_write *w, const char *key)
{
    begin_item(w);
    put_string(w, key, strlen(key));
    buf_append(w->out, ": ", 2);
    w->after_key = true;
}

void jw_string(struct json_write *w, const char *text)
{
    if (text == NULL) {
        jw_null(w);
        return;
    }
    jw_string_n(w, text, strlen(text));
}

void jw_string_n(struct json_write *w, const char *text, size_t len)
{
    begin_item(w);
    put_string(w, text, len);
}

void jw_int(struct json_write *w, int64_t value)
{
    char text[20];
    size_t at = sizeof text;
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        text[--at] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude != 0);
    if (value < 0) {
        text[--at] = '-';
    }
    jw_raw(w, text + at, sizeof text - at);
}

void jw_double(struct json_write *w, double value)
{
    if (!isfinite(value)) {
        jw_null(w);
        return;
    }
    char text[NUM_TEXT_BYTES];
    size_t len = num_repr(text, value);
    jw_raw(w, text, len);
}

void jw_bool(struct json_write *w, bool value)
{
    jw_raw(w, value ? "true" : "false", value ? 4 : 5);
}

void jw_null(struct json_write *w)
{
    jw_raw(w, "null", 4);
}

void jw_raw(struct json_write *w, const char *text, size_t len)
{
    begin_item(w);
    buf_append(w->out, text, len);
}

void jw_key_string(struct json_write *w, const char *key, const char *text)
{
    jw_key(w, key);
    jw_string(w, text);
}

void jw_key_int(struct json_write *w, const char *key, int64_t value)
{
    jw_key(w, key);
    jw_int(w, value);
}

void jw_key_object_begin(struct json_write *w, const char *key)
{
    jw_key(w, key);
    jw_object_begin(w);
}

void jw_key_array_begin(struct json_write *w, const char *key)
{
    jw_key(w, key);
    jw_array_begin(w);
}

void jw_key_double(struct json_write *w, const char *key, double value)
{
    jw_key(w, key);
    jw_double(w, value);
}

void jw_key_bool(struct json_write *w, const char *key, bool value)
{
    jw_key(w, key);
    jw_bool(w, value);
}

void jw_key_null(struct json_write *w, const char *key)
{
    jw_key(w, key);
    jw_null(w);
}

void jw_known_int(struct json_write *w, int64_t value)
{
    if (value == INT64_MIN) {
        jw_null(w);
    } else {
        jw_int(w, value);
    }
}

void jw_key_known_int(struct json_write *w, const char *key, int64_t value)
{
    jw_key(w, key);
    jw_known_int(w, value);
}
