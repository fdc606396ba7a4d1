#include "ingest/analysis/classify/clip.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- events that cover the window ---- */

struct covering {
    uint32_t *places; /* their numbers, ascending */
    uint32_t *order;  /* the same, outer ones first */
    size_t count;
    size_t cap;
};

static int compare_nesting(uint32_t a, uint32_t b, const void *ctx)
{
    const struct trace_events *events = ctx;
    if (events->ts_ns[a] != events->ts_ns[b]) {
        return events->ts_ns[a] < events->ts_ns[b] ? -1 : 1;
    }
    return (trace_dur_ns(events, a) < trace_dur_ns(events, b)) -
           (trace_dur_ns(events, a) > trace_dur_ns(events, b));
}

/* A row as it lies in the columns. */
struct row {
    int64_t ts_ns;
    uint32_t dur_word, correlation_word, external_id_word;
    uint32_t name, track, args, class;
};

static struct row row_of(const struct trace_events *events, uint32_t i)
{
    return (struct row){.ts_ns = events->ts_ns[i],
                        .dur_word = events->dur_ns.word[i],
                        .correlation_word = events->correlation.word[i],
                        .external_id_word = events->external_id.word[i],
                        .name = events->name[i],
                        .track = trace_event_track(events, i),
                        .args = events->args[i],
                        .class = trace_index(&events->class, i)};
}

static void set_row(struct trace_events *events, uint32_t i, const struct row *row)
{
    events->ts_ns[i] = row->ts_ns;
    events->dur_ns.word[i] = row->dur_word;
    events->correlation.word[i] = row->correlation_word;
    events->external_id.word[i] = row->external_id_word;
    events->name[i] = row->name;
    events->args[i] = row->args;
    trace_set_index(&events->track, i, row->track);
    trace_set_index(&events->class, i, row->class);
}

/* Structs that begin with the number of their event, ascending: they follow it. `place_of`: by
 * index in `places`. */
static void move_notes(
    void *notes, size_t count, size_t size, const struct covering *c, const uint32_t *place_of)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *event = (uint32_t *)(void *)((char *)notes + i * size);
        const uint32_t *found =
            bsearch(event, c->places, c->count, sizeof *c->places, order_u32_at);
        if (found != NULL) {
            *event = place_of[found - c->places];
        }
    }
    if (count > 0) {
        qsort(notes, count, size, order_u32_at);
    }
}

static void
move_rows(struct trace *trace, const struct covering *c, struct row *rows, uint32_t *place_of)
{
    for (size_t i = 0; i < c->count; i++) {
        const uint32_t *found =
            bsearch(&c->order[i], c->places, c->count, sizeof *c->places, order_u32_at);
        rows[i] = row_of(&trace->events, c->order[i]);
        if (found != NULL) {
            place_of[found - c->places] = c->places[i];
        }
    }
    for (size_t i = 0; i < c->count; i++) {
        set_row(&trace->events, c->places[i], &rows[i]);
    }
    _Static_assert(offsetof(struct event_extra, event) == 0, "notes begin with their event");
    _Static_assert(offsetof(struct collective_args, event) == 0, "notes begin with their event");
    move_notes(trace->extras, trace->extra_count, sizeof *trace->extras, c, place_of);
    move_notes(trace->collectives, trace->collective_count, sizeof *trace->collectives, c,
               place_of);
}

static bool put_in_order(struct trace *trace, struct covering *c)
{
    c->order = scratch_alloc(c->count, sizeof *c->order);
    if (c->order == NULL) {
        return false;
    }
    if (c->count > 0) {
        memcpy(c->order, c->places, c->count * sizeof *c->order);
    }
    if (!sort_stable(c->order, c->count, compare_nesting, &trace->events)) {
        return false;
    }
    if (c->count == 0 || memcmp(c->order, c->places, c->count * sizeof *c->order) == 0) {
        return true;
    }
    struct row *rows = scratch_alloc(c->count, sizeof *rows);
    uint32_t *place_of = scratch_alloc(c->count, sizeof *place_of);
    bool ok = rows != NULL && place_of != NULL;
    if (ok) {
        move_rows(trace, c, rows, place_of);
    }
    SCRATCH_FREE(rows, place_of);
    return ok;
}

/* ---- cutting ---- */

static bool has_length(const struct trace_events *events, uint32_t event)
{
    return (trace_flags(events, event) & EVENT_NO_TS) == 0 && trace_phase(events, event) == 'X' &&
           trace_dur_ns(events, event) > 0;
}

static bool add_covering(struct covering *c, uint32_t event)
{
    uint32_t *places = scratch_grow(c->places, c->count, &c->cap, sizeof *places);
    if (places == NULL) {
        return false;
    }
    c->places = places;
    c->places[c->count++] = event;
    return true;
}

static bool order_covering(struct trace *trace, int64_t from_ns, int64_t to_ns)
{
    const struct trace_events *events = &trace->events;
    struct covering c = {.count = 0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < events->count; i++) {
        bool covers = has_length(events, i) && events->ts_ns[i] <= from_ns &&
                      saturating_add(events->ts_ns[i], trace_dur_ns(events, i)) >= to_ns;
        ok = !covers || add_covering(&c, i);
    }
    ok = ok && put_in_order(trace, &c);
    SCRATCH_FREE(c.places, c.order);
    return ok;
}

static bool leave_out(struct trace *trace, uint32_t event)
{
    struct event_class class = *trace_event_class(&trace->events, event);
    class.flags |= EVENT_NO_TS;
    trace->events.ts_ns[event] = 0;
    return trace_set_class(trace, event, class) && trace_set_dur_ns(trace, event, 0);
}

bool clip_events(struct trace *trace, int64_t from_ns, int64_t to_ns)
{
    struct trace_events *events = &trace->events;
    if (!order_covering(trace, from_ns, to_ns)) {
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < events->count; i++) {
        if ((trace_flags(events, i) & EVENT_NO_TS) != 0) {
            continue;
        }
        int64_t start_ns = events->ts_ns[i];
        int64_t end_ns = saturating_add(start_ns, trace_dur_ns(events, i));
        bool is_long = has_length(events, i);
        if (is_long && end_ns > from_ns && start_ns < to_ns) {
            events->ts_ns[i] = i64_max(start_ns, from_ns);
            ok = trace_set_dur_ns(trace, i,
                                  saturating_sub(i64_min(end_ns, to_ns), events->ts_ns[i]));
        } else if (is_long || start_ns < from_ns || start_ns > to_ns) {
            ok = leave_out(trace, i);
        }
    }
    return ok;
}
