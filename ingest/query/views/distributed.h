/* The distributed view of a span, built from the traces of its workers [TB-15]. */
#ifndef KS_QUERY_VIEWS_DISTRIBUTED_H
#define KS_QUERY_VIEWS_DISTRIBUTED_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/distributed.h"
#include "ingest/model/results/results.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query_worker {
    const struct store_trace *trace;
    const struct trace_results *results; /* without operators and kernels */
    struct distributed_worker *matched;
    struct distributed_wait *waits;
    size_t wait_count;
    struct distributed_op *ops;
    size_t op_count;
};

struct query_distributed {
    struct query_worker *workers; /* in the order given */
    size_t worker_count;
    bool agrees; /* see struct distributed */
};

/* `traces` belong to one span; collectives of several steps of one name are of the first of these;
 * `agrees` is false if one has no collectives. `figures_ids`: the ids under which the store returns
 * the figures of each; NULL: the traces' own. Errors: those of the store. */
bool query_distributed(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const struct store_trace *const *traces,
                       size_t count,
                       const int64_t *figures_ids,
                       struct query_distributed *out,
                       struct err *err) KS_MUST_USE;

#endif
