/* Time that never goes back, whoever sets the machine's clock; and waiting with a deadline. */
#ifndef KS_BASE_MONOTONIC_H
#define KS_BASE_MONOTONIC_H

#include "ingest/base/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Initialises a condition variable for pthread_cond_timedwait with times of monotonic_after. False
 * without resources. */
bool monotonic_cond_init(pthread_cond_t *cond) KS_MUST_USE;
struct timespec monotonic_after(int64_t ms);
/* Milliseconds since some moment before the start of the process. */
int64_t monotonic_ms(void);
uint64_t monotonic_us_since(const struct timespec *begin);
bool monotonic_is_before(const struct timespec *a, const struct timespec *b);

#endif
