/* One request on a connection, and the way its answer takes: reading the body, writing bytes, and
 * leaving the connection so that either the next request can follow or the client still gets the
 * answer. */
#ifndef KS_SERVER_HTTP_HTTP_REQUEST_H
#define KS_SERVER_HTTP_HTTP_REQUEST_H

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
    bool is_head;
    bool is_http_1_0;
    bool is_chunked;
    int64_t body_left_bytes; /* of a body with a length; meaningless when chunked */
    bool body_ended;
    bool body_failed;
    bool wants_continue; /* the client holds the body back until it is told to send */
    bool close;          /* the connection ends with this answer */
    bool write_failed;
    int status; /* of the answer, once its head is written */
    uint64_t sent_bytes;
    uint64_t received_bytes; /* of the body */
    int64_t silence_ms;      /* what civetweb waits for more of a body; the caller sets it */
};

/* False (with the error to answer) for a request that is framed in a way it could be misread. It
 * can be answered in any case. */
bool http_request_init(struct http_request *req,
                       struct mg_connection *conn,
                       struct err *err) KS_MUST_USE;
/* Value of a request header or NULL; of several lines the first one. */
const char *http_request_header(const struct http_request *req, const char *name);
/* The values of all lines of a request header, in their order; returns their number. */
size_t http_request_header_lines(const struct http_request *req,
                                 const char *name,
                                 const char *values[HTTP_REQUEST_LINES_MAX]);
/* Length of the request's body, -1 when it is not known beforehand. */
int64_t http_request_content_length(const struct http_request *req);
/* Reads the body: > 0 bytes, 0 at its end, < 0 when the client is gone; API_BODY_TOO_SLOW
 * when nothing of it came for `silence_ms`. The first call sends "100 Continue" to a client that
 * waits for it. */
int64_t http_request_read(struct http_request *req, void *bytes, size_t len);
/* To be called before the head is written: an answer that leaves body bytes unread closes the
 * connection. */
void http_request_settle(struct http_request *req);
/* False when the client is gone; nothing is sent any more then. */
bool http_request_write(struct http_request *req, const void *bytes, size_t len);
/* Nothing more is sent, and the connection ends: the client must not take the answer for a whole
 * one. */
void http_request_abort(struct http_request *req);
/* After the answer: when it left something of the body unread, says that no other follows and takes
 * in what the client still sends, for a while, so that closing does not destroy the answer on its
 * way. */
void http_request_finish(struct http_request *req);

#endif
