/* From a trace to its cycles and what each function took of them: SPEC_compare 10 with the
 * corrections of 10a, which win; and, for Kineto traces, cycles by profiler step or annotation.
 *
 * Which cycles: the marker if one is given; else ProfilerStep#N; else a python function found as
 * section 10 finds the anchor; else a repeated annotation (user_annotation) by the same rule over
 * annotations; else none (no rows, CYCLES_NONE). */
#ifndef KS_ANALYSIS_CYCLES_H
#define KS_ANALYSIS_CYCLES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/hardware.h"
#include "ingest/model/results.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

struct cycles_options {
    const char *marker;              /* NULL: found */
    const struct hardware *hardware; /* NULL: none */
};

/* Fills results: cycle_source, cycles, cycle_uses, counters, and VIEW_CYCLES in views when there
 * are at least two cycles. The results do not refer to the trace. `options` may be NULL. Errors:
 * ERR_NO_MEMORY; ERR_BAD_REQUEST when a marker is given that no event has for a name. */
bool cycles_run(const struct trace *trace,
                const struct cycles_options *options,
                struct trace_results *results,
                struct err *err) KS_MUST_USE;

#endif
