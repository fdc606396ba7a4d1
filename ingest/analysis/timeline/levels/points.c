/* Counters: from events with several series to points by start and lane. */
#include "ingest/analysis/timeline/source.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

/* The points of one time, which are put in order of their lanes before they are shown. */
struct moment {
    const struct timeline_source *source;
    struct timeline_point *points;
    size_t cap;
    uint32_t count;
    timeline_point_visitor visit;
    void *context;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the values of counters");
}

static bool add_point(struct moment *m, uint32_t track, uint32_t event, uint32_t lane, double value)
{
    struct timeline_point *points = scratch_grow(m->points, m->count, &m->cap, sizeof *points);
    if (points == NULL) {
        return false;
    }
    const struct timeline_items *items = m->source->items;
    m->points = points;
    points[m->count++] = (struct timeline_point){
        .start_ns = timeline_position(items, items->trace->events.ts_ns[event]),
        .last = value,
        .min = value,
        .max = value,
        .track = track,
        .lane = lane < TIMELINE_LANES_MAX ? lane : TIMELINE_LANES_MAX - 1,
        .event = event};
    return true;
}

static bool add_counter(struct moment *m, uint32_t track, uint32_t place, uint32_t event)
{
    const struct timeline_source *source = m->source;
    const struct trace *trace = source->items->trace;
    uint32_t base = source->layout->lane_base[place];
    bool ok = true;
    for (uint32_t row = source->items->by_event[event];
         ok && row < trace->counter_count && trace->counters[row].event == event; row++) {
        uint32_t lane = base + source->places->row_lane[row];
        ok = add_point(m, track, event, lane, trace->counters[row].value);
    }
    return ok;
}

static bool add_memory(struct moment *m, uint32_t track, uint32_t place, uint32_t event)
{
    const struct timeline_source *source = m->source;
    const struct trace *trace = source->items->trace;
    const struct memory_args *args = &trace->memory_args[trace->events.args[event]];
    uint32_t base = source->layout->lane_base[place];
    bool ok = true;
    if (!source->places->items[place].has_totals) {
        int64_t *sum_bytes = &source->sum_bytes[place];
        *sum_bytes = saturating_add(*sum_bytes, args->size_bytes);
        ok = add_point(m, track, event, base + PLACE_MEMORY_ALLOCATED, (double)*sum_bytes);
    } else if ((args->has & MEMORY_HAS_ALLOCATED) != 0) {
        ok = add_point(m, track, event, base + PLACE_MEMORY_ALLOCATED,
                       (double)args->total_allocated_bytes);
    }
    if (ok && (args->has & MEMORY_HAS_RESERVED) != 0) {
        ok = add_point(m, track, event, base + PLACE_MEMORY_RESERVED,
                       (double)args->total_reserved_bytes);
    }
    return ok;
}

static int by_lane(uint32_t a, uint32_t b, const void *ctx)
{
    const struct timeline_point *points = ctx;
    return (points[a].lane > points[b].lane) - (points[a].lane < points[b].lane);
}

static bool is_in_order(const struct moment *m)
{
    for (uint32_t i = 1; i < m->count; i++) {
        if (m->points[i].lane < m->points[i - 1].lane) {
            return false;
        }
    }
    return true;
}

static bool show_sorted(const struct moment *m, struct err *err)
{
    uint32_t *order = scratch_alloc(m->count, sizeof *order);
    if (order == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        order[i] = i;
    }
    bool ok = sort_stable(order, m->count, by_lane, m->points) || no_memory(err);
    for (uint32_t i = 0; ok && i < m->count; i++) {
        ok = m->visit(m->context, &m->points[order[i]], err);
    }
    scratch_free(order);
    return ok;
}

static bool show(struct moment *m, struct err *err)
{
    bool ok = true;
    if (!is_in_order(m)) {
        ok = show_sorted(m, err);
    } else {
        for (uint32_t i = 0; ok && i < m->count; i++) {
            ok = m->visit(m->context, &m->points[i], err);
        }
    }
    m->count = 0;
    return ok;
}

bool timeline_source_points(const struct timeline_source *source,
                            uint32_t track,
                            timeline_point_visitor visit,
                            void *context,
                            struct err *err)
{
    const struct layout_track *part = &source->layout->tracks[track];
    const int64_t *ts_ns = source->items->trace->events.ts_ns;
    const uint32_t *events = source->order + part->first;
    struct moment m = {.source = source, .visit = visit, .context = context};
    bool ok = true;
    for (uint32_t i = 0; ok && i < part->count; i++) {
        uint32_t place = timeline_place_of(source->places, part, events[i]);
        bool is_memory = source->places->items[place].is_memory;
        bool is_new = i > 0 && ts_ns[events[i]] != ts_ns[events[i - 1]];
        ok = !is_new || show(&m, err);
        if (ok) {
            ok = (is_memory ? add_memory(&m, track, place, events[i])
                            : add_counter(&m, track, place, events[i])) ||
                 no_memory(err);
        }
    }
    ok = ok && show(&m, err);
    scratch_free(m.points);
    return ok;
}
