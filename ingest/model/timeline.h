/* A trace as lanes of slices, to be looked at: tracks, and what stands on them at several levels of
 * detail. Level 0 has every slice; a coarser level has a smallest width, and what is shorter than
 * that is merged, lane by lane, with its neighbours in the same cell of a grid of this width: busy
 * stays busy when one zooms out.
 *
 * Units: nanoseconds relative to the trace's start (results.start_ns), negative for events that the
 * views leave out and that begin earlier. */
#ifndef KS_MODEL_TIMELINE_H
#define KS_MODEL_TIMELINE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Items of a block, at most. Blocks may span tracks: a million tracks of one slice are 250 blocks.
 */
#define TIMELINE_BLOCK_ITEMS 4096u
/* Tracks beyond this number are joined, the least busy ones, to one track a process; threads to a
 * TIMELINE_GROUP, counters to a TIMELINE_COUNTER with more than one member. */
#define TIMELINE_TRACKS_MAX 2000u
/* Lanes of a track, at most: what would stand deeper stands on the last lane. */
#define TIMELINE_LANES_MAX 512u
#define TIMELINE_LEVELS_MAX 24u
#define TIMELINE_NO_EVENT UINT32_MAX
/* In `dur_ns`: an instant. */
#define TIMELINE_INSTANT INT64_C(-1)

enum timeline_track_kind {
    TIMELINE_THREAD,  /* of a process: operators, runtime calls, python functions */
    TIMELINE_STREAM,  /* of a device: kernels, copies */
    TIMELINE_ASYNC,   /* begin and end matched by id (b, e and their older kin) */
    TIMELINE_COUNTER, /* lanes are series, items are points */
    TIMELINE_GROUP    /* several small tracks of one process joined */
};

struct timeline_track {
    enum timeline_track_kind kind;
    const char *process; /* what the process is called: "python (25738)", "GPU 0" */
    const char *label;   /* "thread 25738 (python3)", "stream 7", "Memory of GPU 0" */
    const char *pid;     /* as the file writes them, strings without quotes; NULL where a track has
                            none */
    const char *tid;
    const char *const *series; /* TIMELINE_COUNTER: a name for each lane */
    uint32_t lane_count;
    uint32_t member_count; /* tracks joined here, 1 otherwise */
    uint64_t item_count;   /* of level 0 */
    int64_t first_ns;      /* of its items; 0 and 0 without any */
    int64_t end_ns;
    int64_t busy_ns; /* the union of its slices */
};

/* What slices of one name, category and role have in common. */
struct timeline_label {
    const char *name;
    const char *category; /* "" when none */
    uint8_t role;         /* enum time_category */
    uint64_t count;       /* items of level 0 */
    int64_t total_ns;     /* of their durations */
};

/* Level k > 0 keeps what is at least width_ns long as it is. */
struct timeline_level {
    int64_t width_ns; /* 0 for level 0 */
    uint64_t item_count;
};

/* What is the same for all blocks. Tracks stand in the order in which they are to be shown; labels
 * by falling count, so that the first ones are asked for most. */
struct timeline {
    struct arena arena;
    struct timeline_track *tracks;
    uint32_t track_count;
    struct timeline_label *labels;
    uint32_t label_count;
    struct timeline_level levels[TIMELINE_LEVELS_MAX]; /* only those that are there: each at most
                                                         half as long as the one before */
    uint32_t level_count;
    int64_t start_ns; /* of the first item of any track, and the end of the last; 0, 0: none */
    int64_t end_ns;
    uint64_t flow_count;
    int64_t origin_ns; /* where position 0 is, absolute as results.start_ns */
    struct warnings warnings;
};

/* Part of a level, sorted by track, then start, then lane. Columns of item_count entries. */
#define TIMELINE_BLOCK_COLUMNS(X)                                                                \
    X(uint32_t, track)                                                                           \
    X(int64_t, start_ns)                                                                         \
    X(int64_t, dur_ns) /* >= 0, or TIMELINE_INSTANT; from first start to last end when merged */ \
    X(uint32_t, lane)                                                                            \
    /* of several: the one with most time, ties by the first; what was merged before counts      \
     * for its own label, and a cell's first 16 are weighed */                                   \
    X(uint32_t, label)                                                                           \
    X(uint32_t, event)  /* file number of the (first) event */                                   \
    X(uint32_t, count)  /* of slices and instants in it */                                       \
    X(int64_t, busy_ns) /* the time of them, at most dur_ns; 0 for instants */
#define TIMELINE_COLUMN(type, name) type *name;

struct timeline_block {
    uint32_t item_count;
    TIMELINE_BLOCK_COLUMNS(TIMELINE_COLUMN)
};

/* The same of counters: `last` holds from start on, `min` and `max` are those of the cell. */
#define TIMELINE_POINT_COLUMNS(X) \
    X(uint32_t, track)            \
    X(int64_t, start_ns)          \
    X(uint32_t, lane)             \
    X(uint32_t, event)            \
    X(double, last)               \
    X(double, min)                \
    X(double, max)

struct timeline_points {
    uint32_t item_count;
    TIMELINE_POINT_COLUMNS(TIMELINE_COLUMN)
};

enum timeline_flow_kind {
    TIMELINE_FLOW_LAUNCH, /* runtime call to device activity, by correlation id or flow events */
    TIMELINE_FLOW_FWDBWD, /* forward operator to backward operator */
    TIMELINE_FLOW_OTHER
};
/* From one slice to another, by file number of their events. One launch may start many. */
struct timeline_flow {
    uint32_t from;
    uint32_t to;
    uint8_t kind; /* enum timeline_flow_kind */
};

/* Who takes the blocks: those of one level by track and start, those of several levels in turn. All
 * return false with *err set to give up. What is handed over is valid during the call. */
struct timeline_sink {
    void *context;
    bool (*take_block)(void *context,
                       uint32_t level,
                       const struct timeline_block *block,
                       struct err *err);
    bool (*take_points)(void *context,
                        uint32_t level,
                        const struct timeline_points *points,
                        struct err *err);
    /* All flows, twice: by source then target, and, `by_target`, by target then source. */
    bool (*take_flows)(void *context,
                       bool by_target,
                       const struct timeline_flow *flows,
                       size_t count,
                       struct err *err);
};

#endif
