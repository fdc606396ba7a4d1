/* The one place where the api reads JSON: the body of a request. */
#ifndef KS_API_JSON_BODY_H
#define KS_API_JSON_BODY_H

#include "api/api.h"

#include <jansson.h>
#include <stddef.h>

/* The whole body as JSON, for the caller to json_decref; NULL with ERR_BAD_REQUEST (no JSON, or
 * nested deeper than JSON_SMALL_LEVELS_MAX: where), ERR_TOO_LARGE, ERR_TIMEOUT, ERR_CLIENT_GONE.
 * Texts are valid UTF-8 without NUL; no object has a member twice.
 */
json_t *json_body_read(const struct api_request *request, struct err *err) KS_MUST_USE;
/* A copy of a string of 1 to `max_bytes` bytes without control characters in the arena. `what`
 * names it in the error: ERR_BAD_REQUEST. */
bool json_body_text(const json_t *value,
                    const char *what,
                    size_t max_bytes,
                    struct arena *arena,
                    const char **text,
                    struct err *err) KS_MUST_USE;

#endif
