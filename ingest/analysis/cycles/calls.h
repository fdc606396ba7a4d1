/* Calls and the calls they stand in, by thread, and which of them repeat: where the anchor of the
 * cycles comes from [CMP-10.anchors] [CMP-10a.anchors]. */
#ifndef KS_ANALYSIS_CYCLES_CALLS_H
#define KS_ANALYSIS_CYCLES_CALLS_H

#include "ingest/analysis/cycles/events.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* What a name's calls come to. Calls inside one of the same name do not count. */
struct call_total {
    uint32_t name;
    uint32_t first;     /* position of the first call */
    uint32_t top_count; /* calls that stand in no other */
    int64_t top_ns;
    int64_t all_ns; /* calls at any depth */
};

struct cycle_calls {
    uint32_t *parent; /* by position; CYCLE_NONE: none */
    uint32_t *depth;  /* by position; CYCLE_NONE: alone on its thread, or no call at all */
    struct call_total *candidates; /* names that may be the anchor, the best one first */
    uint32_t candidate_count;
};

/* Nests the events of one class: a call ends the calls of its thread whose end it starts at or
 * behind. Without a candidate nobody has a parent or a depth. False without memory; must be freed
 * in either case. */
bool cycle_calls_nest(struct cycle_calls *calls,
                      struct cycle_events *events,
                      enum cycle_class class) KS_MUST_USE;
void cycle_calls_free(struct cycle_calls *calls);

/* The function whose calls are the prefills to the anchor's decodes; CYCLE_NONE: there is none, or
 * the anchor is no candidate. */
uint32_t cycle_calls_prefill(const struct cycle_calls *calls, uint32_t anchor);

#endif
