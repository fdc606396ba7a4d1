/* Rewrites JSON text canonically: one line, no space around tokens; escapes quotes, backslashes and
 * control characters (\u00XX) in strings; U+FFFD replaces bytes that are not UTF-8. Leaves correct
 * text byte for byte. */
#ifndef KS_FORMATS_JSON_CLEAN_H
#define KS_FORMATS_JSON_CLEAN_H

#include "ingest/base/text/buf.h"
#include "ingest/formats/json/scan.h"

#include <stddef.h>

/* Appends a string with its quotes. Its content may be damaged: quotes inside and backslashes that
 * escape nothing stand for themselves. */
void json_clean_string(const struct json_value *value, struct buf *out);
/* Appends the text that json_scan_value accepted as a value. */
void json_clean_value(const char *text, size_t len, struct buf *out);

#endif
