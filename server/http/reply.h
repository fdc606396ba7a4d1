/* Answers on the wire: head, body, compression, ranges, streams. Nothing here fails towards the
 * caller: when the client is gone, the rest of its answer is not sent. */
#ifndef KS_SERVER_HTTP_REPLY_H
#define KS_SERVER_HTTP_REPLY_H

#include "api/api.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"
#include "server/http/http_request.h"
#include "server/http/response_cache.h"

#include <stdatomic.h>
#include <stddef.h>

/* Where an answer is kept, once it is known that its reader may have it. */
struct reply_place {
    struct response_cache *cache;
    struct response_cache_key key; /* `gzipped` is told by reply_may_gzip */
    uint64_t version;              /* of the data, before the answer is made */
};

/* Whether the client takes gzip. */
bool reply_may_gzip(const struct http_request *req);
/* Sends what is kept there; false when nothing is. */
bool reply_from_cache(struct http_request *req, const struct reply_place *place);
/* Sends what the body of a long answer holds so far and empties it, the head before the first part;
 * reply_send sends the rest. Packed where the client takes it; without length, ETag and a place in
 * what is kept. False when the client is gone. */
bool reply_part(struct http_request *req, struct api_response *response);
/* Sends whatever the response carries. `stopping` ends streams. What is_kept gets its place; NULL:
 * there is none. */
void reply_send(struct http_request *req,
                struct api_response *response,
                const atomic_bool *stopping,
                const struct reply_place *place);
/* The response's file_path, whole or the one range that was asked for (reply_file.c). */
void reply_file(struct http_request *req, struct api_response *response);
/* Begins the head of an answer to the API's response: its headers and what it leaves to the server.
 */
void reply_begin(struct buf *head,
                 struct http_request *req,
                 const struct api_response *response,
                 int status);
/* Value of a header that the response carries, or NULL. */
const char *reply_header(const struct api_response *response, const char *name);
/* Sends an error as application/problem+json, with one more header or NULL. */
void reply_problem(struct http_request *req,
                   const struct err *err,
                   const struct api_header *header);

/* A piece of the page. `gzip` NULL when it does not pay. */
struct reply_asset {
    const char *content_type;
    const void *bytes;
    size_t len;
    const void *gzip;
    size_t gzip_len;
    const char *etag; /* with quotes, or NULL */
    bool lasting;     /* its address names its content, so it never has to be asked for again */
};
void reply_asset(struct http_request *req, int status, const struct reply_asset *asset);
/* Moved for good to `location`. */
void reply_redirect(struct http_request *req, const char *location);

#endif
