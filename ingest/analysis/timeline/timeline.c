/* The stages of a timeline:
 *
 *     items     which events, from when to when           timeline_items, timeline_pairs
 *     places    on which thread, stream, counter …        timeline_places
 *     order     place by place, by start                  timeline_order
 *     layout    places become tracks                      timeline_layout, _join, _texts
 *     labels    name, category and role                   timeline_labels
 *     measures  lanes, bounds; which levels are worth it  timeline_lanes, timeline_source, _points
 *     levels    0 handed over, each other one merged      timeline_levels, timeline_bins
 *               from the one before, all as they go by
 *     flows                                               timeline_flows, timeline_flow_ends
 *
 * What lies in memory is two words an event (place and then label; order); levels never do. */
#include "ingest/analysis/timeline/timeline.h"

#include "ingest/analysis/timeline/flows/flows.h"
#include "ingest/analysis/timeline/labels.h"
#include "ingest/analysis/timeline/lanes.h"
#include "ingest/analysis/timeline/layout.h"
#include "ingest/analysis/timeline/levels/items.h"
#include "ingest/analysis/timeline/levels/levels.h"
#include "ingest/analysis/timeline/order.h"
#include "ingest/analysis/timeline/places.h"
#include "ingest/analysis/timeline/source.h"
#include "ingest/base/memory/scratch.h"

struct build {
    const struct trace *trace;
    const struct timeline_frame *frame;
    const struct timeline_sink *sink;
    struct timeline *timeline;
    struct timeline_items items;
    struct timeline_places places;
    struct timeline_layout layout;
    struct timeline_labels labels;
    struct timeline_flow_ends ends;
    struct timeline_source source;
    uint32_t *order;
    struct timeline_lanes *lanes;
    struct timeline_counts *counts;
};

static bool no_memory(const struct build *b, struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "Not enough memory for the timeline of %u events.",
                   b->trace->events.count);
}

/* ---- before level 0 ---- */

/* Where the views see no event the trace has no start yet: then the timeline's is. */
static void set_start(struct build *b)
{
    bool is_first = !b->frame->sees_events && b->items.first_ns > 0;
    b->timeline->origin_ns =
        is_first ? saturating_add(b->trace->base_time_ns, b->items.first_ns) : b->frame->start_ns;
    b->items.origin_ns = saturating_sub(b->timeline->origin_ns, b->trace->base_time_ns);
}

static bool find_tracks(struct build *b)
{
    struct timeline *timeline = b->timeline;
    if (!timeline_items_find(&b->items, b->trace, 0, &timeline->warnings)) {
        return false;
    }
    set_start(b);
    if (!timeline_places_find(&b->places, &b->items)) {
        return false;
    }
    b->order = timeline_order_places(&b->items, &b->places);
    if (b->order == NULL || !timeline_layout_find(&b->layout, &b->items, &b->places, &b->order)) {
        return false;
    }
    timeline->track_count = b->layout.track_count;
    timeline->tracks =
        arena_calloc(&timeline->arena, b->layout.track_count, sizeof *timeline->tracks);
    return timeline->tracks != NULL &&
           timeline_layout_write(&b->layout, &b->items, &b->places, b->frame->mlu, &timeline->arena,
                                 timeline->tracks);
}

static bool find_labels(struct build *b)
{
    struct timeline *timeline = b->timeline;
    if (!timeline_labels_find(&b->labels, &b->items, b->frame->categories)) {
        return false;
    }
    timeline->labels = timeline_labels_write(&b->labels, b->trace, &timeline->arena);
    timeline->label_count = b->labels.keys.count;
    return timeline->labels != NULL;
}

static bool prepare(struct build *b)
{
    if (!find_tracks(b) || !find_labels(b) ||
        !timeline_flow_ends_init(&b->ends, &b->items, &b->places)) {
        return false;
    }
    b->lanes = scratch_alloc(1, sizeof *b->lanes);
    b->counts = scratch_calloc(1, sizeof *b->counts);
    b->source = (struct timeline_source){
        .items = &b->items,
        .places = &b->places,
        .layout = &b->layout,
        .labels = &b->labels,
        .order = b->order,
        .sum_bytes = scratch_calloc(b->places.count, sizeof *b->source.sum_bytes)};
    return b->lanes != NULL && b->counts != NULL && b->source.sum_bytes != NULL;
}

/* ---- measures ---- */

static inline void widen(struct timeline_track *track, int64_t start_ns, int64_t end_ns)
{
    bool is_first = track->item_count == 0;
    track->first_ns = is_first ? start_ns : i64_min(track->first_ns, start_ns);
    track->end_ns = is_first ? end_ns : i64_max(track->end_ns, end_ns);
    track->item_count++;
}

/* Items get their lanes, on which ends of flows find the slices that they are bound to. These ends
 * then leave the order. */
