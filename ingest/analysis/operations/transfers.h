/* Transfers between stages from kernels that send and receive, where no name tells them [RANK-4e].
 */
#ifndef KS_ANALYSIS_OPERATIONS_TRANSFERS_H
#define KS_ANALYSIS_OPERATIONS_TRANSFERS_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/operations.h"
#include "ingest/model/rank_digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_transfer {
    int64_t start_ns, duration_ns;
    int64_t step;
    int64_t peer; /* the other rank */
    bool is_send;
};

/* Kernels named `send` or `recv` of a group of two, the rank being one of them; in the arena. False
 * without memory. O(n log n). */
bool transfers_read(const struct rank_digest *digest,
                    int64_t rank,
                    struct arena *arena,
                    struct rank_transfer **out,
                    uint32_t *count) KS_MUST_USE;
/* The type of one between a rank of stage `own` and one of stage `peer`; -1 unless they are
 * neighbours. */
int transfers_type(bool is_send, uint32_t own, uint32_t peer);
/* Whether any of the operations is a transfer already. */
bool transfers_named(const struct rank_operation *operations, size_t count);

#endif
