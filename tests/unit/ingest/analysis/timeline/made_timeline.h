/* Made-up timelines: level 0 by hand or at random, the coarser levels merged from it in the
 * plainest way, all of it written through the store's own functions. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_TIMELINE_MADE_TIMELINE_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_TIMELINE_MADE_TIMELINE_H

#include "ingest/model/timeline.h"
#include "ingest/store/store_timeline.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define MADE_NAME_BYTES 32

struct made_slice {
    uint32_t track;
    uint32_t lane;
    uint32_t label;
    uint32_t event;
    uint32_t count;
    int64_t start_ns;
    int64_t dur_ns;
    int64_t busy_ns;
};

struct made_point {
    uint32_t track;
    uint32_t lane;
    uint32_t event;
    int64_t start_ns;
    double last;
    double min;
    double max;
};

struct made_level {
    int64_t width_ns;
    struct made_slice *slices;
    size_t slice_count;
    struct made_point *points;
    size_t point_count;
};

struct made_timeline {
    struct timeline_track *tracks;
    uint32_t track_count;
    struct timeline_label *labels;
    char (*names)[MADE_NAME_BYTES];
    uint32_t label_count;
    struct made_level levels[TIMELINE_LEVELS_MAX];
    uint32_t level_count;
    size_t slice_cap;
    size_t point_cap;
    uint64_t random;
};

static inline uint64_t made_random(struct made_timeline *made, uint64_t below)
{
    made->random ^= made->random << 13;
    made->random ^= made->random >> 7;
    made->random ^= made->random << 17;
    return made->random % below;
}

static inline void made_init(struct made_timeline *made, uint32_t track_count, uint32_t label_count)
{
    *made = (struct made_timeline){.track_count = track_count,
                                   .label_count = label_count,
                                   .level_count = 1,
                                   .random = UINT64_C(88172645463325252)};
    made->tracks = calloc(track_count + (size_t)1, sizeof *made->tracks);
    made->labels = calloc(label_count + (size_t)1, sizeof *made->labels);
    made->names = calloc(label_count + (size_t)1, sizeof *made->names);
    assert_non_null(made->tracks);
    assert_non_null(made->labels);
    assert_non_null(made->names);
    for (uint32_t t = 0; t < track_count; t++) {
        made->tracks[t] = (struct timeline_track){.process = "python (7)",
                                                  .label = "thread 7",
                                                  .lane_count = TIMELINE_LANES_MAX,
                                                  .member_count = 1,
                                                  .first_ns = INT64_MIN,
                                                  .end_ns = INT64_MAX};
    }
    for (uint32_t i = 0; i < label_count; i++) {
        (void)snprintf(made->names[i], MADE_NAME_BYTES, "aten::op_%u", (unsigned)i);
        made->labels[i] = (struct timeline_label){.name = made->names[i],
                                                  .category = i % 2 == 0 ? "cpu_op" : "",
                                                  .role = (uint8_t)(i % 8),
                                                  .count = i,
                                                  .total_ns = (int64_t)i * 1000 - 5};
    }
}

static inline void made_free(struct made_timeline *made)
{
    for (uint32_t k = 0; k < made->level_count; k++) {
        free(made->levels[k].slices);
        free(made->levels[k].points);
    }
    free(made->tracks);
    free(made->labels);
    free(made->names);
}

static inline void made_add(struct made_timeline *made, struct made_slice slice)
{
    struct made_level *level = &made->levels[0];
    if (level->slice_count == made->slice_cap) {
        made->slice_cap = made->slice_cap == 0 ? 1024 : 2 * made->slice_cap;
        level->slices = realloc(level->slices, made->slice_cap * sizeof *level->slices);
        assert_non_null(level->slices);
    }
    slice.count = 1;
    slice.busy_ns = slice.dur_ns < 0 ? 0 : slice.dur_ns;
    level->slices[level->slice_count++] = slice;
}

static inline void made_add_point(struct made_timeline *made, struct made_point point)
{
    struct made_level *level = &made->levels[0];
    if (level->point_count == made->point_cap) {
        made->point_cap = made->point_cap == 0 ? 1024 : 2 * made->point_cap;
        level->points = realloc(level->points, made->point_cap * sizeof *level->points);
        assert_non_null(level->points);
    }
    point.min = point.last;
    point.max = point.last;
    made->tracks[point.track].kind = TIMELINE_COUNTER;
    level->points[level->point_count++] = point;
}

static inline int made_compare(
    uint32_t track, int64_t start, uint32_t lane, uint32_t track2, int64_t start2, uint32_t lane2)
{
    if (track != track2) {
        return track < track2 ? -1 : 1;
    }
    if (start != start2) {
        return start < start2 ? -1 : 1;
    }
    return (lane > lane2) - (lane < lane2);
}

static inline int made_by_place(const void *a, const void *b)
{
    const struct made_slice *l = a;
    const struct made_slice *r = b;
    return made_compare(l->track, l->start_ns, l->lane, r->track, r->start_ns, r->lane);
}

static inline int made_points_by_place(const void *a, const void *b)
{
    const struct made_point *l = a;
    const struct made_point *r = b;
    return made_compare(l->track, l->start_ns, l->lane, r->track, r->start_ns, r->lane);
}

/* Slices of one track: lane by lane, one after another, some long ones and instants among them. */
static inline void made_fill_track(
    struct made_timeline *made, uint32_t track, uint32_t lanes, size_t per_lane, int64_t length_ns)
{
    uint64_t step = (uint64_t)length_ns / per_lane;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        int64_t at = (int64_t)made_random(made, step + 1);
        for (size_t i = 0; i < per_lane; i++) {
            int64_t dur = (int64_t)made_random(made, step + 1);
            bool is_instant = made_random(made, 16) == 0;
            dur = made_random(made, 64) == 0 ? dur * 8 : dur / 2;
            made_add(made,
                     (struct made_slice){.track = track,
                                         .lane = lane,
                                         .label = (uint32_t)made_random(made, made->label_count),
                                         .event = (uint32_t)made->levels[0].slice_count,
                                         .start_ns = at,
                                         .dur_ns = is_instant ? TIMELINE_INSTANT : dur});
            at += (is_instant ? 0 : dur) + (int64_t)made_random(made, step + 1);
        }
    }
}

