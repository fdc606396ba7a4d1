/* In which call of the runtime the host was while no device worked. */
#ifndef KS_ANALYSIS_OVERVIEW_HOST_CALLS_H
#define KS_ANALYSIS_OVERVIEW_HOST_CALLS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

enum host_call_kind {
    HOST_CALL_LAUNCHES,
    HOST_CALL_WAITS,     /* for a device or for a copy */
    HOST_CALL_ALLOCATES, /* or gives memory back */
    HOST_CALL_PREPARES /* what a process does once: streams, code of kernels, properties of devices
                        */
};

struct host_call {
    const char *name; /* of the trace; NULL: no call while no device worked */
    int64_t idle_ns;  /* of all calls of that name together, while no device worked */
    enum host_call_kind kind;
};

/* The one with the most time in [start_ns, end_ns); of equals the one called first. O(n log n) of
 * calls and device work. False without memory. */
bool host_calls_find_longest(struct event_classes *sel,
                             int64_t start_ns,
                             int64_t end_ns,
                             struct host_call *longest) KS_MUST_USE;

#endif
