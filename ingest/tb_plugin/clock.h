/* Times as the plugin had them: doubles of microseconds [TB-5.1].
 *
 * It rounds decimal times: it computes every end once, as ts + dur, and all durations but those of
 * the kernel table as end - start. Ends that are equal in the file so differ in the last bit, an
 * operator that ends with its parent falls out of the tree, sums over many equal durations drift,
 * and times that count from the epoch lose up to 0.25 us each. To answer its scripts as it did,
 * the clock has ticks of 2^-20 us, counted from the first event, in which those doubles are whole
 * numbers (but for those below 2^33 us, where they are finer than anything shown); keys are the
 * bits of the doubles.
 *
 * Traces of whole microseconds lose nothing: their figures are in nanoseconds, as ours. */
#ifndef KS_TB_PLUGIN_CLOCK_H
#define KS_TB_PLUGIN_CLOCK_H

#include "ingest/analysis/classify/events.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stdint.h>

#define TB_CLOCK_TICKS_PER_US 1048576

extern const struct event_clock tb_clock;

/* Whether doubles differ from the exact times, and their ticks, and sums of them, fit 64 bits.
 * `span_ns`: from the first to the last kept event. */
bool tb_clock_is_needed(bool decimal_times, int64_t span_ns);
/* What the times of steps, operators and launches count in: ticks in figures by the plugin's rules
 * that needed the clock, otherwise nanoseconds. Ours, which stand in for them where no events are
 * kept, are told by their device_ns. */
int64_t tb_clock_per_us(const struct trace_results *results);

#endif
