/* Which device's memory was nearly full [TB-9.2]. */
#ifndef KS_ANALYSIS_OVERVIEW_MEMORY_PEAKS_H
#define KS_ANALYSIS_OVERVIEW_MEMORY_PEAKS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_peak {
    int64_t device; /* as memory records name it: -1 is the last of the properties */
    double allocated_bytes, capacity_bytes;
};

/* The first device, in the order of their first records, whose peak of allocated memory is above
 * `share` of its capacity; its capacity is 0 where there is none. False without memory. */
bool memory_peaks_find_full(const struct event_classes *sel,
                            double share,
                            struct memory_peak *out) KS_MUST_USE;

#endif
