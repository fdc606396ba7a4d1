#include "ingest/formats/json/clean.h"

#include "ingest/base/text/utf8.h"

#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"
#define UNICODE_ESCAPE_BYTES 6

/* --- strings --- */

/* Bytes of the escape at `at`, which is a backslash; 0: it escapes nothing. */
static size_t escape_bytes(const char *at, const char *end)
{
    if (end - at < 2 || at[1] == '\0') {
        return 0;
    }
    if (at[1] != 'u') {
        return strchr("\"\\/bfnrt", at[1]) != NULL ? 2 : 0;
    }
    if (end - at < UNICODE_ESCAPE_BYTES) {
        return 0;
    }
    bool good =
        json_is_hex(at[2]) && json_is_hex(at[3]) && json_is_hex(at[4]) && json_is_hex(at[5]);
    return good ? UNICODE_ESCAPE_BYTES : 0;
}

static const char *append_wide(const char *at, const char *end, struct buf *out)
{
    uint32_t c;
    size_t len = utf8_decode(at, (size_t)(end - at), &c);
    if (c == UTF8_INVALID) {
        buf_append(out, REPLACEMENT, sizeof REPLACEMENT - 1);
    } else {
        buf_append(out, at, len);
    }
    return at + len;
}

static const char *append_backslash(const char *at, const char *end, struct buf *out)
{
    size_t len = escape_bytes(at, end);
    if (len == 0) {
        buf_append(out, "\\\\", 2);
        return at + 1;
    }
    buf_append(out, at, len);
    return at + len;
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* The content of a string, whatever it holds. */
static void append_content(const char *at, const char *end, struct buf *out)
{
    while (at < end) {
        const char *run = at;
        while (at < end && is_plain(*at)) {
            at++;
        }
        buf_append(out, run, (size_t)(at - run));
        if (at == end) {
            break;
        }
        if (*at == '\\') {
            at = append_backslash(at, end, out);
        } else if ((unsigned char)*at >= 0x80) {
            at = append_wide(at, end, out);
        } else if (*at == '"') {
            buf_append(out, "\\\"", 2);
            at++;
        } else {
            buf_printf(out, "\\u%04x", (unsigned)(unsigned char)*at);
            at++;
        }
    }
}

void json_clean_string(const struct json_value *value, struct buf *out)
{
    buf_putc(out, '"');
    append_content(value->ptr, value->ptr + value->len, out);
    buf_putc(out, '"');
}

/* --- whole values --- */

/* A number or a word. */
static const char *append_scalar(const char *at, const char *end, struct buf *out)
{
    const char *begin = at;
    while (at < end && !json_ends_scalar(*at)) {
        at++;
    }
    buf_append(out, begin, (size_t)(at - begin));
    return at;
}

/* The string whose opening quote is at `at`; the answer is behind its closing one. */
static const char *append_string(const char *at, const char *end, struct buf *out)
{
    const char *begin = ++at;
    while ((at = json_find_special(at, end)) < end && *at != '"') {
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    }
    const char *closing = at < end ? at : end;
    buf_putc(out, '"');
    append_content(begin, closing, out);
    buf_putc(out, '"');
    return closing < end ? closing + 1 : end;
}

void json_clean_value(const char *text, size_t len, struct buf *out)
{
    const char *at = text;
    const char *end = text + len;
    while (at < end) {
        if (json_is_space(*at)) {
            at++;
        } else if (*at == '"') {
            at = append_string(at, end, out);
        } else if (json_ends_scalar(*at)) {
            buf_putc(out, *at);
            at++;
        } else {
            at = append_scalar(at, end, out);
        }
    }
}
