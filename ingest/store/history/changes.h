/* The log of runs whose traces, tags or project changed (`series_change`), as whoever holds
 * something of them in memory follows it. */
#ifndef KS_STORE_HISTORY_CHANGES_H
#define KS_STORE_HISTORY_CHANGES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many numbers of changes that are missing in the log are looked for. */
#define CHANGES_GAPS 256
#define CHANGES_GAP_BYTES 21

/* How far one has come; zeroed at first. */
struct changes {
    int64_t seen; /* the last change */
    /* Changes before it that were not in the log: they were undone, or another server has yet to
     * commit them. */
    int64_t gaps[CHANGES_GAPS];
    size_t gap_count;
    char gaps_json[CHANGES_GAPS * CHANGES_GAP_BYTES + 3];
};

/* Notes a change of a run, in the transaction that makes it. */
bool changes_add(struct db *db, int64_t run_id, struct err *err) KS_MUST_USE;
/* Whether nothing has come since changes_see, which was called. */
bool changes_are_seen(const struct changes *changes, struct db *db, bool *are, struct err *err)
    KS_MUST_USE;
/* Sees what has come since and says of which runs, at most `max`. *are_all is false when it is the
 * first time, the log does not say them all, or they are more. */
bool changes_see(struct changes *changes,
                 struct db *db,
                 bool is_first,
                 int64_t *runs,
                 size_t max,
                 size_t *count,
                 bool *are_all,
                 struct err *err) KS_MUST_USE;

#endif
