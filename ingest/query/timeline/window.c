#include "ingest/query/timeline/window.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/query/timeline/query.h"
#include "ingest/store/store_timeline.h"

#include <stdlib.h>
#include <string.h>

/* Items that may be read for one window: beyond it the next level shows the same, as no more than
 * a part of them could be handed out. */
#define READ_ITEMS_MAX 1500000.0
/* So many more items than may be handed out are kept before shares are made. */
#define KEEP_ITEMS_MAX (2 * (size_t)TIMELINE_ITEMS_MAX)

/* Blocks of one kind on their way in. */
struct pass {
    struct window_read *window;
    struct timeline_merge merge;
    struct window_track *current;
    int64_t grid_start_ns; /* the window, to the ends of its first and last pixel */
    int64_t grid_end_ns;
    const bool *gaps; /* of blocks: some of their first track were left out before them */
    size_t block;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for a window of the timeline");
}

static bool damaged(struct err *err)
{
    return err_set(err, ERR_STORE, "the stored timeline is damaged");
}

static bool is_wanted(const struct window_read *window, uint32_t track)
{
    return window->wanted_before[track + 1] > window->wanted_before[track];
}

/* ---- which blocks ---- */

static bool wants_place(const struct window_read *window, const struct store_timeline_place *place)
{
    uint32_t last = place->last_track < window->last_track ? place->last_track : window->last_track;
    uint32_t first =
        place->first_track > window->first_track ? place->first_track : window->first_track;
    return first <= last && window->wanted_before[last + 1] > window->wanted_before[first];
}

/* Blocks without a track that is wanted go. */
static bool list_blocks(struct window_read *window,
                        enum store_timeline_kind kind,
                        int64_t from_ns,
                        struct store_timeline_place **places,
                        size_t *count,
                        struct err *err)
{
    struct store_timeline_part part = {.level = window->level,
                                       .first_track = window->first_track,
                                       .last_track = window->last_track,
                                       .start_ns = from_ns,
                                       .end_ns = window->end_ns};
    if (!store_timeline_places(window->snapshot, window->arena, window->trace_id, kind, &part,
                               places, count, err)) {
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (wants_place(window, &(*places)[i])) {
            (*places)[kept++] = (*places)[i];
        }
    }
    *count = kept;
    return true;
}

/* Items within the window when they lie evenly in their blocks. */
static double guess_items(const struct window_read *window,
                          const struct store_timeline_place *places,
                          size_t count)
{
    double items = 0;
    for (size_t i = 0; i < count; i++) {
        double start = (double)places[i].first_start_ns;
        double end = (double)places[i].max_end_ns;
        double from = start > (double)window->start_ns ? start : (double)window->start_ns;
        double to = end < (double)window->end_ns ? end : (double)window->end_ns;
        double share = to > from && end > start ? (to - from) / (end - start) : 1;
        items += share * TIMELINE_BLOCK_ITEMS;
    }
    return items;
}

/* A multiple of the pixel that the next level serves. */
static void use_coarser_level(struct window_read *window)
{
    window->level++;
    while (window->pixel_ns < window->timeline->levels[window->level].width_ns &&
           window->pixel_ns <= INT64_MAX / 2) {
        window->pixel_ns *= 2;
    }
}

static bool choose_level(struct window_read *window,
                         struct store_timeline_place **places,
                         size_t *count,
                         struct err *err)
{
    const struct timeline *timeline = window->timeline;
    window->level = 0;
    while (window->level + 1 < timeline->level_count &&
           timeline->levels[window->level + 1].width_ns <= window->pixel_ns) {
        window->level++;
    }
    while (list_blocks(window, STORE_TIMELINE_SLICES, window->start_ns, places, count, err)) {
        bool is_last = window->level + 1 >= timeline->level_count;
        if (is_last || guess_items(window, *places, *count) <= READ_ITEMS_MAX) {
            return true;
        }
        use_coarser_level(window);
    }
    return false;
}

/* Of a counter's blocks before the window only the last one is read: what held then is there, or
 * was set long before. Blocks of several tracks say nothing about one of them and are read all. */
