#include "ingest/analysis/cycles/cycles.h"

#include "ingest/analysis/cycles/calls.h"
#include "ingest/analysis/cycles/events.h"
#include "ingest/analysis/cycles/owners.h"
#include "ingest/analysis/cycles/rows/counters.h"
#include "ingest/analysis/cycles/rows/hardware.h"
#include "ingest/analysis/cycles/rows/rows.h"
#include "ingest/analysis/cycles/set.h"
#include "ingest/base/memory/scratch.h"

#include <string.h>

#define COMPARABLE_CYCLES_MIN 2

struct search {
    struct cycle_events events;
    struct cycle_calls calls;
    struct cycle_set set;
    int64_t *self_ns;  /* NULL: no operators */
    uint32_t marker;   /* string id, CYCLE_NONE */
    const char *phase; /* an engine's, as the user named it, NULL: none */
    bool is_nothing;   /* no step of the trace is of that phase */
    enum cycle_source source;
};

/* ---- which cycles ---- */

static bool find_self_times(struct search *s)
{
    s->self_ns = s->events.is_kineto ? cycle_self_times(s->events.index) : NULL;
    return s->self_ns != NULL || !s->events.is_kineto;
}

static bool by_steps(struct search *s, uint32_t name)
{
    const struct cycle_marks marks = {NULL, name};
    return find_self_times(s) && cycle_set_steps(&s->set, &s->events, &marks, s->self_ns);
}

static bool by_engine(struct search *s, const struct cycle_engine *engine)
{
    const struct cycle_marks marks = {engine, CYCLE_NONE};
    return find_self_times(s) && cycle_set_steps(&s->set, &s->events, &marks, s->self_ns);
}

/* By the calls of a function [CMP-10.anchors]. */
static bool by_anchor(struct search *s, uint32_t anchor)
{
    struct cycle_owners owners = {0};
    bool is_typed = false;
    uint32_t prefill = cycle_calls_prefill(&s->calls, anchor);
    bool ok = find_self_times(s) &&
              cycle_owners_find(&owners, &s->events, &s->calls, anchor, prefill) &&
              cycle_owners_classify(&owners, &s->events, prefill, &is_typed) &&
              cycle_set_bound(&s->set, &owners, &s->events, is_typed) &&
              cycle_set_fill(&s->set, &s->events, &owners, s->self_ns);
    cycle_owners_free(&owners);
    if (!ok) {
        return false;
    }
    cycle_set_settle(&s->set);
    if (s->set.is_nonsense) {
        cycle_set_free(&s->set);
    }
    return cycle_set_sort(&s->set);
}

static bool by_annotation(struct search *s)
{
    cycle_calls_free(&s->calls);
    if (!cycle_calls_nest(&s->calls, &s->events, CYCLE_CLASS_ANNOTATION)) {
        return false;
    }
    if (s->calls.candidate_count == 0) {
        return true;
    }
    s->source = CYCLES_ANNOTATION;
    return by_steps(s, s->calls.candidates[0].name);
}

static bool is_python_call(const struct cycle_events *events, uint32_t name)
{
    for (uint32_t at = 0; at < events->count; at++) {
        if (events->class[at] == CYCLE_CLASS_PYTHON && cycle_name(events, at) == name) {
            return true;
        }
    }
    return false;
}

static bool by_marker(struct search *s)
{
    s->source = CYCLES_MARKER;
    if (s->events.is_kineto && !is_python_call(&s->events, s->marker)) {
        return by_steps(s, s->marker);
    }
    return cycle_calls_nest(&s->calls, &s->events, CYCLE_CLASS_PYTHON) && by_anchor(s, s->marker);
}

static bool find_cycles(struct search *s)
{
    struct cycle_engine engine;
    if (s->phase != NULL) {
        s->source = CYCLES_MARKER;
        s->is_nothing = !cycle_engine_named(&engine, &s->events, s->phase);
        return s->is_nothing || by_engine(s, &engine);
    }
    if (s->marker != CYCLE_NONE) {
        return by_marker(s);
    }
    if (s->events.has_steps) {
        s->source = CYCLES_PROFILER_STEPS;
        return by_steps(s, CYCLE_NONE);
    }
    if (cycle_engine_find(&engine, &s->events)) {
        s->source = CYCLES_ANNOTATION;
        return by_engine(s, &engine);
    }
    if (!cycle_calls_nest(&s->calls, &s->events, CYCLE_CLASS_PYTHON)) {
        return false;
    }
    if (s->calls.candidate_count > 0) {
        s->source = CYCLES_ANCHOR;
        return by_anchor(s, s->calls.candidates[0].name);
    }
    return !s->events.is_kineto || by_annotation(s);
}

/* ---- answers ---- */

static bool
write_results(struct search *s, const struct cycles_options *options, struct trace_results *results)
{
    struct cycle_hardware hardware = {.file = NULL};
    bool ok = cycle_hardware_init(&hardware, &s->events, options->hardware) &&
              cycle_rows_write(results, &s->set, &s->events, &hardware) &&
              cycle_counters_summarise(results, &s->events);
    cycle_hardware_free(&hardware);
    if (ok && results->cycle_count > 0) {
        results->cycle_source = s->source;
    }
    if (ok && results->cycle_count >= COMPARABLE_CYCLES_MIN) {
        results->views |= 1U << VIEW_CYCLES;
    }
    return ok;
}

static bool has_event_named(const struct trace *trace, uint32_t name)
{
    for (uint32_t i = 0; name != STRTAB_NONE && i < trace->events.count; i++) {
        if (trace->events.name[i] == name && trace_phase(&trace->events, i) != 'M') {
            return true;
        }
    }
    return false;
}

static bool run(struct search *s,
                const struct trace_index *index,
                const struct cycles_options *options,
                struct trace_results *results)
{
    return cycle_events_init(&s->events, index, s->marker == CYCLE_NONE) && find_cycles(s) &&
           write_results(s, options, results);
}

bool cycles_run(const struct trace_index *index,
                const struct cycles_options *options,
                struct trace_results *results,
                struct err *err)
{
    const struct trace *trace = index->trace;
    static const struct cycles_options nothing_special = {NULL, NULL};
    const struct cycles_options *wanted = options == NULL ? &nothing_special : options;
    struct search search = {.marker = CYCLE_NONE};
    if (wanted->marker != NULL) {
        uint32_t name = strtab_find(trace->strings, wanted->marker, strlen(wanted->marker));
        bool is_name = has_event_named(trace, name);
        search.marker = is_name ? name : CYCLE_NONE;
        search.phase = is_name ? NULL : wanted->marker;
    }
    bool ok = run(&search, index, wanted, results);
    cycle_set_free(&search.set);
    cycle_calls_free(&search.calls);
    cycle_events_free(&search.events);
    scratch_free(search.self_ns);
    if (ok && search.is_nothing) {
        return err_set(err, ERR_BAD_REQUEST,
                       "no event is named \"%.200s\": the marker is a name as it stands in the "
                       "trace, or an engine and a phase of its steps (vllm:decode)",
                       wanted->marker);
    }
    return ok || err_set(err, ERR_NO_MEMORY, "Not enough memory to find cycles in %u events.",
                         trace->events.count);
}
