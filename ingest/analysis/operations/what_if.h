/* What a training job would take without stragglers [RANK-7], and what its pipeline leaves idle
 * [RANK-5]. Pure functions over the operations of the job; seconds as doubles. */
#ifndef KS_ANALYSIS_OPERATIONS_WHAT_IF_H
#define KS_ANALYSIS_OPERATIONS_WHAT_IF_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/operations.h"
#include "ingest/model/results/what_if.h"

/* Results live in the arena. ERR_BAD_INPUT says which operation is missing or waits for itself;
 * ERR_TOO_LARGE: more simulated operations than an answer takes; ERR_NO_MEMORY. */
bool what_if_run(const struct operation_table *table,
                 int64_t dsp_size,
                 struct arena *arena,
                 struct what_if *out,
                 struct err *err) KS_MUST_USE;

/* One lane; `step`, `dp_rank`: RANK_UNKNOWN: the lowest. ERR_NOT_FOUND. */
bool what_if_timeline_run(const struct operation_table *table,
                          const struct what_if_lane *lane,
                          struct arena *arena,
                          struct what_if_timeline *out,
                          struct err *err) KS_MUST_USE;

bool bubbles_run(const struct operation_table *table,
                 struct arena *arena,
                 struct pipeline *out,
                 struct err *err) KS_MUST_USE;

#endif
