/* Merges the items of one track into a grid of pixels: what is shorter than a pixel is merged, lane
 * by lane, with its neighbours that begin in the same cell. The grid is absolute, so rectangles do
 * not change while the user pans. */
#ifndef KS_QUERY_TIMELINE_MERGE_H
#define KS_QUERY_TIMELINE_MERGE_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merged_slice {
    int64_t start_ns;
    int64_t dur_ns;
    int64_t busy_ns;
    int64_t label_ns; /* time of the label shown for all */
    uint32_t lane;
    uint32_t label;
    uint32_t event;
    uint32_t count;
};

struct merged_point {
    int64_t start_ns;
    double last;
    double min;
    double max;
    uint32_t lane;
    uint32_t event;
};

/* The item of a lane that may still absorb others. */
struct merge_lane {
    int64_t cell_end_ns;
    uint32_t item;
    uint32_t serial; /* identifies the track and grid it belongs to */
};

/* The items of one track so far, on a grid that gets coarser when they are too many. */
struct timeline_merge {
    int64_t pixel_ns;
    uint32_t limit; /* maximum of items; beyond it the grid gets coarser */
    uint32_t serial;
    size_t count;
    union {
        struct merged_slice *slices;
        struct merged_point *points;
    };
    bool is_points;
    struct merge_lane *lanes; /* TIMELINE_LANES_MAX */
};

/* First time of the cell that contains `time`, and of the next cell; saturating at the ends of
 * int64. pixel_ns > 0. */
int64_t merge_cell_start(int64_t time_ns, int64_t pixel_ns);
int64_t merge_cell_end(int64_t time_ns, int64_t pixel_ns);

/* False without memory. */
bool merge_init(struct timeline_merge *merge, bool is_points) KS_MUST_USE;
void merge_free(struct timeline_merge *merge);
/* Begins the next track. limit <= TIMELINE_TRACK_ITEMS_MAX. */
void merge_begin(struct timeline_merge *merge, int64_t pixel_ns, uint32_t limit);
/* Add items by ascending start; lane < TIMELINE_LANES_MAX. */
void merge_slice(struct timeline_merge *merge, const struct merged_slice *slice);
void merge_point(struct timeline_merge *merge, const struct merged_point *point);
/* Coarsens the grid until at most `limit` items are left; if even one item per lane is too many,
 * drops the deepest lanes. Works in place on any array of items. */
void merge_reduce_slices(struct timeline_merge *merge,
                         struct merged_slice *slices,
                         size_t *count,
                         int64_t *pixel_ns,
                         size_t limit);
void merge_reduce_points(struct timeline_merge *merge,
                         struct merged_point *points,
                         size_t *count,
                         int64_t *pixel_ns,
                         size_t limit);

#endif
