/* Windows of a timeline against what a plain look at all items says. */
#include "ingest/query/timeline/query.h"
#include "tests/unit/ingest/analysis/timeline/made_timeline.h"
#include "tests/unit/ingest/formats/event_log/event_fixture.h"

#define LABELS 2500u
#define LENGTH_NS 200000000
#define WIDTH_PX 1600

static int64_t end_of(const struct made_slice *slice)
{
    return slice->start_ns + (slice->dur_ns < 0 ? 0 : slice->dur_ns);
}

static int64_t store_made(struct fixture *f, const struct made_timeline *made)
{
    struct store_ingest *ingest = NULL;
    struct trace_results results = {.device_type = "GPU"};
    int64_t job_id = add_job(f, "run", "a.json", "bytes", false);
    assert_ok(f, store_ingest_begin(f->store, job_id, &ingest, &f->err));
    assert_ok(f, made_write(ingest, made, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    return trace_of_job(f, job_id);
}

static struct timeline_window
ask(struct fixture *f, int64_t trace_id, const struct timeline_request *request)
{
    struct timeline_window window;
    assert_ok(f, READ(f->store, query_timeline, &f->arena, trace_id, request, &window, &f->err));
    return window;
}

static const struct timeline_track_window *track_of(const struct timeline_window *window,
                                                    uint32_t track)
{
    for (size_t i = 0; i < window->track_count; i++) {
        if (window->tracks[i].track == track) {
            return &window->tracks[i];
        }
    }
    return NULL;
}

/* ---- what holds of every window ---- */

static void check_order(const struct timeline_track_window *track)
{
    int64_t cells[TIMELINE_LANES_MAX];
    bool open[TIMELINE_LANES_MAX] = {false};
    const struct timeline_block *block = &track->slices;
    for (uint32_t i = 0; i < block->item_count; i++) {
        uint32_t lane = block->lane[i];
        assert_int_equal(block->track[i], track->track);
        assert_true(i == 0 || block->start_ns[i - 1] < block->start_ns[i] ||
                    (block->start_ns[i - 1] == block->start_ns[i] && block->lane[i - 1] <= lane));
        int64_t cell = made_cell(block->start_ns[i], track->pixel_ns);
        bool is_short = block->dur_ns[i] < track->pixel_ns;
        /* Two short ones that begin in one cell would be one. */
        assert_false(is_short && open[lane] && cells[lane] == cell);
        open[lane] = is_short;
        cells[lane] = cell;
    }
}

static void check_labels(const struct made_timeline *made, const struct timeline_window *window)
{
    for (size_t i = 0; i < window->label_count; i++) {
        assert_true(i == 0 || window->label_ids[i - 1] < window->label_ids[i]);
        assert_string_equal(window->labels[i].name, made->labels[window->label_ids[i]].name);
    }
    for (size_t t = 0; t < window->track_count; t++) {
        const struct timeline_block *block = &window->tracks[t].slices;
        for (uint32_t i = 0; i < block->item_count; i++) {
            const uint32_t *ids = window->label_ids;
            size_t at = 0;
            for (size_t end = window->label_count; at < end;) {
                size_t middle = (at + end) / 2;
                if (ids[middle] < block->label[i]) {
                    at = middle + 1;
                } else {
                    end = middle;
                }
            }
            assert_true(at < window->label_count && ids[at] == block->label[i]);
        }
    }
}

static void check_limits(const struct timeline_window *window,
                         const struct timeline_request *request)
{
    size_t all = 0;
    int64_t pixel = (request->end_ns - request->start_ns) / request->width_px;
    pixel = pixel == 0 ? 1 : pixel;
    for (size_t t = 0; t < window->track_count; t++) {
        const struct timeline_track_window *track = &window->tracks[t];
        size_t items = (size_t)track->slices.item_count + track->points.item_count;
        assert_true(t == 0 || window->tracks[t - 1].track < track->track);
        assert_true(items > 0 && items <= TIMELINE_TRACK_ITEMS_MAX);
        assert_true(track->pixel_ns >= pixel && track->pixel_ns % pixel == 0);
        all += items;
    }
    assert_true(all <= TIMELINE_ITEMS_MAX);
}

/* Sums over one track: of what overlaps, and of what lies within `margin` of it. */
struct sums {
    uint64_t count;
    int64_t busy_ns;
};

static struct sums
sum_made(const struct made_timeline *made, uint32_t track, int64_t start_ns, int64_t end_ns)
{
    struct sums sums = {0, 0};
    const struct made_level *level = &made->levels[0];
    for (size_t i = 0; i < level->slice_count; i++) {
        const struct made_slice *slice = &level->slices[i];
        if (slice->track == track && slice->start_ns < end_ns &&
            (end_of(slice) > start_ns || slice->start_ns >= start_ns)) {
            sums.count++;
            sums.busy_ns += slice->busy_ns;
        }
    }
    return sums;
}

static struct sums sum_window(const struct timeline_track_window *track)
{
    struct sums sums = {0, 0};
    for (uint32_t i = 0; track != NULL && i < track->slices.item_count; i++) {
        sums.count += track->slices.count[i];
        sums.busy_ns += track->slices.busy_ns[i];
    }
    return sums;
}

/* Nothing is lost and nothing invented, but for what shares a pixel with the window's ends. */
static void check_sums(const struct made_timeline *made,
                       const struct timeline_window *window,
                       const struct timeline_request *request,
                       uint32_t track_id)
{
    const struct timeline_track_window *track = track_of(window, track_id);
    int64_t pixel = (request->end_ns - request->start_ns) / request->width_px + 1;
    int64_t margin = 2 * (track == NULL ? pixel : track->pixel_ns);
    struct sums inner = sum_made(made, track_id, request->start_ns, request->end_ns);
    struct sums outer =
        sum_made(made, track_id, request->start_ns - margin, request->end_ns + margin);
    struct sums got = sum_window(track);
    assert_true(got.count >= inner.count && got.count <= outer.count);
    assert_true(got.busy_ns >= inner.busy_ns && got.busy_ns <= outer.busy_ns);
}

/* Every slice of at least a pixel stands there as it is. */
static void check_long(const struct made_timeline *made,
                       const struct timeline_window *window,
                       const struct timeline_request *request,
                       uint32_t track_id)
{
    const struct timeline_track_window *track = track_of(window, track_id);
    const struct made_level *level = &made->levels[0];
    uint32_t at = 0;
    for (size_t i = 0; i < level->slice_count; i++) {
        const struct made_slice *slice = &level->slices[i];
        if (slice->track != track_id || slice->start_ns >= request->end_ns ||
            end_of(slice) <= request->start_ns ||
            (track != NULL && slice->dur_ns < track->pixel_ns)) {
            continue;
        }
        assert_non_null(track);
        const struct timeline_block *block = &track->slices;
        while (at < block->item_count &&
               !(block->start_ns[at] == slice->start_ns && block->lane[at] == slice->lane &&
                 block->count[at] == 1)) {
            at++;
        }
        assert_true(at < block->item_count);
        assert_int_equal(block->dur_ns[at], slice->dur_ns);
        assert_int_equal(block->label[at], slice->label);
        assert_int_equal(block->event[at], slice->event);
        assert_int_equal(block->busy_ns[at], slice->busy_ns);
        at++;
    }
}

static void check_window(struct fixture *f,
                         const struct made_timeline *made,
                         int64_t trace_id,
                         const struct timeline_request *request)
{
    struct timeline_window window = ask(f, trace_id, request);
    check_limits(&window, request);
    check_labels(made, &window);
    for (size_t t = 0; t < window.track_count; t++) {
        check_order(&window.tracks[t]);
    }
    for (uint32_t track = 0; track < made->track_count; track++) {
        if (made->tracks[track].kind != TIMELINE_COUNTER) {
            check_sums(made, &window, request, track);
            check_long(made, &window, request, track);
        }
    }
    arena_free(&f->arena);
}

static void make_slices(struct made_timeline *made)
{
    made_init(made, 12, LABELS);
    for (uint32_t t = 0; t < 12; t++) {
        made_fill_track(made, t, 1 + t % 5, t < 3 ? 9000 : 60 * (t + 1), LENGTH_NS);
    }
    made_sort(made);
    /* Widths as no grid of pixels has them. */
    for (int64_t width = 30011; width < LENGTH_NS / 30; width *= 7) {
        made_coarser(made, width);
    }
}

static void windows_hold_what_overlaps_them(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_slices(&made);
    int64_t trace_id = store_made(f, &made);
    for (int round = 0; round < 80; round++) {
        int64_t length = 1 + (int64_t)((LENGTH_NS * 3ull / 2) >> made_random(&made, 28));
        int64_t start = (int64_t)made_random(&made, LENGTH_NS * 3ull / 2) - LENGTH_NS / 10;
        struct timeline_request request = {
            .start_ns = start,
            .end_ns = start + length,
            .width_px = (uint32_t)(round % 3 == 0 ? 1 + made_random(&made, 200) : WIDTH_PX)};
        check_window(f, &made, trace_id, &request);
    }
    struct timeline_request whole = {
        .start_ns = -LENGTH_NS, .end_ns = 4ll * LENGTH_NS, .width_px = WIDTH_PX};
    check_window(f, &made, trace_id, &whole);
    made_free(&made);
}

/* At a nanosecond a pixel everything is as it was written. */
static void the_finest_windows_are_exact(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_slices(&made);
    int64_t trace_id = store_made(f, &made);
    const struct made_level *level = &made.levels[0];
    for (int round = 0; round < 100; round++) {
        int64_t start = (int64_t)made_random(&made, LENGTH_NS);
        struct timeline_request request = {
            .start_ns = start, .end_ns = start + WIDTH_PX, .width_px = WIDTH_PX};
        struct timeline_window window = ask(f, trace_id, &request);
        size_t expected = 0;
        size_t got = 0;
        for (size_t i = 0; i < level->slice_count; i++) {
            const struct made_slice *slice = &level->slices[i];
            expected += slice->start_ns < request.end_ns &&
                        (end_of(slice) > start || slice->start_ns >= start);
        }
        for (size_t t = 0; t < window.track_count; t++) {
            got += sum_window(&window.tracks[t]).count;
        }
        assert_int_equal(got, expected);
    }
    made_free(&made);
}

static bool same_windows(const struct timeline_window *a, const struct timeline_window *b)
{
    bool same = a->track_count == b->track_count && a->label_count == b->label_count;
    for (size_t t = 0; same && t < a->track_count; t++) {
        const struct timeline_block *left = &a->tracks[t].slices;
        const struct timeline_block *right = &b->tracks[t].slices;
        size_t count = left->item_count;
        same = a->tracks[t].track == b->tracks[t].track &&
               a->tracks[t].pixel_ns == b->tracks[t].pixel_ns && count == right->item_count &&
               (count == 0 || (memcmp(left->start_ns, right->start_ns, 8 * count) == 0 &&
                               memcmp(left->dur_ns, right->dur_ns, 8 * count) == 0 &&
                               memcmp(left->label, right->label, 4 * count) == 0 &&
                               memcmp(left->busy_ns, right->busy_ns, 8 * count) == 0));
    }
    return same;
}

static void chosen_tracks_are_as_among_all(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_slices(&made);
    int64_t trace_id = store_made(f, &made);
    const uint32_t tracks[] = {1, 4, 5, 11};
    struct timeline_request request = {
        .start_ns = 1000, .end_ns = LENGTH_NS / 3, .width_px = WIDTH_PX};
    struct timeline_window all = ask(f, trace_id, &request);
    struct timeline_window again = ask(f, trace_id, &request);
    assert_true(same_windows(&all, &again));
    request.tracks = tracks;
    request.track_count = 4;
    struct timeline_window some = ask(f, trace_id, &request);
    assert_int_equal(some.track_count, 4);
    for (size_t t = 0; t < 4; t++) {
        struct timeline_window one = {.tracks = &some.tracks[t], .track_count = 1};
        struct timeline_track_window same = *track_of(&all, tracks[t]);
        struct timeline_window other = {.tracks = &same, .track_count = 1};
        assert_true(same_windows(&one, &other));
    }
    request.track_count = 0;
    assert_int_equal(ask(f, trace_id, &request).track_count, 0);
    made_free(&made);
}

/* While one pans, what is well inside stays where it is. */
static void panning_moves_nothing(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_slices(&made);
    int64_t trace_id = store_made(f, &made);
    const uint32_t track = 1;
    int64_t length = LENGTH_NS / 8;
    struct timeline_request request = {.start_ns = LENGTH_NS / 4,
                                       .end_ns = LENGTH_NS / 4 + length,
                                       .width_px = WIDTH_PX,
                                       .tracks = &track,
                                       .track_count = 1};
    struct timeline_window before = ask(f, trace_id, &request);
    int64_t shift = length / 7 + 13;
    request.start_ns += shift;
    request.end_ns += shift;
    struct timeline_window after = ask(f, trace_id, &request);
    const struct timeline_block *a = &before.tracks[0].slices;
    const struct timeline_block *b = &after.tracks[0].slices;
    int64_t pixel = before.tracks[0].pixel_ns;
    assert_int_equal(pixel, after.tracks[0].pixel_ns);
    uint32_t compared = 0;
    for (uint32_t i = 0, j = 0; i < a->item_count; i++) {
        if (a->start_ns[i] < request.start_ns + 2 * pixel ||
            a->start_ns[i] > request.end_ns - shift - 2 * pixel) {
            continue;
        }
        while (j < b->item_count && b->start_ns[j] < a->start_ns[i]) {
            j++;
        }
        while (j < b->item_count && b->lane[j] < a->lane[i]) {
            j++;
        }
        assert_true(j < b->item_count);
        assert_int_equal(a->start_ns[i], b->start_ns[j]);
        assert_int_equal(a->dur_ns[i], b->dur_ns[j]);
        assert_int_equal(a->count[i], b->count[j]);
        compared++;
    }
    assert_true(compared > 100);
    made_free(&made);
}

/* ---- many ---- */

static void many_tracks_share_fairly(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    made_init(&made, 2000, LABELS);
    for (uint32_t t = 0; t < 2000; t++) {
        made_fill_track(&made, t, 1, t % 100 == 7 ? 4000 : t % 2 == 0 ? 5 : 90, LENGTH_NS);
    }
    made_sort(&made);
    made_coarser(&made, LENGTH_NS / 4096);
    int64_t trace_id = store_made(f, &made);
    struct timeline_request request = {
        .start_ns = -LENGTH_NS, .end_ns = 3ll * LENGTH_NS, .width_px = 1u << 20};
    struct timeline_window window = ask(f, trace_id, &request);
    check_limits(&window, &request);
    assert_int_equal(window.track_count, 2000);
    int64_t pixel = (request.end_ns - request.start_ns) / request.width_px;
    size_t coarser = 0;
    for (uint32_t t = 0; t < 2000; t++) {
        struct sums all = sum_made(&made, t, INT64_MIN, INT64_MAX);
        struct sums got = sum_window(&window.tracks[t]);
        assert_int_equal(all.count, got.count);
        assert_int_equal(all.busy_ns, got.busy_ns);
        assert_true(t % 2 == 1 || window.tracks[t].pixel_ns == pixel);
        coarser += window.tracks[t].pixel_ns > pixel;
    }
    assert_true(coarser >= 20);
    made_free(&made);
}

/* More lanes than the share of a track has items: the deepest ones go. */
static void deep_tracks_keep_their_top(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    made_init(&made, 400, 10);
    for (uint32_t t = 0; t < 400; t++) {
        made_fill_track(&made, t, 300, 1, LENGTH_NS);
    }
    made_sort(&made);
    int64_t trace_id = store_made(f, &made);
    struct timeline_request request = {
        .start_ns = -LENGTH_NS, .end_ns = 12ll * LENGTH_NS, .width_px = WIDTH_PX};
    struct timeline_window window = ask(f, trace_id, &request);
    size_t items = 0;
    for (size_t t = 0; t < window.track_count; t++) {
        bool has_top = false;
        for (uint32_t i = 0; i < window.tracks[t].slices.item_count; i++) {
            has_top = has_top || window.tracks[t].slices.lane[i] == 0;
        }
        assert_true(has_top);
        items += window.tracks[t].slices.item_count;
    }
    assert_int_equal(window.track_count, 400);
    assert_true(items <= TIMELINE_ITEMS_MAX && items > TIMELINE_ITEMS_MAX / 2);
    made_free(&made);
}

/* ---- counters ---- */

/* The last point of a lane that does not begin behind `time`. */
static const struct made_point *
hold_of(const struct made_timeline *made, uint32_t track, uint32_t lane, int64_t time_ns)
{
    const struct made_point *hold = NULL;
    const struct made_level *level = &made->levels[0];
    for (size_t i = 0; i < level->point_count; i++) {
        const struct made_point *point = &level->points[i];
        if (point->track == track && point->lane == lane && point->start_ns <= time_ns) {
            hold = point;
        }
    }
    return hold;
}

/* A busy lane, one that is set seldom, and one that is set once; small tracks that share blocks. */
static void make_counters(struct made_timeline *made)
{
    made_init(made, 30, 1);
    for (uint32_t i = 0; i < 60000; i++) {
        int64_t start = (int64_t)i * (LENGTH_NS / 60000);
        made_add_point(made,
                       (struct made_point){.track = 3, .start_ns = start, .last = i, .event = i});
        if (i % 20000 == 77) {
            made_add_point(made, (struct made_point){
                                     .track = 3, .lane = 1, .start_ns = start, .last = -7.0 - i});
        }
    }
    made_add_point(made,
                   (struct made_point){.track = 3, .lane = 2, .start_ns = 1234, .last = 0.25});
    for (uint32_t t = 4; t < 30; t++) {
        for (uint32_t i = 0; i < 40; i++) {
            made_add_point(made,
                           (struct made_point){.track = t,
                                               .lane = i % 2,
                                               .start_ns = (int64_t)made_random(made, LENGTH_NS),
                                               .last = (double)made_random(made, 1000)});
        }
    }
    made_sort(made);
    for (int64_t width = 4096; width < LENGTH_NS / 8; width *= 4) {
        made_coarser(made, width);
    }
}

static void check_holds(const struct made_timeline *made,
                        const struct timeline_window *window,
                        const struct timeline_request *request,
                        int64_t tolerance_ns)
{
    for (uint32_t t = 3; t < 9; t++) {
        for (uint32_t lane = 0; lane < 3; lane++) {
            const struct timeline_track_window *track = track_of(window, t);
            const struct made_point *hold = hold_of(made, t, lane, request->start_ns);
            const struct made_point *late =
                hold_of(made, t, lane, request->start_ns + tolerance_ns);
            double got = 0;
            size_t found = 0;
            for (uint32_t i = 0; track != NULL && i < track->points.item_count; i++) {
                bool is_hold =
                    track->points.lane[i] == lane && track->points.start_ns[i] <= request->start_ns;
                found += is_hold;
                got = is_hold ? track->points.last[i] : got;
                assert_true(track->points.start_ns[i] < request->end_ns);
            }
            assert_int_equal(found, hold != NULL);
            /* On a coarse level it may be what the lane is set to within its cell. */
            assert_true(hold == NULL || got == hold->last || tolerance_ns > 0);
            assert_true(hold == NULL || tolerance_ns > 0 || got == late->last);
        }
    }
}

static void counters_hold_at_the_start(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_counters(&made);
    int64_t trace_id = store_made(f, &made);
    for (int round = 0; round < 40; round++) {
        int64_t length = 1 + (int64_t)((uint64_t)LENGTH_NS >> made_random(&made, 24));
        int64_t start = (int64_t)made_random(&made, LENGTH_NS);
        struct timeline_request request = {
            .start_ns = start, .end_ns = start + length, .width_px = 1000};
        struct timeline_window window = ask(f, trace_id, &request);
        int64_t pixel = length / 1000;
        check_limits(&window, &request);
        check_holds(&made, &window, &request, pixel < 4096 ? 0 : pixel);
    }
    made_free(&made);
}

static void points_keep_their_extremes(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_counters(&made);
    int64_t trace_id = store_made(f, &made);
    struct timeline_request request = {.start_ns = -1, .end_ns = LENGTH_NS, .width_px = 500};
    struct timeline_window window = ask(f, trace_id, &request);
    const struct timeline_points *points = &track_of(&window, 3)->points;
    double before = -1;
    for (uint32_t i = 0; i < points->item_count; i++) {
        if (points->lane[i] == 0) {
            /* The lane counts up by one: nothing is left out between two cells. */
            assert_true(points->min[i] == before + 1);
            assert_true(points->max[i] == points->last[i]);
            before = points->last[i];
        }
    }
    assert_true(before == 59999);
    made_free(&made);
}

/* ---- what cannot be asked ---- */

static void bad_requests_are_told(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    struct timeline_window window;
    const uint32_t beyond[] = {3, 12};
    const uint32_t falling[] = {3, 2};
    make_slices(&made);
    int64_t trace_id = store_made(f, &made);
    struct timeline_request request = {.end_ns = 10, .width_px = 1};
    request.tracks = beyond;
    request.track_count = 2;
    assert_fails(f, READ(f->store, query_timeline, &f->arena, trace_id, &request, &window, &f->err),
                 ERR_NOT_FOUND);
    request.tracks = falling;
    assert_fails(f, READ(f->store, query_timeline, &f->arena, trace_id, &request, &window, &f->err),
                 ERR_BAD_REQUEST);
    request.tracks = NULL;
    request.start_ns = 10;
    assert_fails(f, READ(f->store, query_timeline, &f->arena, trace_id, &request, &window, &f->err),
                 ERR_BAD_REQUEST);
    request.start_ns = INT64_MIN;
    request.end_ns = INT64_MAX;
    assert_ok(f, READ(f->store, query_timeline, &f->arena, trace_id, &request, &window, &f->err));
    assert_int_equal(window.track_count, 12);
    request.start_ns = INT64_MIN;
    request.end_ns = INT64_MIN + 1;
    assert_ok(f, READ(f->store, query_timeline, &f->arena, trace_id, &request, &window, &f->err));
    assert_int_equal(window.track_count, 0);
    request.start_ns = INT64_MAX - 1;
    request.end_ns = INT64_MAX;
    assert_ok(f, READ(f->store, query_timeline, &f->arena, trace_id, &request, &window, &f->err));
    int64_t other = add_trace(f, "run", "b.json", "w", "2", "other");
    assert_fails(f, READ(f->store, query_timeline, &f->arena, other, &request, &window, &f->err),
                 ERR_GONE);
    assert_fails(f, READ(f->store, query_timeline, &f->arena, 99, &request, &window, &f->err),
                 ERR_NOT_FOUND);
    made_free(&made);
}

/* ---- one event ---- */

static const char *const events[] = {
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1}",
    "{\"ph\": \"X\", \"name\": \"outer\", \"pid\": 1, \"tid\": 2, \"ts\": 10.000, \"dur\": 100}",
    "{\"ph\": \"B\", \"name\": \"middle\", \"pid\": 1, \"tid\": 2, \"ts\": 20.000}",
    "{\"ph\": \"X\", \"name\": \"launch\", \"pid\": 1, \"tid\": 2, \"ts\": 30.000, \"dur\": 5}",
    "{\"ph\": \"E\", \"name\": \"middle\", \"pid\": 1, \"tid\": 2, \"ts\": 60.000}",
    "{\"ph\": \"X\", \"name\": \"kernel a\", \"pid\": 0, \"tid\": \"7\", \"ts\": 40.5, \"dur\": 9}",
    "{\"ph\": \"X\", \"name\": \"kernel b\", \"pid\": 0, \"tid\": \"7\", \"ts\": 50.0, \"dur\": 9}",
    "{\"ph\": \"i\", \"name\": \"elsewhere\", \"pid\": 9, \"tid\": 9, \"ts\": 45.0}",
};

static const struct timeline_flow flows_by_source[] = {
    {1, 3, TIMELINE_FLOW_FWDBWD}, {3, 5, TIMELINE_FLOW_LAUNCH}, {3, 6, TIMELINE_FLOW_LAUNCH}};

static int64_t store_related(struct fixture *f, const struct made_timeline *made)
{
    struct store_ingest *ingest = NULL;
    struct trace_results results = {.device_type = "GPU", .first_event_ns = 10000};
    struct event_builder *builder = builder_create();
    int64_t job_id = add_job(f, "run", "a.json", "bytes", false);
    assert_ok(f, store_ingest_begin(f->store, job_id, &ingest, &f->err));
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        builder_put(f, builder, ingest, events[i]);
    }
    builder_end(f, builder, ingest);
    assert_ok(f, store_ingest_flows(ingest, false, flows_by_source, 3, &f->err));
    assert_ok(f, store_ingest_flows(ingest, true, flows_by_source, 3, &f->err));
    assert_ok(f, made_write(ingest, made, &f->err));
    builder_free(builder);
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    return trace_of_job(f, job_id);
}

