/* What a memory snapshot answers: how much was taken when, by whom, and how it lies [FMT-4]. */
#ifndef KS_ANALYSIS_MEMORY_SNAPSHOT_MEMORY_SNAPSHOT_H
#define KS_ANALYSIS_MEMORY_SNAPSHOT_MEMORY_SNAPSHOT_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/recorders/memory_snapshot.h"
#include "ingest/model/tables/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_CLASSES_MAX 64

/* Live blocks whose size is above half of upper_bytes. */
struct snapshot_class {
    int64_t upper_bytes; /* a power of two, 512 at least */
    int64_t blocks, bytes;
};

/* An allocation that failed. */
struct snapshot_oom {
    int64_t event;
    int64_t t_ns; /* SNAPSHOT_NONE, as the other numbers that may be unknown */
    int64_t size_bytes, device_free_bytes;
    const char *frame;
};

/* Of one device [FMT-4.2] [FMT-4.3]. */
struct snapshot_figures {
    int64_t device, segments, blocks;
    int64_t reserved_bytes, allocated_bytes, active_bytes, requested_bytes;
    int64_t live_blocks, free_segments_bytes, inactive_split_bytes;
    struct snapshot_class classes[SNAPSHOT_CLASSES_MAX];
    size_t class_count;
    int64_t events, history_start_allocated_bytes, history_start_reserved_bytes;
    int64_t peak_allocated_bytes, peak_event, peak_ns, peak_reserved_bytes;
    struct snapshot_oom *oom;
    size_t oom_count;
};

/* Everything in *out lives in the arena. O(device). False without memory. */
bool snapshot_figures_of(const struct memory_snapshot *snapshot,
                         const struct snapshot_device *device,
                         struct arena *arena,
                         struct snapshot_figures *out) KS_MUST_USE;

enum snapshot_when { SNAPSHOT_AT_PEAK, SNAPSHOT_AT_END };

struct snapshot_frame_row {
    const char *frame;
    int64_t blocks, bytes;
    double share; /* NaN where there are no bytes */
    int64_t baseline_blocks, baseline_bytes, delta_bytes;
};

struct snapshot_block_row {
    const char *address;
    int64_t size_bytes, requested_bytes;
    const char *state;
    int64_t stream;
    const char *segment;
    const char *frame;
};

/* `device` SNAPSHOT_NONE: all. `baseline`: NULL or another snapshot, whose frames are added. */
struct snapshot_question {
    const struct memory_snapshot *snapshot;
    const struct memory_snapshot *baseline;
    int64_t device;
    enum snapshot_when when;
};

/* By bytes descending, then by frame. */
bool snapshot_frames(const struct snapshot_question *question,
                     struct arena *arena,
                     struct snapshot_frame_row **rows,
                     size_t *count) KS_MUST_USE;
bool snapshot_blocks(const struct snapshot_question *question,
                     struct arena *arena,
                     struct snapshot_block_row **rows,
                     size_t *count) KS_MUST_USE;

/* After `event` events; t_ns is the time of the last of them. */
struct snapshot_point {
    int64_t event, t_ns, allocated_bytes, reserved_bytes;
};

/* At most four points a pixel: the first and those with the least and the most bytes. */
struct snapshot_curve {
    struct snapshot_point *points;
    size_t count;
    int64_t total_points, peak;
};

bool snapshot_curve_of(const struct memory_snapshot *snapshot,
                       const struct snapshot_device *device,
                       size_t width_px,
                       struct arena *arena,
                       struct snapshot_curve *out) KS_MUST_USE;

/* What a drawing shows: events across, bytes upwards. It keeps the `limit` lives that take most of
 * its area; SNAPSHOT_NONE as an end: to the last event, to the highest byte. */
struct snapshot_window {
    int64_t first_event, end_event, low_bytes, high_bytes;
    size_t limit;
};

/* A block's life, to be drawn: from event `first` (-1: before the recording) to event `end` (one
 * behind the last: it lived on), from byte `low` upwards. Blocks lie in order of their addresses;
 * addresses that no block ever had are left out. */
struct snapshot_life_row {
    int64_t first, end, bytes, low;
    uint32_t frame; /* in snapshot_lives.frames */
};

#define SNAPSHOT_SHADE_COLUMNS 320
#define SNAPSHOT_SHADE_ROWS 80

struct snapshot_lives {
    struct snapshot_window window;  /* with its ends */
    struct snapshot_life_row *rows; /* in order of their first event */
    size_t count;
    int64_t total, in_window; /* lives of the device, and those that the window shows a part of */
    int64_t left_out_bytes;   /* at the peak, of those of the window beyond the limit */
    int64_t events, top_bytes;
    uint8_t *shades; /* percent of each cell of the window that lives beyond the limit cover, row by
                        row from the lowest; NULL: there are none */
    const char **frames;
    size_t frame_count;
};

/* O(n log n) of lives. False without memory. */
bool snapshot_lives_of(const struct memory_snapshot *snapshot,
                       const struct snapshot_device *device,
                       const struct snapshot_window *window,
                       struct arena *arena,
                       struct snapshot_lives *out) KS_MUST_USE;

#define SNAPSHOT_SEGMENT_CELLS 128

/* A segment when the snapshot was taken. */
struct snapshot_segment_row {
    const struct snapshot_segment *segment; /* as long as the snapshot lives */
    const char *address;
    int64_t stream;
    int64_t total_bytes;
    int64_t allocated_bytes; /* of blocks that are given out */
    int64_t pending_bytes;   /* of blocks that wait to be freed */
    int64_t free_bytes;      /* inactive */
    int64_t largest_free_bytes;
    int64_t blocks;
    /* Percent of each of SNAPSHOT_SEGMENT_CELLS equal parts. */
    uint8_t *allocated, *pending;
};

enum snapshot_segment_order { SNAPSHOT_BY_SIZE, SNAPSHOT_BY_FREE, SNAPSHOT_BY_ADDRESS };

struct snapshot_segments {
    struct snapshot_segment_row *rows;
    size_t count;
    int64_t total; /* segments of the device */
};

/* The first `limit` segments in this order: the largest, those with most free bytes, or the lowest.
 * O(n log n). False without memory. */
bool snapshot_segments_of(const struct snapshot_device *device,
                          enum snapshot_segment_order order,
                          size_t limit,
                          struct arena *arena,
                          struct snapshot_segments *out) KS_MUST_USE;

extern const struct row_table table_snapshot_frame, table_snapshot_block;

#endif
