/* The body of PATCH: {"tags": [...], "note": "..."}, of a run also "pinned" and "project"; one of
 * them or more.
 */
#ifndef KS_API_CATALOGUE_PATCH_BODY_H
#define KS_API_CATALOGUE_PATCH_BODY_H

#include "api/api.h"

struct patch_body {
    const char *tags;    /* JSON array of strings, or NULL */
    const char *note;    /* or NULL */
    const char *project; /* "" for none; or NULL: as it is */
    bool has_pinned;
    bool pinned;
};

enum patch_subject { PATCH_RUN, PATCH_TRACE };

/* ERR_BAD_REQUEST says which member is wrong; ERR_TOO_LARGE, ERR_TIMEOUT, ERR_CLIENT_GONE. Texts
 * belong to the arena. */
bool patch_body_read(struct patch_body *patch,
                     enum patch_subject subject,
                     const struct api_request *request,
                     struct arena *arena,
                     struct err *err) KS_MUST_USE;

#endif
