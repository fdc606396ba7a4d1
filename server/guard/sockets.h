/* Finds the sockets that civetweb holds and does not expose. */
#ifndef KS_SERVER_GUARD_SOCKETS_H
#define KS_SERVER_GUARD_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* Calls `visit` for every socket that this process has on the local port, listening or connected,
 * until one call returns false. Does nothing where the system does not list open files (/proc). */
void sockets_each(uint16_t port, bool (*visit)(int fd, void *context), void *context);
/* Shuts the receiving side of all of them, so that threads that wait for input wake up. What is
 * being sent still goes out. */
void sockets_end_reading(uint16_t port);

#endif
