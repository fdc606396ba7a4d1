/* Which operation of a job waits for which [RANK-6]: one graph for all steps and replicas. */
#ifndef KS_ANALYSIS_OPERATIONS_DEPENDENCIES_H
#define KS_ANALYSIS_OPERATIONS_DEPENDENCIES_H

#include "ingest/analysis/operations/lanes.h"

#define OPERATION_NONE UINT32_MAX

/* Operations are numbered as the keys of the lanes. A unit is a group that ends together, or one
 * operation. */
struct dependencies {
    uint32_t *unit_of;      /* by operation */
    bool *is_grouped;       /* by operation: it has a transfer, no duration */
    bool *is_synchronised;  /* by unit: over the replicas of a step */
    uint32_t *first_member; /* by unit, one more than units */
    uint32_t *members;
    uint32_t *order; /* units, each after all that it waits for */
    uint32_t unit_count;
    uint32_t *first_before; /* by operation, one more: what it waits for */
    uint32_t *before;
    uint32_t missing; /* a bit an operation_type: stages lack it at their tail [RANK-6c] */
};

/* `replicas`: data-parallel ranks times sequence-parallel ones. ERR_BAD_INPUT names a cycle or a
 * dependency on a missing operation; ERR_NO_MEMORY. To be freed in either case. O(n log n). */
bool dependencies_build(struct dependencies *out,
                        const struct operation_lanes *lanes,
                        int64_t replicas,
                        struct err *err) KS_MUST_USE;
void dependencies_free(struct dependencies *dependencies);

#endif
