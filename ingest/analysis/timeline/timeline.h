/* From a trace's columns to its timeline. */
#ifndef KS_ANALYSIS_TIMELINE_TIMELINE_H
#define KS_ANALYSIS_TIMELINE_TIMELINE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/results/results.h"
#include "ingest/model/timeline.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* What a timeline takes over from the views, in scratch arrays; analysis_run knows it long before
 * the views are done. */
struct timeline_frame {
    int64_t start_ns; /* results.start_ns */
    bool sees_events; /* else start_ns says nothing */
    bool mlu;
    uint8_t *categories;            /* enum time_category by event; NULL: TIME_OTHER */
    struct timeline_flow *launches; /* from calls to the device work that they launched */
    size_t launch_count;
};
/* Frees the arrays; the rest stays. */
void timeline_frame_free(struct timeline_frame *frame);

/* What stands on the timeline: complete events (X); begin and end (B, E) matched by track, as a
 * stack; async begin and end (b, e, S, F) matched by category and id; instants (i, I, R, n, T, p);
 * counters (C: each numeric argument a series) and memory records (a counter track a device:
 * allocated, reserved). Begins without an end last until the end of the trace and ends without a
 * begin are instants; both are counted in a warning. Nested slices stand on lanes below one
 * another; slices that overlap without nesting get lanes of their own, so that none hides another.
 * A duration that ends more than a day behind the last start is cut to the end of the rest, with a
 * warning.
 *
 * A thread is known by the texts of its pid and tid: "7" and 7 are one. Memory records without
 * totals are summed up: "Allocated since the start". Roles of labels are the
 * frame's categories.
 * On the last lane, where slices can overlap, busy_ns leaves out what another slice has counted.
 * Beyond TIMELINE_TRACKS_MAX the least busy tracks of a process share one; a quarter of the tracks
 * at least is left to counters, which are joined with counters only, and if there are too many
 * processes even for that, the last of them share one, with no pid.
 *
 * Positions are relative to the frame's start, or to the first item where the views saw no event
 * (timeline.origin_ns); timeline_settle tells it to the results. Blocks go to the sink, flows
 * behind them (take_flows is not called where there are none); tracks, labels and levels come back
 * in *out, which the caller frees with timeline_destroy and which does not refer to the trace.
 * Memory: 8 to 12 bytes an event, and some blocks a level. ERR_NO_MEMORY, and what the sink
 * answers. */
bool timeline_build(const struct trace *trace,
                    const struct timeline_frame *frame,
                    const struct timeline_sink *sink,
                    struct timeline **out,
                    struct err *err) KS_MUST_USE;
/* The warnings of a timeline that is built later. False: no memory. */
bool timeline_survey(const struct trace *trace, struct warnings *out) KS_MUST_USE;
/* The start and length that the views did not find, and the timeline's warnings, once. */
void timeline_settle(const struct timeline *timeline, struct trace_results *results);
void timeline_destroy(struct timeline *timeline); /* NULL is allowed */

#endif
