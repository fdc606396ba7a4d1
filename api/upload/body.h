/* Receiving: the body of a request, counted and bounded, on its way into a blob of the store. */
#ifndef KS_API_UPLOAD_BODY_H
#define KS_API_UPLOAD_BODY_H

#include "api/call.h"

#include <stdbool.h>
#include <stdint.h>

struct upload_body {
    const struct api_request *request;
    uint64_t received_bytes;
    uint64_t max_bytes;
    bool too_large;
    bool too_slow; /* the server waits no longer */
    bool cut;      /* the client went away, or sent less than it announced */
};

/* A file that lies in the store. */
struct upload_file {
    char sha256_hex[SHA256_HEX_BYTES];
    uint64_t size_bytes;
};

/* Refuses what can be refused before the first byte is asked for: ERR_BAD_REQUEST, ERR_TOO_LARGE,
 * ERR_NO_SPACE by the quotas. `project` is that of the hints.
 */
bool upload_body_begin(struct upload_body *body,
                       const struct api_call *call,
                       const char *project,
                       struct err *err) KS_MUST_USE;
/* Up to `len` bytes; 0 at the end, < 0 when the body is cut or too large. */
int64_t upload_body_read(struct upload_body *body, void *bytes, size_t len);
/* `?marker=`, the function whose calls are the cycles, and `?rank=`; NULL and STORE_NO_RANK without
 * them (ERR_BAD_REQUEST); and the project of the run (upload_project.h). */
bool upload_body_hints(struct jobs_hints *hints,
                       struct api_call *call,
                       struct err *err) KS_MUST_USE;
/* Why upload_body_read answered < 0. Returns false. */
bool upload_body_error(const struct upload_body *body, struct err *err);
/* The whole body as one file, read while it comes where that is worth it: hints->streaming is then
 * set, to be handed on. On false nothing is kept. */
bool upload_body_receive(struct upload_body *body,
                         const struct api_call *call,
                         const char *file_name,
                         struct jobs_hints *hints,
                         struct upload_file *file,
                         struct err *err) KS_MUST_USE;

#endif
