/* The distributed view of a span, put together from what each worker's trace holds [TB-15]. */
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

/* `traces`: those of one span; `agrees` is false where one has no collectives. `figures_ids`: under
 * which the store answers with the figures of each (derived ones have no COLLECTIVES_OWN_RULE);
 * NULL: the traces' own. Errors: those of the store. */
bool query_distributed(struct store *store,
                       struct arena *arena,
                       const struct store_trace *const *traces,
                       size_t count,
                       enum collective_rule rule,
                       const int64_t *figures_ids,
                       struct query_distributed *out,
                       struct err *err) KS_MUST_USE;

#endif
