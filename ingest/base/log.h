/* Log records to a stream, one line a record whatever the texts in it: as text made safe for
 * terminals, or as JSON (RFC 8259, one object a line: time, level, message, then the fields).
 * A `struct log` is handed to whoever logs; there is no global logger. Thread-safe. */
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

/* One figure or text of a record. The name is a word of lower-case letters and underscores, and
 * carries the unit. */
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
/* Whether such a record would be written: for records that cost something to put together. */
bool log_takes(const struct log *log, enum log_level level);
/* NULL log: nothing happens. A text is cut after 2047 bytes. In a text line the message has no bare
 * `=`, `"` or `\` (they are written as `\x3d`, …), so that nothing in it reads as a field; texts
 * from outside belong into fields, where only `"` and `\` are. */
void log_write(const struct log *log, enum log_level level, const char *fmt, ...) KS_PRINTF(3, 4);
/* The same with fields: `message name=1 name="text"`, or members of the JSON object. */
void log_record(const struct log *log,
                enum log_level level,
                const char *message,
                const struct log_field *fields,
                size_t field_count);

#endif
