/* Answers on the wire: head, body, compression, ranges, streams. Nothing here fails towards the
 * caller: when the client is gone, the rest of its answer is not sent. */
#ifndef KS_SERVER_HTTP_REPLY_H
#define KS_SERVER_HTTP_REPLY_H

#include "api/api.h"
#include "ingest/base/buf.h"
#include "ingest/base/err.h"
#include "server/http/exchange.h"

#include <stdatomic.h>
#include <stddef.h>

/* Sends whatever the response carries. `stopping` ends streams. */
void reply_send(struct exchange *x, struct api_response *response, const atomic_bool *stopping);
/* The response's file_path, whole or the one range that was asked for (reply_file.c). */
void reply_file(struct exchange *x, struct api_response *response);
/* Begins the head of an answer to the API's response: its headers and what it leaves to the server.
 */
void reply_begin(struct buf *head,
                 struct exchange *x,
                 const struct api_response *response,
                 int status);
/* Value of a header that the response carries, or NULL. */
const char *reply_header(const struct api_response *response, const char *name);
/* Sends an error as application/problem+json, with one more header or NULL. */
void reply_problem(struct exchange *x, const struct err *err, const struct api_header *header);

/* A piece of the page. `gzip` NULL when it does not pay. */
struct reply_asset {
    const char *content_type;
    const void *bytes;
    size_t len;
    const void *gzip;
    size_t gzip_len;
    const char *etag; /* with quotes, or NULL */
};
void reply_asset(struct exchange *x, int status, const struct reply_asset *asset);
/* Moved for good to `location`. */
void reply_redirect(struct exchange *x, const char *location);

#endif
