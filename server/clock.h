/* Time that only goes forward, whoever sets the clock of the machine. */
#ifndef KS_SERVER_CLOCK_H
#define KS_SERVER_CLOCK_H

#include <stdint.h>

/* Milliseconds since some moment before the start of the process. */
int64_t clock_ms(void);

#endif
