/* A trace's timeline as a list of rows, for the tests of the builder; what must hold of every
 * timeline is checked on the way. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_TIMELINE_TIMELINE_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_TIMELINE_TIMELINE_FIXTURE_H

#include "ingest/analysis/analysis.h"
#include "ingest/analysis/timeline/timeline.h"
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

#include <math.h>
#include <stdio.h>

struct seen_item {
    uint32_t level, track, lane, label, event, count;
    int64_t start_ns, dur_ns, busy_ns;
};

struct seen_point {
    uint32_t level, track, lane, event;
    int64_t start_ns;
    double last, min, max;
};

struct seen {
    struct format_bundle bundle;
    struct trace_results *results;
    struct timeline_frame frame;
    struct timeline *timeline;
    struct seen_item *items;
    struct seen_point *points;
    struct timeline_flow *flows;     /* by source */
    struct timeline_flow *by_target; /* the same */
    size_t item_count, point_count, flow_count, by_target_count;
    size_t item_cap, point_cap;
    uint32_t refuse_level; /* the sink gives up there */
    bool refuse_flows;
};

#define SEEN_TAKE_ALL UINT32_MAX

static inline void *seen_room(void *rows, size_t needed, size_t *cap, size_t row_bytes)
{
    if (needed <= *cap) {
        return rows;
    }
    *cap = needed * 2;
    rows = realloc(rows, *cap * row_bytes);
    assert_non_null(rows);
    return rows;
}

static inline bool seen_level(struct seen *seen, uint32_t level, uint32_t count, struct err *err)
{
    assert_in_range(count, 1, TIMELINE_BLOCK_ITEMS);
    assert_true(level < TIMELINE_LEVELS_MAX);
    return level != seen->refuse_level || err_set(err, ERR_STORE, "refused");
}

static inline bool
seen_take_block(void *context, uint32_t level, const struct timeline_block *block, struct err *err)
{
    struct seen *seen = context;
    if (!seen_level(seen, level, block->item_count, err)) {
        return false;
    }
    seen->items = seen_room(seen->items, seen->item_count + block->item_count, &seen->item_cap,
                            sizeof *seen->items);
    for (uint32_t i = 0; i < block->item_count; i++) {
        seen->items[seen->item_count++] = (struct seen_item){.level = level,
                                                             .track = block->track[i],
                                                             .lane = block->lane[i],
                                                             .label = block->label[i],
                                                             .event = block->event[i],
                                                             .count = block->count[i],
                                                             .start_ns = block->start_ns[i],
                                                             .dur_ns = block->dur_ns[i],
                                                             .busy_ns = block->busy_ns[i]};
    }
    return true;
}

static inline bool seen_take_points(void *context,
                                    uint32_t level,
                                    const struct timeline_points *points,
                                    struct err *err)
{
    struct seen *seen = context;
    if (!seen_level(seen, level, points->item_count, err)) {
        return false;
    }
    seen->points = seen_room(seen->points, seen->point_count + points->item_count, &seen->point_cap,
                             sizeof *seen->points);
    for (uint32_t i = 0; i < points->item_count; i++) {
        seen->points[seen->point_count++] = (struct seen_point){.level = level,
                                                                .track = points->track[i],
                                                                .lane = points->lane[i],
                                                                .event = points->event[i],
                                                                .start_ns = points->start_ns[i],
                                                                .last = points->last[i],
                                                                .min = points->min[i],
                                                                .max = points->max[i]};
    }
    return true;
}

static inline bool seen_take_flows(
    void *context, bool by_target, const struct timeline_flow *flows, size_t count, struct err *err)
{
    struct seen *seen = context;
    struct timeline_flow *copy = malloc((count + 1) * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, flows, count * sizeof *copy);
    if (by_target) {
        assert_null(seen->by_target);
        seen->by_target = copy;
        seen->by_target_count = count;
    } else {
        assert_null(seen->flows);
        seen->flows = copy;
        seen->flow_count = count;
    }
    return !seen->refuse_flows || err_set(err, ERR_STORE, "refused");
}

/* ---- what always holds ---- */

static inline bool seen_in_order(const struct seen_item *a, const struct seen_item *b)
{
    if (a->level != b->level) {
        return a->level < b->level;
    }
    if (a->track != b->track) {
        return a->track < b->track;
    }
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->lane <= b->lane;
}

static inline bool seen_points_in_order(const struct seen_point *a, const struct seen_point *b)
{
    if (a->level != b->level) {
        return a->level < b->level;
    }
    if (a->track != b->track) {
        return a->track < b->track;
    }
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->lane <= b->lane;
}

