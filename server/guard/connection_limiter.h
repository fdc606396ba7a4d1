/* Connection limiter: keeps one client from taking the server from the others. A connection holds
 * one of civetweb's threads from its first to its last byte. This module counts connections by
 * address, limits the time for the head of a first request, and limits the threads that serve long
 * requests: uploads and streams of events. Thread-safe.
 *
 * civetweb reveals the address of a connection with its first request, which an idle connection
 * never sends. So this module looks for new connections among the sockets of the process.
 *
 *     init_connection -> connection_limiter_look -- too many of its address --> 429, shut
 *                             |       `- no head in time ----------> 408, shut
 *                             `-> requests -> connection_limiter_leave -> close ->
 * connection_limiter_left */
#ifndef KS_SERVER_GUARD_CONNECTION_LIMITER_H
#define KS_SERVER_GUARD_CONNECTION_LIMITER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct connection_limiter;
struct client; /* one connection */

struct connection_limiter_options {
    unsigned threads;    /* connections served at once */
    unsigned queued;     /* connections that may wait */
    unsigned per_client; /* connections of one address; 0: no cap */
    unsigned head_timeout_s;
    const char *const *trusted_proxies; /* dotted IPv4: these have no cap */
    unsigned trusted_proxy_count;
};

/* Starts the thread that limits the time for heads. Copies what the options point to.
 * ERR_NO_MEMORY; ERR_BAD_REQUEST: a proxy is not an address. */
bool connection_limiter_create(struct connection_limiter **out,
                               const struct connection_limiter_options *options,
                               struct err *err) KS_MUST_USE;
/* Stops touching sockets; call it before the server closes them. NULL is allowed. */
void connection_limiter_stop(struct connection_limiter *limiter);
/* Call it after the last connection. NULL is allowed. */
void connection_limiter_destroy(struct connection_limiter *limiter);

/* Call it when a connection begins on this port: finds the sockets of unknown connections, and
 * shuts those beyond the limit of their address. */
void connection_limiter_look(struct connection_limiter *limiter, uint16_t local_port);
/* Call it when the head of a request has arrived. False: the connection was refused, its client was
 * told, and its socket is shut; answer nothing that still arrives on it. *client is NULL for a
 * connection that was not found (on a system that does not show a process its sockets): serve it
 * uncounted. */
bool connection_limiter_head_ended(struct connection_limiter *limiter,
                                   const char *remote_host,
                                   uint16_t remote_port,
                                   struct client **client) KS_MUST_USE;
/* Ends the answers of a connection: the client sees the end of its input, while the server can
 * still read what it sends. Call it from the thread that serves it. NULL is allowed. */
void connection_limiter_end_answers(const struct client *client);
/* Call them before and after the socket is closed. */
void connection_limiter_leave(struct connection_limiter *limiter,
                              const char *remote_host,
                              uint16_t remote_port);
void connection_limiter_left(struct connection_limiter *limiter,
                             const char *remote_host,
                             uint16_t remote_port);

/* Admits a long request. At most half of all connections, and half of those of one client, may
 * serve one. ERR_UNAVAILABLE beyond that. End each with connection_limiter_end_long. A NULL client
 * is admitted. */
bool connection_limiter_begin_long(struct connection_limiter *limiter,
                                   struct client *client,
                                   struct err *err) KS_MUST_USE;
void connection_limiter_end_long(struct connection_limiter *limiter, struct client *client);

#endif
