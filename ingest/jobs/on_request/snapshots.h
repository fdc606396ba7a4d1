/* Memory snapshots of uploads, read anew when a request asks: the upload itself is what is kept.
 * Each waits for its turn (jobs_window_begin). ERR_NOT_FOUND: no snapshot, or no such device;
 * ERR_GONE: the upload is no longer kept; ERR_TOO_LARGE; ERR_UNAVAILABLE while the server stops. */
#ifndef KS_JOBS_ON_REQUEST_SNAPSHOTS_H
#define KS_JOBS_ON_REQUEST_SNAPSHOTS_H

#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/jobs/queue/jobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum snapshot_view {
    SNAPSHOT_OVERVIEW,
    SNAPSHOT_FRAMES,
    SNAPSHOT_BLOCKS,
    SNAPSHOT_CURVE,
    SNAPSHOT_LIVES,
    SNAPSHOT_SEGMENTS
};

struct snapshot_request {
    int64_t trace_id;
    int64_t baseline_id; /* of frames; 0: none */
    int64_t device;      /* SNAPSHOT_NONE: all; for curve, lives and segments the lowest */
    enum snapshot_when when;
    size_t count;                      /* pixels of a curve; segments at most */
    struct snapshot_window window;     /* of lives */
    enum snapshot_segment_order order; /* of segments */
};

/* What the view has. */
struct snapshot_answer {
    struct snapshot_figures *devices;
    struct snapshot_frame_row *frames;
    struct snapshot_block_row *blocks;
    size_t count;         /* of these rows */
    const char *settings; /* of the overview: JSON; NULL: not there */
    struct snapshot_curve curve;
    struct snapshot_lives lives;
    struct snapshot_segments segments;
};

bool snapshot_read(struct jobs *jobs,
                   enum snapshot_view view,
                   const struct snapshot_request *request,
                   struct arena *arena,
                   struct snapshot_answer *out,
                   struct err *err) KS_MUST_USE;

#endif
