/* Analyses that an upload leaves to the request that asks for them (jobs/on_request), for a report
 * that has the trace in memory anyway. */
#ifndef KS_JOBS_PIPELINE_DETAILS_H
#define KS_JOBS_PIPELINE_DETAILS_H

#include "ingest/analysis/causes/idle.h"
#include "ingest/analysis/critical_path/critical_path.h"
#include "ingest/analysis/device_time/device_time.h"
#include "ingest/analysis/efficiency/efficiency.h"
#include "ingest/analysis/engine_steps/engine_steps.h"
#include "ingest/analysis/slices/slices.h"
#include "ingest/analysis/stacks/stacks.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/jobs/pipeline/pipeline.h"

struct pipeline_details {
    struct arena arena; /* of all below; PIPELINE_CAUSES: idle and efficiency alone */
    struct device_time device_time;
    struct engine_steps engine_steps;
    struct slices names, tracks;
    struct idle idle;
    struct critical_path path;    /* of the whole trace, without its edges */
    struct efficiency efficiency; /* by operator; PIPELINE_CAUSES: by shape */
    struct kernel_stacks stacks;  /* of all device work */
    /* Stacks of the event with the most of the path of each of path.gains, and of what the host did
     * in the longest gap of each kind; NULL: none is known. */
    const char **path_stacks;
    const char **operator_stacks; /* of the longest call of each of efficiency.rows */
    const char **idle_stacks;     /* [HOST_KIND_COUNT] */
};

/* Positions count from `zero_ns`; `own` as for kernel_class_of(). NULL without memory. To be freed
 * with pipeline_details_free(). */
struct pipeline_details *pipeline_details_find(const struct trace *trace,
                                               int64_t zero_ns,
                                               const struct kernel_rules *own,
                                               enum pipeline_detail which) KS_MUST_USE;
void pipeline_details_free(struct pipeline_details *details); /* NULL is allowed */

#endif
