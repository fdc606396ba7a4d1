/* From a trace to its cycles and what each function took of them: [CMP-10] with the corrections of
 * [CMP-10a], which win; and, for Kineto traces, cycles by profiler step or annotation.
 *
 *     marker           calls of the function that the user named, by [CMP-10]; in a Kineto
 *                      trace, if it is no Python function, the intervals of events of that name
 *     ProfilerStep#N   their intervals
 *     Python function  repeated, at the top [CMP-10.anchors]
 *     user annotation  repeated, at the top, no collective: their intervals
 *     none             no rows, CYCLES_NONE
 *
 * Intervals: numbered by start from 1, of the process that has most of them; host events count in
 * the one in which they start, device work in that of the call with its correlation. Operators
 * count with their self time where they start, in the cycles of [CMP-10] too.
 *
 * At most a million rows: the cycle that would exceed it and all later ones are left out. A trace
 * in which events overlap cycles so often that it can only be nonsense (cycle_set.h) has none. */
#ifndef KS_ANALYSIS_CYCLES_CYCLES_H
#define KS_ANALYSIS_CYCLES_CYCLES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/index/index.h"
#include "ingest/model/results/hardware.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

struct cycles_options {
    const char *marker;              /* NULL: found */
    const struct hardware *hardware; /* NULL: none */
};

/* Fills results: cycle_source, cycles, cycle_uses, counters, and VIEW_CYCLES in views when there
 * are at least two cycles. The results do not refer to the index. `options` may be NULL. Errors:
 * ERR_NO_MEMORY; ERR_BAD_REQUEST when a marker is given that no event has for a name. */
bool cycles_run(const struct trace_index *index,
                const struct cycles_options *options,
                struct trace_results *results,
                struct err *err) KS_MUST_USE;

#endif