static bool is_passed_over(const struct window_read *window,
                           const struct store_timeline_place *place,
                           const struct store_timeline_place *next)
{
    bool is_before =
        place->max_end_ns < window->start_ns && place->first_track == place->last_track;
    return is_before && next != NULL && next->first_track == place->first_track &&
           next->last_track == place->last_track && next->first_start_ns <= window->start_ns;
}

static void pass_over(const struct window_read *window,
                      struct store_timeline_place *places,
                      size_t *count,
                      bool *gaps)
{
    size_t kept = 0;
    bool gap = false;
    for (size_t i = 0; i < *count; i++) {
        const struct store_timeline_place *next = i + 1 < *count ? &places[i + 1] : NULL;
        if (is_passed_over(window, &places[i], next)) {
            gap = true;
            continue;
        }
        gaps[kept] = gap;
        places[kept++] = places[i];
        gap = false;
    }
    *count = kept;
}

/* ---- one track after the other ---- */

static size_t holds_of(const struct window_track *track)
{
    size_t count = 0;
    for (uint32_t lane = 0; track->holds != NULL && lane < track->lane_count; lane++) {
        count += track->holds[lane].lane != WINDOW_NO_LANE;
    }
    return count;
}

size_t window_track_items(const struct window_track *track)
{
    return track->count + holds_of(track);
}

/* Grown items of a lane may have been pulled out of the window by the grid. */
static size_t drop_outside(const struct window_read *window, struct timeline_merge *merge)
{
    size_t kept = 0;
    for (size_t i = 0; i < merge->count; i++) {
        const struct merged_slice *slice = &merge->slices[i];
        int64_t end = slice->dur_ns < 0 ? slice->start_ns : slice->start_ns + slice->dur_ns;
        if (slice->start_ns < window->end_ns &&
            (end > window->start_ns || slice->start_ns >= window->start_ns)) {
            merge->slices[kept++] = *slice;
        }
    }
    return kept;
}

/* A copy of `bytes` bytes, NULL without memory; of nothing, too, a place. */
static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    if (copy != NULL) {
        memcpy(copy, from, bytes);
    }
    return copy;
}

static bool end_track(struct pass *pass, struct err *err)
{
    struct window_track *track = pass->current;
    struct timeline_merge *merge = &pass->merge;
    struct window_read *window = pass->window;
    bool ok;
    if (track == NULL) {
        return true;
    }
    pass->current = NULL;
    if (track->is_points) {
        track->count = merge->count;
        track->points = copy_of(merge->points, track->count * sizeof *track->points);
        ok = track->points != NULL;
    } else {
        track->count = drop_outside(window, merge);
        track->slices = copy_of(merge->slices, track->count * sizeof *track->slices);
        ok = track->slices != NULL;
    }
    track->pixel_ns = merge->pixel_ns;
    if (!ok) {
        track->count = 0;
        return no_memory(err);
    }
    window->item_count += window_track_items(track);
    return window->item_count <= KEEP_ITEMS_MAX || window_share(window, err);
}

static bool make_holds(struct window_track *track)
{
    track->holds = calloc(track->lane_count + (size_t)1, sizeof *track->holds);
    for (uint32_t lane = 0; track->holds != NULL && lane < track->lane_count; lane++) {
        track->holds[lane].lane = WINDOW_NO_LANE;
    }
    return track->holds != NULL;
}

static bool begin_track(struct pass *pass, uint32_t id, struct err *err)
{
    struct window_read *window = pass->window;
    if (!end_track(pass, err)) {
        return false;
    }
    struct window_track *grown =
        scratch_grow(window->tracks, window->count, &window->cap, sizeof *grown);
    if (grown == NULL) {
        return no_memory(err);
    }
    window->tracks = grown;
    struct window_track *track = &window->tracks[window->count++];
    *track = (struct window_track){.track = id,
                                   .is_points = pass->merge.is_points,
                                   .lane_count = window->timeline->tracks[id].lane_count};
    if (track->is_points && !make_holds(track)) {
        return no_memory(err);
    }
    uint32_t holds = track->is_points ? track->lane_count : 0;
    merge_begin(&pass->merge, window->pixel_ns, TIMELINE_TRACK_ITEMS_MAX - holds);
    pass->current = track;
    return true;
}

/* The end of the run of one track that begins at item `begin`. */
static uint32_t run_end(const uint32_t *track, uint32_t begin, uint32_t count)
{
    uint32_t end = begin + 1;
    while (end < count && track[end] == track[begin]) {
        end++;
    }
    return end;
}

