/* The operator view [TB-11]: calls of real operators grouped by name, input shape and call stack.
 */
#ifndef KS_ANALYSIS_OPERATORS_OPERATORS_H
#define KS_ANALYSIS_OPERATORS_OPERATORS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

#define OPERATOR_NO_CALL UINT32_MAX

/* What one call took: durations of times.h. */
struct operator_figures {
    int64_t duration;
    int64_t host_self;
    int64_t device_total, device_self;
    int64_t tensor_total, tensor_self; /* in kernels that use matrix units */
    bool tensor_eligible;
};

#define OPERATOR_ALL_GROUPS ((1u << OPERATOR_GROUP_COUNT) - 1)

/* The calls to be grouped, in the order in which rows stand. */
struct operator_source {
    size_t count;
    /* The event of a call; OPERATOR_NO_CALL: there is none at this place. */
    uint32_t (*event)(const void *context, size_t at);
    void (*figures)(const void *context, size_t at, struct operator_figures *out);
    /* By event: the text id of its call stack, 0 for none. NULL: as the arguments say. */
    const uint32_t *stack;
    /* By event: it has a call stack, whatever the arguments say. NULL: they say it. */
    const bool *is_framed;
    unsigned groups; /* a bit for each enum operator_group that is wanted */
    const void *context;
};

/* Fills results.operators and operator_count of the wanted groups. False without memory. */
bool operators_run(struct trace_results *results,
                   struct texts *texts,
                   struct event_classes *sel,
                   const struct operator_source *source) KS_MUST_USE;

#endif
