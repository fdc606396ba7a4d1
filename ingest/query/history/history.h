/* Series with their changes, baselines and gates [HIST-1] to [HIST-4]. */
#ifndef KS_QUERY_HISTORY_HISTORY_H
#define KS_QUERY_HISTORY_HISTORY_H

#include "ingest/analysis/history/changes.h"
#include "ingest/analysis/history/gate.h"
#include "ingest/analysis/history/metrics.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/store_history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_series {
    const char *name;
    struct history_metric metric;
    struct store_series_point *points;
    size_t count;
};

/* Texts and rows lie in the arena. ERR_BAD_REQUEST: an unknown metric, with the list of those there
 * are; a bad expression for the run. */
bool history_query_series(struct history_series *out,
                          struct store_snapshot *snapshot,
                          struct arena *arena,
                          const char *metric,
                          const struct store_series_filter *filter,
                          struct err *err) KS_MUST_USE;

/* Refuses rules outside of their limits, and windows that would take too long for `count` values.
 * ERR_BAD_REQUEST. */
bool history_rules_check(const struct history_rules *rules,
                         size_t count,
                         struct err *err) KS_MUST_USE;
bool history_query_changes(struct history_changes *out,
                           struct arena *arena,
                           const struct history_series *series,
                           const struct history_rules *rules,
                           struct err *err) KS_MUST_USE;

struct history_query_baseline {
    struct history_summary summary;
    const struct store_series_point *first, *last; /* NULL: it has no point */
    const struct store_series_point *since;        /* of the last change; NULL: none */
    size_t since_index;                            /* in the series */
};
/* Without the points of the runs named. */
bool history_query_baseline(struct history_query_baseline *out,
                            struct arena *arena,
                            const struct history_series *series,
                            const char *const *excluded_runs,
                            size_t excluded_count,
                            const struct history_rules *rules,
                            struct err *err) KS_MUST_USE;

/* A candidate is a span of a run, or a trace. */
struct gate_request {
    const char *run;                   /* of the candidate; always set */
    int64_t span;                      /* 0: the run's first */
    int64_t trace_id;                  /* 0: the span counts */
    struct store_series_filter filter; /* of the baseline */
    const char *const *conditions;     /* see gate_condition */
    size_t condition_count;
    struct history_rules history;
    struct gate_rules rules;
};

struct gate_answer_row {
    const char *metric;
    const char *unit;
    const char *limit; /* "5%", "5% and p<0.05" */
    double candidate;  /* NaN: it has no value */
    struct history_query_baseline baseline;
    struct gate_row row;
};

struct gate_answer {
    enum gate_verdict verdict;
    struct gate_answer_row *rows; /* one a condition */
    size_t row_count;
};

/* ERR_BAD_REQUEST: a condition that cannot be read; ERR_NOT_FOUND: the run has no such span. */
bool history_query_gate(struct gate_answer *out,
                        struct store_snapshot *snapshot,
                        struct arena *arena,
                        const struct gate_request *request,
                        struct err *err) KS_MUST_USE;

#endif
