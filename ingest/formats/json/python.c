/* Python's str() of a JSON value, which is how tables show shapes and launch
 * configurations. Lists and dicts are translated token by token: `[[2,8],null]` becomes `[[2, 8],
 * None]`. */
#include "ingest/base/text/num.h"
#include "ingest/base/text/utf8.h"
#include "ingest/formats/json/text.h"

#include <string.h>

static const struct {
    const char *json;
    const char *python;
} words[] = {
    {"true", "True"}, {"false", "False"},  {"null", "None"}, {"NaN", "nan"},
    {"nan", "nan"},   {"Infinity", "inf"}, {"inf", "inf"},   {"-Infinity", "-inf"},
    {"-inf", "-inf"}, {"N/A", "'N/A'"},    {"None", "None"}, {"undefined", "None"},
};

static const char *python_word(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].json) == len && memcmp(words[i].json, text, len) == 0) {
            return words[i].python;
        }
    }
    return NULL;
}

static void append_number(const char *text, size_t len, bool decimal, struct buf *out)
{
    struct json_value value = {.ptr = text,
                               .len = (uint32_t)len,
                               .kind = JSON_KIND_NUMBER,
                               .flags = decimal ? JSON_DECIMAL : 0};
    double number;
    if (decimal && json_text_double(&value, &number)) {
        char repr[NUM_TEXT_BYTES];
        buf_append(out, repr, num_repr(repr, number));
        return;
    }
    bool is_minus_zero = len == 2 && memcmp(text, "-0", 2) == 0;
    buf_append(out, is_minus_zero ? "0" : text, is_minus_zero ? 1 : len);
}

/* Characters that Python's repr writes as escapes: controls, separators, format characters, private
 * use. The ranges cover what occurs in names; unassigned code points are printed as they are. */
static bool is_printable(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x00, 0x1F},     {0x7F, 0xA0},        {0xAD, 0xAD},     {0x600, 0x605},   {0x61C, 0x61C},
        {0x6DD, 0x6DD},   {0x70F, 0x70F},      {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200F},
        {0x2028, 0x202F}, {0x205F, 0x206F},    {0x3000, 0x3000}, {0xD800, 0xF8FF}, {0xFEFF, 0xFEFF},
        {0xFFF0, 0xFFFB}, {0xE0000, 0x10FFFF},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (c >= ranges[i][0] && c <= ranges[i][1]) {
            return false;
        }
    }
    return true;
}

static void append_escaped(uint32_t c, struct buf *out)
{
    switch (c) {
    case '\n':
        buf_puts(out, "\\n");
        break;
    case '\r':
        buf_puts(out, "\\r");
        break;
    case '\t':
        buf_puts(out, "\\t");
        break;
    default:
        buf_printf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
        break;
    }
}

/* repr() of valid UTF-8. */
static void append_quoted(const char *text, size_t len, struct buf *out)
{
    bool has_single = memchr(text, '\'', len) != NULL;
    bool has_double = memchr(text, '"', len) != NULL;
    char quote = has_single && !has_double ? '"' : '\'';
    buf_putc(out, quote);
    for (size_t i = 0; i < len;) {
        uint32_t c;
        size_t bytes = utf8_decode(text + i, len - i, &c);
        if (c == (uint32_t)quote || c == '\\') {
            buf_putc(out, '\\');
            buf_putc(out, (char)c);
        } else if (!is_printable(c)) {
            append_escaped(c, out);
        } else {
            buf_append(out, text + i, bytes);
        }
        i += bytes;
    }
    buf_putc(out, quote);
}

/* The string whose content begins at `at`; the answer is behind its closing quote. */
static const char *
append_string(const char *at, const char *end, struct buf *out, struct json_repairs *repairs)
{
    const char *begin = at;
    while (at < end && *at != '"') {
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    }
    struct json_value value = {.ptr = begin,
                               .len = (uint32_t)(at - begin),
                               .kind = JSON_KIND_STRING,
                               .flags = JSON_ESCAPED};
    struct buf text;
    buf_init(&text, out->max_bytes);
    json_text_string(&value, &text, repairs);
    append_quoted(text.ptr, text.len, out);
    out->failed = out->failed || text.failed;
    buf_free(&text);
    return at < end ? at + 1 : end;
}

static const char *append_scalar(const char *at, const char *end, struct buf *out)
{
    const char *begin = at;
    bool decimal = false;
    while (at < end && !json_ends_scalar(*at)) {
        decimal = decimal || *at == '.' || *at == 'e' || *at == 'E';
        at++;
    }
    size_t len = (size_t)(at - begin);
    const char *word = python_word(begin, len);
    if (word != NULL) {
        buf_puts(out, word);
    } else {
        append_number(begin, len, decimal, out);
    }
    return at;
}

static void
append_nested(const char *at, const char *end, struct buf *out, struct json_repairs *repairs)
{
    while (at < end) {
        if (json_is_space(*at)) {
            at++;
        } else if (*at == '"') {
            at = append_string(at + 1, end, out, repairs);
        } else if (json_ends_scalar(*at)) {
            buf_putc(out, *at);
            if (*at == ',' || *at == ':') {
                buf_putc(out, ' ');
            }
            at++;
        } else {
            at = append_scalar(at, end, out);
        }
    }
}

void json_text_python(const struct json_value *value, struct buf *out, struct json_repairs *repairs)
{
    const char *end = value->ptr + value->len;
    switch (value->kind) {
    case JSON_KIND_STRING:
        json_text_string(value, out, repairs);
        break;
    case JSON_KIND_ARRAY:
    case JSON_KIND_OBJECT:
        append_nested(value->ptr, end, out, repairs);
        break;
    case JSON_KIND_BARE:
        if (value->len == 3 && memcmp(value->ptr, "N/A", 3) == 0) {
            buf_puts(out, "N/A");
            break;
        }
        (void)append_scalar(value->ptr, end, out);
        break;
    default:
        (void)append_scalar(value->ptr, end, out);
        break;
    }
}
