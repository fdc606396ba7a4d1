/* [CAU-3.3] rule 2: on a host thread each start and end follows the one before. */
#include "ingest/analysis/critical_path/path_graph.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

/* Ends and starts of events of threads: point i is the end of events[i], point count + i its start,
 * so that a stable sort leaves ends in front of the starts of their time. */
struct points {
    const struct path_graph *graph;
    uint32_t *events; /* of host threads that take part, in file order */
    uint32_t *thread; /* of each */
    uint32_t count;
    uint32_t *order;
};

/* ---- threads ---- */

/* The one thread number whose operators or annotations have the word in their names: STRTAB_NONE
 * when there is none, or more than one. `but`: not that one. */
static uint32_t only_thread_with(const struct path_graph *graph,
                                 enum path_name_flag word,
                                 const uint8_t *but,
                                 uint8_t *found)
{
    const struct trace *trace = graph->causes->trace;
    uint32_t only = STRTAB_NONE;
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->events.count; i++) {
        bool is_asked = graph->takes_part[i] && graph->stream[i] < 0 &&
                        (graph->causes->role[i] == CAUSES_OPERATOR ||
                         trace_kind(&trace->events, i) == EVENT_USER_ANNOTATION);
        if (!is_asked || !path_name_has(graph, i, word)) {
            continue;
        }
        uint32_t tid = trace->tracks[trace_event_track(&trace->events, i)].tid_text;
        bool is_new = found[tid] == 0 && (but == NULL || but[tid] == 0);
        found[tid] = 1;
        count += is_new ? 1 : 0;
        only = is_new ? tid : only;
    }
    return count == 1 ? only : STRTAB_NONE;
}

/* The backward pass joins the forward pass, where one thread is each. */
static bool find_join(const struct path_graph *graph, uint32_t *from, uint32_t *to)
{
    uint32_t count = strtab_count(graph->causes->trace->strings);
    uint8_t *forward = scratch_calloc(count, sizeof *forward);
    uint8_t *backward = scratch_calloc(count, sizeof *backward);
    bool ok = forward != NULL && backward != NULL;
    if (ok) {
        *to = only_thread_with(graph, PATH_NAME_FORWARD, NULL, forward);
        *from = only_thread_with(graph, PATH_NAME_AUTOGRAD, forward, backward);
    }
    if (ok && (*to == STRTAB_NONE || *from == STRTAB_NONE)) {
        *from = STRTAB_NONE;
    }
    SCRATCH_FREE(forward, backward);
    return ok;
}

static bool list_points(struct points *points)
{
    const struct path_graph *graph = points->graph;
    const struct trace *trace = graph->causes->trace;
    uint32_t from = STRTAB_NONE;
    uint32_t to = STRTAB_NONE;
    struct key_map threads;
    key_map_init(&threads);
    points->events = scratch_alloc(trace->events.count, sizeof *points->events);
    points->thread = scratch_alloc(trace->events.count, sizeof *points->thread);
    bool ok = points->events != NULL && points->thread != NULL && find_join(graph, &from, &to);
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        if (graph->takes_part[i] && graph->stream[i] < 0) {
            const struct trace_track *track = &trace->tracks[trace_event_track(&trace->events, i)];
            bool joins = from != STRTAB_NONE && track->tid_text == from;
            struct key key = {{track->pid_text, joins ? to : track->tid_text, 0, 0}};
            uint32_t thread = key_map_add(&threads, key);
            ok = thread != KEY_MAP_NONE;
            points->events[points->count] = i;
            points->thread[points->count++] = thread;
        }
    }
    key_map_free(&threads);
    return ok;
}

/* Of a thread and a time, both ends or both starts: the shorter ends and the longer starts first,
 * equal ones as they nest. */
static int compare_points(uint32_t a, uint32_t b, const void *points_void)
{
    const struct points *points = points_void;
    const struct trace_events *events = &points->graph->causes->trace->events;
    uint32_t a_event = points->events[a % points->count];
    uint32_t b_event = points->events[b % points->count];
    int by_length = order_i64(trace_dur_ns(events, a_event), trace_dur_ns(events, b_event));
    int order = by_length != 0 ? -by_length : order_i64(a_event, b_event);
    return a < points->count ? -order : order;
}

/* Ends or starts of a thread and a time. Mostly there are two: an event and what it holds. */
static bool sort_equal(const struct points *points, uint32_t *order, size_t count)
{
    if (count != 2) {
        return count < 2 || sort_stable(order, count, compare_points, points);
    }
    uint32_t first = order[0];
    bool swaps = compare_points(first, order[1], points) > 0;
    order[0] = swaps ? order[1] : first;
    order[1] = swaps ? first : order[1];
    return true;
}

/* Both sorts are linear. */
static bool sort_points(struct points *points, int64_t *ns, int64_t *thread)
{
    size_t count = (size_t)points->count * 2;
    bool ok = sort_by_key(points->order, count, ns) && sort_by_key(points->order, count, thread);
    for (size_t first = 0; ok && first < count;) {
        uint32_t at = points->order[first];
        bool starts = at >= points->count;
        size_t end = first + 1;
        while (end < count && ns[points->order[end]] == ns[at] &&
               thread[points->order[end]] == thread[at] &&
               (points->order[end] >= points->count) == starts) {
            end++;
        }
        ok = sort_equal(points, points->order + first, end - first);
        first = end;
    }
    return ok;
}

