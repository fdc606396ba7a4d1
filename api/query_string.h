/* The part of a URL behind "?": name=value pairs, percent-encoded, "+" for a space. */
#ifndef KS_API_QUERY_STRING_H
#define KS_API_QUERY_STRING_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUERY_STRING_PARAMS_MAX 64

struct query_param {
    const char *name;
    const char *value; /* "" without "=" */
};

struct query_string {
    struct query_param *params; /* in the order of the text, in the arena */
    size_t count;
};

/* Errors: ERR_BAD_REQUEST (a bad escape, an encoded NUL, too many parameters), ERR_NO_MEMORY. */
bool query_string_parse(struct query_string *out,
                        struct arena *arena,
                        const char *text,
                        struct err *err) KS_MUST_USE;
/* Value of the first parameter of this name, or NULL. */
const char *query_string_get(const struct query_string *query, const char *name);
/* The same; NULL also when the value is empty. */
const char *query_string_word(const struct query_string *query, const char *name);
/* Leaves *value as it is when the parameter is absent or empty. ERR_BAD_REQUEST when it is no
 * integer within [min, max]. */
bool query_string_int(const struct query_string *query,
                      const char *name,
                      int64_t min,
                      int64_t max,
                      int64_t *value,
                      struct err *err) KS_MUST_USE;
/* Undoes the percent encoding of `len` bytes into a copy in the arena; the errors of
 * query_string_parse. */
bool query_string_decode(const char **out,
                         struct arena *arena,
                         const char *text,
                         size_t len,
                         bool plus_is_space,
                         struct err *err) KS_MUST_USE;
/* Percent-encodes all but letters, digits and "-._~", as a path segment needs it. NULL without
 * memory. */
const char *query_string_encode(struct arena *arena, const char *text) KS_MUST_USE;

#endif
