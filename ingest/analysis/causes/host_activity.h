/* What the host did while a device waited [CAU-1g] to [CAU-1.4]: each instant of a thread belongs
 * to its innermost operator, call or Python function, unless data is being loaded. */
#ifndef KS_ANALYSIS_CAUSES_HOST_ACTIVITY_H
#define KS_ANALYSIS_CAUSES_HOST_ACTIVITY_H

#include "ingest/analysis/causes/causes.h"

/* In the order of the specification, which decides ties. */
enum host_kind {
    HOST_SYNCHRONISATION,
    HOST_DATA_LOADING,
    HOST_OPERATOR,
    HOST_RUNTIME,
    HOST_PYTHON,
    HOST_NOTHING, /* no event is open */
    HOST_UNKNOWN, /* the launch was not recorded */
    HOST_KIND_COUNT
};

/* "synchronisation", … */
const char *host_kind_text(enum host_kind kind);

struct host_activity;

/* NULL without memory. `causes` must outlive it. */
struct host_activity *host_activity_create(const struct causes *causes) KS_MUST_USE;
void host_activity_destroy(struct host_activity *activity); /* NULL is allowed */

/* Adds the lengths of what the thread of `call` did in [start_ns, end_ns) to
 * by_kind[HOST_KIND_COUNT]; `call` CAUSES_NONE: all of it is unknown. The first look at a thread
 * costs O(n log n) of its events, each later one O(log n). False without memory. */
bool host_activity_add(struct host_activity *activity,
                       uint32_t call,
                       int64_t start_ns,
                       int64_t end_ns,
                       int64_t by_kind[HOST_KIND_COUNT]) KS_MUST_USE;
/* The event of the longest stretch of the kind there (of equals the earlier); CAUSES_NONE where no
 * event is open in it. O(log n) after the first look at a kind of a thread. False without memory.
 */
bool host_activity_longest(struct host_activity *activity,
                           uint32_t call,
                           enum host_kind kind,
                           int64_t start_ns,
                           int64_t end_ns,
                           uint32_t *event) KS_MUST_USE;

#endif
