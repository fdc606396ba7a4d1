/* Starts, ends and durations of events: what lengths are summed in and decisions compare.
 *
 * Times are nanoseconds and exact, unless the caller of classify_begin() set a clock of its own:
 * then they are in the ticks of that clock. Only keys compare to the last bit that the clock
 * knows. */
#ifndef KS_ANALYSIS_CLASSIFY_TIMES_H
#define KS_ANALYSIS_CLASSIFY_TIMES_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/saturating.h"

#include <stdint.h>

static inline int64_t times_start(const struct event_classes *sel, uint32_t event)
{
    return sel->clock == NULL ? sel->trace->events.ts_ns[event] : sel->clock->start(sel, event);
}

static inline int64_t times_end_ns(const struct trace_events *events, uint32_t event)
{
    return saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
}

static inline int64_t times_end(const struct event_classes *sel, uint32_t event)
{
    return sel->clock == NULL ? times_end_ns(&sel->trace->events, event)
                              : sel->clock->end(sel, event);
}

static inline int64_t times_duration(const struct event_classes *sel, uint32_t event)
{
    return sel->clock == NULL ? trace_dur_ns(&sel->trace->events, event)
                              : times_end(sel, event) - times_start(sel, event);
}

/* A point in time, relative to the trace's start. */
static inline int64_t times_position(const struct event_classes *sel, int64_t time)
{
    return sel->clock == NULL ? saturating_sub(time, sel->zero_ns) : time;
}

/* A length as a weight of means: microseconds, or ticks of the clock. */
static inline double times_weight(const struct event_classes *sel, int64_t length)
{
    return sel->clock == NULL ? ns_to_us(length) : (double)length;
}

/* ---- keys: compare with keys only ---- */

static inline int64_t times_start_key(const struct event_classes *sel, uint32_t event)
{
    return sel->clock == NULL ? sel->trace->events.ts_ns[event] : sel->clock->start_key(sel, event);
}

static inline int64_t times_end_key(const struct event_classes *sel, uint32_t event)
{
    return sel->clock == NULL ? times_end_ns(&sel->trace->events, event)
                              : sel->clock->end_key(sel, event);
}

/* Order of (start, -end): below 0 when a comes first, 0 for equal times. */
static inline int times_compare(const struct event_classes *sel, uint32_t a, uint32_t b)
{
    int64_t start_a = times_start_key(sel, a);
    int64_t start_b = times_start_key(sel, b);
    if (start_a != start_b) {
        return start_a < start_b ? -1 : 1;
    }
    int64_t end_a = times_end_key(sel, a);
    int64_t end_b = times_end_key(sel, b);
    return (end_a < end_b) - (end_a > end_b);
}

#endif
