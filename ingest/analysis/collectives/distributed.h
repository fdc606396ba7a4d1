/* The collectives of several workers laid beside each other [TB-15]: how much of each was transfer,
 * and how much waiting for the others. Pure functions over comm logs. */
#ifndef KS_ANALYSIS_COLLECTIVES_DISTRIBUTED_H
#define KS_ANALYSIS_COLLECTIVES_DISTRIBUTED_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/distributed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where workers disagree, the k-th collective of a name of each belongs together, as far as all
 * have one, with equal numbers of ranges. The result lies in `arena` and refers to the logs. False
 * without memory, as all functions here. */
bool distributed_match(struct distributed *out,
                       struct arena *arena,
                       const struct collective_log *const *logs,
                       size_t count) KS_MUST_USE;

/* Steps in the order in which the worker's collectives meet them. */
bool distributed_waits(struct distributed_wait **out,
                       size_t *count,
                       struct arena *arena,
                       const struct distributed_worker *worker) KS_MUST_USE;

/* Names in the order in which they come. */
bool distributed_ops(struct distributed_op **out,
                     size_t *count,
                     struct arena *arena,
                     const struct distributed_worker *worker) KS_MUST_USE;

#endif
