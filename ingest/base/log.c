#include "ingest/base/log.h"

#include "ingest/base/text/buf.h"
#include "ingest/base/text/json_write.h"
#include "ingest/base/text/utf8.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 2048
#define STAMP_BYTES 40
/* Far above any record. */
#define LINE_MAX_BYTES ((size_t)1 << 20)
#define LOST "no memory for a log record"

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

bool log_format_parse(const char *word, enum log_format *format)
{
    bool is_json = strcmp(word, "json") == 0;
    if (!is_json && strcmp(word, "text") != 0) {
        return false;
    }
    *format = is_json ? LOG_JSON : LOG_TEXT;
    return true;
}

bool log_takes(const struct log *log, enum log_level level)
{
    return log != NULL && log->stream != NULL && level <= log->level;
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
    (void)snprintf(out + len, STAMP_BYTES - len, ".%03ldZ", now.tv_nsec / 1000000);
}

/* Where a text stands in a line decides what would end it. */
enum place {
    PLACE_MESSAGE, /* bare: an equals sign or a quotation mark would forge a field behind it */
    PLACE_FIELD    /* in quotation marks */
};

/* Control characters (C0, DEL, C1), line separators and what turns the direction of writing could
 * steer a terminal or forge a line. */
static bool is_printable(uint32_t code_point)
{
    return code_point != UTF8_INVALID && code_point >= 0x20 &&
           (code_point < 0x7F || code_point > 0x9F) && code_point != 0x200E &&
           code_point != 0x200F && (code_point < 0x2028 || code_point > 0x202E) &&
           (code_point < 0x2066 || code_point > 0x2069);
}

/* A backslash is escaped too: what looks like an escape is one. */
static bool is_safe(uint32_t code_point, enum place place)
{
    return is_printable(code_point) && code_point != '"' && code_point != '\\' &&
           !(place == PLACE_MESSAGE && code_point == '=');
}

static void put_escaped(struct buf *out, const char *text, size_t len, enum place place)
{
    for (size_t at = 0; at < len;) {
        uint32_t code_point;
        size_t char_len = utf8_decode(text + at, len - at, &code_point);
        bool safe = is_safe(code_point, place);
        if (safe) {
            buf_append(out, text + at, char_len);
        }
        for (size_t i = at; !safe && i < at + char_len; i++) {
            buf_printf(out, "\\x%02x", (unsigned)(unsigned char)text[i]);
        }
        at += char_len;
    }
}

/* What is written of a text. */
static size_t text_len(const char *text)
{
    return utf8_cut(text, strnlen(text, TEXT_BYTES - 1));
}

static bool is_left_out(const struct log_field *field)
{
    return field->kind == LOG_FIELD_TEXT && field->text == NULL;
}

static void put_text_line(struct buf *out,
                          const char *level_word,
                          const char *message,
                          const struct log_field *fields,
                          size_t field_count)
{
    char stamp[STAMP_BYTES];
    format_stamp(stamp);
    buf_printf(out, "%s %s ", stamp, level_word);
    put_escaped(out, message, text_len(message), PLACE_MESSAGE);
    for (size_t i = 0; i < field_count; i++) {
        const struct log_field *field = &fields[i];
        if (is_left_out(field)) {
            continue;
        }
        buf_printf(out, " %s=", field->name);
        switch (field->kind) {
        case LOG_FIELD_TEXT:
            buf_putc(out, '"');
            put_escaped(out, field->text, text_len(field->text), PLACE_FIELD);
            buf_putc(out, '"');
            break;
        case LOG_FIELD_INT:
            buf_printf(out, "%lld", (long long)field->number);
            break;
        case LOG_FIELD_REAL:
            buf_printf(out, "%.3f", field->real);
            break;
        }
    }
}

static void put_json_line(struct buf *out,
                          const char *level_word,
                          const char *message,
                          const struct log_field *fields,
                          size_t field_count)
{
    char stamp[STAMP_BYTES];
    struct json_write w;
    format_stamp(stamp);
    /* ASCII only: no terminal is steered by C1 or bidirectional characters either. */
    jw_init(&w, out, true);
    jw_object_begin(&w);
    jw_key_string(&w, "time", stamp);
    jw_key_string(&w, "level", level_word);
    jw_key(&w, "message");
    jw_string_n(&w, message, text_len(message));
    for (size_t i = 0; i < field_count; i++) {
        const struct log_field *field = &fields[i];
        if (is_left_out(field)) {
            continue;
        }
        jw_key(&w, field->name);
        switch (field->kind) {
        case LOG_FIELD_TEXT:
            jw_string_n(&w, field->text, text_len(field->text));
            break;
        case LOG_FIELD_INT:
            jw_int(&w, field->number);
            break;
        case LOG_FIELD_REAL:
            jw_double(&w, field->real);
            break;
        }
    }
    jw_object_end(&w);
}

void log_record(const struct log *log,
                enum log_level level,
                const char *message,
                const struct log_field *fields,
                size_t field_count)
{
    if (!log_takes(log, level)) {
        return;
    }
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    if (log->format == LOG_JSON) {
        put_json_line(&line, level_words[level], message, fields, field_count);
    } else {
        put_text_line(&line, level_words[level], message, fields, field_count);
    }
    buf_putc(&line, '\n');
    /* One fwrite a line: the stream's lock keeps lines of several threads apart. */
    if (line.failed) {
        (void)fputs(log->format == LOG_JSON ? "{\"level\": \"error\", \"message\": \"" LOST "\"}\n"
                                            : "error " LOST "\n",
                    log->stream);
    } else {
        (void)fwrite(line.ptr, 1, line.len, log->stream);
    }
    (void)fflush(log->stream);
    buf_free(&line);
}

void log_write(const struct log *log, enum log_level level, const char *fmt, ...)
{
    if (!log_takes(log, level)) {
        return;
    }
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0) {
        text[0] = '\0';
    }
    va_end(args);
    log_record(log, level, text, NULL, 0);
}
