/* The body of PATCH: {"tags": [...], "note": "..."}, for a run also "pinned" and "project"; at
 * least one member. */
#ifndef KS_API_CATALOGUE_PATCH_BODY_H
#define KS_API_CATALOGUE_PATCH_BODY_H

#include "api/api.h"

struct patch_body {
    const char *tags;    /* JSON array of strings, or NULL */
    const char *note;    /* or NULL */
    const char *project; /* "": none; NULL: unchanged */
    bool has_pinned;
    bool pinned;
};

enum patch_subject { PATCH_RUN, PATCH_TRACE };

/* Reads and checks the body; texts are in the arena. ERR_BAD_REQUEST says which member is wrong;
 * ERR_TOO_LARGE, ERR_TIMEOUT, ERR_CLIENT_GONE. */
bool patch_body_read(struct patch_body *patch,
                     enum patch_subject subject,
                     const struct api_request *request,
                     struct arena *arena,
                     struct err *err) KS_MUST_USE;

#endif
