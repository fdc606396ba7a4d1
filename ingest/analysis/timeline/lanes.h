/* Which lane a slice stands on: the lowest one that is free and below all slices that contain it.
 *
 *     0  |---------- A ----------|  |-- D --|        B lies in A, C in both, E overlaps D
 *     1     |------ B ------|          |-- E --|
 *     2        |-- C --|
 */
#ifndef KS_ANALYSIS_TIMELINE_LANES_H
#define KS_ANALYSIS_TIMELINE_LANES_H

#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stdint.h>

/* One track's lanes at a time that only goes forward. */
struct timeline_lanes {
    int64_t start_ns[TIMELINE_LANES_MAX]; /* of what stood on the lane last */
    int64_t end_ns[TIMELINE_LANES_MAX];
    uint32_t event[TIMELINE_LANES_MAX];
    bool is_slice[TIMELINE_LANES_MAX];
    uint32_t open; /* lanes from here on are free */
    uint32_t used; /* lanes that ever held anything */
};

/* What is asked and put next may not start earlier than what was put before. Steps: the number of
 * open lanes, at most; one or two where slices nest. */
static inline void timeline_lanes_clear(struct timeline_lanes *lanes)
{
    lanes->open = 0;
    lanes->used = 0;
}

/* Zero length counts at its own time. */
static inline bool
timeline_lanes_is_open(const struct timeline_lanes *lanes, uint32_t lane, int64_t at_ns)
{
    return lanes->end_ns[lane] > at_ns || lanes->start_ns[lane] == at_ns;
}

/* The lane for a slice, or for an instant, whose end is its start. */
uint32_t timeline_lanes_put(
    struct timeline_lanes *lanes, uint32_t event, int64_t start_ns, int64_t end_ns, bool is_slice);

/* The event of the innermost slice that is open at a time, of those with place_of_event[event] ==
 * `place`; all when that is NULL. *ending: of the innermost one that ends there. TIMELINE_NO_EVENT:
 * none. */
uint32_t timeline_lanes_innermost(const struct timeline_lanes *lanes,
                                  int64_t at_ns,
                                  const uint32_t *place_of_event,
                                  uint32_t place,
                                  uint32_t *ending);

#endif
