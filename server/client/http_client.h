/* One HTTP request of our own: `gate`, `upload` and `watch` ask a server, webhooks tell one.
 * libcurl carries it; a build without libcurl refuses in words. Any thread may call it. */
#ifndef KS_SERVER_CLIENT_HTTP_CLIENT_H
#define KS_SERVER_CLIENT_HTTP_CLIENT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HTTP_CLIENT_HEADERS_MAX 8

struct http_client_request {
    const char *method;
    const char *url;                              /* http or https */
    const char *headers[HTTP_CLIENT_HEADERS_MAX]; /* "Name: value"; the first NULL ends them */
    const void *body;                             /* NULL: `file` is the body, or there is none */
    size_t body_len;
    FILE *file; /* from where it stands, `file_bytes` of it; NULL: none */
    int64_t file_bytes;
    unsigned timeout_s; /* for all of it; 0: as long as bytes move within a minute */
    /* Connects to public addresses only, whatever a name resolves to, and through no proxy. */
    bool only_public;
};

struct http_client_answer {
    int status;
    int64_t retry_after_s; /* what Retry-After says; 0: nothing */
    struct buf body;       /* what goes beyond its maximum is dropped */
};

/* False without any answer: ERR_UNAVAILABLE (no connection, cut, too slow, an address that is not
 * allowed), ERR_NO_MEMORY, ERR_UNSUPPORTED without libcurl. Redirects are answers: none is
 * followed. The caller initialises the body and frees it. */
bool http_client_ask(const struct http_client_request *request,
                     struct http_client_answer *answer,
                     struct err *err) KS_MUST_USE;
/* ERR_UNSUPPORTED without libcurl, with what to install. */
bool http_client_is_built(struct err *err) KS_MUST_USE;

#endif
