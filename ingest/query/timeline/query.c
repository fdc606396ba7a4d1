#include "ingest/query/timeline/query.h"

#include "ingest/base/order.h"
#include "ingest/query/timeline/window.h"
#include "ingest/store/store_timeline.h"

#include <stdlib.h>

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for a window of the timeline");
}

/* ---- the request ---- */

static bool check_request(const struct timeline_request *request,
                          const struct timeline *timeline,
                          struct err *err)
{
    if (request->start_ns >= request->end_ns || request->width_px == 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "a window of the timeline needs a start before its "
                       "end and a width");
    }
    for (size_t i = 0; request->tracks != NULL && i < request->track_count; i++) {
        if (i > 0 && request->tracks[i] <= request->tracks[i - 1]) {
            return err_set(err, ERR_BAD_REQUEST, "the tracks of a window are to be ascending");
        }
        if (request->tracks[i] >= timeline->track_count) {
            return err_set(err, ERR_NOT_FOUND, "the timeline has %lu tracks, none has the id %lu",
                           (unsigned long)timeline->track_count, (unsigned long)request->tracks[i]);
        }
    }
    return true;
}

static int64_t pixel_of(const struct timeline_request *request)
{
    uint64_t length = (uint64_t)request->end_ns - (uint64_t)request->start_ns;
    uint64_t pixel = length / request->width_px;
    if (pixel > (uint64_t)INT64_MAX) {
        return INT64_MAX;
    }
    return pixel == 0 ? 1 : (int64_t)pixel;
}

/* How many tracks below each one are asked for. */
static bool count_wanted(const struct timeline_request *request,
                         const struct timeline *timeline,
                         struct arena *arena,
                         struct window_read *window)
{
    size_t track_count = timeline->track_count;
    uint32_t *before = arena_calloc(arena, track_count + 2, sizeof *before);
    if (before == NULL) {
        return false;
    }
    for (size_t i = 0; request->tracks != NULL && i < request->track_count; i++) {
        before[request->tracks[i] + 1] = 1;
    }
    for (size_t t = 0; t < track_count; t++) {
        before[t + 1] = before[t] + (request->tracks == NULL ? 1 : before[t + 1]);
    }
    window->wanted_before = before;
    window->first_track = request->tracks == NULL ? 0 : request->tracks[0];
    window->last_track = request->tracks == NULL ? timeline->track_count - 1
                                                 : request->tracks[request->track_count - 1];
    return true;
}

/* ---- the answer ---- */

#define MAKE(type, name)                                      \
    columns->name = arena_calloc(arena, count, sizeof(type)); \
    ok = ok && columns->name != NULL;

static bool make_slices(struct timeline_block *columns, struct arena *arena, size_t count)
{
    bool ok = true;
    columns->item_count = (uint32_t)count;
    TIMELINE_BLOCK_COLUMNS(MAKE)
    return ok;
}

static bool
hand_slices(struct timeline_block *block, struct arena *arena, const struct window_track *track)
{
    if (!make_slices(block, arena, track->count)) {
        return false;
    }
    for (size_t i = 0; i < track->count; i++) {
        const struct merged_slice *slice = &track->slices[i];
        block->track[i] = track->track;
        block->start_ns[i] = slice->start_ns;
        block->dur_ns[i] = slice->dur_ns;
        block->lane[i] = slice->lane;
        block->label[i] = slice->label;
        block->event[i] = slice->event;
        block->count[i] = slice->count;
        block->busy_ns[i] = slice->busy_ns;
    }
    return true;
}

static bool make_points(struct timeline_points *columns, struct arena *arena, size_t count)
{
    bool ok = true;
    TIMELINE_POINT_COLUMNS(MAKE)
    return ok;
}

static void
hand_point(struct timeline_points *points, uint32_t track, const struct merged_point *point)
{
    uint32_t i = points->item_count++;
    points->track[i] = track;
    points->start_ns[i] = point->start_ns;
    points->lane[i] = point->lane;
    points->event[i] = point->event;
    points->last[i] = point->last;
    points->min[i] = point->min;
    points->max[i] = point->max;
}

ORDER_BY(by_start, struct merged_point, ORDER_UP(start_ns), ORDER_UP(lane))

