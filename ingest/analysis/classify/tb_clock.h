/* Starts, ends and durations of events, in ticks: what lengths are summed in and decisions compare.
 *
 * A tick is a nanosecond and everything is exact, except in a selection that is `rounded`. The
 * annex rounds decimal times: it computes every end once, as ts + dur in doubles of microseconds,
 * and all durations but those of the kernel table as end - start [TB-5.1]. Ends that are equal in
 * the file so differ in the last bit, an operator that ends with its parent falls out of the tree,
 * sums over many equal durations drift, and times that count from the epoch lose up to 0.25 us
 * each. To answer its scripts as it did, rounded selections have ticks of 2^-20 us, counted from
 * the first event, in which those doubles are whole numbers (but for those below 2^33 us, where
 * they are finer than anything shown); what has to be compared to the last bit has a `_key`.
 * Results keep the ticks: trace_results.ticks_per_us. */
#ifndef KS_ANALYSIS_CLASSIFY_TB_CLOCK_H
#define KS_ANALYSIS_CLASSIFY_TB_CLOCK_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/saturating.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define TB_CLOCK_TICKS_PER_US 1048576.0

/* Nanoseconds to a double of microseconds. */
static inline double tb_clock_double_us(int64_t ns)
{
    const int64_t exact_ns = INT64_C(1) << 53;
    if (ns < exact_ns && ns > -exact_ns) {
        return (double)ns / 1000.0;
    }
    int64_t whole_us = ns / 1000;
    int64_t rest_ns = ns % 1000;
    return (double)whole_us + (double)rest_ns / 1000.0;
}

static inline double tb_clock_double_end_us(const struct trace *trace, uint32_t event)
{
    return tb_clock_double_us(trace->events.ts_ns[event]) +
           tb_clock_double_us(trace_dur_ns(&trace->events, event));
}

static inline int64_t tb_clock_from_double_us(const struct event_classes *sel, double us)
{
    return llround((us - tb_clock_double_us(sel->first_ns)) * TB_CLOCK_TICKS_PER_US);
}

static inline int64_t tb_clock_start(const struct event_classes *sel, uint32_t event)
{
    int64_t start_ns = sel->trace->events.ts_ns[event];
    return sel->rounded ? tb_clock_from_double_us(sel, tb_clock_double_us(start_ns)) : start_ns;
}

static inline int64_t tb_clock_end(const struct event_classes *sel, uint32_t event)
{
    const struct trace_events *events = &sel->trace->events;
    return sel->rounded ? tb_clock_from_double_us(sel, tb_clock_double_end_us(sel->trace, event))
                        : saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
}

static inline int64_t tb_clock_duration(const struct event_classes *sel, uint32_t event)
{
    return sel->rounded ? tb_clock_end(sel, event) - tb_clock_start(sel, event)
                        : trace_dur_ns(&sel->trace->events, event);
}

/* ---- out of ticks ---- */

static inline double tb_clock_length_us(const struct event_classes *sel, int64_t ticks)
{
    return sel->rounded ? (double)ticks / TB_CLOCK_TICKS_PER_US : ns_to_us(ticks);
}

/* A point in time, relative to the first event. */
static inline int64_t tb_clock_position(const struct event_classes *sel, int64_t ticks)
{
    return sel->rounded ? ticks : saturating_sub(ticks, sel->first_ns);
}

/* ---- keys: compare with keys only ---- */

/* An integer that orders like the double: its bits, mirrored below zero. */
static inline int64_t tb_clock_key_of_us(double us)
{
    int64_t bits = 0;
    double plus_zero = us + 0.0;
    memcpy(&bits, &plus_zero, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static inline int64_t tb_clock_start_key(const struct event_classes *sel, uint32_t event)
{
    int64_t start_ns = sel->trace->events.ts_ns[event];
    return sel->rounded ? tb_clock_key_of_us(tb_clock_double_us(start_ns)) : start_ns;
}

static inline int64_t tb_clock_end_key(const struct event_classes *sel, uint32_t event)
{
    return sel->rounded ? tb_clock_key_of_us(tb_clock_double_end_us(sel->trace, event))
                        : saturating_add(sel->trace->events.ts_ns[event],
                                         trace_dur_ns(&sel->trace->events, event));
}

/* Order of (start, -end): below 0 when a comes first, 0 for equal times. */
static inline int tb_clock_compare(const struct event_classes *sel, uint32_t a, uint32_t b)
{
    int64_t start_a = tb_clock_start_key(sel, a);
    int64_t start_b = tb_clock_start_key(sel, b);
    if (start_a != start_b) {
        return start_a < start_b ? -1 : 1;
    }
    int64_t end_a = tb_clock_end_key(sel, a);
    int64_t end_b = tb_clock_end_key(sel, b);
    return (end_a < end_b) - (end_a > end_b);
}

#endif
