/* The one error type. A function that can fail returns bool and takes a `struct err *` as its last
 * parameter (never NULL). On false the error is set; on true it is untouched. Each layer may prefix
 * its own context, so that the user's message says what failed, where, and what to do. */
#ifndef KS_BASE_ERR_H
#define KS_BASE_ERR_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* code, stable text (in problem+json as "code"), HTTP status, title */
#define ERR_LIST(X)                                                                      \
    X(ERR_NONE, "none", 200, "No error")                                                 \
    X(ERR_BAD_REQUEST, "bad_request", 400, "The request cannot be understood")           \
    X(ERR_UNAUTHORIZED, "unauthorized", 401, "A token is needed")                        \
    X(ERR_FORBIDDEN, "forbidden", 403, "Not allowed")                                    \
    X(ERR_NOT_FOUND, "not_found", 404, "Not found")                                      \
    X(ERR_METHOD, "method_not_allowed", 405, "Method not allowed")                       \
    X(ERR_TIMEOUT, "request_timeout", 408, "The client took too long")                   \
    X(ERR_CONFLICT, "conflict", 409, "Already there with other content")                 \
    X(ERR_GONE, "gone", 410, "No longer kept")                                           \
    X(ERR_LENGTH_REQUIRED, "length_required", 411, "The length of the body is missing")  \
    X(ERR_TOO_LARGE, "too_large", 413, "Too large")                                      \
    X(ERR_URL_TOO_LONG, "uri_too_long", 414, "The URL is too long")                      \
    X(ERR_UNSUPPORTED, "unsupported_format", 415, "Not a format that Kinetoscope reads") \
    X(ERR_BAD_INPUT, "bad_input", 422, "The file cannot be read")                        \
    X(ERR_TOO_MANY, "too_many_requests", 429, "Too many requests")                       \
    X(ERR_HEAD_TOO_LARGE, "head_too_large", 431, "The head of the request is too large") \
    X(ERR_CLIENT_GONE, "client_closed_request", 499, "The client went away")             \
    X(ERR_INTERNAL, "internal", 500, "Internal error")                                   \
    X(ERR_IO, "io", 500, "Reading or writing failed")                                    \
    X(ERR_NO_MEMORY, "no_memory", 500, "Out of memory")                                  \
    X(ERR_STORE, "store", 500, "The database failed")                                    \
    X(ERR_UNAVAILABLE, "unavailable", 503, "Not available now")                          \
    X(ERR_NO_SPACE, "no_space", 507, "No space left for the upload")

enum err_code {
#define ERR_ENUM(code, text, status, title) code,
    ERR_LIST(ERR_ENUM)
#undef ERR_ENUM
};

#define ERR_NO_OFFSET UINT64_MAX

struct err {
    enum err_code code;
    uint64_t byte_off; /* in the (decompressed) input, or ERR_NO_OFFSET */
    char msg[480];     /* UTF-8, truncated after a whole character */
};

#define ERR_INIT                                               \
    {                                                          \
        .code = ERR_NONE, .byte_off = ERR_NO_OFFSET, .msg = "" \
    }

/* Sets code and message; returns false, so that `return err_set(...)` reads well. */
bool err_set(struct err *err, enum err_code code, const char *fmt, ...) KS_PRINTF(3, 4);
/* As err_set, with the byte offset of the fault in the input. */
bool err_set_at(struct err *err, enum err_code code, uint64_t byte_off, const char *fmt, ...)
    KS_PRINTF(4, 5);
/* As err_set, with ": " and the text of `errnum` (an errno value) appended; ENOSPC and EDQUOT turn
 * the code into ERR_NO_SPACE. */
bool err_set_errno(struct err *err, enum err_code code, int errnum, const char *fmt, ...)
    KS_PRINTF(4, 5);
/* Puts "<context>: " before the message. Returns false. */
bool err_context(struct err *err, const char *fmt, ...) KS_PRINTF(2, 3);

const char *err_code_text(enum err_code code);
int err_http_status(enum err_code code);
const char *err_title(enum err_code code);

#endif
