/* One request on a connection: reads its body, writes its answer, and leaves the connection so that
 * the next request can follow, or the client still receives the answer. */
#ifndef KS_SERVER_HTTP_HTTP_REQUEST_H
#define KS_SERVER_HTTP_HTTP_REQUEST_H

#include "api/route.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client; /* connection_limiter.h */
struct mg_connection;

#define HTTP_REQUEST_LINES_MAX 64 /* of a head */

struct http_request {
    struct mg_connection *conn;
    struct client *client;
    const char *method;
    const char *path;         /* below the base path; NULL: outside it, or not read yet */
    struct route_match match; /* of method and path */
    bool is_head;
    bool is_http_1_0;
    bool is_chunked;
    int64_t body_left_bytes; /* rest of a body with a length; meaningless when chunked */
    bool body_ended;
    bool body_failed;
    bool wants_continue; /* the client sends the body only after 100 Continue */
    bool close;          /* the connection ends with this answer */
    bool write_failed;
    int status; /* of the answer, after its head is written */
    uint64_t sent_bytes;
    uint64_t received_bytes; /* of the body */
    int64_t silence_ms;      /* how long civetweb waits for more of a body; the caller sets it */
};

/* False, with the error to answer, for a request whose framing could be misread. The exchange can
 * be answered in any case. */
bool http_request_init(struct http_request *req,
                       struct mg_connection *conn,
                       struct err *err) KS_MUST_USE;
/* Value of a request header (of several lines the first), or NULL. */
const char *http_request_header(const struct http_request *req, const char *name);
/* The values of all lines of a request header, in their order; returns their number. */
size_t http_request_header_lines(const struct http_request *req,
                                 const char *name,
                                 const char *values[HTTP_REQUEST_LINES_MAX]);
/* Length of the request's body; -1 when unknown. */
int64_t http_request_content_length(const struct http_request *req);
/* Reads the body. Returns the count, 0 at its end, < 0 when the client is gone; API_BODY_TOO_SLOW
 * when none of it came for `silence_ms`. The first call sends "100 Continue" to a client that waits
 * for it. */
int64_t http_request_read(struct http_request *req, void *bytes, size_t len);
/* Call it before writing the head: an answer that leaves body bytes unread closes the connection.
 */
void http_request_settle(struct http_request *req);
/* Writes bytes. False when the client is gone; nothing is sent after that. */
bool http_request_write(struct http_request *req, const void *bytes, size_t len);
/* Sends nothing more and closes the connection, so that the client does not take the answer for
 * complete. */
void http_request_abort(struct http_request *req);
/* Call it after the answer: if body bytes are unread, announces that no answer follows and reads
 * what the client still sends, for a while, so that closing does not destroy the answer in transit.
 */
void http_request_finish(struct http_request *req);

#endif
