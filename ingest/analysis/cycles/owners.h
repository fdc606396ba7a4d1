/* Anchors and the events that belong to each [CMP-10.cycles.1] [CMP-10a.owners]. */
#ifndef KS_ANALYSIS_CYCLES_OWNERS_H
#define KS_ANALYSIS_CYCLES_OWNERS_H

#include "ingest/analysis/cycles/calls.h"
#include "ingest/analysis/cycles/events.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* What the events say of which an anchor consists [CMP-10a.kinds.1]. */
enum anchor_kind { ANCHOR_UNTYPED, ANCHOR_PREFILL, ANCHOR_DECODE };

/* A call of the anchor, or of the prefill function, that stands in no call of its own name. */
struct cycle_anchor {
    uint32_t at;
    uint32_t cycle;         /* the one it is in, CYCLE_NONE; set when cycles are made */
    int64_t bound_start_ns; /* of the outermost call that holds the same anchors as this one */
    int64_t bound_end_ns;
    enum anchor_kind kind;
};

struct cycle_owners {
    struct cycle_anchor *anchors; /* in order of time */
    uint32_t anchor_count;
    uint32_t *owner; /* by position: number of the anchor, CYCLE_NONE */
};

/* `anchor` and `prefill` are string ids; the latter may be CYCLE_NONE. False without memory; must
 * be freed in either case. */
bool cycle_owners_find(struct cycle_owners *owners,
                       struct cycle_events *events,
                       const struct cycle_calls *calls,
                       uint32_t anchor,
                       uint32_t prefill) KS_MUST_USE;
void cycle_owners_free(struct cycle_owners *owners);

/* Outer boundaries of all anchors, and the events between two of them (cycle_gaps.c); part of
 * cycle_owners_find. */
bool cycle_owners_bound(struct cycle_owners *owners,
                        const struct cycle_events *events,
                        const struct cycle_calls *calls) KS_MUST_USE;
bool cycle_owners_fill_gaps(struct cycle_owners *owners,
                            const struct cycle_events *events) KS_MUST_USE;
/* Prefill or decode, by name or by duration. *is_typed: some kind was found. False
 * without memory. */
bool cycle_owners_classify(struct cycle_owners *owners,
                           struct cycle_events *events,
                           uint32_t prefill,
                           bool *is_typed) KS_MUST_USE;

static inline int64_t cycle_anchor_ns(const struct cycle_events *events,
                                      const struct cycle_anchor *anchor)
{
    return cycle_end_ns(events, anchor->at) - cycle_start_ns(events, anchor->at);
}

#endif
