/* Items of one track on their way to a grid of pixels: what is shorter than a pixel is merged, lane
 * by lane, with its neighbours that begin in the same cell. The grid is absolute, so that
 * rectangles stay what they are while one pans. */
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
    int64_t label_ns; /* time of the label that stands for all */
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

/* The item of a lane that may still take others in. */
struct merge_lane {
    int64_t cell_end_ns;
    uint32_t item;
    uint32_t serial; /* of the track and grid it belongs to */
};

/* One track at a time: its items so far, on a grid that gets coarser when they are too many. */
struct timeline_merge {
    int64_t pixel_ns;
    uint32_t limit; /* of items; the grid gets coarser beyond */
    uint32_t serial;
    size_t count;
    union {
        struct merged_slice *slices;
        struct merged_point *points;
    };
    bool is_points;
    struct merge_lane *lanes; /* TIMELINE_LANES_MAX */
};

/* The first time of the cell with `time`, and the first one behind it; at the ends of int64 these.
 * pixel_ns > 0. */
int64_t merge_cell_start(int64_t time_ns, int64_t pixel_ns);
int64_t merge_cell_end(int64_t time_ns, int64_t pixel_ns);

/* False without memory. */
bool merge_init(struct timeline_merge *merge, bool is_points) KS_MUST_USE;
void merge_free(struct timeline_merge *merge);
/* The next track. limit <= TIMELINE_TRACK_ITEMS_MAX */
void merge_begin(struct timeline_merge *merge, int64_t pixel_ns, uint32_t limit);
/* By ascending start; lane < TIMELINE_LANES_MAX. */
void merge_slice(struct timeline_merge *merge, const struct merged_slice *slice);
void merge_point(struct timeline_merge *merge, const struct merged_point *point);
/* Makes the grid coarser until there are at most `limit` items; where even one item a lane is too
 * many, the deepest lanes go. Works on any array of items, in place. */
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
