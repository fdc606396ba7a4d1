/* The time of day, for stored rows and answers. For durations and deadlines use monotonic.h. */
#ifndef KS_BASE_WALL_CLOCK_H
#define KS_BASE_WALL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Seconds since 1970, at least 1. In a row, 0 means "not yet" or "never": a clock before 1970 must
 * not write that for an upload that arrived or a token that was revoked. */
static inline int64_t wall_clock_s(void)
{
    const int64_t now_s = (int64_t)time(NULL);
    return now_s < 1 ? 1 : now_s;
}

#endif
