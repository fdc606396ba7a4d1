/* The collectives of a trace: what the distributed view of a span is put together from [TB-15].
 * Rows live as results.h says. */
#ifndef KS_MODEL_COLLECTIVE_LOG_H
#define KS_MODEL_COLLECTIVE_LOG_H

#include <stdint.h>

#define COLLECTIVE_NO_STEP INT64_C(-1)

/* What counts as a collective. */
enum collective_rule {
    COLLECTIVES_TB_RULE, /* operators named `nccl:all_reduce` and their like [TB-4g] */
    COLLECTIVES_OWN_RULE /* those, and what today's traces have instead
                 (ingest/analysis/collectives/collectives.h) */
};
const char *collective_rule_name(enum collective_rule rule); /* "plugin", "ours" */

struct collective_range {
    int64_t start, end; /* ticks of the results, relative to the trace's start */
};

/* In order of (start, -end). */
struct collective_op {
    const char *name;
    int64_t step;       /* index into the steps of the results, COLLECTIVE_NO_STEP: none */
    int64_t size_bytes; /* over its inputs */
    uint32_t
        first_range; /* ranges: its own interval and those of its device work, by (start, -end) */
    uint32_t range_count;
    /* Only by our rule. */
    const char *group;  /* name of the process group, NULL where the trace does not say */
    int64_t group_size; /* its ranks, 0 where the trace does not say */
};

struct collective_log {
    struct collective_op *ops;
    uint32_t op_count;
    uint32_t range_count;
    struct collective_range *ranges;
};

#endif
