/* Waiting with an end in time, on the clock that nobody sets. */
#ifndef KS_JOBS_MONOTONIC_H
#define KS_JOBS_MONOTONIC_H

#include "ingest/base/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A condition variable for pthread_cond_timedwait with times of monotonic_after. False without
 * resources. */
bool monotonic_cond_init(pthread_cond_t *cond) KS_MUST_USE;
struct timespec monotonic_after(int64_t ms);
bool monotonic_is_before(const struct timespec *a, const struct timespec *b);

#endif
