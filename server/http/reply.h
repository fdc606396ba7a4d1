/* Sends answers: head, body, compression, ranges, streams. No function here reports an error: when
 * the client is gone, the rest of its answer is not sent. */
#ifndef KS_SERVER_HTTP_REPLY_H
#define KS_SERVER_HTTP_REPLY_H

#include "api/api.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"
#include "server/http/http_request.h"
#include "server/http/response_cache.h"

#include <stdatomic.h>
#include <stddef.h>

/* The cache entry of an answer, once access is decided. */
struct reply_place {
    struct response_cache *cache;
    struct response_cache_key key; /* `gzipped` comes from reply_may_gzip */
    uint64_t version;              /* of the data before the answer is made */
};

/* Whether the client accepts gzip. */
bool reply_may_gzip(const struct http_request *req);
/* Sends the cached answer; false when there is none. */
bool reply_from_cache(struct http_request *req, const struct reply_place *place);
/* Sends the body of a long answer so far, its head before the first part, and empties the body;
 * reply_send sends the rest. Compressed where the client accepts it; has no length, no ETag and is
 * not cached. False when the client is gone. */
bool reply_part(struct http_request *req, struct api_response *response);
/* Sends the response. `stopping` ends streams. Caches it at `place` if is_kept; NULL: no cache. */
void reply_send(struct http_request *req,
                struct api_response *response,
                const atomic_bool *stopping,
                const struct reply_place *place);
/* Sends the response's file_path, whole or the requested range (reply_file.c). */
void reply_file(struct http_request *req, struct api_response *response);
/* Begins the head of an API response: its own headers and those that the server adds. */
void reply_begin(struct buf *head,
                 struct http_request *req,
                 const struct api_response *response,
                 int status);
/* Value of a header of the response, or NULL. */
const char *reply_header(const struct api_response *response, const char *name);
/* Sends an error as application/problem+json, with one more header (or NULL). */
void reply_problem(struct http_request *req,
                   const struct err *err,
                   const struct api_header *header);

/* A file of the page. `gzip` is NULL when it does not pay. */
struct reply_asset {
    const char *content_type;
    const void *bytes;
    size_t len;
    const void *gzip;
    size_t gzip_len;
    const char *etag; /* with quotes, or NULL */
    bool lasting;     /* its address identifies its content: browsers may cache it for good */
};
void reply_asset(struct http_request *req, int status, const struct reply_asset *asset);
/* Redirects permanently to `location`. */
void reply_redirect(struct http_request *req, const char *location);

#endif
