/* Reads JSON bodies of requests. The API reads JSON nowhere else. */
#ifndef KS_API_JSON_BODY_H
#define KS_API_JSON_BODY_H

#include "api/api.h"

#include <jansson.h>
#include <stddef.h>

/* Reads the whole body as JSON; the caller calls json_decref. NULL on errors: ERR_BAD_REQUEST (no
 * JSON, or nested deeper than JSON_SMALL_LEVELS_MAX; says where), ERR_TOO_LARGE, ERR_TIMEOUT,
 * ERR_CLIENT_GONE. Texts are valid UTF-8 without NUL; no object has a member twice. */
json_t *json_body_read(const struct api_request *request, struct err *err) KS_MUST_USE;
/* As json_body_read, for bodies of up to `max_bytes`; integers are read as reals, of any length. */
json_t *json_body_read_long(const struct api_request *request,
                            size_t max_bytes,
                            struct err *err) KS_MUST_USE;
/* Copies a string into the arena. It must have 1 to `max_bytes` bytes and no control characters,
 * else ERR_BAD_REQUEST; `what` names it in the message. */
bool json_body_text(const json_t *value,
                    const char *what,
                    size_t max_bytes,
                    struct arena *arena,
                    const char **text,
                    struct err *err) KS_MUST_USE;
/* Refuses a body that is no object or has a member that `known` (NULL-terminated) does not list:
 * ERR_BAD_REQUEST. */
bool json_body_knows(json_t *body, const char *const *known, struct err *err) KS_MUST_USE;

#endif