static bool order_points(struct points *points)
{
    const struct trace_events *events = &points->graph->causes->trace->events;
    size_t count = (size_t)points->count * 2;
    int64_t *ns = scratch_alloc(count, sizeof *ns);
    int64_t *thread = scratch_alloc(count, sizeof *thread);
    points->order = scratch_alloc(count, sizeof *points->order);
    bool ok = ns != NULL && thread != NULL && points->order != NULL && count < UINT32_MAX;
    for (uint32_t i = 0; ok && i < points->count; i++) {
        uint32_t event = points->events[i];
        uint32_t start = points->count + i;
        points->order[i] = i;
        points->order[start] = start;
        ns[i] = saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
        ns[start] = events->ts_ns[event];
        thread[i] = thread[start] = points->thread[i];
    }
    ok = ok && sort_points(points, ns, thread);
    SCRATCH_FREE(ns, thread);
    return ok;
}

/* ---- the walk ---- */

struct open {
    uint32_t event; /* PATH_NONE: ended before what is above it */
    uint32_t below; /* open when it began; PATH_NONE */
};

struct walk {
    struct path_graph *graph;
    struct open *stack;
    uint32_t *place; /* on the stack, by number among the points' events; PATH_NONE: before it */
    uint32_t depth;
    uint32_t with_nodes;  /* open events that have nodes */
    uint32_t last;        /* node; PATH_NONE */
    uint32_t last_parent; /* event; PATH_NONE */
};

static bool share_lock(const struct path_graph *graph, uint32_t from, uint32_t to)
{
    const struct path_node *a = &graph->nodes[from];
    const struct path_node *b = &graph->nodes[to];
    return (!a->is_end || b->is_end) && path_name_has(graph, a->event, PATH_NAME_LOCKS) &&
           path_name_has(graph, b->event, PATH_NAME_LOCKS);
}

static bool step_to(struct walk *walk, uint32_t node, enum path_edge_type type, int64_t weight_ns)
{
    struct path_graph *graph = walk->graph;
    if (walk->last == PATH_NONE || share_lock(graph, walk->last, node)) {
        return true;
    }
    const struct path_node *before = &graph->nodes[walk->last];
    uint32_t whose = !before->is_end             ? before->event
                     : graph->nodes[node].is_end ? graph->nodes[node].event
                                                 : walk->last_parent;
    return path_graph_add(graph, walk->last, node, type, type == PATH_OPERATOR ? whose : PATH_NONE,
                          weight_ns);
}

static bool enter(struct walk *walk, uint32_t event)
{
    uint32_t below = walk->depth == 0 ? PATH_NONE : walk->stack[walk->depth - 1].event;
    uint32_t node = walk->graph->first[event];
    walk->stack[walk->depth++] = (struct open){event, below};
    if (node == PATH_NONE) {
        return true;
    }
    bool ok =
        step_to(walk, node, walk->with_nodes > 0 ? PATH_OPERATOR : PATH_DEPENDENCY, PATH_BETWEEN);
    walk->with_nodes++;
    walk->last = node;
    walk->last_parent = below;
    return ok;
}

static bool ends_later(const struct walk *walk, uint32_t a, uint32_t b)
{
    const struct trace_events *events = &walk->graph->causes->trace->events;
    return a != b && saturating_add(events->ts_ns[a], trace_dur_ns(events, a)) >
                         saturating_add(events->ts_ns[b], trace_dur_ns(events, b));
}

/* Takes what is on top, which may be another event. With ends of their own, if that ends later, the
 * event itself from where it is; one without length ends before it begins, and is nowhere. */
static struct open take(struct walk *walk, uint32_t event, uint32_t place)
{
    struct open *top = &walk->stack[walk->depth - 1];
    bool crosses =
        walk->graph->options->own_ends && place != PATH_NONE && ends_later(walk, top->event, event);
    struct open *from = crosses ? &walk->stack[place] : top;
    struct open taken = {from->event, crosses ? top->event : from->below};
    from->event = PATH_NONE;
    while (walk->depth > 0 && walk->stack[walk->depth - 1].event == PATH_NONE) {
        walk->depth--;
    }
    return taken;
}

static bool leave(struct walk *walk, uint32_t event, uint32_t place)
{
    if (walk->depth == 0) {
        return true;
    }
    struct open left = take(walk, event, place);
    uint32_t node = left.event == PATH_NONE ? PATH_NONE : walk->graph->last[left.event];
    if (node == PATH_NONE) {
        return true;
    }
    bool ok = step_to(walk, node, PATH_OPERATOR,
                      path_name_has(walk->graph, left.event, PATH_NAME_BLOCKS) ? 0 : PATH_BETWEEN);
    walk->with_nodes--;
    walk->last = node;
    walk->last_parent = left.below;
    return ok;
}

static bool walk_threads(struct path_graph *graph, const struct points *points)
{
    struct walk walk = {.graph = graph,
                        .stack = scratch_alloc(points->count, sizeof *walk.stack),
                        .place = scratch_none(points->count)};
    uint32_t thread = UINT32_MAX;
    bool ok = walk.stack != NULL && walk.place != NULL;
    for (uint32_t i = 0; ok && i < points->count * 2; i++) {
        uint32_t at = points->order[i] % points->count;
        if (points->thread[at] != thread) {
            thread = points->thread[at];
            walk.depth = 0;
            walk.with_nodes = 0;
            walk.last = PATH_NONE;
            walk.last_parent = PATH_NONE;
        }
        if (points->order[i] == at) {
            ok = leave(&walk, points->events[at], walk.place[at]);
        } else {
            walk.place[at] = walk.depth;
            ok = enter(&walk, points->events[at]);
        }
    }
    SCRATCH_FREE(walk.stack, walk.place);
    return ok;
}

bool path_add_nesting(struct path_graph *graph)
{
    struct points points = {.graph = graph};
    bool ok = list_points(&points) && order_points(&points) && walk_threads(graph, &points);
    SCRATCH_FREE(points.events, points.thread, points.order);
    return ok;
}
