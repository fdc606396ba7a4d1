/* The operations of a training job in a run: its pipeline, and what it would take without
 * stragglers [RANK-4] to [RANK-7]. */
#ifndef KS_QUERY_RANKS_OPERATIONS_H
#define KS_QUERY_RANKS_OPERATIONS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/operations.h"
#include "ingest/model/results/what_if.h"
#include "ingest/query/ranks/ranks.h"
#include "ingest/store/store.h"

/* The table that was uploaded last; *out is NULL when the run has none. */
bool query_operations_uploaded(struct store_snapshot *snapshot,
                               struct arena *arena,
                               const char *run,
                               struct operation_table **out,
                               struct err *err) KS_MUST_USE;
/* What annotations of the run's traces tell [RANK-4c], on the clocks of the verdict.
 * ERR_NOT_FOUND: nothing; says what to upload. */
bool query_operations_annotated(struct store_snapshot *snapshot,
                                struct arena *arena,
                                const struct query_ranks *ranks,
                                const struct ranks_verdict *verdict,
                                struct operation_table **out,
                                struct err *err) KS_MUST_USE;

/* ERR_BAD_INPUT: an operation is missing, or waits for itself; ERR_TOO_LARGE. */
bool query_operations_pipeline(const struct operation_table *table,
                               struct arena *arena,
                               struct pipeline *out,
                               struct err *err) KS_MUST_USE;
bool query_operations_what_if(const struct operation_table *table,
                              struct arena *arena,
                              int64_t dsp_size,
                              struct what_if *out,
                              struct err *err) KS_MUST_USE;
bool query_operations_timeline(const struct operation_table *table,
                               struct arena *arena,
                               const struct what_if_lane *lane,
                               struct what_if_timeline *out,
                               struct err *err) KS_MUST_USE;

#endif