static inline void made_sort(struct made_timeline *made)
{
    struct made_level *level = &made->levels[0];
    if (level->slice_count > 0) {
        qsort(level->slices, level->slice_count, sizeof *level->slices, made_by_place);
    }
    if (level->point_count > 0) {
        qsort(level->points, level->point_count, sizeof *level->points, made_points_by_place);
    }
}

static inline int64_t made_cell(int64_t start_ns, int64_t width_ns)
{
    int64_t cell = start_ns / width_ns;
    return start_ns % width_ns < 0 ? cell - 1 : cell;
}

static inline void
made_merge_slices(const struct made_level *from, struct made_level *to, int64_t width_ns)
{
    size_t open[TIMELINE_LANES_MAX];
    for (size_t i = 0; i < from->slice_count; i++) {
        const struct made_slice *slice = &from->slices[i];
        if (i == 0 || slice->track != from->slices[i - 1].track) {
            memset(open, 0xFF, sizeof open);
        }
        size_t at = open[slice->lane];
        struct made_slice *into = at == SIZE_MAX ? NULL : &to->slices[at];
        bool is_short = slice->dur_ns < width_ns;
        if (is_short && into != NULL &&
            made_cell(into->start_ns, width_ns) == made_cell(slice->start_ns, width_ns)) {
            int64_t end = slice->start_ns + (slice->dur_ns < 0 ? 0 : slice->dur_ns);
            into->dur_ns = end - into->start_ns;
            into->busy_ns += slice->busy_ns;
            into->count += slice->count;
            continue;
        }
        open[slice->lane] = is_short ? to->slice_count : SIZE_MAX;
        to->slices[to->slice_count++] = *slice;
    }
}

static inline void
made_merge_points(const struct made_level *from, struct made_level *to, int64_t width_ns)
{
    size_t open[TIMELINE_LANES_MAX];
    for (size_t i = 0; i < from->point_count; i++) {
        const struct made_point *point = &from->points[i];
        if (i == 0 || point->track != from->points[i - 1].track) {
            memset(open, 0xFF, sizeof open);
        }
        size_t at = open[point->lane];
        struct made_point *into = at == SIZE_MAX ? NULL : &to->points[at];
        if (into != NULL &&
            made_cell(into->start_ns, width_ns) == made_cell(point->start_ns, width_ns)) {
            into->last = point->last;
            into->min = point->min < into->min ? point->min : into->min;
            into->max = point->max > into->max ? point->max : into->max;
            continue;
        }
        open[point->lane] = to->point_count;
        to->points[to->point_count++] = *point;
    }
}

