#include "ingest/query/timeline/merge.h"

#include "ingest/model/timeline.h"
#include "ingest/query/timeline/query.h"

#include <stdlib.h>
#include <string.h>

/* ---- the grid ---- */

static int64_t rest_of(int64_t time_ns, int64_t pixel_ns)
{
    int64_t rest = time_ns % pixel_ns;
    return rest < 0 ? rest + pixel_ns : rest;
}

int64_t merge_cell_start(int64_t time_ns, int64_t pixel_ns)
{
    int64_t rest = rest_of(time_ns, pixel_ns);
    return time_ns < INT64_MIN + rest ? INT64_MIN : time_ns - rest;
}

int64_t merge_cell_end(int64_t time_ns, int64_t pixel_ns)
{
    int64_t left = pixel_ns - rest_of(time_ns, pixel_ns);
    return time_ns > INT64_MAX - left ? INT64_MAX : time_ns + left;
}

/* No duration is as long as the largest pixel: on its grid everything is merged. */
static int64_t coarser(int64_t pixel_ns)
{
    return pixel_ns > INT64_MAX / 2 ? INT64_MAX : 2 * pixel_ns;
}

/* As a grid of twice the pixel seldom has less than half of the items, some steps are one. */
static int64_t coarser_for(int64_t pixel_ns, size_t count, size_t limit)
{
    for (size_t least = count; least > limit; least /= 2) {
        pixel_ns = coarser(pixel_ns);
    }
    return pixel_ns;
}

/* ---- one track ---- */

bool merge_init(struct timeline_merge *merge, bool is_points)
{
    *merge = (struct timeline_merge){.is_points = is_points};
    merge->lanes = calloc(TIMELINE_LANES_MAX, sizeof *merge->lanes);
    if (is_points) {
        merge->points = calloc(TIMELINE_TRACK_ITEMS_MAX + 1, sizeof *merge->points);
    } else {
        merge->slices = calloc(TIMELINE_TRACK_ITEMS_MAX + 1, sizeof *merge->slices);
    }
    bool ok = merge->lanes != NULL && (is_points ? (void *)merge->points : merge->slices) != NULL;
    if (!ok) {
        merge_free(merge);
    }
    return ok;
}

void merge_free(struct timeline_merge *merge)
{
    free(merge->lanes);
    if (merge->is_points) {
        free(merge->points);
    } else {
        free(merge->slices);
    }
    *merge = (struct timeline_merge){.is_points = merge->is_points};
}

/* What lanes remember of before counts no more. */
static void forget_lanes(struct timeline_merge *merge)
{
    merge->serial++;
    if (merge->serial == 0) {
        memset(merge->lanes, 0, TIMELINE_LANES_MAX * sizeof *merge->lanes);
        merge->serial = 1;
    }
}

void merge_begin(struct timeline_merge *merge, int64_t pixel_ns, uint32_t limit)
{
    merge->pixel_ns = pixel_ns;
    merge->limit = limit;
    merge->count = 0;
    forget_lanes(merge);
}

/* Whether the lane's open item takes in what starts here. */
static bool takes(const struct timeline_merge *merge, const struct merge_lane *lane, int64_t start)
{
    return lane->serial == merge->serial && start < lane->cell_end_ns;
}

static void
open_item(struct timeline_merge *merge, struct merge_lane *lane, size_t item, int64_t start)
{
    lane->cell_end_ns = merge_cell_end(start, merge->pixel_ns);
    lane->item = (uint32_t)item;
    lane->serial = merge->serial;
}

static int64_t end_of(const struct merged_slice *slice)
{
    return slice->dur_ns < 0 ? slice->start_ns : slice->start_ns + slice->dur_ns;
}

