/* The body of PATCH: {"tags": [...], "note": "..."}, either or both. */
#ifndef KS_API_PATCH_BODY_H
#define KS_API_PATCH_BODY_H

#include "api/api.h"

struct patch_body {
    const char *tags; /* JSON array of strings, or NULL */
    const char *note; /* or NULL */
};

/* ERR_BAD_REQUEST says which member is wrong; ERR_TOO_LARGE, ERR_CLIENT_GONE. Texts belong to the
 * arena. */
bool patch_body_read(struct patch_body *patch,
                     const struct api_request *request,
                     struct arena *arena,
                     struct err *err) KS_MUST_USE;

#endif
