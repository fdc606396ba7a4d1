/* Times that a recorder kept as doubles of microseconds. Since the epoch these lie 0.25 us apart,
 * and their shortest text (1763001580008344.2) is not their value (….25), which is what the
 * recorder meant and what adds up with the durations. */
#ifndef KS_ANALYSIS_CYCLES_CLOCK_H
#define KS_ANALYSIS_CYCLES_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the time reads as the shortest text of a double; true for whole microseconds. */
bool cycle_clock_is_short(int64_t time_ns);
/* The value of the double that is nearest to the time. */
int64_t cycle_clock_meant(int64_t time_ns);

#endif
