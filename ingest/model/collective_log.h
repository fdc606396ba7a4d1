/* The collectives of a trace, from which the distributed view of a span is built [TB-15]. Rows live
 * as results.h says. */
#ifndef KS_MODEL_COLLECTIVE_LOG_H
#define KS_MODEL_COLLECTIVE_LOG_H

#include <stdint.h>

#define COLLECTIVE_NO_STEP INT64_C(-1)

struct collective_range {
    int64_t start, end; /* relative to the trace's start */
};

/* In order of (start, -end). */
struct collective_op {
    const char *name;
    int64_t step;       /* index into the steps of the results; COLLECTIVE_NO_STEP */
    int64_t size_bytes; /* sum over its inputs */
    uint32_t
        first_range; /* ranges: its own interval and those of its device work, by (start, -end) */
    uint32_t range_count;
    const char *group;  /* name of the process group; NULL when unknown, or by operators alone */
    int64_t group_size; /* number of its ranks; 0 when unknown */
};

struct collective_log {
    struct collective_op *ops;
    uint32_t op_count;
    uint32_t range_count;
    struct collective_range *ranges;
};

#endif
