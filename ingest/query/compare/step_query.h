/* Steps of one trace that stand out, and what changed between two stored traces: their
 * environments and their steps. */
#ifndef KS_QUERY_COMPARE_STEP_QUERY_H
#define KS_QUERY_COMPARE_STEP_QUERY_H

#include "ingest/analysis/compare/cause_change.h"
#include "ingest/analysis/compare/step_change.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/environment.h"
#include "ingest/query/compare/name_diff.h"
#include "ingest/store/store.h"

/* The first and the last step where they were cut off, or warm up [DEV-6b]. */
struct query_odd_steps {
    double median_ns; /* of all steps; NaN without any */
    size_t count;
    struct query_odd_step {
        const char *place;          /* "first", "last" */
        const struct step_row *row; /* of the results */
    } items[2];
};
void query_odd_steps(const struct trace_results *results, struct query_odd_steps *out);

struct query_step_change {
    struct environment environment[SIDE_COUNT];
    struct step_change step;
};

/* Errors: those of the store. */
bool query_step_change(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const int64_t trace_ids[SIDE_COUNT],
                       struct query_step_change *out,
                       struct err *err) KS_MUST_USE;

/* The same with what changed by name. */
struct query_change {
    struct query_step_change change;
    struct name_diff operators, kernels;
};

bool query_change(struct store_snapshot *snapshot,
                  struct arena *arena,
                  const int64_t trace_ids[SIDE_COUNT],
                  struct query_change *out,
                  struct err *err) KS_MUST_USE;
/* Of results in memory, which the answer refers to. ERR_NO_MEMORY. */
bool query_change_of_results(const struct trace_results *const sides[SIDE_COUNT],
                             struct arena *arena,
                             struct query_change *out,
                             struct err *err) KS_MUST_USE;

/* Idle causes and efficiency, times per step where both sides have steps [CAU-6]. */
void query_cause_change(const struct step_change *step,
                        const struct cause_side sides[SIDE_COUNT],
                        struct cause_change *out);

#endif
