#include "ingest/analysis/timeline/lanes.h"

#define LAST_LANE (TIMELINE_LANES_MAX - 1)

static uint32_t
lane_below_containing(const struct timeline_lanes *lanes, int64_t start_ns, int64_t end_ns)
{
    for (uint32_t lane = lanes->open; lane > 0; lane--) {
        bool contains =
            lanes->end_ns[lane - 1] >= end_ns && timeline_lanes_is_open(lanes, lane - 1, start_ns);
        if (contains) {
            return lane;
        }
    }
    return 0;
}

/* Where the innermost open lane does not contain it. */
static uint32_t find_lane(const struct timeline_lanes *lanes, int64_t start_ns, int64_t end_ns)
{
    uint32_t lane = lane_below_containing(lanes, start_ns, end_ns);
    while (lane < lanes->open && timeline_lanes_is_open(lanes, lane, start_ns)) {
        lane++;
    }
    return lane < TIMELINE_LANES_MAX ? lane : LAST_LANE;
}

uint32_t timeline_lanes_put(
    struct timeline_lanes *lanes, uint32_t event, int64_t start_ns, int64_t end_ns, bool is_slice)
{
    while (lanes->open > 0 && !timeline_lanes_is_open(lanes, lanes->open - 1, start_ns)) {
        lanes->open--;
    }
    uint32_t lane = lanes->open;
    bool is_nested = lane == 0 || lanes->end_ns[lane - 1] >= end_ns;
    if (KS_UNLIKELY(!is_nested || lane == TIMELINE_LANES_MAX)) {
        lane = find_lane(lanes, start_ns, end_ns);
    }
    /* Only the last lane can be taken already: what stands there longest keeps it closed. */
    bool is_taken = lane < lanes->open && timeline_lanes_is_open(lanes, lane, start_ns);
    lanes->start_ns[lane] = start_ns;
    lanes->end_ns[lane] = is_taken && lanes->end_ns[lane] > end_ns ? lanes->end_ns[lane] : end_ns;
    lanes->event[lane] = event;
    lanes->is_slice[lane] = is_slice;
    lanes->open = lane < lanes->open ? lanes->open : lane + 1;
    lanes->used = lane < lanes->used ? lanes->used : lane + 1;
    return lane;
}

uint32_t timeline_lanes_innermost(const struct timeline_lanes *lanes,
                                  int64_t at_ns,
                                  const uint32_t *place_of_event,
                                  uint32_t place,
                                  uint32_t *ending)
{
    *ending = TIMELINE_NO_EVENT;
    for (uint32_t lane = lanes->used; lane > 0; lane--) {
        uint32_t event = lanes->event[lane - 1];
        if (!lanes->is_slice[lane - 1] ||
            (place_of_event != NULL && place_of_event[event] != place)) {
            continue;
        }
        if (timeline_lanes_is_open(lanes, lane - 1, at_ns)) {
            return event;
        }
        bool ends_here = lanes->end_ns[lane - 1] == at_ns;
        *ending = ends_here && *ending == TIMELINE_NO_EVENT ? event : *ending;
    }
    return TIMELINE_NO_EVENT;
}
