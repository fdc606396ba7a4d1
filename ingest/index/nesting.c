#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/stages.h"

struct nesting {
    struct trace_index *index;
    int64_t top_end_ns;
    uint32_t top;     /* innermost open event, INDEX_NONE; below each lies its parent */
    size_t depth;     /* open events */
    int64_t *covered; /* by depth: until when children were seen */
    size_t covered_cap;
    uint32_t *operators; /* that have started, in order; those on top have not ended */
    size_t operator_count;
    size_t operators_cap;
    bool has_calls;
};

static int64_t end_ns(const struct trace_index *index, uint32_t event)
{
    const struct trace_events *events = &index->trace->events;
    return saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
}

static void close_top(struct nesting *n, uint32_t place)
{
    n->index->end[n->top] = place;
    n->top = n->index->parent[n->top];
    n->top_end_ns = n->top == INDEX_NONE ? 0 : end_ns(n->index, n->top);
    n->depth--;
}

/* The part of a child that no child before it covers. */
static void take_from_parent(struct nesting *n, int64_t start, int64_t end)
{
    int64_t *covered = &n->covered[n->depth - 1];
    int64_t from = i64_max(*covered, start);
    if (end > from) {
        n->index->self_ns[n->top] -= end - from;
        *covered = end;
    }
}

static bool open_event(struct nesting *n, uint32_t place)
{
    struct trace_index *index = n->index;
    uint32_t event = index->in_order[place];
    int64_t start = index->trace->events.ts_ns[event];
    int64_t end = end_ns(index, event);
    while (n->top != INDEX_NONE && (n->top_end_ns <= start || n->top_end_ns < end)) {
        close_top(n, place);
    }
    uint32_t parent = n->top;
    if (parent != INDEX_NONE) {
        take_from_parent(n, start, end);
        index->op[event] =
            index_class(index, parent) == INDEX_OPERATOR ? parent : index->op[parent];
    }
    index->parent[event] = parent;
    index->self_ns[event] = end - start;
    int64_t *covered = scratch_grow(n->covered, n->depth, &n->covered_cap, sizeof *covered);
    if (covered == NULL) {
        return false;
    }
    n->covered = covered;
    covered[n->depth++] = start;
    n->top = event;
    n->top_end_ns = end;
    return true;
}

static bool open_operator(struct nesting *n, uint32_t event)
{
    uint32_t *operators =
        scratch_grow(n->operators, n->operator_count, &n->operators_cap, sizeof *operators);
    if (operators == NULL) {
        return false;
    }
    n->operators = operators;
    operators[n->operator_count++] = event;
    return true;
}

/* Of those that run at the start of a call the one that started last; one that starts with the call
 * runs, however short. */
static uint32_t running_operator(struct nesting *n, int64_t start)
{
    const struct trace_index *index = n->index;
    while (n->operator_count > 0) {
        uint32_t event = n->operators[n->operator_count - 1];
        if (end_ns(index, event) > start || index->trace->events.ts_ns[event] == start) {
            return event;
        }
        n->operator_count--;
    }
    return INDEX_NONE;
}

/* Events that start together, so that calls see all operators that do. Theirs wait in `launch`:
 * what lies in a call asks for the operator around that one. */
static bool nest_run(struct nesting *n, struct index_range run)
{
    struct trace_index *index = n->index;
    bool has_call = false;
    bool ok = true;
    for (uint32_t place = run.first; ok && place < run.end; place++) {
        uint32_t event = index->in_order[place];
        enum index_class class = index_class(index, event);
        has_call = has_call || index_is_call(class);
        ok = open_event(n, place) && (class != INDEX_OPERATOR || open_operator(n, event));
    }
    for (uint32_t place = run.first; ok && has_call && place < run.end; place++) {
        uint32_t event = index->in_order[place];
        if (index_is_call(index_class(index, event))) {
            index->launch[event] = running_operator(n, index->trace->events.ts_ns[event]);
            n->has_calls = true;
        }
    }
    return ok;
}

static void set_operators_of_calls(struct trace_index *index, struct index_range thread)
{
    for (uint32_t i = thread.first; i < thread.end; i++) {
        uint32_t event = index->in_order[i];
        if (index_is_call(index_class(index, event))) {
            index->op[event] = index->launch[event];
            index->launch[event] = INDEX_NONE;
        }
    }
}

static bool nest_thread(struct nesting *n, struct index_range thread)
{
    const struct trace_index *index = n->index;
    const int64_t *ts_ns = index->trace->events.ts_ns;
    bool ok = true;
    n->operator_count = 0;
    n->has_calls = false;
    for (struct index_range run = {.first = thread.first}; ok && run.first < thread.end;
         run.first = run.end) {
        int64_t start = ts_ns[index->in_order[run.first]];
        run.end = run.first + 1;
        while (run.end < thread.end && ts_ns[index->in_order[run.end]] == start) {
            run.end++;
        }
        ok = nest_run(n, run);
    }
    while (ok && n->top != INDEX_NONE) {
        close_top(n, thread.end);
    }
    if (ok && n->has_calls) {
        set_operators_of_calls(n->index, thread);
    }
    return ok;
}

bool index_nest(struct trace_index *index)
{
    struct nesting n = {.index = index, .top = INDEX_NONE};
    bool ok = true;
    for (uint32_t t = 0; ok && t < index->thread_count; t++) {
        ok = nest_thread(&n, index->threads[t].events);
    }
    SCRATCH_FREE(n.covered, n.operators);
    return ok;
}