/* As the file says it, with times from its start. */
static void make_related(struct made_timeline *made)
{
    made_init(made, 4, 4);
    made->tracks[0] = (struct timeline_track){.process = "python (1)", .label = "thread 2"};
    made->tracks[0].pid = "1";
    made->tracks[0].tid = "2";
    made->tracks[1] = (struct timeline_track){.process = "GPU 0", .label = "stream 7"};
    made->tracks[1].pid = "0";
    made->tracks[1].tid = "7";
    made->tracks[2] = (struct timeline_track){.process = "9", .label = "small ones"};
    made->tracks[2].pid = "9";
    made->tracks[3] = (struct timeline_track){.process = "", .label = "none"};
    for (uint32_t t = 0; t < 4; t++) {
        made->tracks[t].lane_count = 9;
        made->tracks[t].first_ns = 0;
        made->tracks[t].end_ns = 100000;
    }
    made_add(made, (struct made_slice){.track = 0, .lane = 0, .event = 1, .dur_ns = 100000});
    made_add(
        made,
        (struct made_slice){
            .track = 0, .lane = 1, .label = 1, .event = 2, .start_ns = 10000, .dur_ns = 40000});
    made_add(made,
             (struct made_slice){
                 .track = 0, .lane = 2, .label = 2, .event = 3, .start_ns = 20000, .dur_ns = 5000});
    made_add(made, (struct made_slice){
                       .track = 1, .label = 3, .event = 5, .start_ns = 30500, .dur_ns = 9000});
    made_add(made, (struct made_slice){
                       .track = 1, .lane = 4, .event = 6, .start_ns = 40000, .dur_ns = 9000});
    made_add(made, (struct made_slice){
                       .track = 2, .event = 7, .start_ns = 35000, .dur_ns = TIMELINE_INSTANT});
}

