/* Where a request comes from: the address at the other end, or, when that is a proxy we were told
 * to trust, the one that it names. */
#ifndef KS_SERVER_GUARD_CLIENT_ADDRESS_H
#define KS_SERVER_GUARD_CLIENT_ADDRESS_H

#include <stddef.h>

#define CLIENT_ADDRESS_BYTES 48

/* `forwarded_for` are the lines X-Forwarded-For of the request: one proxy adds to the line that it
 * got, another adds a line of its own behind it. Of their addresses the last one that is no
 * trusted proxy counts: those before it are what a client says of itself. */
void client_address(char out[CLIENT_ADDRESS_BYTES],
                    const char *peer,
                    const char *const *forwarded_for,
                    size_t line_count,
                    const char *const *trusted,
                    size_t trusted_count);

#endif
