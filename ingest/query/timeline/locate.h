/* Finds events on the timeline. */
#ifndef KS_QUERY_TIMELINE_LOCATE_H
#define KS_QUERY_TIMELINE_LOCATE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/timeline.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_NO_TRACK UINT32_MAX

struct timeline_spot {
    uint32_t event;
    int64_t start_ns;
    const char *pid; /* as in struct store_event */
    const char *tid;
    uint32_t track; /* out: its track, or TIMELINE_NO_TRACK */
    uint32_t lane;
    int64_t dur_ns; /* TIMELINE_INSTANT for points, too */
};

/* Searches the tracks of the spots' threads, then the other tracks of their processes and those
 * without a process; with `everywhere` all tracks. Reorders the spots. */
bool timeline_locate(struct store_snapshot *snapshot,
                     int64_t trace_id,
                     const struct timeline *timeline,
                     bool everywhere,
                     struct timeline_spot *spots,
                     size_t count,
                     struct err *err) KS_MUST_USE;

#endif
