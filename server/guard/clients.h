/* Who is connected, so that no client takes the server from the others. A connection holds one of
 * civetweb's threads from its first to its last byte; here is counted how many each address has,
 * how long the head of a first request may take, and how many threads serve what lasts long:
 * uploads and streams of events. Thread-safe.
 *
 * civetweb tells the address of a connection with its first request, which from an idle one never
 * comes, so new connections are looked for among the sockets of the process.
 *
 *     init_connection -> clients_look -- too many of its address --> 429, shut
 *                             |       `- no head in time ----------> 408, shut
 *                             `-> requests -> clients_leave -> close -> clients_left
 */
#ifndef KS_SERVER_GUARD_CLIENTS_H
#define KS_SERVER_GUARD_CLIENTS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct clients;
struct client; /* one connection */

struct clients_options {
    unsigned threads;    /* connections that are served at once */
    unsigned queued;     /* and those that may wait for it */
    unsigned per_client; /* connections of one address; 0: no cap */
    unsigned head_timeout_s;
    const char *const *trusted_proxies; /* dotted IPv4: these have no cap */
    unsigned trusted_proxy_count;
};

/* Starts the thread that watches over heads. What the options point to is copied. Errors:
 * ERR_NO_MEMORY, ERR_BAD_REQUEST for a proxy that is no address. */
bool clients_create(struct clients **out,
                    const struct clients_options *options,
                    struct err *err) KS_MUST_USE;
/* No socket is touched any more: before the server closes them all. NULL is allowed. */
void clients_stop(struct clients *clients);
/* After the last connection. NULL is allowed. */
void clients_destroy(struct clients *clients);

/* A connection has begun on this port: finds the sockets of those not yet known, and shuts what its
 * address has too many of. */
void clients_look(struct clients *clients, uint16_t local_port);
/* The head of a request is there. False: the connection has been refused, its client has been told
 * and its socket is shut; nothing that still comes from it may be answered. *client is NULL for a
 * connection that was not found (a system that does not show a process its sockets): it is served
 * and not counted. */
bool clients_head_ended(struct clients *clients,
                        const char *remote_host,
                        uint16_t remote_port,
                        struct client **client) KS_MUST_USE;
/* No answer follows on its connection: the client is told by the end of what it receives, while
 * what it still sends can be taken in. By the thread that serves it; NULL is allowed. */
void clients_end_answers(const struct client *client);
/* Before and after its socket is closed. */
void clients_leave(struct clients *clients, const char *remote_host, uint16_t remote_port);
void clients_left(struct clients *clients, const char *remote_host, uint16_t remote_port);

/* A request begins that may last long. At most half of all connections may at once, and half of
 * those that one client has. ERR_UNAVAILABLE beyond. Each is given back. A NULL client is let in.
 */
bool clients_begin_long(struct clients *clients,
                        struct client *client,
                        struct err *err) KS_MUST_USE;
void clients_end_long(struct clients *clients, struct client *client);

#endif
