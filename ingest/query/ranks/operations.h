/* The operations of a training job in a run: its pipeline, and what it would take without
 * stragglers [RANK-4] to [RANK-7]. */
#ifndef KS_QUERY_RANKS_OPERATIONS_H
#define KS_QUERY_RANKS_OPERATIONS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/what_if.h"
#include "ingest/store/store.h"

/* All take the table that was uploaded last. ERR_NOT_FOUND: the run has none, and says what to
 * upload; ERR_BAD_INPUT: an operation is missing, or waits for itself; ERR_TOO_LARGE. */
bool query_operations_pipeline(struct store_snapshot *snapshot,
                               struct arena *arena,
                               const char *run,
                               struct pipeline *out,
                               struct err *err) KS_MUST_USE;
bool query_operations_what_if(struct store_snapshot *snapshot,
                              struct arena *arena,
                              const char *run,
                              int64_t dsp_size,
                              struct what_if *out,
                              struct err *err) KS_MUST_USE;
bool query_operations_timeline(struct store_snapshot *snapshot,
                               struct arena *arena,
                               const char *run,
                               const struct what_if_lane *lane,
                               struct what_if_timeline *out,
                               struct err *err) KS_MUST_USE;

#endif