static struct timeline_event ask_event(struct fixture *f, int64_t trace_id, uint32_t number)
{
    struct timeline_event event;
    assert_ok(f,
              READ(f->store, query_timeline_event, &f->arena, trace_id, number, &event, &f->err));
    return event;
}

static void an_event_knows_its_relations(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_related(&made);
    int64_t trace_id = store_related(f, &made);
    struct timeline_event launch = ask_event(f, trace_id, 3);
    assert_string_equal(launch.event.name, "launch");
    assert_int_equal(launch.track, 0);
    assert_int_equal(launch.lane, 2);
    assert_int_equal(launch.dur_ns, 5000);
    assert_int_equal(launch.enclosing_count, 2);
    assert_int_equal(launch.enclosing[0].event, 1);
    assert_string_equal(launch.enclosing[0].name, "aten::op_0");
    assert_int_equal(launch.enclosing[1].event, 2);
    assert_string_equal(launch.enclosing[1].name, "aten::op_1");
    assert_int_equal(launch.enclosing[1].start_ns, 10000);
    assert_int_equal(launch.flow_count, 3);
    assert_false(launch.more_flows);
    assert_true(launch.flows[0].incoming);
    assert_int_equal(launch.flows[0].event, 1);
    assert_int_equal(launch.flows[0].kind, TIMELINE_FLOW_FWDBWD);
    assert_int_equal(launch.flows[0].track, 0);
    assert_int_equal(launch.flows[0].dur_ns, 100000);
    assert_false(launch.flows[1].incoming);
    assert_string_equal(launch.flows[1].name, "kernel a");
    assert_int_equal(launch.flows[1].start_ns, 30500);
    assert_int_equal(launch.flows[1].track, 1);
    assert_int_equal(launch.flows[2].event, 6);
    assert_int_equal(launch.flows[2].lane, 4);
    assert_int_equal(launch.flows[2].dur_ns, 9000);
    made_free(&made);
}

