/* Strings as JSON has them, decoded. */
#ifndef KS_STORE_EVENTS_DOCUMENTS_JSON_STRING_H
#define KS_STORE_EVENTS_DOCUMENTS_JSON_STRING_H

#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>

bool json_is_string(const char *json, size_t len);
/* What is between the quotes, decoded to UTF-8 at `out`, which has room for `len` bytes; escapes
 * that mean nothing are U+FFFD or "?". Gives the length. */
size_t json_string_decode(char *out, const char *json, size_t len);
/* A copy in the arena: of a string decoded, of anything else as it is. NULL without memory. */
const char *json_string_copy(struct arena *arena, const char *json, size_t len);

#endif
