/* Operations of a training job as lanes: one a step and replica, all with the same operations
 * [RANK-4a]. */
#ifndef KS_ANALYSIS_OPERATIONS_LANES_H
#define KS_ANALYSIS_OPERATIONS_LANES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/operations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What tells an operation from the others of its lane. */
struct operation_key {
    int64_t seq_id;
    uint32_t stage;
    uint8_t type; /* enum operation_type */
};

struct operation_lanes {
    struct operation_key *keys;     /* by type, sequence, stage */
    const struct operation **first; /* by key: in the lowest lane */
    int64_t *steps;                 /* ascending */
    uint32_t *replicas;             /* dp_ranks, ascending */
    size_t key_count, step_count, replica_count;
    /* By step, then replica, then key. */
    double *start_s, *duration_s;
    uint32_t stage_count; /* highest stage + 1 */
    int64_t chunk_count;  /* highest chunk + 1 */
    bool is_annotated;    /* as the table */
};

/* ERR_BAD_INPUT names the first operation that a lane lacks; ERR_NO_MEMORY. To be freed in either
 * case; refers to the table. O(n log n). */
bool operation_lanes_build(struct operation_lanes *out,
                           const struct operation_table *table,
                           struct err *err) KS_MUST_USE;
void operation_lanes_free(struct operation_lanes *lanes);

/* Place of a key, or SIZE_MAX. */
size_t operation_lanes_find(const struct operation_lanes *lanes, struct operation_key key);

static inline size_t
operation_lane(const struct operation_lanes *lanes, size_t step, size_t replica)
{
    return (step * lanes->replica_count + replica) * lanes->key_count;
}

#endif