/* Makes the track of a run the current one; *out is NULL when nobody asked for it. */
static bool enter_run(struct pass *pass, uint32_t track, struct window_track **out, struct err *err)
{
    *out = NULL;
    if (track >= pass->window->timeline->track_count) {
        return damaged(err);
    }
    if (!is_wanted(pass->window, track)) {
        return true;
    }
    bool is_current = pass->current != NULL && pass->current->track == track;
    if (!is_current && !begin_track(pass, track, err)) {
        return false;
    }
    *out = pass->current;
    return true;
}

/* ---- slices ---- */

static bool take_slices(struct pass *pass,
                        uint32_t lane_count,
                        const struct timeline_block *block,
                        uint32_t begin,
                        uint32_t end,
                        struct err *err)
{
    const struct window_read *window = pass->window;
    for (uint32_t i = begin; i < end && block->start_ns[i] < pass->grid_end_ns; i++) {
        int64_t start = block->start_ns[i];
        int64_t length = block->dur_ns[i] < 0 ? 0 : block->dur_ns[i];
        if (start + length <= pass->grid_start_ns && start < pass->grid_start_ns) {
            continue;
        }
        struct merged_slice slice = {.start_ns = start,
                                     .dur_ns = block->dur_ns[i],
                                     .busy_ns = block->busy_ns[i],
                                     .label_ns = block->busy_ns[i],
                                     .lane = block->lane[i],
                                     .label = block->label[i],
                                     .event = block->event[i],
                                     .count = block->count[i]};
        if (slice.lane >= lane_count || slice.label >= window->timeline->label_count) {
            return damaged(err);
        }
        merge_slice(&pass->merge, &slice);
    }
    return true;
}

static bool visit_block(void *context, const struct timeline_block *block, struct err *err)
{
    struct pass *pass = context;
    bool ok = true;
    for (uint32_t begin = 0; ok && begin < block->item_count;) {
        uint32_t end = run_end(block->track, begin, block->item_count);
        struct window_track *track = NULL;
        ok = enter_run(pass, block->track[begin], &track, err) &&
             (track == NULL || take_slices(pass, track->lane_count, block, begin, end, err));
        begin = end;
    }
    return ok;
}

/* ---- points ---- */

static bool take_points(struct pass *pass,
                        struct window_track *track,
                        const struct timeline_points *points,
                        uint32_t begin,
                        uint32_t end,
                        struct err *err)
{
    const struct window_read *window = pass->window;
    for (uint32_t i = begin; i < end && points->start_ns[i] < window->end_ns; i++) {
        struct merged_point point = {.start_ns = points->start_ns[i],
                                     .last = points->last[i],
                                     .min = points->min[i],
                                     .max = points->max[i],
                                     .lane = points->lane[i],
                                     .event = points->event[i]};
        if (point.lane >= track->lane_count) {
            return damaged(err);
        }
        if (point.start_ns > window->start_ns) {
            merge_point(&pass->merge, &point);
        } else {
            point.min = point.last;
            point.max = point.last;
            track->holds[point.lane] = point;
        }
    }
    return true;
}

/* What held before blocks that were left out may not hold any more. */
static void cross_gap(struct window_track *track, int64_t start_ns)
{
    for (uint32_t lane = 0; lane < track->lane_count; lane++) {
        track->holds[lane].lane = WINDOW_NO_LANE;
    }
    track->has_gap = true;
    track->searched_from_ns = start_ns;
}

static bool visit_points(void *context, const struct timeline_points *points, struct err *err)
{
    struct pass *pass = context;
    bool ok = true;
    bool gap = pass->gaps[pass->block++];
    for (uint32_t begin = 0; ok && begin < points->item_count;) {
        uint32_t end = run_end(points->track, begin, points->item_count);
        struct window_track *track = NULL;
        ok = enter_run(pass, points->track[begin], &track, err);
        bool is_taken = track != NULL && track->holds != NULL;
        if (is_taken && gap && begin == 0) {
            cross_gap(track, points->start_ns[0]);
        }
        ok = ok && (!is_taken || take_points(pass, track, points, begin, end, err));
        begin = end;
    }
    return ok;
}

