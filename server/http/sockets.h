/* The sockets that civetweb holds and does not show. */
#ifndef KS_SERVER_HTTP_SOCKETS_H
#define KS_SERVER_HTTP_SOCKETS_H

#include <stdint.h>

/* Nothing more is read from any socket that this process has on the local port, listening or
 * connected, so that threads that wait for it wake up; what is being sent still goes out. Does
 * nothing where the system does not list open files (/proc). */
void sockets_end_reading(uint16_t port);

#endif
