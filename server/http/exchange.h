/* One request on a connection: reads its body, writes its answer, and leaves the connection so that
 * the next request can follow, or the client still receives the answer. */
#ifndef KS_SERVER_HTTP_EXCHANGE_H
#define KS_SERVER_HTTP_EXCHANGE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client; /* connection_limiter.h */
struct mg_connection;

#define EXCHANGE_LINES_MAX 64 /* of a head */

struct exchange {
    struct mg_connection *conn;
    struct client *client;
    const char *method;
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
bool exchange_init(struct exchange *x, struct mg_connection *conn, struct err *err) KS_MUST_USE;
/* Value of a request header (of several lines the first), or NULL. */
const char *exchange_header(const struct exchange *x, const char *name);
/* The values of all lines of a request header, in their order; returns their number. */
size_t exchange_header_lines(const struct exchange *x,
                             const char *name,
                             const char *values[EXCHANGE_LINES_MAX]);
/* Length of the request's body; -1 when unknown. */
int64_t exchange_content_length(const struct exchange *x);
/* Reads the body. Returns the count, 0 at its end, < 0 when the client is gone; API_BODY_TOO_SLOW
 * when none of it came for `silence_ms`. The first call sends "100 Continue" to a client that waits
 * for it. */
int64_t exchange_read(struct exchange *x, void *bytes, size_t len);
/* Call it before writing the head: an answer that leaves body bytes unread closes the connection.
 */
void exchange_settle(struct exchange *x);
/* Writes bytes. False when the client is gone; nothing is sent after that. */
bool exchange_write(struct exchange *x, const void *bytes, size_t len);
/* Sends nothing more and closes the connection, so that the client does not take the answer for
 * complete. */
void exchange_abort(struct exchange *x);
/* Call it after the answer: if body bytes are unread, announces that no answer follows and reads
 * what the client still sends, for a while, so that closing does not destroy the answer in transit.
 */
void exchange_finish(struct exchange *x);

#endif
