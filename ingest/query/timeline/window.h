/* Reads the items of a window from the store and merges them, track by track. */
#ifndef KS_QUERY_TIMELINE_WINDOW_H
#define KS_QUERY_TIMELINE_WINDOW_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/timeline.h"
#include "ingest/query/timeline/merge.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No lane. */
#define WINDOW_NO_LANE UINT32_MAX

/* One track's items; the arrays are malloc'ed. */
struct window_track {
    uint32_t track;
    int64_t pixel_ns;
    bool is_points;
    size_t count;
    struct merged_slice *slices;
    struct merged_point *points;
    /* Counters: the value of each lane at the window's start, lane_count entries. */
    struct merged_point *holds;
    uint32_t lane_count;
    /* Blocks between the track's begin and this time were not read: they may hold the value of a
     * lane that has none. */
    bool has_gap;
    int64_t searched_from_ns;
};

struct window_read {
    struct store_snapshot *snapshot;
    int64_t trace_id;
    const struct timeline *timeline;
    struct arena *arena;
    int64_t start_ns;
    int64_t end_ns;
    int64_t pixel_ns;
    uint32_t level;
    const uint32_t *wanted_before; /* [track_count + 1]: requested tracks below this one */
    uint32_t first_track;
    uint32_t last_track;
    struct window_track *tracks; /* malloc'ed; those with items, ascending within each kind */
    size_t count;
    size_t cap;
    size_t item_count; /* of all */
};

/* Picks the level and the grid for the request (start, end, tracks and pixel_ns are set), enlarging
 * a pixel that would read too many items. Then reads all tracks. Call window_free also on false. */
bool window_read_all(struct window_read *window, struct err *err) KS_MUST_USE;
void window_free(struct window_read *window);
/* Reduces the window to TIMELINE_ITEMS_MAX items; tracks that need less than their share leave it
 * to others. ERR_NO_MEMORY. */
bool window_share(struct window_read *window, struct err *err) KS_MUST_USE;
/* Items and holds. */
size_t window_track_items(const struct window_track *track);

/* ---- timeline_hold.c ---- */

/* Finds values that hold from before the gaps, upwards through the levels: each step back reads one
 * block. */
bool window_find_holds(struct window_read *window, struct err *err) KS_MUST_USE;

#endif
