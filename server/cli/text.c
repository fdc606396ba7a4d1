#include "server/cli/text.h"

#include "ingest/base/text/short_name.h"
#include "ingest/base/text/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES ((size_t)1 << 20)
#define LINE_MAX_BYTES ((size_t)1 << 20)
#define ELLIPSIS "\xE2\x80\xA6"
#define REPLACEMENT "\xEF\xBF\xBD"

static bool is_safe(uint32_t code_point)
{
    return code_point != UTF8_INVALID && code_point >= 0x20 &&
           (code_point < 0x7F || code_point > 0x9F) && code_point != 0x2028 && code_point != 0x2029;
}

void text_clean(struct buf *out, const char *text)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        uint32_t code_point;
        size_t char_len = utf8_decode(text + at, len - at, &code_point);
        if (is_safe(code_point)) {
            buf_append(out, text + at, char_len);
        } else {
            buf_puts(out, REPLACEMENT);
        }
        at += char_len;
    }
}

void text_print_error(FILE *stream, const char *path, const struct err *err)
{
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    size_t len = path == NULL ? 0 : strlen(path);
    bool is_named = len > 0 && strncmp(err->msg, path, len) == 0 && err->msg[len] == ':';
    if (path != NULL && !is_named) {
        text_clean(&line, path);
        buf_puts(&line, ": ");
    }
    text_clean(&line, err->msg);
    if (err->byte_off != ERR_NO_OFFSET) {
        buf_printf(&line, " (at byte %" PRIu64 ")", err->byte_off);
    }
    (void)fprintf(stream, "kinetoscope: %s\n", line.ptr);
    buf_free(&line);
}

const char *text_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

size_t text_width(const char *text)
{
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        width += ((unsigned char)*c & 0xC0) != 0x80;
    }
    return width;
}

/* Three digits that count. */
static void print_scaled(char out[TEXT_FIGURE_BYTES], double value, const char *unit)
{
    double size = fabs(value);
    int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    (void)snprintf(out, TEXT_FIGURE_BYTES, "%.*f %s", decimals, value, unit);
}

void text_time(char out[TEXT_FIGURE_BYTES], double ns)
{
    double size = fabs(ns);
    if (isnan(ns)) {
        (void)snprintf(out, TEXT_FIGURE_BYTES, "-");
    } else if (size < 999.5) {
        (void)snprintf(out, TEXT_FIGURE_BYTES, "%.0f ns", ns);
    } else if (size < 999.5e3) {
        print_scaled(out, ns / 1e3, "\xC2\xB5s");
    } else if (size < 999.5e6) {
        print_scaled(out, ns / 1e6, "ms");
    } else {
        print_scaled(out, ns / 1e9, "s");
    }
}

void text_bytes(char out[TEXT_FIGURE_BYTES], double bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) {
        (void)snprintf(out, TEXT_FIGURE_BYTES, "%.0f B", bytes);
        return;
    }
    size_t unit = 0;
    bytes /= 1024;
    while (bytes >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    print_scaled(out, bytes, units[unit]);
}

void text_count(char out[TEXT_FIGURE_BYTES], int64_t count)
{
    char digits[TEXT_FIGURE_BYTES];
    uint64_t magnitude = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)magnitude);
    char *to = out;
    if (count < 0) {
        *to++ = '-';
    }
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
}

void text_share(char out[TEXT_FIGURE_BYTES], double share)
{
    if (isnan(share)) {
        (void)snprintf(out, TEXT_FIGURE_BYTES, "-");
    } else {
        (void)snprintf(out, TEXT_FIGURE_BYTES, "%.1f%%", share * 100 + 0.0);
    }
}

/* Where the list of arguments begins: at the "(" that matches the name's last ")". One behind a
 * blank is part of the name: "Memcpy HtoD (Pageable -> Device)". */
static size_t arguments_at(const char *name, size_t len)
{
    if (len == 0 || name[len - 1] != ')') {
        return len;
    }
    unsigned depth = 0;
    for (size_t at = len; at-- > 0;) {
        if (name[at] == ')') {
            depth++;
        } else if (name[at] == '(' && --depth == 0) {
            return at == 0 || name[at - 1] == ' ' ? len : at;
        }
    }
    return len;
}

static void copy_cut(struct buf *out, const char *text, size_t max_width)
{
    if (text_width(text) <= max_width) {
        buf_puts(out, text);
        return;
    }
    size_t len = 0;
    for (size_t width = 0; width < max_width && text[len] != '\0'; width++) {
        do {
            len++;
        } while (((unsigned char)text[len] & 0xC0) == 0x80);
    }
    while (len > 0 && ((unsigned char)text[len - 1] & 0xC0) == 0x80) {
        len--;
    }
    buf_append(out, text, len - 1);
    buf_puts(out, ELLIPSIS);
}

void text_short_name(struct buf *out, const char *name, enum text_name how, size_t max_width)
{
    struct buf clean;
    struct buf shorter;
    buf_init(&clean, NAME_MAX_BYTES);
    buf_init(&shorter, NAME_MAX_BYTES);
    text_clean(&clean, name);
    if (how == TEXT_NAME_SHORT) {
        short_name(&shorter, clean.ptr);
    } else {
        size_t begin = strncmp(clean.ptr, "void ", 5) == 0 ? 5 : 0;
        buf_append(&shorter, clean.ptr + begin, arguments_at(clean.ptr + begin, clean.len - begin));
    }
    copy_cut(out, shorter.ptr, max_width);
    buf_free(&shorter);
    buf_free(&clean);
}
