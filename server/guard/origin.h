/* Defends against pages of other sites that use a visitor's browser to reach this server. Host
 * reveals a foreign name that resolves to loopback (DNS rebinding); Origin reveals a foreign page
 * that posts. */
#ifndef KS_SERVER_GUARD_ORIGIN_H
#define KS_SERVER_GUARD_ORIGIN_H

#include <stdbool.h>

/* Whether a server on loopback answers to this Host: localhost, 127.0.0.0/8, [::1], or the host of
 * the public URL. `host` NULL (not sent) is not allowed. */
bool origin_host_allowed(const char *host, const char *public_url);
/* Whether no foreign page can have this Host: one that origin_host_allowed allows, an address, or a
 * name without a dot, which no foreign name server resolves. */
bool origin_host_is_ours(const char *host, const char *public_url);
/* Whether Origin names this server: host and port equal Host or the public URL. */
bool origin_is_own(const char *origin, const char *host, const char *public_url);
/* Whether this IPv4 address or name means this machine only. */
bool origin_is_loopback(const char *host);

#endif
