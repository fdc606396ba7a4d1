/* Receives the body of a request into a blob of the store: counted and bounded. */
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
    bool too_slow; /* the client sent nothing for too long */
    bool cut;      /* the client disconnected, or sent less than it announced */
};

/* A file in the store. */
struct upload_file {
    char sha256_hex[SHA256_HEX_BYTES];
    uint64_t size_bytes;
};

/* Call it before reading the first byte: refuses what can be refused by then. ERR_BAD_REQUEST,
 * ERR_TOO_LARGE, or ERR_NO_SPACE by a quota. `project` is that of the hints. */
bool upload_body_begin(struct upload_body *body,
                       const struct api_call *call,
                       const char *project,
                       struct err *err) KS_MUST_USE;
/* Reads up to `len` bytes. Returns 0 at the end, < 0 when the body is cut or too large. */
int64_t upload_body_read(struct upload_body *body, void *bytes, size_t len);
/* Reads `?marker=` (the function whose calls mark cycles) and `?rank=`; NULL and STORE_NO_RANK when
 * absent. Also finds the project of the run (upload_project.h). ERR_BAD_REQUEST. */
bool upload_body_hints(struct jobs_hints *hints,
                       struct api_call *call,
                       struct err *err) KS_MUST_USE;
/* Sets the error of an upload_body_read that returned < 0. Returns false. */
bool upload_body_error(const struct upload_body *body, struct err *err);
/* Receives the whole body as one file. Starts a streaming read where that pays: hints->streaming is
 * then set; pass it on. Keeps nothing on false. */
bool upload_body_receive(struct upload_body *body,
                         const struct api_call *call,
                         const char *file_name,
                         struct jobs_hints *hints,
                         struct upload_file *file,
                         struct err *err) KS_MUST_USE;

#endif
