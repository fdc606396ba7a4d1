/* Writes log records to a stream, one line each whatever their texts hold: as text that is safe for
 * terminals, or as JSON (RFC 8259; one object per line: time, level, message, then the fields).
 * Callers get a `struct log`; there is no global logger. Thread-safe. */
#ifndef KS_BASE_LOG_H
#define KS_BASE_LOG_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

struct log {
    FILE *stream;
    enum log_level level;
    enum log_format format;
};

enum log_field_kind { LOG_FIELD_TEXT, LOG_FIELD_INT, LOG_FIELD_REAL };

/* One field of a record. Its name has lower-case letters and underscores, and ends in the unit. */
struct log_field {
    const char *name;
    enum log_field_kind kind;
    const char *text; /* LOG_FIELD_TEXT; NULL: the field is left out */
    int64_t number;   /* LOG_FIELD_INT */
    double real;      /* LOG_FIELD_REAL */
};

/* "error", "warn", "info", "debug" -> level; false for another word. */
bool log_level_parse(const char *word, enum log_level *level) KS_MUST_USE;
/* "text", "json" -> format; false for another word. */
bool log_format_parse(const char *word, enum log_format *format) KS_MUST_USE;
/* Whether records of this level are written. Ask before preparing an expensive one. */
bool log_takes(const struct log *log, enum log_level level);
/* Writes a message; does nothing for a NULL log. Truncates texts after 2047 bytes. In a text line
 * the message escapes `=`, `"` and `\` (as `\x3d`, …), so that nothing in it reads as a field. Put
 * texts from outside into fields, where only `"` and `\` are escaped. */
void log_write(const struct log *log, enum log_level level, const char *fmt, ...) KS_PRINTF(3, 4);
/* As log_write, with fields: `message name=1 name="text"`, or members of the JSON object. */
void log_record(const struct log *log,
                enum log_level level,
                const char *message,
                const struct log_field *fields,
                size_t field_count);

#endif
