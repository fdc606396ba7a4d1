/* Where a request comes from: the address at the other end, or, when that is a proxy we were told
 * to trust, the one that it names. */
#ifndef KS_SERVER_HTTP_REMOTE_H
#define KS_SERVER_HTTP_REMOTE_H

#include <stddef.h>

#define REMOTE_ADDRESS_BYTES 48

/* `forwarded_for` is the header X-Forwarded-For or NULL. Of its addresses the last one that is no
 * trusted proxy counts: those before it are what a client says of itself. */
void remote_address(char out[REMOTE_ADDRESS_BYTES],
                    const char *peer,
                    const char *forwarded_for,
                    const char *const *trusted,
                    size_t trusted_count);

#endif