static void events_of_all_kinds_are_found(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    make_related(&made);
    int64_t trace_id = store_related(f, &made);
    struct timeline_event metadata = ask_event(f, trace_id, 0);
    assert_int_equal(metadata.track, UINT32_MAX);
    assert_int_equal(metadata.flow_count, 0);
    struct timeline_event begin = ask_event(f, trace_id, 2);
    assert_int_equal(begin.track, 0);
    assert_int_equal(begin.lane, 1);
    assert_int_equal(begin.dur_ns, 40000);
    assert_int_equal(begin.enclosing_count, 1);
    assert_int_equal(ask_event(f, trace_id, 4).track, UINT32_MAX);
    struct timeline_event joined = ask_event(f, trace_id, 7);
    assert_int_equal(joined.track, 2);
    assert_int_equal(joined.dur_ns, TIMELINE_INSTANT);
    struct timeline_event kernel = ask_event(f, trace_id, 6);
    assert_int_equal(kernel.flow_count, 1);
    assert_true(kernel.flows[0].incoming);
    assert_string_equal(kernel.flows[0].name, "launch");
    struct timeline_event none;
    assert_fails(f, READ(f->store, query_timeline_event, &f->arena, trace_id, 8, &none, &f->err),
                 ERR_NOT_FOUND);
    made_free(&made);
}

