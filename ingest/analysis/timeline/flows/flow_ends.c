#include "ingest/analysis/timeline/flows/flows.h"
#include "ingest/base/memory/scratch.h"

bool timeline_flow_ends_init(struct timeline_flow_ends *ends,
                             const struct timeline_items *items,
                             const struct timeline_places *places)
{
    *ends = (struct timeline_flow_ends){0};
    if (items->flow_count == 0) {
        return true;
    }
    ends->waiting = scratch_none(places->count);
    if (ends->waiting == NULL) {
        return false;
    }
    ends->slice = items->by_event;
    return true;
}

void timeline_flow_ends_free(struct timeline_flow_ends *ends)
{
    scratch_free(ends->waiting);
    *ends = (struct timeline_flow_ends){0};
}

void timeline_flow_ends_bind(struct timeline_flow_ends *ends,
                             const struct timeline_items *items,
                             const struct timeline_places *places,
                             const struct timeline_lanes *lanes,
                             uint32_t place,
                             uint32_t event)
{
    const struct trace_events *events = &items->trace->events;
    uint32_t ending = TIMELINE_NO_EVENT;
    uint32_t slice =
        timeline_lanes_innermost(lanes, events->ts_ns[event], places->of_event, place, &ending);
    if (slice != TIMELINE_NO_EVENT) {
        ends->slice[event] = slice;
    } else if (trace_phase(events, event) == 's') {
        ends->slice[event] = ending;
    } else {
        ends->slice[event] = ends->waiting[place];
        ends->waiting[place] = event;
    }
}

void timeline_flow_ends_resolve(struct timeline_flow_ends *ends, uint32_t place, uint32_t slice)
{
    uint32_t event = ends->waiting[place];
    while (event != TIMELINE_NO_EVENT) {
        uint32_t next = ends->slice[event];
        ends->slice[event] = slice;
        event = next;
    }
    ends->waiting[place] = TIMELINE_NO_EVENT;
}

void timeline_flow_ends_finish(struct timeline_flow_ends *ends,
                               const struct timeline_places *places)
{
    for (uint32_t place = 0; ends->slice != NULL && place < places->count; place++) {
        timeline_flow_ends_resolve(ends, place, TIMELINE_NO_EVENT);
    }
}
