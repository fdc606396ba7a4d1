/* Who is connected, so that no client takes the server from the others. A connection holds one of
 * civetweb's threads from its first to its last byte; here is counted how many each address has,
 * how long the head of a first request may take, and how many threads serve what lasts long:
 * uploads and streams of events. Thread-safe.
 *
 * civetweb tells the address of a connection with its first request, which from an idle one never
 * comes, so new connections are looked for among the sockets of the process.
 *
 *     init_connection -> connection_limiter_look -- too many of its address --> 429, shut
 *                             |       `- no head in time ----------> 408, shut
 *                             `-> requests -> connection_limiter_leave -> close ->
 * connection_limiter_left
 */
#ifndef KS_SERVER_GUARD_CONNECTION_LIMITER_H
#define KS_SERVER_GUARD_CONNECTION_LIMITER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct connection_limiter;
struct client; /* one connection */

struct connection_limiter_options {
    unsigned threads;    /* connections that are served at once */
    unsigned queued;     /* and those that may wait for it */
    unsigned per_client; /* connections of one address; 0: no cap */
    unsigned head_timeout_s;
    const char *const *trusted_proxies; /* dotted IPv4: these have no cap */
    unsigned trusted_proxy_count;
};

/* Starts the thread that watches over heads. What the options point to is copied. Errors:
 * ERR_NO_MEMORY, ERR_BAD_REQUEST for a proxy that is no address. */
bool connection_limiter_create(struct connection_limiter **out,
                               const struct connection_limiter_options *options,
                               struct err *err) KS_MUST_USE;
/* No socket is touched any more: before the server closes them all. NULL is allowed. */
void connection_limiter_stop(struct connection_limiter *limiter);
/* After the last connection. NULL is allowed. */
void connection_limiter_destroy(struct connection_limiter *limiter);

/* A connection has begun on this port: finds the sockets of those not yet known, and shuts what its
 * address has too many of. */
void connection_limiter_look(struct connection_limiter *limiter, uint16_t local_port);
/* The head of a request is there. False: the connection has been refused, its client has been told
 * and its socket is shut; nothing that still comes from it may be answered. *client is NULL for a
 * connection that was not found (a system that does not show a process its sockets): it is served
 * and not counted. */
bool connection_limiter_head_ended(struct connection_limiter *limiter,
                                   const char *remote_host,
                                   uint16_t remote_port,
                                   struct client **client) KS_MUST_USE;
/* No answer follows on its connection: the client is told by the end of what it receives, while
 * what it still sends can be taken in. By the thread that serves it; NULL is allowed. */
void connection_limiter_end_answers(const struct client *client);
/* Before and after its socket is closed. */
void connection_limiter_leave(struct connection_limiter *limiter,
                              const char *remote_host,
                              uint16_t remote_port);
void connection_limiter_left(struct connection_limiter *limiter,
                             const char *remote_host,
                             uint16_t remote_port);

/* A request begins that may last long. At most half of all connections may at once, and half of
 * those that one client has. ERR_UNAVAILABLE beyond. Each is given back. A NULL client is let in.
 */
bool connection_limiter_begin_long(struct connection_limiter *limiter,
                                   struct client *client,
                                   struct err *err) KS_MUST_USE;
void connection_limiter_end_long(struct connection_limiter *limiter, struct client *client);

#endif
