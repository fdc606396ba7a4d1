/* [CAU-3.3] rule 2: on a host thread each start and end follows the one before. */
#include "ingest/analysis/critical_path/path_graph.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <string.h>

/* A start or an end of an event of a thread: point 2i is the start of events[i], 2i + 1 its end. */
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
                                 const char *word,
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
        if (!is_asked || strstr(strtab_text(trace->strings, trace->events.name[i]), word) == NULL) {
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
        *to = only_thread_with(graph, "forward", NULL, forward);
        *from = only_thread_with(graph, "autograd", forward, backward);
    }
    if (ok && (*to == STRTAB_NONE || *from == STRTAB_NONE)) {
        *from = STRTAB_NONE;
    }
    scratch_free(forward);
    scratch_free(backward);
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

static int compare_points(uint32_t a, uint32_t b, const void *points_void)
{
    const struct points *points = points_void;
    const struct trace_events *events = &points->graph->causes->trace->events;
    uint32_t a_event = points->events[a / 2];
    uint32_t b_event = points->events[b / 2];
    int64_t a_dur_ns = trace_dur_ns(events, a_event);
    int64_t b_dur_ns = trace_dur_ns(events, b_event);
    bool a_ends = a % 2 == 1;
    bool b_ends = b % 2 == 1;
    int64_t a_ns =
        a_ends ? saturating_add(events->ts_ns[a_event], a_dur_ns) : events->ts_ns[a_event];
    int64_t b_ns =
        b_ends ? saturating_add(events->ts_ns[b_event], b_dur_ns) : events->ts_ns[b_event];
    int by_thread = order_i64(points->thread[a / 2], points->thread[b / 2]);
    if (by_thread != 0 || a_ns != b_ns) {
        return by_thread != 0 ? by_thread : order_i64(a_ns, b_ns);
    }
    if (a_ends != b_ends) {
        return a_ends ? -1 : 1;
    }
    int by_length = order_i64(a_dur_ns, b_dur_ns);
    int by_event = order_i64(a_event, b_event);
    int order = by_length != 0 ? -by_length : by_event;
    return a_ends ? -order : order;
}

static bool order_points(struct points *points)
{
    points->order = scratch_alloc((size_t)points->count * 2, sizeof *points->order);
    bool ok = points->order != NULL && points->count < UINT32_MAX / 2;
    for (uint32_t i = 0; ok && i < points->count * 2; i++) {
        points->order[i] = i;
    }
    return ok && sort_stable(points->order, (size_t)points->count * 2, compare_points, points);
}

/* ---- the walk ---- */

struct open {
    uint32_t event;
    uint32_t below; /* open when it began; PATH_NONE */
};

struct walk {
    struct path_graph *graph;
    struct open *stack;
    size_t depth;
    uint32_t with_nodes;  /* open events that have nodes */
    uint32_t last;        /* node; PATH_NONE */
    uint32_t last_parent; /* event; PATH_NONE */
};

static bool share_lock(const struct path_graph *graph, uint32_t from, uint32_t to)
{
    const struct path_node *a = &graph->nodes[from];
    const struct path_node *b = &graph->nodes[to];
    return (!a->is_end || b->is_end) && path_takes_lock(graph, a->event) &&
           path_takes_lock(graph, b->event);
}

static bool blocks(const struct path_graph *graph, uint32_t event)
{
    static const char *const names[] = {"cudaDeviceSynchronize",
                                        "cudaStreamSynchronize",
                                        "cudaEventQuery",
                                        "cudaEventSynchronize",
                                        "cudaMemcpy",
                                        "cudaMemcpyAsync"};
    bool does = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        does = does || path_graph_name_is(graph, event, names[i]);
    }
    return does;
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

/* Leaves what is on top, which may be another event than the one that ends. */
static bool leave(struct walk *walk)
{
    if (walk->depth == 0) {
        return true;
    }
    struct open top = walk->stack[--walk->depth];
    uint32_t node = walk->graph->last[top.event];
    if (node == PATH_NONE) {
        return true;
    }
    bool ok = step_to(walk, node, PATH_OPERATOR, blocks(walk->graph, top.event) ? 0 : PATH_BETWEEN);
    walk->with_nodes--;
    walk->last = node;
    walk->last_parent = top.below;
    return ok;
}

static bool walk_threads(struct path_graph *graph, const struct points *points)
{
    struct walk walk = {.graph = graph, .stack = scratch_alloc(points->count, sizeof *walk.stack)};
    uint32_t thread = UINT32_MAX;
    bool ok = walk.stack != NULL;
    for (uint32_t i = 0; ok && i < points->count * 2; i++) {
        uint32_t at = points->order[i] / 2;
        if (points->thread[at] != thread) {
            thread = points->thread[at];
            walk.depth = 0;
            walk.with_nodes = 0;
            walk.last = PATH_NONE;
            walk.last_parent = PATH_NONE;
        }
        ok = points->order[i] % 2 == 0 ? enter(&walk, points->events[at]) : leave(&walk);
    }
    scratch_free(walk.stack);
    return ok;
}

bool path_add_nesting(struct path_graph *graph)
{
    struct points points = {.graph = graph};
    bool ok = list_points(&points) && order_points(&points) && walk_threads(graph, &points);
    scratch_free(points.events);
    scratch_free(points.thread);
    scratch_free(points.order);
    return ok;
}
