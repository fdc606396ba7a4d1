#include "ingest/model/timeline.h"
#include "ingest/query/timeline/window.h"
#include "ingest/store/store_timeline.h"

/* The search for one track: back in time, on ever coarser levels. */
struct hold_search {
    struct window_read *window;
    struct window_track *track;
    uint32_t level;
    bool found[TIMELINE_LANES_MAX]; /* in a later block */
};

/* A coarser cell counts when it ends before the window: what is later was seen on finer levels. */
static bool holds(const struct hold_search *search, int64_t start_ns)
{
    const struct window_read *window = search->window;
    int64_t width = window->timeline->levels[search->level].width_ns;
    bool is_coarser = search->level > window->level;
    return start_ns <= window->start_ns &&
           (!is_coarser || (uint64_t)window->start_ns - (uint64_t)start_ns >= (uint64_t)width);
}

static bool visit_points(void *context, const struct timeline_points *points, struct err *err)
{
    struct hold_search *search = context;
    struct window_track *track = search->track;
    for (uint32_t i = 0; i < points->item_count; i++) {
        uint32_t lane = points->lane[i];
        if (points->track[i] != track->track) {
            continue;
        }
        if (lane >= track->lane_count) {
            return err_set(err, ERR_STORE, "the stored timeline is damaged");
        }
        if (points->start_ns[i] < track->searched_from_ns) {
            track->searched_from_ns = points->start_ns[i];
        }
        if (!search->found[lane] && holds(search, points->start_ns[i])) {
            track->holds[lane] = (struct merged_point){.start_ns = points->start_ns[i],
                                                       .last = points->last[i],
                                                       .min = points->last[i],
                                                       .max = points->last[i],
                                                       .lane = lane,
                                                       .event = points->event[i]};
        }
    }
    return true;
}

static bool note_found(struct hold_search *search)
{
    bool all = true;
    for (uint32_t lane = 0; lane < search->track->lane_count; lane++) {
        search->found[lane] = search->track->holds[lane].lane != WINDOW_NO_LANE;
        all = all && search->found[lane];
    }
    return all;
}

/* The coarsest level whose cells near the window were all seen on finer ones. */
static uint32_t next_level(const struct hold_search *search)
{
    const struct window_read *window = search->window;
    const struct timeline *timeline = window->timeline;
    uint64_t seen = (uint64_t)window->start_ns - (uint64_t)search->track->searched_from_ns;
    uint32_t level = search->level;
    while (level + 1 < timeline->level_count &&
           (uint64_t)timeline->levels[level + 1].width_ns <= seen / 2) {
        level++;
    }
    return level;
}

/* Reads back until something earlier was seen; *more is false at the track's begin. */
static bool step_back(struct hold_search *search, bool *more, struct err *err)
{
    struct window_read *window = search->window;
    struct window_track *track = search->track;
    struct store_timeline_visitor visitor = {.context = search, .points = visit_points};
    struct store_timeline_part part = {.level = search->level,
                                       .first_track = track->track,
                                       .last_track = track->track,
                                       .start_ns = INT64_MIN,
                                       .end_ns = track->searched_from_ns};
    struct store_timeline_place *places = NULL;
    size_t count = 0;
    int64_t before = track->searched_from_ns;
    if (!store_timeline_places(window->snapshot, window->arena, window->trace_id,
                               STORE_TIMELINE_POINTS, &part, &places, &count, err)) {
        return false;
    }
    while (count > 0 && track->searched_from_ns == before) {
        count--;
        if (!store_timeline_blocks(window->snapshot, window->trace_id, STORE_TIMELINE_POINTS,
                                   &places[count], 1, &visitor, err)) {
            return false;
        }
        (void)note_found(search);
    }
    *more = track->searched_from_ns < before;
    return true;
}

static bool find_holds(struct window_read *window, struct window_track *track, struct err *err)
{
    struct hold_search search = {.window = window, .track = track, .level = window->level};
    bool more = true;
    while (more && !note_found(&search)) {
        search.level = next_level(&search);
        if (!step_back(&search, &more, err)) {
            return false;
        }
    }
    return true;
}

bool window_find_holds(struct window_read *window, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < window->count; i++) {
        struct window_track *track = &window->tracks[i];
        ok = !track->is_points || !track->has_gap || find_holds(window, track, err);
    }
    return ok;
}