/* Holds come first: none begins behind the window's start, and no other point before it. */
static bool
hand_points(struct timeline_points *points, struct arena *arena, const struct window_track *track)
{
    if (!make_points(points, arena, window_track_items(track))) {
        return false;
    }
    if (track->lane_count > 0) {
        qsort(track->holds, track->lane_count, sizeof *track->holds, by_start);
    }
    for (uint32_t i = 0; i < track->lane_count; i++) {
        if (track->holds[i].lane != WINDOW_NO_LANE) {
            hand_point(points, track->track, &track->holds[i]);
        }
    }
    for (size_t i = 0; i < track->count; i++) {
        hand_point(points, track->track, &track->points[i]);
    }
    return true;
}

ORDER_BY(by_track, struct timeline_track_window, ORDER_UP(track))

static bool
hand_tracks(struct timeline_window *out, struct arena *arena, const struct window_read *window)
{
    out->tracks = arena_calloc(arena, window->count + 1, sizeof *out->tracks);
    if (out->tracks == NULL) {
        return false;
    }
    for (size_t i = 0; i < window->count; i++) {
        const struct window_track *from = &window->tracks[i];
        struct timeline_track_window *to = &out->tracks[out->track_count];
        *to = (struct timeline_track_window){.track = from->track, .pixel_ns = from->pixel_ns};
        if (window_track_items(from) == 0) {
            continue;
        }
        bool ok = from->is_points ? hand_points(&to->points, arena, from)
                                  : hand_slices(&to->slices, arena, from);
        if (!ok) {
            return false;
        }
        out->track_count++;
    }
    qsort(out->tracks, out->track_count, sizeof *out->tracks, by_track);
    return true;
}

/* Label ids that occur, ascending. */
static bool list_labels(struct timeline_window *out, struct arena *arena, uint32_t label_count)
{
    uint8_t *seen = calloc(label_count + (size_t)1, sizeof *seen);
    if (seen == NULL) {
        return false;
    }
    for (size_t t = 0; t < out->track_count; t++) {
        const struct timeline_block *block = &out->tracks[t].slices;
        for (uint32_t i = 0; i < block->item_count; i++) {
            out->label_count += seen[block->label[i]] == 0;
            seen[block->label[i]] = 1;
        }
    }
    out->label_ids = arena_calloc(arena, out->label_count + 1, sizeof *out->label_ids);
    size_t listed = 0;
    for (uint32_t id = 0; out->label_ids != NULL && listed < out->label_count; id++) {
        if (seen[id] != 0) {
            out->label_ids[listed++] = id;
        }
    }
    free(seen);
    return out->label_ids != NULL;
}

static bool hand_over(struct window_read *window,
                      struct arena *arena,
                      struct timeline_window *out,
                      struct err *err)
{
    if (!hand_tracks(out, arena, window) ||
        !list_labels(out, arena, window->timeline->label_count)) {
        return no_memory(err);
    }
    return store_timeline_labels(window->snapshot, arena, window->trace_id, out->label_ids,
                                 out->label_count, &out->labels, err);
}

static bool answer(struct window_read *window,
                   const struct timeline_request *request,
                   struct arena *arena,
                   struct timeline_window *out,
                   struct err *err)
{
    struct timeline *timeline = NULL;
    if (!store_timeline(window->snapshot, window->arena, window->trace_id, &timeline, err)) {
        return false;
    }
    if (timeline == NULL) {
        return err_set(err, ERR_GONE, "trace %lld has no timeline", (long long)window->trace_id);
    }
    if (!check_request(request, timeline, err)) {
        return false;
    }
    bool is_empty = timeline->track_count == 0 || timeline->level_count == 0 ||
                    (request->tracks != NULL && request->track_count == 0);
    if (is_empty) {
        return true;
    }
    window->timeline = timeline;
    if (!count_wanted(request, timeline, window->arena, window)) {
        return no_memory(err);
    }
    return window_read_all(window, err) && window_share(window, err) &&
           hand_over(window, arena, out, err);
}

bool query_timeline(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    const struct timeline_request *request,
                    struct timeline_window *out,
                    struct err *err)
{
    struct arena own;
    *out = (struct timeline_window){.track_count = 0};
    arena_init(&own, 0);
    struct window_read window = {.snapshot = snapshot,
                                 .trace_id = trace_id,
                                 .arena = &own,
                                 .start_ns = request->start_ns,
                                 .end_ns = request->end_ns,
                                 .pixel_ns = request->width_px == 0 ? 1 : pixel_of(request)};
    bool ok = answer(&window, request, arena, out, err);
    window_free(&window);
    arena_free(&own);
    return ok;
}
