#include "ingest/tb_plugin/clock.h"

#include "ingest/base/saturating.h"

#include <math.h>
#include <string.h>

#define SPAN_MAX_NS INT64_C(100000000000000)

static double start_us(const struct event_classes *sel, uint32_t event)
{
    return ns_to_us(sel->trace->events.ts_ns[event]);
}

static double end_us(const struct event_classes *sel, uint32_t event)
{
    return start_us(sel, event) + ns_to_us(trace_dur_ns(&sel->trace->events, event));
}

static int64_t ticks_of(const struct event_classes *sel, double us)
{
    return llround((us - ns_to_us(sel->first_ns)) * TB_CLOCK_TICKS_PER_US);
}

/* An integer that orders like the double: its bits, mirrored below zero. */
static int64_t key_of(double us)
{
    int64_t bits = 0;
    double plus_zero = us + 0.0;
    memcpy(&bits, &plus_zero, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static int64_t start(const struct event_classes *sel, uint32_t event)
{
    return ticks_of(sel, start_us(sel, event));
}

static int64_t end(const struct event_classes *sel, uint32_t event)
{
    return ticks_of(sel, end_us(sel, event));
}

static int64_t start_key(const struct event_classes *sel, uint32_t event)
{
    return key_of(start_us(sel, event));
}

static int64_t end_key(const struct event_classes *sel, uint32_t event)
{
    return key_of(end_us(sel, event));
}

const struct event_clock tb_clock = {start, end, start_key, end_key};

bool tb_clock_is_needed(bool decimal_times, int64_t span_ns)
{
    return decimal_times && span_ns < SPAN_MAX_NS;
}

int64_t tb_clock_per_us(const struct trace_results *results)
{
    bool is_ours = results->device_ns != RESULTS_UNKNOWN;
    bool has_ticks = !is_ours && tb_clock_is_needed(results->decimal_times, results->duration_ns);
    return has_ticks ? TB_CLOCK_TICKS_PER_US : RESULTS_NS_PER_US;
}
