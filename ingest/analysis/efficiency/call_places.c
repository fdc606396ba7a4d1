#include "ingest/analysis/efficiency/call_places.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <string.h>

#define MODULE "nn.Module: "

/* ---- steps ---- */

static bool
find_steps(struct call_places *places, const struct trace *trace, const struct counted_calls *calls)
{
    struct trace_index index;
    bool ok = index_build(&index, trace);
    places->step = scratch_alloc(calls->count, sizeof *places->step);
    places->steps = scratch_alloc(ok ? index.step_count : 0, sizeof *places->steps);
    ok = ok && places->step != NULL && places->steps != NULL;
    for (uint32_t i = 0; ok && i < index.step_count; i++) {
        places->steps[places->step_count++] = index.steps[i];
    }
    for (uint32_t i = 0; ok && i < calls->count; i++) {
        places->step[i] = index.step[calls->items[i].event];
    }
    index_free(&index);
    return ok;
}

/* ---- modules ---- */

/* Modules and counted calls, thread by thread in order of start. */
struct marks {
    uint32_t *event;
    uint32_t *call; /* by event: its number among the calls; INDEX_NONE: a module */
    uint32_t count;
};

static bool order_marks(struct marks *marks, const struct trace *trace)
{
    int64_t *key = scratch_alloc(trace->events.count, sizeof *key);
    bool ok = key != NULL;
    /* Of those that start together the shorter module is the inner one, and calls come last. */
    for (uint32_t i = 0; ok && i < marks->count; i++) {
        uint32_t event = marks->event[i];
        bool is_call = marks->call[event] != INDEX_NONE;
        key[event] = is_call ? INT64_MAX : -trace_dur_ns(&trace->events, event);
    }
    ok = ok && sort_by_key(marks->event, marks->count, key) &&
         sort_by_key(marks->event, marks->count, trace->events.ts_ns);
    for (uint32_t i = 0; ok && i < marks->count; i++) {
        key[marks->event[i]] = trace_event_track(&trace->events, marks->event[i]);
    }
    ok = ok && sort_by_key(marks->event, marks->count, key);
    scratch_free(key);
    return ok;
}

static bool is_module(const struct trace *trace, uint32_t event, const uint8_t *names)
{
    return trace_kind(&trace->events, event) == EVENT_PYTHON_FUNCTION &&
           names[trace->events.name[event]] != 0 && causes_takes_part(trace, event);
}

/* In file order. */
static bool
list_marks(struct marks *marks, const struct trace *trace, const struct counted_calls *calls)
{
    uint32_t name_count = strtab_count(trace->strings);
    uint8_t *names = scratch_alloc(name_count, sizeof *names);
    marks->event = scratch_alloc(trace->events.count, sizeof *marks->event);
    marks->call = scratch_none(trace->events.count);
    bool ok = names != NULL && marks->event != NULL && marks->call != NULL;
    for (uint32_t i = 0; ok && i < name_count; i++) {
        names[i] = strncmp(strtab_text(trace->strings, i), MODULE, sizeof MODULE - 1) == 0;
    }
    for (uint32_t i = 0; ok && i < calls->count; i++) {
        marks->call[calls->items[i].event] = i;
    }
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        if (marks->call[i] != INDEX_NONE || is_module(trace, i, names)) {
            marks->event[marks->count++] = i;
        }
    }
    scratch_free(names);
    return ok;
}

/* The modules that may be open, the innermost last. */
struct stack {
    uint32_t *event;
    uint32_t depth;
};

static void walk_marks(const struct marks *marks,
                       const struct trace *trace,
                       struct stack *open,
                       uint32_t *module)
{
    const struct trace_events *events = &trace->events;
    for (uint32_t i = 0; i < marks->count; i++) {
        uint32_t event = marks->event[i];
        uint32_t call = marks->call[event];
        if (i > 0 &&
            trace_event_track(events, event) != trace_event_track(events, marks->event[i - 1])) {
            open->depth = 0;
        }
        while (open->depth > 0) {
            uint32_t top = open->event[open->depth - 1];
            if (saturating_add(events->ts_ns[top], trace_dur_ns(events, top)) >
                events->ts_ns[event]) {
                break;
            }
            open->depth--;
        }
        if (call == INDEX_NONE) {
            open->event[open->depth++] = event;
        } else {
            module[call] =
                open->depth == 0 ? STRTAB_NONE : events->name[open->event[open->depth - 1]];
        }
    }
}

static bool find_modules(struct call_places *places,
                         const struct trace *trace,
                         const struct counted_calls *calls)
{
    struct marks marks = {.count = 0};
    struct stack open = {.depth = 0};
    places->module = scratch_alloc(calls->count, sizeof *places->module);
    bool ok =
        places->module != NULL && list_marks(&marks, trace, calls) && order_marks(&marks, trace);
    open.event = scratch_alloc(marks.count, sizeof *open.event);
    ok = ok && open.event != NULL;
    if (ok) {
        walk_marks(&marks, trace, &open, places->module);
    }
    SCRATCH_FREE(open.event, marks.event, marks.call);
    return ok;
}

bool call_places_find(struct call_places *places,
                      const struct causes *causes,
                      const struct counted_calls *calls)
{
    *places = (struct call_places){.step_count = 0};
    return find_modules(places, causes->trace, calls) && find_steps(places, causes->trace, calls);
}

void call_places_free(struct call_places *places)
{
    SCRATCH_FREE(places->module, places->step, places->steps);
}
