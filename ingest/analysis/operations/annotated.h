/* A table of operations from what annotations of the ranks' traces name [RANK-4c] [RANK-4d], and
 * what their kernels tell beside [RANK-4e]. */
#ifndef KS_ANALYSIS_OPERATIONS_ANNOTATED_H
#define KS_ANALYSIS_OPERATIONS_ANNOTATED_H

#include "ingest/analysis/operations/transfers.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/operations.h"
#include "ingest/model/rank_digest.h"

#include <stdbool.h>
#include <stddef.h>

struct annotated_rank {
    int64_t rank;
    int64_t zero_ns;    /* start of the run on its own clock, absolute */
    const char **peers; /* "[0,4]": ranks that it sends to or receives from, as groups */
    const struct rank_operation *operations; /* by start */
    uint32_t operation_count, peer_count;
    const struct rank_transfer *transfers; /* of kernels */
    uint32_t transfer_count;
};

/* Copies what a rank needs of its digest into the arena; out->rank is known. */
bool annotated_read(struct annotated_rank *out,
                    const struct rank_digest *digest,
                    struct arena *arena) KS_MUST_USE;

/* `ranks` ascend. The table lives in the arena; *out is NULL when no rank has operations, or
 * nothing tells the stage of one. False without memory. O(n log n). */
bool annotated_operations(const struct annotated_rank *ranks,
                          size_t count,
                          struct arena *arena,
                          struct operation_table **out) KS_MUST_USE;

#endif
