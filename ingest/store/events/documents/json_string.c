#include "ingest/store/events/documents/json_string.h"

#include "ingest/base/text/utf8.h"

#include <stdint.h>
#include <string.h>

#define HEX_DIGITS 4

bool json_is_string(const char *json, size_t len)
{
    return len >= 2 && json[0] == '"' && json[len - 1] == '"';
}

/* Four hexadecimal digits, or UTF8_INVALID. */
static uint32_t read_hex(const char *at, const char *end)
{
    static const char hex_digits[] = "0123456789abcdefABCDEF";
    uint32_t value = 0;
    if (end - at < HEX_DIGITS) {
        return UTF8_INVALID;
    }
    for (int i = 0; i < HEX_DIGITS; i++) {
        char c = at[i];
        const char *digit = c == '\0' ? NULL : strchr(hex_digits, c);
        if (digit == NULL) {
            return UTF8_INVALID;
        }
        /* Letters stand there twice. */
        uint32_t place = (uint32_t)(digit - hex_digits);
        value = value << 4 | (place < 16 ? place : place - 6);
    }
    return value;
}

/* The code point behind \u at `at`, with a second escape where it is one half of a pair. */
static uint32_t read_code_point(const char **at, const char *end)
{
    uint32_t first = read_hex(*at, end);
    if (first == UTF8_INVALID) {
        return UTF8_REPLACEMENT;
    }
    *at += HEX_DIGITS;
    if (first < 0xD800 || first > 0xDFFF) {
        return first;
    }
    if (first < 0xDC00 && end - *at >= 2 + HEX_DIGITS && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t second = read_hex(*at + 2, end);
        if (second >= 0xDC00 && second <= 0xDFFF) {
            *at += 2 + HEX_DIGITS;
            return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        }
    }
    return UTF8_REPLACEMENT;
}

/* Never longer than the escape was. */
static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)(unsigned char)c;
    } else if (c < 0x800) {
        *out++ = (char)(unsigned char)(0xC0 | c >> 6);
        *out++ = (char)(unsigned char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(unsigned char)(0xE0 | c >> 12);
        *out++ = (char)(unsigned char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(unsigned char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(unsigned char)(0xF0 | c >> 18);
        *out++ = (char)(unsigned char)(0x80 | (c >> 12 & 0x3F));
        *out++ = (char)(unsigned char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(unsigned char)(0x80 | (c & 0x3F));
    }
    return out;
}

/* The letter behind a backslash. */
static char plain_escape(char c)
{
    static const char letters[] = "bfnrt";
    static const char meanings[] = "\b\f\n\r\t";
    const char *at = c == '\0' ? NULL : strchr(letters, c);
    if (at == NULL) {
        return c;
    }
    return meanings[at - letters];
}

size_t json_string_decode(char *out, const char *json, size_t len)
{
    const char *at = json + 1;
    const char *end = json + len - 1;
    char *to = out;
    while (at < end) {
        if (*at != '\\' || at + 1 == end) {
            *to++ = *at++;
            continue;
        }
        char c = at[1];
        at += 2;
        if (c == 'u') {
            const char *before = at;
            uint32_t code_point = read_code_point(&at, end);
            /* \u with less than a letter behind it has no room for U+FFFD. */
            if (at == before && code_point == UTF8_REPLACEMENT) {
                *to++ = '?';
                continue;
            }
            to = put_utf8(to, code_point);
        } else {
            *to++ = plain_escape(c);
        }
    }
    return (size_t)(to - out);
}

const char *json_string_copy(struct arena *arena, const char *json, size_t len)
{
    if (!json_is_string(json, len)) {
        return arena_strndup(arena, json, len);
    }
    char *out = arena_alloc(arena, len);
    if (out != NULL) {
        out[json_string_decode(out, json, len)] = '\0';
    }
    return out;
}
