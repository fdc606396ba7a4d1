/* Flows between slices: what a call launched on a device, and what the file draws itself (s, t, f).
 *
 *     s and its f have an id, a name and a category in common; each binds to the innermost slice of
 *     its thread that is open at its time, t and f else to the next one that starts. */
#ifndef KS_ANALYSIS_TIMELINE_FLOWS_FLOWS_H
#define KS_ANALYSIS_TIMELINE_FLOWS_FLOWS_H

#include "ingest/analysis/timeline/lanes.h"
#include "ingest/analysis/timeline/levels/items.h"
#include "ingest/analysis/timeline/places.h"
#include "ingest/analysis/timeline/timeline.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stdint.h>

struct timeline_flow_ends {
    uint32_t *slice;   /* by event: the slice that an end is bound to, TIMELINE_NO_EVENT; NULL: the
                          trace has no ends of flows. Not owned */
    uint32_t *waiting; /* by place: the latest end that waits for a slice; the one before it is its
                          `slice` until then */
};

/* items->by_event, as labels leave it, becomes `slice`. False without memory; must be freed in
 * either case. */
bool timeline_flow_ends_init(struct timeline_flow_ends *ends,
                             const struct timeline_items *items,
                             const struct timeline_places *places) KS_MUST_USE;
void timeline_flow_ends_free(struct timeline_flow_ends *ends);

/* Binds an end on a place; to be called for the items of a track in order, with
 * timeline_flow_ends_slice for the slices. */
void timeline_flow_ends_bind(struct timeline_flow_ends *ends,
                             const struct timeline_items *items,
                             const struct timeline_places *places,
                             const struct timeline_lanes *lanes,
                             uint32_t place,
                             uint32_t event);
void timeline_flow_ends_resolve(struct timeline_flow_ends *ends, uint32_t place, uint32_t slice);
static inline void
timeline_flow_ends_slice(struct timeline_flow_ends *ends, uint32_t place, uint32_t event)
{
    if (ends->slice != NULL && KS_UNLIKELY(ends->waiting[place] != TIMELINE_NO_EVENT)) {
        timeline_flow_ends_resolve(ends, place, event);
    }
}
/* Behind the last track: what still waits is bound to nothing. */
void timeline_flow_ends_finish(struct timeline_flow_ends *ends,
                               const struct timeline_places *places);

/* Hands all flows over, both ways round; one of several between the same slices, launches of
 * the frame first. n log n. ERR_NO_MEMORY, and what the sink answers. */
bool timeline_flows_build(const struct timeline_items *items,
                          const struct timeline_flow_ends *ends,
                          const struct timeline_frame *frame,
                          const struct timeline_sink *sink,
                          uint64_t *count,
                          struct err *err) KS_MUST_USE;

#endif
