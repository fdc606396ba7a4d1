/* Captures of graphs among the traces of a run [DEV-3]. */
#ifndef KS_JOBS_ON_REQUEST_RUN_CAPTURES_H
#define KS_JOBS_ON_REQUEST_RUN_CAPTURES_H

#include "ingest/analysis/captures/capture.h"
#include "ingest/base/err.h"
#include "ingest/store/store.h"

/* Those of the traces of a trace's run, itself not, in order of upload; in the arena. None unless
 * an event of the trace has the text `needs`: what captures are of use for. Looks through the first
 * RUN_CAPTURES_LOOKED traces of the run, reads at most RUN_CAPTURES_READ. */
#define RUN_CAPTURES_LOOKED 256
#define RUN_CAPTURES_READ 16
bool run_captures_find(struct store *store,
                       int64_t trace_id,
                       const char *needs,
                       size_t memory_budget_bytes,
                       struct arena *arena,
                       struct capture **out,
                       size_t *count,
                       struct err *err) KS_MUST_USE;

/* What one trace captured. ERR_NOT_FOUND, ERR_GONE, ERR_TOO_LARGE. */
bool run_captures_read(struct store *store,
                       int64_t trace_id,
                       size_t memory_budget_bytes,
                       struct arena *arena,
                       struct capture *out,
                       struct err *err) KS_MUST_USE;

#endif
