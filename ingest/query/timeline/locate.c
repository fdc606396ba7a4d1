#include "ingest/query/timeline/locate.h"

#include "ingest/base/order.h"
#include "ingest/store/store_timeline.h"

#include <stdlib.h>
#include <string.h>

/* Start times of file and timeline are rounded apart from one another. */
#define TOLERANCE_NS 1

struct locate {
    struct store_snapshot *snapshot;
    int64_t trace_id;
    const struct timeline *timeline;
    struct timeline_spot *spots; /* by start */
    size_t count;
    size_t left; /* not yet found */
    uint32_t track;
};

static int64_t before(int64_t time_ns)
{
    return time_ns < INT64_MIN + TOLERANCE_NS ? INT64_MIN : time_ns - TOLERANCE_NS;
}

static int64_t behind(int64_t time_ns)
{
    return time_ns > INT64_MAX - TOLERANCE_NS ? INT64_MAX : time_ns + TOLERANCE_NS;
}

/* ---- one track ---- */

/* The first item of `track` that does not start before `start_ns`. */
static uint32_t first_at(const uint32_t *track_of,
                         const int64_t *starts,
                         uint32_t count,
                         uint32_t track,
                         int64_t start_ns)
{
    uint32_t at = 0;
    for (uint32_t end = count; at < end;) {
        uint32_t middle = at + (end - at) / 2;
        bool is_before =
            track_of[middle] < track || (track_of[middle] == track && starts[middle] < start_ns);
        at = is_before ? middle + 1 : at;
        end = is_before ? end : middle;
    }
    return at;
}

/* Columns that slices and points share; dur_ns is NULL for points. */
struct items {
    uint32_t count;
    const uint32_t *track;
    const int64_t *start_ns;
    const uint32_t *event;
    const uint32_t *lane;
    const int64_t *dur_ns;
};

static void find_spots(struct locate *locate, const struct items *items)
{
    for (size_t s = 0; s < locate->count; s++) {
        struct timeline_spot *spot = &locate->spots[s];
        if (spot->track != TIMELINE_NO_TRACK) {
            continue;
        }
        uint32_t i = first_at(items->track, items->start_ns, items->count, locate->track,
                              before(spot->start_ns));
        for (; i < items->count && items->track[i] == locate->track &&
               items->start_ns[i] <= behind(spot->start_ns);
             i++) {
            if (items->event[i] == spot->event) {
                spot->track = locate->track;
                spot->lane = items->lane[i];
                spot->dur_ns = items->dur_ns == NULL ? TIMELINE_INSTANT : items->dur_ns[i];
                locate->left--;
                break;
            }
        }
    }
}

static bool visit_block(void *context, const struct timeline_block *block, struct err *err)
{
    struct items items = {block->item_count, block->track, block->start_ns,
                          block->event,      block->lane,  block->dur_ns};
    (void)err;
    find_spots(context, &items);
    return true;
}

static bool visit_points(void *context, const struct timeline_points *points, struct err *err)
{
    struct items items = {points->item_count, points->track, points->start_ns,
                          points->event,      points->lane,  NULL};
    (void)err;
    find_spots(context, &items);
    return true;
}

static bool has_spot(const struct locate *locate, const struct store_timeline_place *place)
{
    for (size_t s = 0; s < locate->count; s++) {
        const struct timeline_spot *spot = &locate->spots[s];
        if (spot->track == TIMELINE_NO_TRACK && behind(spot->start_ns) >= place->first_start_ns &&
            before(spot->start_ns) <= place->max_end_ns) {
            return true;
        }
    }
    return false;
}

static bool search_track(struct locate *locate, uint32_t track, struct err *err)
{
    bool is_counter = locate->timeline->tracks[track].kind == TIMELINE_COUNTER;
    enum store_timeline_kind kind = is_counter ? STORE_TIMELINE_POINTS : STORE_TIMELINE_SLICES;
    struct store_timeline_visitor visitor = {
        .context = locate, .block = visit_block, .points = visit_points};
    struct store_timeline_part part = {
        .first_track = track,
        .last_track = track,
        .start_ns = before(locate->spots[0].start_ns),
        .end_ns = behind(behind(locate->spots[locate->count - 1].start_ns))};
    struct store_timeline_place *places = NULL;
    size_t count = 0;
    struct arena arena;
    locate->track = track;
    arena_init(&arena, 0);
    bool ok = store_timeline_places(locate->snapshot, &arena, locate->trace_id, kind, &part,
                                    &places, &count, err);
    size_t kept = 0;
    for (size_t i = 0; ok && i < count; i++) {
        if (has_spot(locate, &places[i])) {
            places[kept++] = places[i];
        }
    }
    ok = ok && store_timeline_blocks(locate->snapshot, locate->trace_id, kind, places, kept,
                                     &visitor, err);
    arena_free(&arena);
    return ok;
}

