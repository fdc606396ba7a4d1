/* Log lines to a stream, one line an event, made safe for terminals (control characters escaped).
 * A `struct log` is handed to whoever logs; there is no global logger. Thread-safe. */
#ifndef KS_BASE_LOG_H
#define KS_BASE_LOG_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdio.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log {
    FILE *stream;
    enum log_level level;
};

/* "error", "warn", "info", "debug" -> level; false for another word. */
bool log_level_parse(const char *word, enum log_level *level) KS_MUST_USE;
/* NULL log: nothing happens. */
void log_write(const struct log *log, enum log_level level, const char *fmt, ...) KS_PRINTF(3, 4);

#endif
