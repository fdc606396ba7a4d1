/* The points of a run in the order of all series [HIST-1b]. */
#ifndef KS_STORE_HISTORY_POINTS_H
#define KS_STORE_HISTORY_POINTS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/internal.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes the points of a run anew, inside the caller's transaction. Those of a run with many traces
 * are only marked as stale: it would be read once for each of them. */
bool series_points_refresh(struct db *db, int64_t run_id, struct err *err) KS_MUST_USE;
bool series_points_refresh_run(struct db *db, const char *run, struct err *err) KS_MUST_USE;
/* Removes the points of a run; says so to whoever holds points in memory. */
bool series_points_drop(struct db *db, int64_t run_id, struct err *err) KS_MUST_USE;
/* Makes stale points anew, in a transaction of its own. */
bool series_points_settle(struct store *store, struct err *err) KS_MUST_USE;

/* Removes the names of metrics that no trace has any more. Call it while this process ingests
 * nothing: a name may be written before its first value. */
bool series_metrics_purge(struct store *store, struct err *err) KS_MUST_USE;

/* Whether a JSON array of strings, as the store writes them, has this one. */
bool series_tags_have(const char *tags, const char *tag);

#endif