static void measure_track(struct build *b, uint32_t number)
{
    struct layout_track *part = &b->layout.tracks[number];
    struct timeline_track track = b->timeline->tracks[number];
    uint32_t end = part->first + part->count;
    int64_t until_ns = INT64_MIN;
    timeline_lanes_clear(b->lanes);
    part->count = 0;
    for (uint32_t i = part->first; i < end; i++) {
        timeline_span_fetch(&b->items, b->order, i + TIMELINE_AHEAD, end);
        uint32_t event = b->order[i];
        const struct timeline_span span = timeline_span(&b->items, event);
        bool is_slice = span.class == ITEM_SLICE;
        if (span.class == ITEM_FLOW) {
            timeline_flow_ends_bind(&b->ends, &b->items, &b->places, b->lanes,
                                    timeline_place_of(&b->places, part, event), event);
            continue;
        }
        b->order[part->first + part->count++] = event;
        if (is_slice) {
            timeline_flow_ends_slice(&b->ends, timeline_place_of(&b->places, part, event), event);
        }
        uint32_t lane = timeline_lanes_put(b->lanes, event, span.start_ns, span.end_ns, is_slice);
        int64_t start_ns = timeline_position(&b->items, span.start_ns);
        int64_t end_ns = timeline_position(&b->items, span.end_ns);
        int64_t from_ns = i64_max(start_ns, until_ns);
        widen(&track, start_ns, end_ns);
        track.busy_ns =
            saturating_add(track.busy_ns, end_ns > from_ns ? saturating_sub(end_ns, from_ns) : 0);
        until_ns = i64_max(until_ns, end_ns);
        timeline_counts_item(b->counts, lane, start_ns,
                             is_slice ? saturating_sub(end_ns, start_ns) : TIMELINE_INSTANT);
    }
    track.lane_count = b->lanes->used;
    b->timeline->tracks[number] = track;
}

static bool measure_point(void *context, const struct timeline_point *point, struct err *err)
{
    struct build *b = context;
    (void)err;
    widen(&b->timeline->tracks[point->track], point->start_ns, point->start_ns);
    timeline_counts_point(b->counts, point);
    return true;
}

static void set_bounds(struct timeline *timeline)
{
    bool is_first = true;
    for (uint32_t t = 0; t < timeline->track_count; t++) {
        const struct timeline_track *track = &timeline->tracks[t];
        if (track->item_count > 0) {
            timeline->start_ns =
                is_first ? track->first_ns : i64_min(timeline->start_ns, track->first_ns);
            timeline->end_ns = is_first ? track->end_ns : i64_max(timeline->end_ns, track->end_ns);
            is_first = false;
        }
    }
}

static bool measure(struct build *b, struct err *err)
{
    bool ok = true;
    for (uint32_t t = 0; ok && t < b->layout.track_count; t++) {
        timeline_counts_track(b->counts);
        if (b->layout.tracks[t].kind == TIMELINE_COUNTER) {
            ok = timeline_source_points(&b->source, t, measure_point, b, err);
        } else {
            measure_track(b, t);
        }
    }
    timeline_flow_ends_finish(&b->ends, &b->places);
    set_bounds(b->timeline);
    timeline_levels_choose(b->timeline, b->counts);
    return ok;
}

/* ---- all ---- */

/* What only levels need makes room for the flows. */
static void free_order(struct build *b)
{
    SCRATCH_FREE(b->order, b->lanes, b->counts, b->source.sum_bytes);
    timeline_layout_free(&b->layout);
    timeline_places_free(&b->places);
    b->order = NULL;
    b->lanes = NULL;
    b->counts = NULL;
    b->source.sum_bytes = NULL;
}

static bool run(struct build *b, struct err *err)
{
    if (!prepare(b)) {
        return no_memory(b, err);
    }
    if (!measure(b, err) ||
        !timeline_levels_build(b->timeline, &b->source, b->lanes, b->sink, err)) {
        return false;
    }
    free_order(b);
    return timeline_flows_build(&b->items, &b->ends, b->frame, b->sink, &b->timeline->flow_count,
                                err);
}

bool timeline_build(const struct trace *trace,
                    const struct timeline_frame *frame,
                    const struct timeline_sink *sink,
                    struct timeline **out,
                    struct err *err)
{
    struct build b = {.trace = trace, .frame = frame, .sink = sink};
    b.timeline = scratch_calloc(1, sizeof *b.timeline);
    *out = NULL;
    if (b.timeline == NULL) {
        return no_memory(&b, err);
    }
    arena_init(&b.timeline->arena, 0);
    bool ok = run(&b, err);
    free_order(&b);
    timeline_flow_ends_free(&b.ends);
    timeline_labels_free(&b.labels);
    timeline_items_free(&b.items);
    if (!ok) {
        timeline_destroy(b.timeline);
        return false;
    }
    *out = b.timeline;
    return true;
}

bool timeline_survey(const struct trace *trace, struct warnings *out)
{
    struct timeline_items items;
    *out = (struct warnings){0};
    bool ok = timeline_items_find(&items, trace, 0, out);
    timeline_items_free(&items);
    return ok;
}

void timeline_settle(const struct timeline *timeline, struct trace_results *results)
{
    bool saw_nothing = results->first_event_ns == 0 && results->duration_ns == 0;
    results->start_ns = timeline->origin_ns;
    results->duration_ns = saw_nothing ? timeline->end_ns : results->duration_ns;
    warnings_merge(&results->warnings, &timeline->warnings);
}

void timeline_frame_free(struct timeline_frame *frame)
{
    SCRATCH_FREE(frame->categories, frame->launches);
    frame->categories = NULL;
    frame->launches = NULL;
    frame->launch_count = 0;
}

void timeline_destroy(struct timeline *timeline)
{
    if (timeline != NULL) {
        arena_free(&timeline->arena);
        scratch_free(timeline);
    }
}