#define KERNELS 5000u

/* A launch of more kernels than are handed out, over several blocks of events. */
static void a_launch_of_thousands(void **state)
{
    struct fixture *f = *state;
    struct made_timeline made;
    static struct timeline_flow flows[KERNELS];
    char json[200];
    struct store_ingest *ingest = NULL;
    struct trace_results results = {.device_type = "GPU"};
    struct event_builder *builder = builder_create();
    int64_t job_id = add_job(f, "run", "a.json", "bytes", false);
    made_init(&made, 1, 1);
    made.tracks[0].pid = "0";
    made.tracks[0].tid = "7";
    assert_ok(f, store_ingest_begin(f->store, job_id, &ingest, &f->err));
    builder_put(f, builder, ingest, "{\"name\": \"launch\", \"ts\": 1.0, \"pid\": 1}");
    for (uint32_t i = 0; i < KERNELS; i++) {
        (void)snprintf(json, sizeof json,
                       "{\"name\": \"kernel %u\", \"pid\": 0, \"tid\": 7, \"ts\": %u.000}",
                       (unsigned)i, (unsigned)i);
        builder_put(f, builder, ingest, json);
        flows[i] = (struct timeline_flow){0, KERNELS - i, TIMELINE_FLOW_LAUNCH};
        made_add(&made, (struct made_slice){
                            .lane = i % 7, .event = i + 1, .start_ns = i * 1000ll, .dur_ns = i});
    }
    builder_end(f, builder, ingest);
    builder_free(builder);
    assert_ok(f, store_ingest_flows(ingest, false, flows, KERNELS, &f->err));
    assert_ok(f, made_write(ingest, &made, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    struct timeline_event launch = ask_event(f, trace_of_job(f, job_id), 0);
    assert_int_equal(launch.flow_count, TIMELINE_FLOWS_MAX);
    assert_true(launch.more_flows);
    for (uint32_t i = 0; i < TIMELINE_FLOWS_MAX; i++) {
        uint32_t kernel = launch.flows[i].event - 1;
        assert_int_equal(kernel, KERNELS - 1 - i);
        (void)snprintf(json, sizeof json, "kernel %u", (unsigned)kernel);
        assert_string_equal(launch.flows[i].name, json);
        assert_int_equal(launch.flows[i].track, 0);
        assert_int_equal(launch.flows[i].lane, kernel % 7);
        assert_int_equal(launch.flows[i].start_ns, kernel * 1000);
        assert_int_equal(launch.flows[i].dur_ns, kernel);
    }
    made_free(&made);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)
    const struct CMUnitTest tests[] = {
        TEST(windows_hold_what_overlaps_them), TEST(the_finest_windows_are_exact),
        TEST(chosen_tracks_are_as_among_all),  TEST(panning_moves_nothing),
        TEST(many_tracks_share_fairly),        TEST(deep_tracks_keep_their_top),
        TEST(counters_hold_at_the_start),      TEST(points_keep_their_extremes),
        TEST(bad_requests_are_told),           TEST(an_event_knows_its_relations),
        TEST(events_of_all_kinds_are_found),   TEST(a_launch_of_thousands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
