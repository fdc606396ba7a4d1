/* Writes JSON into a buffer: separators ", " and ": " like Python's json.dumps, strings escaped to
 * ASCII or kept as UTF-8, doubles in shortest form, non-finite doubles as null. The writer places
 * commas and repairs strings to valid UTF-8 (U+FFFD). At most 62 levels of nesting. */
#ifndef KS_BASE_TEXT_JSON_WRITE_H
#define KS_BASE_TEXT_JSON_WRITE_H

#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct json_write {
    struct buf *out;
    uint64_t has_items; /* bit per depth: a comma is due before the next item */
    unsigned depth;
    bool after_key;
    bool ascii; /* non-ASCII as \uXXXX */
};

void jw_init(struct json_write *w, struct buf *out, bool ascii);
void jw_object_begin(struct json_write *w);
void jw_object_end(struct json_write *w);
void jw_array_begin(struct json_write *w);
void jw_array_end(struct json_write *w);
void jw_key(struct json_write *w, const char *key);
void jw_string(struct json_write *w, const char *text); /* NULL writes null */
void jw_string_n(struct json_write *w, const char *text, size_t len);
void jw_int(struct json_write *w, int64_t value);
void jw_double(struct json_write *w, double value);
void jw_bool(struct json_write *w, bool value);
void jw_null(struct json_write *w);
/* Copies text that is JSON already. */
void jw_raw(struct json_write *w, const char *text, size_t len);

/* key and value in one call */
void jw_key_string(struct json_write *w, const char *key, const char *text);
void jw_key_int(struct json_write *w, const char *key, int64_t value);
void jw_key_double(struct json_write *w, const char *key, double value);
void jw_key_bool(struct json_write *w, const char *key, bool value);
void jw_key_object_begin(struct json_write *w, const char *key); /* ends with jw_object_end */
void jw_key_array_begin(struct json_write *w, const char *key);  /* ends with jw_array_end */
void jw_key_null(struct json_write *w, const char *key);
void jw_known_int(struct json_write *w, int64_t value); /* INT64_MIN writes null */
void jw_key_known_int(struct json_write *w, const char *key, int64_t value);

#endif
