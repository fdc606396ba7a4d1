/* A device's history, replayed from its end [FMT-4.3], and the lives of its blocks [FMT-4.4]. */
#ifndef KS_ANALYSIS_MEMORY_SNAPSHOT_REPLAY_H
#define KS_ANALYSIS_MEMORY_SNAPSHOT_REPLAY_H

#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "ingest/base/attr.h"
#include "ingest/model/recorders/memory_snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frame of a block that lived before the recording, and of which nothing is known. */
#define SNAPSHOT_BEFORE (UINT32_MAX - 1)
#define SNAPSHOT_NO_BLOCK UINT32_MAX

struct snapshot_life {
    int64_t first, end; /* events: it lives after event i where first <= i < end */
    int64_t address, bytes, stream;
    uint32_t frame; /* string id, SNAPSHOT_NO_FRAMES or SNAPSHOT_BEFORE */
    uint32_t block; /* that it is at the end, or SNAPSHOT_NO_BLOCK */
};

struct snapshot_replay {
    int64_t *allocated; /* after 0 to event_count events */
    int64_t *reserved;
    int64_t peak; /* events after which most is allocated, the first of equals */
    struct snapshot_life *lives;
    size_t life_count;
};

/* O(events + blocks). False without memory; free it in either case. */
bool snapshot_replay(const struct snapshot_device *device, struct snapshot_replay *out) KS_MUST_USE;
void snapshot_replay_free(struct snapshot_replay *replay);

/* At the end only what the segments still hold counts. */
bool snapshot_lives_then(const struct snapshot_device *device,
                         const struct snapshot_replay *replay,
                         const struct snapshot_life *life,
                         enum snapshot_when when);
/* Time of the last of `count` events, from the snapshot's start; SNAPSHOT_NONE. */
int64_t snapshot_time_ns(const struct memory_snapshot *snapshot,
                         const struct snapshot_device *device,
                         int64_t count);
/* The frame as a text; lives as long as the snapshot. */
const char *snapshot_frame_text(const struct memory_snapshot *snapshot, uint32_t frame);

/* "0x7f00", in the arena; NULL without memory. */
const char *snapshot_address(struct arena *arena, int64_t address);

#endif
