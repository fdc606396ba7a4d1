/* The address where the server listens, and the URL that users see. */
#ifndef KS_SERVER_OPTIONS_LISTEN_H
#define KS_SERVER_OPTIONS_LISTEN_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "server/options/options.h"

#include <stdbool.h>
#include <stdint.h>

#define LISTEN_ADDRESS_BYTES 16

/* The IPv4 address of --listen's host in dotted form ("" and "*" are all addresses).
 * ERR_BAD_REQUEST when the name has none. */
bool listen_resolve(const char *host,
                    char address[LISTEN_ADDRESS_BYTES],
                    struct err *err) KS_MUST_USE;
/* Beyond loopback, requires tokens (of a file, or `has_tokens` in the store) or --allow-anonymous.
 */
bool listen_allowed(const struct options *options,
                    const char *address,
                    bool has_tokens,
                    struct err *err) KS_MUST_USE;
/* http://host:port/prefix for the page and links, without --public-url. */
void listen_url(const struct options *options, uint16_t port, char url[OPTIONS_URL_BYTES]);

#endif
