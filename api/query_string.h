/* Parses the part of a URL after "?": name=value pairs, percent-encoded, "+" for a space. */
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

/* Parses `text` into the arena. ERR_BAD_REQUEST: a bad escape, an encoded NUL, too many parameters;
 * ERR_NO_MEMORY. */
bool query_string_parse(struct query_string *out,
                        struct arena *arena,
                        const char *text,
                        struct err *err) KS_MUST_USE;
/* Value of the first parameter of this name, or NULL. */
const char *query_string_get(const struct query_string *query, const char *name);
/* As query_string_get; NULL also for an empty value. */
const char *query_string_word(const struct query_string *query, const char *name);
/* Reads an integer. Leaves *value as it is when the parameter is absent or empty. ERR_BAD_REQUEST
 * unless it is an integer within [min, max]. */
bool query_string_int(const struct query_string *query,
                      const char *name,
                      int64_t min,
                      int64_t max,
                      int64_t *value,
                      struct err *err) KS_MUST_USE;
/* Decodes `len` percent-encoded bytes into the arena. Errors as in query_string_parse. */
bool query_string_decode(const char **out,
                         struct arena *arena,
                         const char *text,
                         size_t len,
                         bool plus_is_space,
                         struct err *err) KS_MUST_USE;
/* Percent-encodes all bytes except letters, digits and "-._~", for use as a path segment. NULL
 * without memory. */
const char *query_string_encode(struct arena *arena, const char *text) KS_MUST_USE;

#endif
