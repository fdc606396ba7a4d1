/* The points of all series in memory, and the values of the metrics read last: a series of 100,000
 * uploads is then a walk over arrays. Follows the store by the log of changed runs
 * (`series_change`). About 350 bytes a point. */
#ifndef KS_STORE_HISTORY_CACHE_H
#define KS_STORE_HISTORY_CACHE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/history/changes.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_history.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_SLOTS 16

/* A point; the texts lie behind `run`, in one allocation. */
struct cached_point {
    double time;
    int64_t upload_order, span, run_id, trace_id;
    enum store_series_time time_source;
    uint32_t run_len, tags_len;
    char *run;
    const char *project, *tags, *devices;
    const char *traces; /* "12,13"; NULL: only trace_id */
};

/* The values of one metric, in the order of the points. */
struct cached_metric {
    char *name; /* NULL: free */
    double *values;
    _Atomic uint64_t used_at;
};

struct series_cache {
    pthread_rwlock_t lock;
    bool is_filled;
    struct changes changes; /* that the points hold */
    struct cached_point *points;
    size_t count, cap; /* of the points, and of each metric's values */
    struct cached_metric metrics[SERIES_SLOTS];
    _Atomic uint64_t clock; /* of used_at */
};

struct series_cache *series_cache_create(void) KS_MUST_USE; /* NULL without memory */
void series_cache_destroy(struct series_cache *cache);      /* NULL is allowed */

/* Locks the cache with all that is published, and the values of a metric, which live as long as the
 * lock. False: not locked. */
bool series_cache_lock(struct store *store,
                       const char *metric,
                       const double **values,
                       struct err *err) KS_MUST_USE;
void series_cache_unlock(struct store *store);

#endif
