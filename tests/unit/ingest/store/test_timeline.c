/* Timelines in the store: what is written comes back, a window reads its own blocks only, and
 * damage is told. */
#include "ingest/store/db/db.h"
#include "ingest/store/ingest_log.h"
#include "ingest/store/store_events.h"
#include "ingest/store/store_timeline.h"
#include "ingest/store/timeline/blocks.h"
#include "tests/unit/ingest/analysis/timeline/made_timeline.h"
#include "tests/unit/ingest/store/store_fixture.h"
#include "tests/unit/ingest/store/trace_file.h"

#include <math.h>

#define LABELS 3000u
#define LENGTH_NS 100000000

/* ---- ingest ---- */

static struct store_ingest *begin_ingest(struct fixture *f, int64_t *job_id)
{
    struct store_ingest *ingest = NULL;
    *job_id = add_job(f, "run", "a.json", "bytes", false);
    assert_ok(f, store_ingest_begin(f->store, *job_id, &ingest, &f->err));
    return ingest;
}

static int64_t end_ingest(struct fixture *f, struct store_ingest *ingest, int64_t job_id)
{
    struct trace_results results = {.device_type = "GPU", .views = 1};
    assert_ok(f, store_ingest_trace(ingest, "w", "1", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    return trace_of_job(f, job_id);
}

static int64_t store_made(struct fixture *f, const struct made_timeline *made)
{
    int64_t job_id;
    struct store_ingest *ingest = begin_ingest(f, &job_id);
    assert_ok(f, made_write(ingest, made, &f->err));
    return end_ingest(f, ingest, job_id);
}

/* Tracks of many blocks, small ones that share a block, counters with whole and other values. */
static void make_mixed(struct made_timeline *made)
{
    made_init(made, 40, LABELS);
    made_fill_track(made, 0, 4, 4000, LENGTH_NS);
    made_fill_track(made, 1, 1, 9000, LENGTH_NS);
    for (uint32_t t = 2; t < 30; t++) {
        made_fill_track(made, t, 1 + t % 3, 100, LENGTH_NS);
    }
    for (uint32_t t = 30; t < 40; t++) {
        for (size_t i = 0; i < (t == 30 ? 10000u : 50u); i++) {
            double value = t % 2 == 0 ? (double)made_random(made, 1u << 30)
                                      : sqrt((double)made_random(made, 1000)) - 7;
            made_add_point(
                made, (struct made_point){.track = t,
                                          .lane = (uint32_t)made_random(made, 3),
                                          .event = (uint32_t)made_random(made, 1u << 31),
                                          .start_ns = (int64_t)made_random(made, LENGTH_NS) - 9,
                                          .last = value});
        }
    }
    made_sort(made);
    made_coarser(made, 10000);
    made_coarser(made, 100000);
}

/* ---- reading back ---- */

struct seen_part {
    struct made_slice *slices;
    size_t slice_count;
    struct made_point *points;
    size_t point_count;
    size_t blocks;
};

static bool see_block(void *context, const struct timeline_block *block, struct err *err)
{
    struct seen_part *seen = context;
    (void)err;
    size_t count = seen->slice_count + block->item_count;
    seen->slices = realloc(seen->slices, (count + 1) * sizeof *seen->slices);
    assert_non_null(seen->slices);
    for (uint32_t i = 0; i < block->item_count; i++) {
        seen->slices[seen->slice_count++] = (struct made_slice){.track = block->track[i],
                                                                .lane = block->lane[i],
                                                                .label = block->label[i],
                                                                .event = block->event[i],
                                                                .count = block->count[i],
                                                                .start_ns = block->start_ns[i],
                                                                .dur_ns = block->dur_ns[i],
                                                                .busy_ns = block->busy_ns[i]};
    }
    seen->blocks++;
    return true;
}

static bool see_points(void *context, const struct timeline_points *points, struct err *err)
{
    struct seen_part *seen = context;
    (void)err;
    size_t count = seen->point_count + points->item_count;
    seen->points = realloc(seen->points, (count + 1) * sizeof *seen->points);
    assert_non_null(seen->points);
    for (uint32_t i = 0; i < points->item_count; i++) {
        seen->points[seen->point_count++] = (struct made_point){.track = points->track[i],
                                                                .lane = points->lane[i],
                                                                .event = points->event[i],
                                                                .start_ns = points->start_ns[i],
                                                                .last = points->last[i],
                                                                .min = points->min[i],
                                                                .max = points->max[i]};
    }
    seen->blocks++;
    return true;
}

static struct seen_part
read_part(struct fixture *f, int64_t trace_id, const struct store_timeline_part *part)
{
    struct seen_part seen = {.blocks = 0};
    struct store_timeline_visitor visitor = {&seen, see_block, see_points};
    assert_ok(f, READ(f->store, store_timeline_read, trace_id, part, &visitor, &f->err));
    return seen;
}

static void free_seen(struct seen_part *seen)
{
    free(seen->slices);
    free(seen->points);
}

static bool same_slice(const struct made_slice *a, const struct made_slice *b)
{
    return a->track == b->track && a->lane == b->lane && a->label == b->label &&
           a->event == b->event && a->count == b->count && a->start_ns == b->start_ns &&
           a->dur_ns == b->dur_ns && a->busy_ns == b->busy_ns;
}

static bool same_point(const struct made_point *a, const struct made_point *b)
{
    return a->track == b->track && a->lane == b->lane && a->event == b->event &&
           a->start_ns == b->start_ns && memcmp(&a->last, &b->last, sizeof a->last) == 0 &&
           memcmp(&a->min, &b->min, sizeof a->min) == 0 &&
           memcmp(&a->max, &b->max, sizeof a->max) == 0;
}

static void test_every_level_comes_back(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_mixed(&made);
    int64_t trace_id = store_made(f, &made);
    for (uint32_t k = 0; k < made.level_count; k++) {
        const struct made_level *level = &made.levels[k];
        struct store_timeline_part part = {
            .level = k, .last_track = UINT32_MAX, .start_ns = INT64_MIN, .end_ns = INT64_MAX};
        struct seen_part seen = read_part(f, trace_id, &part);
        assert_int_equal(seen.slice_count, level->slice_count);
        assert_int_equal(seen.point_count, level->point_count);
        for (size_t i = 0; i < seen.slice_count; i++) {
            assert_true(same_slice(&seen.slices[i], &level->slices[i]));
        }
        for (size_t i = 0; i < seen.point_count; i++) {
            assert_true(same_point(&seen.points[i], &level->points[i]));
        }
        free_seen(&seen);
    }
    made_free(&made);
}

/* ---- windows ---- */

static bool overlaps(const struct made_slice *slice, const struct store_timeline_part *part)
{
    int64_t end = slice->start_ns + (slice->dur_ns < 0 ? 0 : slice->dur_ns);
    return slice->track >= part->first_track && slice->track <= part->last_track &&
           slice->start_ns < part->end_ns && end >= part->start_ns;
}

/* Blocks of 4096 slices, as they were written, that reach into the part. */
static size_t count_blocks(const struct made_level *level, const struct store_timeline_part *part)
{
    size_t blocks = 0;
    for (size_t begin = 0; begin < level->slice_count; begin += TIMELINE_BLOCK_ITEMS) {
        size_t end = begin + made_part(level->slice_count, begin);
        int64_t first = INT64_MAX;
        int64_t last = INT64_MIN;
        for (size_t i = begin; i < end; i++) {
            const struct made_slice *slice = &level->slices[i];
            int64_t stop = slice->start_ns + (slice->dur_ns < 0 ? 0 : slice->dur_ns);
            first = slice->start_ns < first ? slice->start_ns : first;
            last = stop > last ? stop : last;
        }
        blocks += level->slices[begin].track <= part->last_track &&
                  level->slices[end - 1].track >= part->first_track && first < part->end_ns &&
                  last >= part->start_ns;
    }
    return blocks;
}

static void check_part(struct fixture *f,
                       int64_t trace_id,
                       const struct made_level *level,
                       const struct store_timeline_part *part)
{
    struct seen_part seen = {.blocks = 0};
    struct store_timeline_visitor visitor = {&seen, see_block, NULL};
    assert_ok(f, READ(f->store, store_timeline_read, trace_id, part, &visitor, &f->err));
    assert_int_equal(seen.blocks, count_blocks(level, part));
    size_t at = 0;
    for (size_t i = 0; i < level->slice_count; i++) {
        if (!overlaps(&level->slices[i], part)) {
            continue;
        }
        while (at < seen.slice_count && !same_slice(&seen.slices[at], &level->slices[i])) {
            at++;
        }
        assert_true(at < seen.slice_count);
        at++;
    }
    free_seen(&seen);
}

static void test_windows_read_their_blocks_only(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_mixed(&made);
    /* One that began long before, in the first block of its track. */
    made_add(&made, (struct made_slice){.track = 1, .lane = 7, .dur_ns = LENGTH_NS});
    made_sort(&made);
    int64_t trace_id = store_made(f, &made);
    for (int round = 0; round < 300; round++) {
        uint32_t k = (uint32_t)made_random(&made, made.level_count);
        uint32_t first = (uint32_t)made_random(&made, 40);
        int64_t start = (int64_t)made_random(&made, LENGTH_NS * 12ull / 10);
        int64_t length = 1 + (int64_t)(made_random(&made, LENGTH_NS) >> made_random(&made, 26));
        struct store_timeline_part part = {
            .level = k,
            .first_track = first,
            .last_track = first + (uint32_t)made_random(&made, 1 + made_random(&made, 40)),
            .start_ns = start,
            .end_ns = start + length};
        check_part(f, trace_id, &made.levels[k], &part);
    }
    made_free(&made);
}

/* ---- tracks and labels ---- */

static void test_tracks_come_back(void **state)
{
    struct fixture *f = *state;
    static const char *const series[] = {"allocated", "reserved"};
    struct made_timeline made;
    struct timeline *timeline;
    make_mixed(&made);
    made.tracks[3] = (struct timeline_track){.kind = TIMELINE_COUNTER,
                                             .process = "GPU 0",
                                             .label = "Memory of GPU 0",
                                             .pid = "0",
                                             .series = series,
                                             .lane_count = 2,
                                             .member_count = 9,
                                             .item_count = UINT64_C(5000000000),
                                             .first_ns = -17,
                                             .end_ns = INT64_MAX,
                                             .busy_ns = 12};
    int64_t trace_id = store_made(f, &made);
    assert_ok(f, READ(f->store, store_timeline, &f->arena, trace_id, &timeline, &f->err));
    assert_int_equal(timeline->track_count, 40);
    assert_int_equal(timeline->label_count, LABELS);
    assert_null(timeline->labels);
    assert_int_equal(timeline->level_count, 3);
    assert_int_equal(timeline->levels[2].width_ns, 100000);
    assert_int_equal(timeline->levels[0].item_count,
                     made.levels[0].slice_count + made.levels[0].point_count);
    assert_int_equal(timeline->start_ns, -3);
    assert_int_equal(timeline->end_ns, 4000000000);
    const struct timeline_track *track = &timeline->tracks[3];
    assert_int_equal(track->kind, TIMELINE_COUNTER);
    assert_string_equal(track->process, "GPU 0");
    assert_string_equal(track->label, "Memory of GPU 0");
    assert_string_equal(track->pid, "0");
    assert_null(track->tid);
    assert_string_equal(track->series[1], "reserved");
    assert_int_equal(track->lane_count, 2);
    assert_int_equal(track->member_count, 9);
    assert_int_equal(track->item_count, UINT64_C(5000000000));
    assert_int_equal(track->first_ns, -17);
    assert_int_equal(track->end_ns, INT64_MAX);
    assert_int_equal(track->busy_ns, 12);
    made_free(&made);
}

static void test_labels_come_back(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    struct timeline_label *labels;
    made_init(&made, 1, LABELS);
    made_fill_track(&made, 0, 1, 10, LENGTH_NS);
    int64_t trace_id = store_made(f, &made);
    const uint32_t ids[] = {0, 1, 1023, 1024, 1500, 2999};
    assert_ok(f,
              READ(f->store, store_timeline_labels, &f->arena, trace_id, ids, 6, &labels, &f->err));
    for (size_t i = 0; i < 6; i++) {
        const struct timeline_label *expected = &made.labels[ids[i]];
        assert_string_equal(labels[i].name, expected->name);
        assert_string_equal(labels[i].category, expected->category);
        assert_int_equal(labels[i].role, expected->role);
        assert_int_equal(labels[i].count, expected->count);
        assert_int_equal(labels[i].total_ns, expected->total_ns);
    }
    const uint32_t beyond[] = {LABELS};
    const uint32_t far_beyond[] = {70000};
    assert_fails(
        f,
        READ(f->store, store_timeline_labels, &f->arena, trace_id, far_beyond, 1, &labels, &f->err),
        ERR_NOT_FOUND);
    assert_false(
        READ(f->store, store_timeline_labels, &f->arena, trace_id, beyond, 1, &labels, &f->err));
    assert_ok(
        f, READ(f->store, store_timeline_labels, &f->arena, trace_id, NULL, 0, &labels, &f->err));
    made_free(&made);
}

static void test_no_timeline(void **state)
{
    struct fixture *f = *state;
    int64_t trace_id = add_trace(f, "run", "a.json", "w", "1", "bytes");
    struct timeline *timeline;
    struct store_timeline_place *places;
    struct store_timeline_part part = {.end_ns = 1};
    size_t count;
    assert_ok(f, READ(f->store, store_timeline, &f->arena, trace_id, &timeline, &f->err));
    assert_null(timeline);
    assert_fails(f,
                 READ(f->store, store_timeline_places, &f->arena, trace_id, STORE_TIMELINE_SLICES,
                      &part, &places, &count, &f->err),
                 ERR_GONE);
    assert_fails(f, READ(f->store, store_timeline, &f->arena, trace_id + 7, &timeline, &f->err),
                 ERR_NOT_FOUND);
}

/* ---- flows ---- */

#define FLOWS 20000u

static int by_source(const void *a, const void *b)
{
    const struct timeline_flow *left = a;
    const struct timeline_flow *right = b;
    if (left->from != right->from) {
        return left->from < right->from ? -1 : 1;
    }
    return (left->to > right->to) - (left->to < right->to);
}

static int by_end(const void *a, const void *b)
{
    const struct timeline_flow *left = a;
    const struct timeline_flow *right = b;
    if (left->to != right->to) {
        return left->to < right->to ? -1 : 1;
    }
    return (left->from > right->from) - (left->from < right->from);
}

static void check_flows(struct fixture *f,
                        int64_t trace_id,
                        const struct timeline_flow *sorted,
                        bool by_target,
                        uint32_t event)
{
    struct timeline_flow *flows;
    size_t count;
    size_t at = 0;
    assert_ok(f, READ(f->store, store_flows, &f->arena, trace_id, by_target, event, SIZE_MAX,
                      &flows, &count, &f->err));
    for (size_t i = 0; i < FLOWS; i++) {
        if ((by_target ? sorted[i].to : sorted[i].from) == event) {
            assert_true(at < count);
            assert_int_equal(flows[at].from, sorted[i].from);
            assert_int_equal(flows[at].to, sorted[i].to);
            assert_int_equal(flows[at].kind, sorted[i].kind);
            at++;
        }
    }
    assert_int_equal(at, count);
    if (count > 1) {
        assert_ok(f, READ(f->store, store_flows, &f->arena, trace_id, by_target, event, count - 1,
                          &flows, &count, &f->err));
        assert_int_equal(count, at - 1);
    }
}

static void test_flows_of_an_event(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    int64_t job_id;
    static struct timeline_flow flows[2][FLOWS];
    made_init(&made, 1, 1);
    for (size_t i = 0; i < FLOWS; i++) {
        uint32_t from = i % 3 == 0 ? 777 : (uint32_t)made_random(&made, 9000);
        uint32_t to = i % 5 == 0 ? 123456 : (uint32_t)made_random(&made, UINT32_MAX);
        flows[0][i] = (struct timeline_flow){from, to, (uint8_t)made_random(&made, 3)};
    }
    memcpy(flows[1], flows[0], sizeof flows[0]);
    qsort(flows[0], FLOWS, sizeof flows[0][0], by_source);
    qsort(flows[1], FLOWS, sizeof flows[1][0], by_end);
    struct store_ingest *ingest = begin_ingest(f, &job_id);
    assert_ok(f, store_ingest_flows(ingest, false, flows[0], FLOWS, &f->err));
    assert_ok(f, store_ingest_flows(ingest, true, flows[1], FLOWS, &f->err));
    assert_ok(f, made_write(ingest, &made, &f->err));
    int64_t trace_id = end_ingest(f, ingest, job_id);
    check_flows(f, trace_id, flows[0], false, 777);
    check_flows(f, trace_id, flows[1], true, 123456);
    check_flows(f, trace_id, flows[0], false, 9001);
    for (int round = 0; round < 50; round++) {
        check_flows(f, trace_id, flows[0], false, flows[0][made_random(&made, FLOWS)].from);
        check_flows(f, trace_id, flows[1], true, flows[1][made_random(&made, FLOWS)].to);
    }
    made_free(&made);
}

/* ---- what is not as it should be ---- */

static void test_bad_blocks_are_refused(void **state)
{
    struct fixture *f = *state;
    static struct made_columns columns;
    struct made_slice slices[] = {
        {.track = 1, .start_ns = 5, .dur_ns = 3, .busy_ns = 3, .count = 1},
        {.track = 1, .start_ns = 9, .dur_ns = 3, .busy_ns = 3, .count = 1}};
    int64_t job_id;
    struct store_ingest *ingest = begin_ingest(f, &job_id);
    struct timeline_block block = made_block(&columns, slices, 2);
    assert_ok(f, store_ingest_timeline_block(ingest, 0, &block, &f->err));
    assert_fails(f, store_ingest_timeline_block(ingest, TIMELINE_LEVELS_MAX, &block, &f->err),
                 ERR_INTERNAL);
    columns.start_ns[1] = 4;
    assert_fails(f, store_ingest_timeline_block(ingest, 0, &block, &f->err), ERR_INTERNAL);
    columns.start_ns[1] = 9;
    columns.track[1] = 0;
    assert_fails(f, store_ingest_timeline_block(ingest, 0, &block, &f->err), ERR_INTERNAL);
    columns.track[1] = 1;
    columns.dur_ns[1] = INT64_MAX - 8;
    assert_fails(f, store_ingest_timeline_block(ingest, 0, &block, &f->err), ERR_INTERNAL);
    columns.dur_ns[1] = -2;
    columns.busy_ns[1] = 0;
    assert_fails(f, store_ingest_timeline_block(ingest, 0, &block, &f->err), ERR_INTERNAL);
    columns.dur_ns[1] = 3;
    columns.busy_ns[1] = 4;
    assert_fails(f, store_ingest_timeline_block(ingest, 0, &block, &f->err), ERR_INTERNAL);
    columns.busy_ns[1] = 3;
    block.item_count = TIMELINE_BLOCK_ITEMS + 1;
    assert_fails(f, store_ingest_timeline_block(ingest, 0, &block, &f->err), ERR_INTERNAL);
    struct timeline_flow flows[] = {{2, 1, 0}, {1, 2, 0}};
    assert_fails(f, store_ingest_flows(ingest, false, flows, 2, &f->err), ERR_INTERNAL);
    store_ingest_abort(ingest);
}

/* Times and values at the ends of what they can be. */
static void test_extremes_come_back(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    made_init(&made, 2, 1);
    const int64_t starts[] = {INT64_MIN, -1, 0, INT64_MAX};
    const int64_t durs[] = {INT64_MAX - 1, TIMELINE_INSTANT, INT64_MAX - 1, 0};
    const double values[] = {-0.0, (double)INFINITY, 5e-324, (double)NAN};
    for (size_t i = 0; i < 4; i++) {
        made_add(&made, (struct made_slice){.lane = UINT32_MAX,
                                            .label = UINT32_MAX,
                                            .event = TIMELINE_NO_EVENT,
                                            .start_ns = starts[i],
                                            .dur_ns = durs[i]});
        made_add_point(&made, (struct made_point){.track = UINT32_MAX % 2,
                                                  .lane = (uint32_t)i * 64,
                                                  .start_ns = starts[i],
                                                  .last = values[i]});
    }
    int64_t trace_id = store_made(f, &made);
    struct store_timeline_part part = {
        .last_track = UINT32_MAX, .start_ns = INT64_MIN, .end_ns = INT64_MAX};
    struct seen_part seen = read_part(f, trace_id, &part);
    assert_int_equal(seen.slice_count, 4);
    assert_int_equal(seen.point_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(same_slice(&seen.slices[i], &made.levels[0].slices[i]));
        assert_true(same_point(&seen.points[i], &made.levels[0].points[i]));
    }
    free_seen(&seen);
    made_free(&made);
}

/* ---- one block ---- */

static size_t stored_bytes(struct fixture *f, const struct timeline_block *block)
{
    struct column_encoder enc;
    struct timeline_extent extent;
    void *bytes;
    size_t len;
    column_encode_init(&enc);
    assert_ok(f, timeline_encode_block(&enc, block, &extent, &f->err));
    assert_ok(f, column_encode_finish(&enc, &bytes, &len, &f->err));
    free(bytes);
    column_encode_free(&enc);
    return len;
}

/* Operators and calls of the runtime in turn, which stand far apart in the file. */
static void test_events_of_two_parts_take_little(void **state)
{
    struct fixture *f = *state;
    enum { ITEMS = 1000 };
    static struct made_slice slices[ITEMS];
    static struct made_columns columns;
    size_t bytes[2];
    struct made_timeline made;
    made_init(&made, 1, 1);
    for (size_t parts = 1; parts <= 2; parts++) {
        for (size_t i = 0; i < ITEMS; i++) {
            size_t part = made_random(&made, parts);
            slices[i] = (struct made_slice){.event = (uint32_t)(part * 70000 + i), .count = 1};
        }
        struct timeline_block block = made_block(&columns, slices, ITEMS);
        bytes[parts - 1] = stored_bytes(f, &block);
    }
    assert_true(bytes[1] < bytes[0] + ITEMS);
    made_free(&made);
}

/* What every block out of the store promises. */
static void check_sound(const struct timeline_block *block)
{
    for (uint32_t i = 0; i < block->item_count; i++) {
        int64_t length = block->dur_ns[i] < 0 ? 0 : block->dur_ns[i];
        assert_true(block->dur_ns[i] >= TIMELINE_INSTANT);
        assert_true(block->start_ns[i] <= INT64_MAX - length || block->start_ns[i] < 0);
        assert_true(block->busy_ns[i] >= 0 && block->busy_ns[i] <= length);
        if (i > 0) {
            assert_true(made_compare(block->track[i], block->start_ns[i], 0, block->track[i - 1],
                                     block->start_ns[i - 1], 0) >= 0);
        }
    }
}

/* Columns changed before they are compressed: no checksum tells. */
static void test_changed_columns_are_sound_or_refused(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    struct column_encoder enc;
    struct timeline_extent extent;
    static struct made_columns columns;
    made_init(&made, 3, 50);
    made_fill_track(&made, 1, 3, 60, LENGTH_NS);
    made_fill_track(&made, 2, 1, 30, LENGTH_NS);
    made_sort(&made);
    made_coarser(&made, LENGTH_NS / 50);
    column_encode_init(&enc);
    size_t refused = 0;
    for (size_t round = 0; round < 20000; round++) {
        const struct made_level *level = &made.levels[round % 2];
        struct timeline_block block = made_block(&columns, level->slices, level->slice_count);
        struct arena arena;
        void *bytes;
        size_t len;
        arena_init(&arena, 0);
        assert_ok(f, timeline_encode_block(&enc, &block, &extent, &f->err));
        size_t changes = made_random(&made, 4);
        for (size_t i = 0; i < changes; i++) {
            enc.raw.ptr[made_random(&made, enc.raw.len)] = (char)made_random(&made, 256);
        }
        assert_ok(f, column_encode_finish(&enc, &bytes, &len, &f->err));
        if (timeline_decode_block(&arena, bytes, len, &block, &f->err)) {
            check_sound(&block);
        } else {
            assert_int_equal(f->err.code, ERR_STORE);
            refused++;
        }
        free(bytes);
        arena_free(&arena);
    }
    assert_true(refused > 1000);
    column_encode_free(&enc);
    made_free(&made);
}

static void test_damage_is_told(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    struct timeline *timeline;
    struct timeline_label *labels;
    const uint32_t ids[] = {1};
    struct seen_part seen = {.blocks = 0};
    struct store_timeline_visitor visitor = {&seen, see_block, see_points};
    struct store_timeline_part part = {
        .last_track = UINT32_MAX, .start_ns = INT64_MIN, .end_ns = INT64_MAX};
    make_mixed(&made);
    int64_t trace_id = store_made(f, &made);
    change_trace_file(f, "UPDATE timeline_block SET bytes = CAST(substr(bytes, 1, 40) || x'55aa' ||"
                         " substr(bytes, 43) AS BLOB) WHERE position = 0;"
                         "UPDATE timeline SET bytes = substr(bytes, 1, length(bytes) - 3)");
    assert_fails(f, READ(f->store, store_timeline_read, trace_id, &part, &visitor, &f->err),
                 ERR_STORE);
    visitor.block = NULL;
    assert_fails(f, READ(f->store, store_timeline_read, trace_id, &part, &visitor, &f->err),
                 ERR_STORE);
    assert_fails(f, READ(f->store, store_timeline, &f->arena, trace_id, &timeline, &f->err),
                 ERR_STORE);
    assert_fails(
        f, READ(f->store, store_timeline_labels, &f->arena, trace_id, ids, 1, &labels, &f->err),
        ERR_STORE);
    change_trace_file(f, "UPDATE timeline_block SET bytes = x''");
    assert_fails(f, READ(f->store, store_timeline_read, trace_id, &part, &visitor, &f->err),
                 ERR_STORE);
    free_seen(&seen);
    made_free(&made);
}

static bool ingest_blocks(struct fixture *f, struct store_ingest *ingest, uint32_t count)
{
    static struct made_columns columns;
    struct made_slice slice = {.track = 1, .start_ns = 5, .dur_ns = 3, .busy_ns = 3, .count = 1};
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct timeline_block block = made_block(&columns, &slice, 1);
        ok = store_ingest_timeline_block(ingest, 0, &block, &f->err);
    }
    return ok;
}

/* Into a file that takes no blocks. */
static struct store_ingest *begin_full(struct fixture *f, int64_t *job_id)
{
    struct results_file *file;
    struct db *db;
    struct store_ingest *ingest = begin_ingest(f, job_id);
    assert_ok(f, ingest_log_open(ingest, &file, &f->err));
    assert_ok(f, results_file_begin(file, 0, &db, &f->err));
    assert_ok(f, db_exec(db,
                         "CREATE TRIGGER full BEFORE INSERT ON timeline_block"
                         " BEGIN SELECT RAISE(ABORT, 'no room for a block'); END",
                         &f->err));
    results_file_end(file);
    return ingest;
}

static void test_blocks_that_cannot_be_written_are_told(void **state)
{
    struct fixture *f = *state;
    int64_t job_id;
    struct store_ingest *ingest = begin_full(f, &job_id);
    assert_fails(f, ingest_blocks(f, ingest, 1), ERR_STORE);
    store_ingest_abort(ingest);
}

static void test_blocks_go_with_their_log(void **state)
{
    struct fixture *f = *state;
    int64_t job_id;
    struct store_ingest *ingest = begin_ingest(f, &job_id);
    assert_true(ingest_blocks(f, ingest, 40));
    assert_ok(f, store_ingest_drop_events(ingest, &f->err));
    assert_true(ingest_blocks(f, ingest, 600));
    store_ingest_abort(ingest);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store_of_files, tear_down_store)
    const struct CMUnitTest tests[] = {
        TEST(test_every_level_comes_back),
        TEST(test_windows_read_their_blocks_only),
        TEST(test_tracks_come_back),
        TEST(test_labels_come_back),
        TEST(test_no_timeline),
        TEST(test_flows_of_an_event),
        TEST(test_bad_blocks_are_refused),
        TEST(test_extremes_come_back),
        TEST(test_events_of_two_parts_take_little),
        TEST(test_changed_columns_are_sound_or_refused),
        TEST(test_damage_is_told),
        TEST(test_blocks_that_cannot_be_written_are_told),
        TEST(test_blocks_go_with_their_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