/* A level from the one before: what is shorter than the width is merged with its neighbours. */
static inline void made_coarser(struct made_timeline *made, int64_t width_ns)
{
    const struct made_level *from = &made->levels[made->level_count - 1];
    struct made_level *to = &made->levels[made->level_count++];
    to->width_ns = width_ns;
    to->slices = calloc(from->slice_count + 1, sizeof *to->slices);
    to->points = calloc(from->point_count + 1, sizeof *to->points);
    assert_non_null(to->slices);
    assert_non_null(to->points);
    made_merge_slices(from, to, width_ns);
    made_merge_points(from, to, width_ns);
}

/* ---- into the store ---- */

struct made_columns {
    uint32_t track[TIMELINE_BLOCK_ITEMS];
    uint32_t lane[TIMELINE_BLOCK_ITEMS];
    uint32_t label[TIMELINE_BLOCK_ITEMS];
    uint32_t event[TIMELINE_BLOCK_ITEMS];
    uint32_t count[TIMELINE_BLOCK_ITEMS];
    int64_t start_ns[TIMELINE_BLOCK_ITEMS];
    int64_t dur_ns[TIMELINE_BLOCK_ITEMS];
    int64_t busy_ns[TIMELINE_BLOCK_ITEMS];
    double last[TIMELINE_BLOCK_ITEMS];
    double min[TIMELINE_BLOCK_ITEMS];
    double max[TIMELINE_BLOCK_ITEMS];
};

static inline struct timeline_block
made_block(struct made_columns *to, const struct made_slice *slices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to->track[i] = slices[i].track;
        to->lane[i] = slices[i].lane;
        to->label[i] = slices[i].label;
        to->event[i] = slices[i].event;
        to->count[i] = slices[i].count;
        to->start_ns[i] = slices[i].start_ns;
        to->dur_ns[i] = slices[i].dur_ns;
        to->busy_ns[i] = slices[i].busy_ns;
    }
    return (struct timeline_block){.item_count = (uint32_t)count,
                                   .track = to->track,
                                   .start_ns = to->start_ns,
                                   .dur_ns = to->dur_ns,
                                   .lane = to->lane,
                                   .label = to->label,
                                   .event = to->event,
                                   .count = to->count,
                                   .busy_ns = to->busy_ns};
}

static inline struct timeline_points
made_points(struct made_columns *to, const struct made_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to->track[i] = points[i].track;
        to->lane[i] = points[i].lane;
        to->event[i] = points[i].event;
        to->start_ns[i] = points[i].start_ns;
        to->last[i] = points[i].last;
        to->min[i] = points[i].min;
        to->max[i] = points[i].max;
    }
    return (struct timeline_points){.item_count = (uint32_t)count,
                                    .track = to->track,
                                    .start_ns = to->start_ns,
                                    .lane = to->lane,
                                    .event = to->event,
                                    .last = to->last,
                                    .min = to->min,
                                    .max = to->max};
}

static inline size_t made_part(size_t all, size_t done)
{
    return all - done < TIMELINE_BLOCK_ITEMS ? all - done : TIMELINE_BLOCK_ITEMS;
}

static inline bool made_write_level(struct store_ingest *ingest,
                                    struct made_columns *columns,
                                    const struct made_level *level,
                                    uint32_t k,
                                    struct err *err)
{
    bool ok = true;
    for (size_t done = 0; ok && done < level->slice_count; done += TIMELINE_BLOCK_ITEMS) {
        size_t part = made_part(level->slice_count, done);
        struct timeline_block block = made_block(columns, level->slices + done, part);
        ok = store_ingest_timeline_block(ingest, k, &block, err);
    }
    for (size_t done = 0; ok && done < level->point_count; done += TIMELINE_BLOCK_ITEMS) {
        size_t part = made_part(level->point_count, done);
        struct timeline_points points = made_points(columns, level->points + done, part);
        ok = store_ingest_timeline_points(ingest, k, &points, err);
    }
    return ok;
}

/* What a sink would give, and the tracks. */
static inline bool
made_write(struct store_ingest *ingest, const struct made_timeline *made, struct err *err)
{
    struct made_columns *columns = calloc(1, sizeof *columns);
    struct timeline timeline = {.tracks = made->tracks,
                                .track_count = made->track_count,
                                .labels = made->labels,
                                .label_count = made->label_count,
                                .level_count = made->level_count,
                                .start_ns = -3,
                                .end_ns = 4000000000};
    bool ok = columns != NULL;
    for (uint32_t k = 0; ok && k < made->level_count; k++) {
        const struct made_level *level = &made->levels[k];
        timeline.levels[k] = (struct timeline_level){
            .width_ns = level->width_ns, .item_count = level->slice_count + level->point_count};
        ok = made_write_level(ingest, columns, level, k, err);
    }
    free(columns);
    return ok && store_ingest_timeline(ingest, &timeline, err);
}

#endif