/* Of a lane of a level. */
struct seen_sums {
    int64_t end_ns;
    uint64_t count;
    int64_t busy_ns;
};

static inline struct seen_sums *seen_lane(struct seen_sums *sums, uint32_t track, uint32_t lane)
{
    return &sums[(size_t)track * TIMELINE_LANES_MAX + lane];
}

static inline void
seen_check_item(const struct seen *seen, const struct seen_item *item, struct seen_sums *sums)
{
    const struct timeline_track *track = &seen->timeline->tracks[item->track];
    int64_t dur_ns = item->dur_ns < 0 ? 0 : item->dur_ns;
    struct seen_sums *lane = seen_lane(sums, item->track, item->lane);
    assert_true(item->track < seen->timeline->track_count);
    assert_true(item->lane < track->lane_count);
    assert_true(item->label < seen->timeline->label_count);
    assert_true(item->dur_ns >= TIMELINE_INSTANT);
    assert_true(item->busy_ns >= 0 && item->busy_ns <= dur_ns);
    assert_true(item->start_ns >= track->first_ns && item->start_ns + dur_ns <= track->end_ns);
    if (item->level == 0) {
        assert_int_equal(item->count, 1);
        bool may_overlap = item->lane == TIMELINE_LANES_MAX - 1;
        assert_true(may_overlap || lane->count == 0 || item->start_ns >= lane->end_ns);
    }
    lane->end_ns = item->start_ns + dur_ns;
    lane->count += item->count;
    lane->busy_ns += item->busy_ns;
}

/* Counts, busy times and order of all levels. */
static inline void seen_check_items(const struct seen *seen)
{
    const struct timeline *timeline = seen->timeline;
    size_t lane_count = (size_t)(timeline->track_count + 1) * TIMELINE_LANES_MAX;
    struct seen_sums *first = calloc(lane_count, sizeof *first);
    struct seen_sums *sums = calloc(lane_count, sizeof *sums);
    assert_true(first != NULL && sums != NULL);
    size_t at = 0;
    for (uint32_t level = 0; level < timeline->level_count; level++) {
        memset(sums, 0, lane_count * sizeof *sums);
        uint64_t count = 0;
        for (; at < seen->item_count && seen->items[at].level == level; at++, count++) {
            assert_true(count == 0 || seen_in_order(&seen->items[at - 1], &seen->items[at]));
            seen_check_item(seen, &seen->items[at], sums);
        }
        for (size_t p = 0; p < seen->point_count; p++) {
            count += seen->points[p].level == level;
        }
        assert_int_equal(count, timeline->levels[level].item_count);
        for (size_t i = 0; i < lane_count; i++) {
            first[i] = level == 0 ? sums[i] : first[i];
            assert_int_equal(sums[i].count, first[i].count);
            assert_int_equal(sums[i].busy_ns, first[i].busy_ns);
        }
    }
    assert_int_equal(at, seen->item_count);
    free(first);
    free(sums);
}

static inline void seen_check_flows(const struct seen *seen)
{
    assert_int_equal(seen->flow_count, seen->timeline->flow_count);
    assert_int_equal(seen->by_target_count, seen->flow_count);
    for (size_t i = 1; i < seen->flow_count; i++) {
        const struct timeline_flow *a = &seen->flows[i - 1];
        const struct timeline_flow *b = &seen->flows[i];
        assert_true(a->from < b->from || (a->from == b->from && a->to < b->to));
        a = &seen->by_target[i - 1];
        b = &seen->by_target[i];
        assert_true(a->to < b->to || (a->to == b->to && a->from < b->from));
    }
}

static inline void seen_check(const struct seen *seen)
{
    const struct timeline *timeline = seen->timeline;
    assert_true(timeline->level_count > 0);
    assert_int_equal(timeline->levels[0].width_ns, 0);
    assert_true(timeline->track_count <= TIMELINE_TRACKS_MAX);
    for (uint32_t level = 1; level < timeline->level_count; level++) {
        assert_true(timeline->levels[level].item_count <=
                    timeline->levels[level - 1].item_count / 2);
        assert_true(timeline->levels[level].width_ns >= 4 * timeline->levels[level - 1].width_ns);
    }
    for (uint32_t i = 1; i < timeline->label_count; i++) {
        assert_true(timeline->labels[i].count <= timeline->labels[i - 1].count);
    }
    for (size_t i = 1; i < seen->point_count; i++) {
        assert_true(seen_points_in_order(&seen->points[i - 1], &seen->points[i]));
    }
    seen_check_items(seen);
    seen_check_flows(seen);
}

