/* Finds the client address of a request: the peer, or the address that a trusted proxy names. */
#ifndef KS_SERVER_GUARD_CLIENT_ADDRESS_H
#define KS_SERVER_GUARD_CLIENT_ADDRESS_H

#include <stddef.h>

#define CLIENT_ADDRESS_BYTES 48

/* `forwarded_for` holds the X-Forwarded-For lines: one proxy appends to the line it got, another
 * adds a line. The last address that is not a trusted proxy counts; those before it are the
 * client's own claims. */
void client_address(char out[CLIENT_ADDRESS_BYTES],
                    const char *peer,
                    const char *const *forwarded_for,
                    size_t line_count,
                    const char *const *trusted,
                    size_t trusted_count);

#endif