/* ---- all ---- */

static bool read_blocks(struct window_read *window,
                        enum store_timeline_kind kind,
                        const struct store_timeline_place *places,
                        size_t count,
                        const bool *gaps,
                        struct err *err)
{
    struct pass pass = {.window = window,
                        .gaps = gaps,
                        .grid_start_ns = merge_cell_start(window->start_ns, window->pixel_ns),
                        .grid_end_ns = merge_cell_end(window->end_ns - 1, window->pixel_ns)};
    struct store_timeline_visitor visitor = {
        .context = &pass, .block = visit_block, .points = visit_points};
    if (!merge_init(&pass.merge, kind == STORE_TIMELINE_POINTS)) {
        return no_memory(err);
    }
    bool ok = store_timeline_blocks(window->snapshot, window->trace_id, kind, places, count,
                                    &visitor, err) &&
              end_track(&pass, err);
    merge_free(&pass.merge);
    return ok;
}

static bool read_points(struct window_read *window, struct err *err)
{
    struct store_timeline_place *places = NULL;
    size_t count = 0;
    if (!list_blocks(window, STORE_TIMELINE_POINTS, INT64_MIN, &places, &count, err)) {
        return false;
    }
    bool *gaps = arena_calloc(window->arena, count + 1, sizeof *gaps);
    if (gaps == NULL) {
        return no_memory(err);
    }
    pass_over(window, places, &count, gaps);
    return read_blocks(window, STORE_TIMELINE_POINTS, places, count, gaps, err) &&
           window_find_holds(window, err);
}

bool window_read_all(struct window_read *window, struct err *err)
{
    struct store_timeline_place *places = NULL;
    size_t count = 0;
    return choose_level(window, &places, &count, err) &&
           read_blocks(window, STORE_TIMELINE_SLICES, places, count, NULL, err) &&
           read_points(window, err);
}

void window_free(struct window_read *window)
{
    for (size_t i = 0; i < window->count; i++) {
        free(window->tracks[i].slices);
        free(window->tracks[i].points);
        free(window->tracks[i].holds);
    }
    scratch_free(window->tracks);
    window->tracks = NULL;
    window->count = 0;
}

/* ---- shares ---- */

/* The largest number of items a track so that all together are not too many. `sizes` ascending. */
static size_t fair_share(const size_t *sizes, size_t count)
{
    size_t left = TIMELINE_ITEMS_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t share = left / (count - i);
        if (sizes[i] > share) {
            return share;
        }
        left -= sizes[i];
    }
    return TIMELINE_ITEMS_MAX;
}

static void reduce_track(struct timeline_merge *merge, struct window_track *track, size_t share)
{
    size_t holds = holds_of(track);
    if (track->count + holds <= share) {
        return;
    }
    size_t limit = share > holds ? share - holds : 0;
    if (track->is_points) {
        merge_reduce_points(merge, track->points, &track->count, &track->pixel_ns, limit);
    } else {
        merge_reduce_slices(merge, track->slices, &track->count, &track->pixel_ns, limit);
    }
}

static bool sort_sizes(const struct window_read *window, size_t **sizes, size_t *count)
{
    *sizes = malloc((window->count + 1) * sizeof **sizes);
    *count = 0;
    if (*sizes == NULL) {
        return false;
    }
    for (size_t i = 0; i < window->count; i++) {
        (*sizes)[(*count)++] = window_track_items(&window->tracks[i]);
    }
    qsort(*sizes, *count, sizeof **sizes, order_size_at);
    return true;
}

bool window_share(struct window_read *window, struct err *err)
{
    struct timeline_merge merge;
    size_t *sizes = NULL;
    size_t count = 0;
    if (!sort_sizes(window, &sizes, &count)) {
        return no_memory(err);
    }
    size_t share = fair_share(sizes, count);
    free(sizes);
    if (share == TIMELINE_ITEMS_MAX) {
        return true;
    }
    if (!merge_init(&merge, false)) {
        return no_memory(err);
    }
    window->item_count = 0;
    for (size_t i = 0; i < window->count; i++) {
        reduce_track(&merge, &window->tracks[i], share);
        window->item_count += window_track_items(&window->tracks[i]);
    }
    merge_free(&merge);
    return true;
}
