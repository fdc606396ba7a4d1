/* Series of metrics over uploads [HIST-1]. Values are stored with their trace; the points of a run
 * change in the transaction that publishes, deletes, tags or moves what they are made of. Threads,
 * arenas and errors as in store.h. */
#ifndef KS_STORE_STORE_HISTORY_H
#define KS_STORE_STORE_HISTORY_H

#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_series_time { SERIES_TIME_COMMIT, SERIES_TIME_START, SERIES_TIME_UPLOAD };

struct store_series_point {
    const char *run;
    int64_t trace_id; /* of the first worker by name */
    int64_t span;
    double time; /* Unix seconds */
    enum store_series_time time_source;
    double value;     /* median over the workers; NaN: none */
    const char *tags; /* JSON array; NULL beside the filter's page */
};

/* Which points a series has; all conditions must hold. NULL: any. */
struct store_series_filter {
    const char *projects; /* that the reader may read (store_access.h) */
    const char *project;
    const char *const *tags; /* every one of `tag_count` */
    size_t tag_count;
    const char *run; /* its name, or with `run_may_match` also "/regular expression/" */
    bool run_may_match;
    const char *device; /* type or name of one of the run's devices */
    /* Points whose tags are read: from this place on, so many. */
    size_t page_offset, page_count;
};

/* All points in order. An unknown metric has only NaN. ERR_BAD_REQUEST: a bad expression. Linear in
 * the points of the store. */
bool store_series_read(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const char *metric,
                       const struct store_series_filter *filter,
                       struct store_series_point **points,
                       size_t *count,
                       struct err *err) KS_MUST_USE;
/* The value of one trace; NaN: none. */
bool store_series_value(struct store_snapshot *snapshot,
                        int64_t trace_id,
                        const char *metric,
                        double *value,
                        struct err *err) KS_MUST_USE;
struct store_series_metric {
    const char *name;
    double value;
};
/* The metrics of a trace whose names contain `q` (NULL: all), the largest values first, at most
 * `limit`. */
bool store_series_metrics(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t trace_id,
                          const char *q,
                          int64_t limit,
                          struct store_series_metric **rows,
                          size_t *count,
                          struct err *err) KS_MUST_USE;

#endif