/* ---- building ---- */

/* Level by level, in the order in which the rows of each have come. */
static inline void seen_group(struct seen *seen)
{
    struct seen_item *items = malloc((seen->item_count + 1) * sizeof *items);
    struct seen_point *points = malloc((seen->point_count + 1) * sizeof *points);
    size_t item_count = 0;
    size_t point_count = 0;
    assert_true(items != NULL && points != NULL);
    for (uint32_t level = 0; level < TIMELINE_LEVELS_MAX; level++) {
        for (size_t i = 0; i < seen->item_count; i++) {
            if (seen->items[i].level == level) {
                items[item_count++] = seen->items[i];
            }
        }
        for (size_t i = 0; i < seen->point_count; i++) {
            if (seen->points[i].level == level) {
                points[point_count++] = seen->points[i];
            }
        }
    }
    assert_int_equal(item_count, seen->item_count);
    assert_int_equal(point_count, seen->point_count);
    free(seen->items);
    free(seen->points);
    seen->items = items;
    seen->points = points;
}

static inline bool seen_build(struct seen *seen,
                              const struct trace *trace,
                              const struct timeline_frame *frame,
                              struct err *err)
{
    const struct timeline_sink sink = {seen, seen_take_block, seen_take_points, seen_take_flows};
    bool ok = timeline_build(trace, frame, &sink, &seen->timeline, err);
    seen_group(seen);
    return ok;
}

static inline void seen_take_frame(void *context, struct timeline_frame *frame)
{
    struct seen *seen = context;
    seen->frame = *frame;
    *frame = (struct timeline_frame){.categories = NULL};
}

static inline void seen_free(struct seen *seen)
{
    timeline_destroy(seen->timeline);
    timeline_frame_free(&seen->frame);
    results_destroy(seen->results);
    format_bundle_free(&seen->bundle);
    free(seen->items);
    free(seen->points);
    free(seen->flows);
    free(seen->by_target);
}

static inline void seen_read_text(struct seen *seen, const char *text)
{
    struct err err = ERR_INIT;
    *seen = (struct seen){.refuse_level = SEEN_TAKE_ALL};
    seen->bundle = read_text(text);
    const struct trace *trace = seen->bundle.items[0].model;
    const struct analysis_wants wants = {.take_frame = seen_take_frame, .context = seen};
    assert_true(analysis_run_with(trace, &wants, &seen->results, &err));
    if (!seen_build(seen, trace, &seen->frame, &err)) {
        fail_msg("%s", err.msg);
    }
    timeline_settle(seen->timeline, seen->results);
    seen_check(seen);
}

/* A document with these events, one X at 1000 us first: the trace's start. */
#define SEEN_START                                                                  \
    "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"start\", " \
    "\"pid\": 1, \"tid\": 1, \"ts\": 1000, \"dur\": 1}"
#define SEEN_END "]}"

static inline void seen_read(struct seen *seen, const char *events)
{
    size_t bytes = strlen(SEEN_START) + strlen(events) + strlen(SEEN_END) + 1;
    char *text = malloc(bytes);
    assert_non_null(text);
    (void)snprintf(text, bytes, "%s%s%s", SEEN_START, events, SEEN_END);
    seen_read_text(seen, text);
    free(text);
}

/* The level 0 item of an event; NULL when it is on no track. */
static inline const struct seen_item *seen_event(const struct seen *seen, uint32_t event)
{
    for (size_t i = 0; i < seen->item_count && seen->items[i].level == 0; i++) {
        if (seen->items[i].event == event) {
            return &seen->items[i];
        }
    }
    return NULL;
}

static inline void seen_expect(
    const struct seen *seen, uint32_t event, uint32_t lane, int64_t start_ns, int64_t dur_ns)
{
    const struct seen_item *item = seen_event(seen, event);
    assert_non_null(item);
    assert_int_equal(item->lane, lane);
    assert_int_equal(item->start_ns, start_ns);
    assert_int_equal(item->dur_ns, dur_ns);
}

static inline const char *seen_name(const struct seen *seen, uint32_t event)
{
    return seen->timeline->labels[seen_event(seen, event)->label].name;
}

static inline const struct timeline_track *seen_track(const struct seen *seen, uint32_t event)
{
    return &seen->timeline->tracks[seen_event(seen, event)->track];
}

static inline uint64_t seen_warnings(const struct seen *seen, enum warning_code code)
{
    return seen->results->warnings.by_code[code].count;
}

#endif
