#include "ingest/base/log.h"

#include "ingest/base/utf8.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 2048
#define STAMP_BYTES 40

static const char *const level_words[] = {"error", "warn", "info", "debug"};

bool log_level_parse(const char *word, enum log_level *level)
{
    for (size_t i = 0; i < sizeof level_words / sizeof level_words[0]; i++) {
        if (strcmp(word, level_words[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

/* UTC, RFC 3339 with milliseconds. */
static void format_stamp(char out[STAMP_BYTES])
{
    struct timespec now = {0};
    struct tm parts = {0};
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || gmtime_r(&now.tv_sec, &parts) == NULL) {
        out[0] = '\0';
        return;
    }
    size_t len = strftime(out, STAMP_BYTES, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(out + len, STAMP_BYTES - len, ".%03ldZ ", now.tv_nsec / 1000000);
}

/* Control characters (C0, DEL, C1) and bytes that are no UTF-8 could steer a terminal or forge a
 * line. */
static size_t escape(char *out, const char *text, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    size_t out_len = 0;
    for (size_t at = 0; at < len;) {
        uint32_t code_point;
        size_t char_len = utf8_decode(text + at, len - at, &code_point);
        bool safe = code_point != UTF8_INVALID && code_point >= 0x20 &&
                    (code_point < 0x7F || code_point > 0x9F);
        for (size_t i = at; i < at + char_len; i++) {
            unsigned char c = (unsigned char)text[i];
            if (safe) {
                out[out_len++] = text[i];
            } else {
                out[out_len++] = '\\';
                out[out_len++] = 'x';
                out[out_len++] = digits[c >> 4];
                out[out_len++] = digits[c & 15];
            }
        }
        at += char_len;
    }
    return out_len;
}

void log_write(const struct log *log, enum log_level level, const char *fmt, ...)
{
    if (log == NULL || log->stream == NULL || level > log->level) {
        return;
    }
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0) {
        text[0] = '\0';
    }
    va_end(args);

    char stamp[STAMP_BYTES];
    format_stamp(stamp);
    char line[STAMP_BYTES + 8 + 4 * TEXT_BYTES + 1];
    int head_len = snprintf(line, STAMP_BYTES + 8, "%s%s ", stamp, level_words[level]);
    size_t len = head_len < 0 ? 0 : (size_t)head_len;
    len += escape(line + len, text, utf8_cut(text, strlen(text)));
    line[len++] = '\n';
    /* One fwrite a line: the stream's lock keeps lines of several threads apart. */
    (void)fwrite(line, 1, len, log->stream);
    (void)fflush(log->stream);
}
