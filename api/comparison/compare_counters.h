/* The counters of both sides of a comparison, side by side. */
#ifndef KS_API_COMPARISON_COMPARE_COUNTERS_H
#define KS_API_COMPARISON_COMPARE_COUNTERS_H

#include "api/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One counter of one host. Means are over the samples of all traces of a side. */
struct compare_counter {
    const char *name, *host;
    double sum[SIDE_COUNT]; /* of the samples */
    int64_t samples[SIDE_COUNT];
};

struct compare_counters {
    struct compare_counter *items; /* by name, then host; in the arena */
    size_t count;
};

/* Reads the counters of the compared traces that still exist. */
bool compare_counters_read(struct compare_counters *out,
                           struct api_call *call,
                           const struct store_comparison *stored,
                           struct err *err) KS_MUST_USE;

#endif
