/* Call stacks of a stored trace, when a request asks for them (analysis/stacks/stacks.h). Each
 * waits for its turn (jobs_window_begin) and runs on a thread of its own. ERR_NOT_FOUND; ERR_GONE:
 * the events were not stored; ERR_TOO_LARGE; ERR_UNAVAILABLE while the server stops. */
#ifndef KS_JOBS_ON_REQUEST_STACKS_H
#define KS_JOBS_ON_REQUEST_STACKS_H

#include "ingest/analysis/stacks/flame.h"
#include "ingest/analysis/stacks/stacks.h"
#include "ingest/base/err.h"
#include "ingest/jobs/queue/jobs.h"

/* `name` NULL: all. */
bool stacks_read_kernels(struct jobs *jobs,
                         int64_t trace_id,
                         const char *name,
                         enum call_paths_modules modules,
                         struct arena *arena,
                         struct kernel_stacks *out,
                         struct err *err) KS_MUST_USE;

/* Fills results.operators of that grouping. */
bool stacks_read_operators(struct jobs *jobs,
                           int64_t trace_id,
                           enum operator_group by,
                           struct trace_results *results,
                           struct err *err) KS_MUST_USE;

/* `against_id` 0: none. ERR_NOT_FOUND also where there is no node `under`. */
bool stacks_read_flame(struct jobs *jobs,
                       int64_t trace_id,
                       int64_t against_id,
                       const struct flame_options *options,
                       struct arena *arena,
                       struct flame_graph *out,
                       struct err *err) KS_MUST_USE;

#endif
