/* A snapshot of a caching allocator: its segments and blocks when it was taken, and the last events
 * before [FMT-4]. Views are computed from it. */
#ifndef KS_MODEL_MEMORY_SNAPSHOT_H
#define KS_MODEL_MEMORY_SNAPSHOT_H

#include "ingest/base/attr.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_NONE INT64_MIN /* a number that the file does not say */
/* Frames that are no text: no frames at all, and frames none of which is Python. */
#define SNAPSHOT_NO_FRAMES UINT32_MAX

enum snapshot_action {
    SNAPSHOT_OTHER,
    SNAPSHOT_ALLOC,
    SNAPSHOT_FREE_REQUESTED,
    SNAPSHOT_SEGMENT_GROWS,   /* segment_alloc, segment_map */
    SNAPSHOT_SEGMENT_SHRINKS, /* segment_free, segment_unmap */
    SNAPSHOT_OOM
};

enum snapshot_state {
    SNAPSHOT_INACTIVE,
    SNAPSHOT_ALLOCATED,
    SNAPSHOT_PENDING_FREE,
    SNAPSHOT_AWAITING_FREE,
    SNAPSHOT_STATE_OTHER
};
/* "active_allocated"; NULL for SNAPSHOT_STATE_OTHER. */
const char *snapshot_state_name(enum snapshot_state state);

struct snapshot_segment {
    int64_t address, total_size, allocated_size, active_size, stream;
    uint32_t first_block, block_count; /* in the device's blocks */
};

struct snapshot_block {
    int64_t address, size, requested_size;
    uint32_t segment; /* in the device's segments */
    uint32_t frame;   /* string id of the frame's text, or SNAPSHOT_NO_FRAMES */
    uint8_t state;    /* enum snapshot_state */
};

struct snapshot_event {
    int64_t addr, size, stream, time_us, device_free;
    uint32_t frame;
    uint8_t action; /* enum snapshot_action */
};

struct snapshot_device {
    int64_t id;
    struct snapshot_segment *segments;
    struct snapshot_block *blocks;
    struct snapshot_event *events;
    uint32_t segment_count, block_count, event_count;
};

struct memory_snapshot {
    struct strtab *texts;
    struct snapshot_device *devices; /* that have segments or events, ascending */
    size_t device_count;
    int64_t start_us; /* the smallest time of all; 0 where there is none */
    int64_t end_us;   /* the largest */
    char *settings;   /* allocator_settings as JSON; NULL: not there */
    bool is_npu;      /* written by torch_npu [FMT-4.1d] */
};

/* Bytes before an event, where they are known after it [FMT-4.3]. */
static inline int64_t snapshot_allocated_before(const struct snapshot_event *event, int64_t after)
{
    return event->action == SNAPSHOT_ALLOC            ? saturating_sub(after, event->size)
           : event->action == SNAPSHOT_FREE_REQUESTED ? saturating_add(after, event->size)
                                                      : after;
}

static inline int64_t snapshot_reserved_before(const struct snapshot_event *event, int64_t after)
{
    return event->action == SNAPSHOT_SEGMENT_GROWS     ? saturating_sub(after, event->size)
           : event->action == SNAPSHOT_SEGMENT_SHRINKS ? saturating_add(after, event->size)
                                                       : after;
}

void memory_snapshot_destroy(struct memory_snapshot *snapshot); /* NULL is allowed */

#endif