/* ---- which tracks ---- */

enum locate_round { ROUND_THREAD, ROUND_PROCESS, ROUND_ANY, ROUND_COUNT };

/* Spots of one thread: they look on the same tracks. */
struct thread {
    const char *pid;
    const char *tid;
    int64_t first_ns;
    int64_t last_ns;
};

struct threads {
    struct thread *at;
    size_t count;
};

static void add_thread(struct threads *threads, const struct timeline_spot *spot)
{
    for (size_t t = threads->count; t-- > 0;) {
        struct thread *thread = &threads->at[t];
        if (strcmp(thread->pid, spot->pid) == 0 && strcmp(thread->tid, spot->tid) == 0) {
            thread->last_ns = spot->start_ns;
            return;
        }
    }
    threads->at[threads->count++] = (struct thread){
        .pid = spot->pid, .tid = spot->tid, .first_ns = spot->start_ns, .last_ns = spot->start_ns};
}

static enum locate_round round_of(const struct timeline_track *track, const struct thread *thread)
{
    bool same_process = track->pid != NULL && strcmp(track->pid, thread->pid) == 0;
    bool same_thread = track->tid != NULL && strcmp(track->tid, thread->tid) == 0;
    if (same_process && same_thread) {
        return ROUND_THREAD;
    }
    bool may_hold = (same_process || track->pid == NULL) && (same_thread || track->tid == NULL);
    return may_hold ? ROUND_PROCESS : ROUND_ANY;
}

static bool is_searched(const struct timeline_track *track,
                        const struct threads *threads,
                        enum locate_round round)
{
    for (size_t t = 0; t < threads->count; t++) {
        const struct thread *thread = &threads->at[t];
        if (behind(thread->last_ns) >= track->first_ns &&
            before(thread->first_ns) <= track->end_ns && round_of(track, thread) == round) {
            return true;
        }
    }
    return false;
}

static bool search_rounds(struct locate *locate, int rounds, struct err *err)
{
    const struct timeline *timeline = locate->timeline;
    struct threads threads = {.at = calloc(locate->count, sizeof *threads.at)};
    if (threads.at == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to find events on the timeline");
    }
    bool ok = true;
    for (int round = 0; ok && round < rounds && locate->left > 0; round++) {
        threads.count = 0;
        for (size_t s = 0; s < locate->count; s++) {
            if (locate->spots[s].track == TIMELINE_NO_TRACK) {
                add_thread(&threads, &locate->spots[s]);
            }
        }
        for (uint32_t track = 0; ok && locate->left > 0 && track < timeline->track_count; track++) {
            ok = !is_searched(&timeline->tracks[track], &threads, (enum locate_round)round) ||
                 search_track(locate, track, err);
        }
    }
    free(threads.at);
    return ok;
}

ORDER_BY(by_start, struct timeline_spot, ORDER_UP(start_ns), ORDER_UP(event))

bool timeline_locate(struct store_snapshot *snapshot,
                     int64_t trace_id,
                     const struct timeline *timeline,
                     bool everywhere,
                     struct timeline_spot *spots,
                     size_t count,
                     struct err *err)
{
    struct locate locate = {.snapshot = snapshot,
                            .trace_id = trace_id,
                            .timeline = timeline,
                            .spots = spots,
                            .count = count,
                            .left = count};
    int rounds = everywhere ? ROUND_COUNT : ROUND_ANY;
    if (count == 0) {
        return true;
    }
    for (size_t s = 0; s < count; s++) {
        spots[s].track = TIMELINE_NO_TRACK;
        spots[s].dur_ns = TIMELINE_INSTANT;
    }
    qsort(spots, count, sizeof *spots, by_start);
    return search_rounds(&locate, rounds, err);
}