static uint32_t add_counts(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static int64_t add_times(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void take_in(struct merged_slice *into, const struct merged_slice *slice)
{
    int64_t into_end = end_of(into);
    int64_t slice_end = end_of(slice);
    int64_t end = slice_end > into_end ? slice_end : into_end;
    /* Both ends lie within two pixels: a difference beyond int64 takes starts of either sign at its
     * ends, which saturate. */
    bool fits = into->start_ns >= 0 || end <= INT64_MAX + into->start_ns;
    into->dur_ns = fits ? end - into->start_ns : INT64_MAX;
    into->busy_ns = add_times(into->busy_ns, slice->busy_ns);
    into->busy_ns = into->busy_ns > into->dur_ns ? into->dur_ns : into->busy_ns;
    into->count = add_counts(into->count, slice->count);
    if (slice->label == into->label) {
        into->label_ns = add_times(into->label_ns, slice->label_ns);
    } else if (slice->label_ns > into->label_ns) {
        into->label = slice->label;
        into->label_ns = slice->label_ns;
    }
}

/* Puts a slice behind the first *count of `slices`, or into one of them. */
static void put_slice(struct timeline_merge *merge,
                      struct merged_slice *slices,
                      size_t *count,
                      const struct merged_slice *slice)
{
    struct merge_lane *lane = &merge->lanes[slice->lane];
    bool is_short = slice->dur_ns < merge->pixel_ns;
    if (is_short && takes(merge, lane, slice->start_ns)) {
        take_in(&slices[lane->item], slice);
        return;
    }
    slices[*count] = *slice;
    if (is_short) {
        open_item(merge, lane, *count, slice->start_ns);
    } else {
        lane->serial = 0;
    }
    ++*count;
}

static void put_point(struct timeline_merge *merge,
                      struct merged_point *points,
                      size_t *count,
                      const struct merged_point *point)
{
    struct merge_lane *lane = &merge->lanes[point->lane];
    if (takes(merge, lane, point->start_ns)) {
        struct merged_point *into = &points[lane->item];
        into->last = point->last;
        into->min = point->min < into->min ? point->min : into->min;
        into->max = point->max > into->max ? point->max : into->max;
        return;
    }
    points[*count] = *point;
    open_item(merge, lane, *count, point->start_ns);
    ++*count;
}

void merge_slice(struct timeline_merge *merge, const struct merged_slice *slice)
{
    put_slice(merge, merge->slices, &merge->count, slice);
    if (merge->count > merge->limit) {
        merge_reduce_slices(merge, merge->slices, &merge->count, &merge->pixel_ns, merge->limit);
    }
}

void merge_point(struct timeline_merge *merge, const struct merged_point *point)
{
    put_point(merge, merge->points, &merge->count, point);
    if (merge->count > merge->limit) {
        merge_reduce_points(merge, merge->points, &merge->count, &merge->pixel_ns, merge->limit);
    }
}

/* ---- fewer items ---- */

/* How many lanes from the top have no more than `limit` items together. */
static uint32_t lanes_within(const size_t *items_by_lane, size_t limit)
{
    size_t items = 0;
    uint32_t lane = 0;
    while (lane < TIMELINE_LANES_MAX && items + items_by_lane[lane] <= limit) {
        items += items_by_lane[lane];
        lane++;
    }
    return lane;
}

static size_t drop_deep_slices(struct merged_slice *slices, size_t count, size_t limit)
{
    size_t by_lane[TIMELINE_LANES_MAX] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        by_lane[slices[i].lane]++;
    }
    uint32_t lanes = lanes_within(by_lane, limit);
    for (size_t i = 0; i < count; i++) {
        if (slices[i].lane < lanes) {
            slices[kept++] = slices[i];
        }
    }
    return kept;
}

static size_t drop_deep_points(struct merged_point *points, size_t count, size_t limit)
{
    size_t by_lane[TIMELINE_LANES_MAX] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        by_lane[points[i].lane]++;
    }
    uint32_t lanes = lanes_within(by_lane, limit);
    for (size_t i = 0; i < count; i++) {
        if (points[i].lane < lanes) {
            points[kept++] = points[i];
        }
    }
    return kept;
}

void merge_reduce_slices(struct timeline_merge *merge,
                         struct merged_slice *slices,
                         size_t *count,
                         int64_t *pixel_ns,
                         size_t limit)
{
    while (*count > limit && *pixel_ns < INT64_MAX) {
        size_t all = *count;
        *pixel_ns = coarser_for(*pixel_ns, all, limit);
        merge->pixel_ns = *pixel_ns;
        forget_lanes(merge);
        *count = 0;
        for (size_t i = 0; i < all; i++) {
            struct merged_slice slice = slices[i];
            put_slice(merge, slices, count, &slice);
        }
    }
    if (*count > limit) {
        *count = drop_deep_slices(slices, *count, limit);
        forget_lanes(merge);
    }
}

void merge_reduce_points(struct timeline_merge *merge,
                         struct merged_point *points,
                         size_t *count,
                         int64_t *pixel_ns,
                         size_t limit)
{
    while (*count > limit && *pixel_ns < INT64_MAX) {
        size_t all = *count;
        *pixel_ns = coarser_for(*pixel_ns, all, limit);
        merge->pixel_ns = *pixel_ns;
        forget_lanes(merge);
        *count = 0;
        for (size_t i = 0; i < all; i++) {
            struct merged_point point = points[i];
            put_point(merge, points, count, &point);
        }
    }
    if (*count > limit) {
        *count = drop_deep_points(points, *count, limit);
        forget_lanes(merge);
    }
}
