/* Which addresses belong to everybody's network. */
#ifndef KS_SERVER_CLIENT_PUBLIC_ADDRESS_H
#define KS_SERVER_CLIENT_PUBLIC_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* False for loopback, private, link-local (there lie the metadata services of clouds), shared,
 * documentation, multicast and reserved addresses, for IPv6 addresses that carry an IPv4 address,
 * and for other families. By the registries of RFC 6890. */
bool public_address_is(const struct sockaddr *address);

#endif
