/* The collectives of a trace, from which the distributed view of a span is built [TB-15]. Rows live
 * as results.h says. */
#ifndef KS_MODEL_COMM_LOG_H
#define KS_MODEL_COMM_LOG_H

#include <stdint.h>

#define COMM_NO_STEP INT64_C(-1)

/* The rule that decides what a collective is. */
enum comm_rule {
    COMM_PLUGIN, /* operators named `nccl:all_reduce` and their like [TB-4g] */
    COMM_OURS    /* those, and their equivalents in today's traces
                    (ingest/analysis/collectives/comm_ours.h) */
};
const char *comm_rule_name(enum comm_rule rule); /* "plugin", "ours" */

struct comm_range {
    int64_t start, end; /* ticks of the results, relative to the trace's start */
};

/* In order of (start, -end). */
struct comm_op {
    const char *name;
    int64_t step;       /* index into the steps of the results; COMM_NO_STEP */
    int64_t size_bytes; /* sum over its inputs */
    uint32_t
        first_range; /* ranges: its own interval and those of its device work, by (start, -end) */
    uint32_t range_count;
    /* Set by our rule only. */
    const char *group;  /* name of the process group; NULL when unknown */
    int64_t group_size; /* number of its ranks; 0 when unknown */
};

struct comm_log {
    struct comm_op *ops;
    uint32_t op_count;
    uint32_t range_count;
    struct comm_range *ranges;
};

#endif
