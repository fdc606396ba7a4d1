/* Compares stored traces, or results in memory (the command line). */
#ifndef KS_QUERY_COMPARE_COMPARE_QUERY_H
#define KS_QUERY_COMPARE_COMPARE_QUERY_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/results.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query_compare_request {
    /* ids of traces a side */
    const int64_t *trace_ids[SIDE_COUNT];
    size_t trace_count[SIDE_COUNT];
    const char *labels[SIDE_COUNT];  /* "base", "candidate" */
    const char *title;               /* NULL: built from the names of the runs and workers */
    int64_t base_pid, candidate_pid; /* COMPARISON_NO_PID: every pair */
    int kind;                        /* enum cycle_kind or -1 */
};

/* Compares and stores every pair (store_comparisons_add). *first is the id of the most suspicious
 * one. ERR_NOT_FOUND: a trace; ERR_BAD_REQUEST: a trace without cycles (says which, and what to
 * record), or no common role; errors of the store. */
bool query_compare_stored(struct store_snapshot *snapshot,
                          struct arena *arena,
                          const struct query_compare_request *request,
                          int64_t *first,
                          struct err *err) KS_MUST_USE;

/* As query_compare_stored, over results in memory: see compare_run, which it calls. */
struct query_side {
    const struct trace_results *const *results;
    /* as store_overview has them, for the environment; NULL: `results` have that too */
    const struct trace_results *const *overviews;
    size_t count;
    const char *label;
};
bool query_compare_results(struct arena *arena,
                           const struct query_side sides[SIDE_COUNT],
                           const char *title,
                           int64_t base_pid,
                           int64_t candidate_pid,
                           int kind,
                           struct comparison_list *out,
                           struct err *err) KS_MUST_USE;

/* β of one (function, metric, device) in each cycle of both sides, in order of time, for the chart.
 * A cycle without the function counts as 0. Empty when the traces were deleted. */
struct query_beta_series {
    double *beta_pct[SIDE_COUNT];
    double *cycle_us[SIDE_COUNT];
    size_t count[SIDE_COUNT];
};
bool query_compare_series(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t comparison_id,
                          const char *function,
                          const char *metric,
                          const char *device,
                          struct query_beta_series *out,
                          struct err *err) KS_MUST_USE;

#endif
