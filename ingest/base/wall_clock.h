/* The time of day, as rows and answers keep it. For durations and deadlines: monotonic.h. */
#ifndef KS_BASE_WALL_CLOCK_H
#define KS_BASE_WALL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Seconds since 1970, never less than 1: in a row 0 means "not yet" or "never", and a machine whose
 * clock stands before 1970 must not say so of an upload that arrived or a token that was revoked.
 */
static inline int64_t wall_clock_s(void)
{
    const int64_t now_s = (int64_t)time(NULL);
    return now_s < 1 ? 1 : now_s;
}

#endif
