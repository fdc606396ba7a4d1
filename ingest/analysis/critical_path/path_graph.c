#include "ingest/analysis/critical_path/path_graph.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"
#include "ingest/base/thread.h"
#include "ingest/index/sort.h"

#include <string.h>

/* Edges at most, which bounds the memory: real traces have one or two an event. A context that
 * waits has one of every stream. */
#define EDGES_PER_EVENT 8
#define EDGES_OF_ANY_TRACE ((size_t)1 << 20)
/* So many are sorted where they stand. */
#define FEW_EDGES 16

const char *path_edge_type_text(enum path_edge_type type)
{
    static const char *const texts[PATH_EDGE_TYPE_COUNT] = {"operator", "dependency", "launch",
                                                            "kernel_kernel", "sync"};
    return texts[type];
}

static const char *name_of(const struct path_graph *graph, uint32_t event)
{
    const struct trace *trace = graph->causes->trace;
    return strtab_text(trace->strings, trace->events.name[event]);
}

bool path_graph_name_is(const struct path_graph *graph, uint32_t event, const char *name)
{
    return strcmp(name_of(graph, event), name) == 0;
}

static uint8_t look_at_name(const struct path_graph *graph, const char *name)
{
    static const char *const locks[] = {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"};
    static const char *const blocks[] = {"cudaDeviceSynchronize",
                                         "cudaStreamSynchronize",
                                         "cudaEventQuery",
                                         "cudaEventSynchronize",
                                         "cudaMemcpy",
                                         "cudaMemcpyAsync"};
    unsigned flags = PATH_NAME_KNOWN;
    for (size_t i = 0; i < graph->options->loading_count; i++) {
        flags |= strstr(name, graph->options->loading[i]) != NULL ? PATH_NAME_LOADS : 0;
    }
    flags |= TEXT_IS_ONE_OF(name, locks) ? PATH_NAME_LOCKS : 0;
    flags |= TEXT_IS_ONE_OF(name, blocks) ? PATH_NAME_BLOCKS : 0;
    flags |= strcmp(name, "Stream Wait Event") == 0 ? PATH_NAME_WAITS : 0;
    flags |= strcmp(name, "cudaEventRecord") == 0 ? PATH_NAME_RECORDS : 0;
    flags |= strstr(name, "forward") != NULL ? PATH_NAME_FORWARD : 0;
    flags |= strstr(name, "autograd") != NULL ? PATH_NAME_AUTOGRAD : 0;
    return (uint8_t)flags;
}

uint8_t path_look_at_name(const struct path_graph *graph, uint32_t name)
{
    uint8_t *flags = &graph->name_flags[name];
    *flags = look_at_name(graph, strtab_text(graph->causes->trace->strings, name));
    return *flags;
}

static bool look_at_classes(struct path_graph *graph)
{
    const struct trace *trace = graph->causes->trace;
    const struct trace_events *events = &trace->events;
    graph->class_flags = scratch_calloc(events->class_count, sizeof *graph->class_flags);
    for (uint32_t i = 0; graph->class_flags != NULL && i < events->class_count; i++) {
        const struct event_class *class = &events->classes[i];
        const char *category = strtab_text(trace->strings, trace->categories[class->category]);
        static const char *const calls[] = {"cuda_runtime", "cuda_driver", "Runtime"};
        bool is_call = TEXT_IS_ONE_OF(category, calls);
        unsigned flags = is_call ? PATH_CLASS_CUDA_CALL : 0;
        flags |= causes_class_takes_part(trace, class) ? PATH_CLASS_TAKES_PART : 0;
        flags |= strcmp(category, "cuda_sync") == 0 ? PATH_CLASS_SYNC : 0;
        graph->class_flags[i] = (uint8_t)flags;
    }
    return graph->class_flags != NULL;
}

static bool takes_part(const struct path_graph *graph, uint32_t event)
{
    return path_class_has(graph, event, PATH_CLASS_TAKES_PART);
}

static int64_t end_of(const struct path_graph *graph, uint32_t event)
{
    const struct trace_events *events = &graph->causes->trace->events;
    return saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
}

/* ---- who takes part ---- */

static bool find_streams(struct path_graph *graph)
{
    const struct trace *trace = graph->causes->trace;
    uint32_t count = trace->events.count;
    graph->stream = scratch_alloc(count, sizeof *graph->stream);
    if (graph->stream == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        graph->stream[i] = i64_max(-1, causes_stream(trace, i));
    }
    for (uint32_t i = 0; i < trace->wait_count; i++) {
        graph->stream[trace->waits[i].event] = i64_max(-1, trace->waits[i].stream);
    }
    return true;
}

static bool is_device_side(const struct path_graph *graph, uint32_t event)
{
    return (graph->stream[event] >= 0 && causes_correlation(graph->causes->trace, event) >= 0) ||
           causes_name_is(graph->causes, event, CAUSES_RECORDS_WAIT);
}

/* By number of a correlation: its last event in the file on each side; PATH_NONE. */
struct side_ends {
    uint32_t event[2];
};

/* `linked` becomes the number of each event's correlation. */
static bool find_side_ends(struct path_graph *graph, struct side_ends *ends, struct id_map *ids)
{
    const struct trace *trace = graph->causes->trace;
    for (uint32_t i = 0; i < trace->events.count; i++) {
        int64_t correlation = takes_part(graph, i) ? causes_correlation(trace, i) : -1;
        if (correlation < 0) {
            continue;
        }
        uint32_t known = ids->count;
        const struct id_slot *slot = id_map_add(ids, correlation);
        if (slot == NULL) {
            return false;
        }
        if (slot->index == known) {
            ends[known] = (struct side_ends){{PATH_NONE, PATH_NONE}};
        }
        ends[slot->index].event[is_device_side(graph, i)] = i;
        graph->linked[i] = slot->index;
    }
    return true;
}

static bool link_sides(struct path_graph *graph)
{
    uint32_t count = graph->causes->trace->events.count;
    struct side_ends *ends = scratch_alloc(count, sizeof *ends);
    struct id_map ids;
    id_map_init(&ids);
    graph->linked = scratch_none(count);
    bool ok = ends != NULL && graph->linked != NULL && find_side_ends(graph, ends, &ids);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t id = graph->linked[i];
        graph->linked[i] = id == PATH_NONE ? PATH_NONE : ends[id].event[!is_device_side(graph, i)];
    }
    scratch_free(ends);
    id_map_free(&ids);
    return ok;
}

static void widen(struct path_graph *graph, uint32_t event, bool is_first)
{
    int64_t ts_ns = graph->causes->trace->events.ts_ns[event];
    int64_t end_ns = end_of(graph, event);
    graph->start_ns = is_first ? ts_ns : i64_min(graph->start_ns, ts_ns);
    graph->end_ns = is_first ? end_ns : i64_max(graph->end_ns, end_ns);
}

/* The instances asked for of the events whose names contain the text, in file order. */
static void find_window(struct path_graph *graph)
{
    const struct trace *trace = graph->causes->trace;
    const struct path_options *options = graph->options;
    bool is_whole = *options->annotation == '\0';
    uint64_t seen = 0;
    uint64_t taken = 0;
    for (uint32_t i = 0; i < trace->events.count; i++) {
        if (!takes_part(graph, i) ||
            (!is_whole && strstr(name_of(graph, i), options->annotation) == NULL)) {
            continue;
        }
        bool is_asked =
            is_whole || (seen >= options->first_instance && seen <= options->last_instance);
        if (is_asked) {
            widen(graph, i, taken++ == 0);
        }
        seen++;
    }
    bool is_there = is_whole || (options->first_instance <= options->last_instance &&
                                 taken == options->last_instance - options->first_instance + 1);
    graph->state = is_there ? PATH_BUILT : PATH_NO_ANNOTATION;
}

static bool host_takes_part(const struct path_graph *graph, uint32_t event)
{
    const struct trace_events *events = &graph->causes->trace->events;
    return graph->stream[event] < 0 && graph->start_ns <= events->ts_ns[event] &&
           events->ts_ns[event] <= graph->end_ns && trace_dur_ns(events, event) > 0;
}

static bool choose_events(struct path_graph *graph)
{
    const struct trace *trace = graph->causes->trace;
    uint32_t count = trace->events.count;
    graph->takes_part = scratch_calloc(count, sizeof *graph->takes_part);
    for (uint32_t i = 0; graph->takes_part != NULL && i < count; i++) {
        graph->takes_part[i] = takes_part(graph, i) && host_takes_part(graph, i);
    }
    for (uint32_t i = 0; graph->takes_part != NULL && i < count; i++) {
        if (takes_part(graph, i) && path_name_has(graph, i, PATH_NAME_WAITS)) {
            graph->takes_part[i] = true;
        } else if (graph->stream[i] >= 0) {
            graph->takes_part[i] = graph->linked[i] != PATH_NONE &&
                                   graph->stream[graph->linked[i]] < 0 &&
                                   graph->takes_part[graph->linked[i]];
        }
    }
    return graph->takes_part != NULL;
}

/* ---- nodes ---- */

static bool has_nodes(const struct path_graph *graph, uint32_t event)
{
    return graph->takes_part[event] &&
           (graph->causes->role[event] == CAUSES_OPERATOR ||
            (graph->stream[event] >= 0 && graph->linked[event] != PATH_NONE) ||
            path_name_has(graph, event, PATH_NAME_LOADS) ||
            path_class_has(graph, event, PATH_CLASS_CUDA_CALL));
}

/* The nodes of `events`, of which event i has nodes 2i and 2i + 1 until they are in order. */
static bool order_nodes(struct path_graph *graph, const uint32_t *events, uint32_t count)
{
    uint32_t *order = scratch_alloc(count, sizeof *order);
    int64_t *ts_ns = scratch_alloc(count, sizeof *ts_ns);
    graph->nodes = scratch_alloc(count, sizeof *graph->nodes);
    bool ok = order != NULL && ts_ns != NULL && graph->nodes != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t event = events[i / 2];
        order[i] = i;
        ts_ns[i] = i % 2 == 0 ? graph->causes->trace->events.ts_ns[event] : end_of(graph, event);
    }
    ok = ok && sort_by_key(order, count, ts_ns);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t event = events[order[i] / 2];
        bool is_end = order[i] % 2 == 1;
        graph->nodes[i] = (struct path_node){ts_ns[order[i]], event, is_end};
        (is_end ? graph->last : graph->first)[event] = i;
    }
    graph->node_count = ok ? count : 0;
    SCRATCH_FREE(order, ts_ns);
    return ok;
}

static bool make_nodes(struct path_graph *graph)
{
    uint32_t event_count = graph->causes->trace->events.count;
    uint32_t *events = scratch_alloc(event_count, sizeof *events);
    uint32_t count = 0;
    graph->first = scratch_none(event_count);
    graph->last = scratch_none(event_count);
    bool ok = events != NULL && graph->first != NULL && graph->last != NULL;
    for (uint32_t i = 0; ok && i < event_count; i++) {
        if (has_nodes(graph, i)) {
            events[count++] = i;
        }
    }
    ok = ok && count < PATH_NONE / 2 && order_nodes(graph, events, count * 2);
    scratch_free(events);
    return ok;
}

/* ---- edges ---- */

static size_t edges_max(const struct path_graph *graph)
{
    return (size_t)graph->causes->trace->events.count * EDGES_PER_EVENT + EDGES_OF_ANY_TRACE + 1;
}

bool path_graph_add(struct path_graph *graph,
                    uint32_t from,
                    uint32_t to,
                    enum path_edge_type type,
                    uint32_t event,
                    int64_t weight_ns)
{
    if (from == PATH_NONE || to == PATH_NONE || from == to || graph->state != PATH_BUILT) {
        return true;
    }
    if (graph->edge_count >= edges_max(graph)) {
        graph->state = PATH_TOO_MANY;
        return true;
    }
    if (type == PATH_DEPENDENCY || type == PATH_SYNC) {
        weight_ns = 0;
    } else if (weight_ns < 0) {
        weight_ns = i64_max(0, saturating_sub(graph->nodes[to].ts_ns, graph->nodes[from].ts_ns));
    }
    struct path_edge *grown =
        scratch_grow(graph->edges, graph->edge_count, &graph->edge_cap, sizeof *graph->edges);
    if (grown == NULL) {
        return false;
    }
    graph->edges = grown;
    grown[graph->edge_count++] = (struct path_edge){from, to, weight_ns, event, (uint8_t)type};
    return true;
}

/* Most graphs have about as many edges as nodes; room that is not used takes no memory. */
static bool reserve_edges(struct path_graph *graph)
{
    graph->edge_cap = (size_t)graph->node_count + graph->node_count / 4;
    graph->edges = scratch_alloc(graph->edge_cap, sizeof *graph->edges);
    return graph->edges != NULL;
}

/* [CAU-3.3] rule 1: an end waits for all starts since the end before. */
static bool add_driver_lock(struct path_graph *graph)
{
    uint32_t *waiting = scratch_alloc(graph->node_count, sizeof *waiting);
    uint32_t count = 0;
    uint32_t before = PATH_NONE;
    bool ok = waiting != NULL;
    for (uint32_t i = 0; ok && i < graph->node_count; i++) {
        const struct path_node *node = &graph->nodes[i];
        if (!path_name_has(graph, node->event, PATH_NAME_LOCKS)) {
            continue;
        }
        if (!node->is_end) {
            waiting[count++] = i;
        } else {
            for (uint32_t at = 0; ok && at < count; at++) {
                bool is_own = graph->nodes[waiting[at]].event == node->event;
                ok = path_graph_add(graph, waiting[at], i, is_own ? PATH_OPERATOR : PATH_DEPENDENCY,
                                    is_own ? node->event : PATH_NONE, PATH_BETWEEN);
            }
            count = 0;
            bool follows_end = before != PATH_NONE && graph->nodes[before].is_end;
            ok = ok && path_graph_add(graph, follows_end ? before : PATH_NONE, i, PATH_DEPENDENCY,
                                      PATH_NONE, PATH_BETWEEN);
        }
        before = i;
    }
    scratch_free(waiting);
    return ok;
}

static bool add_device(void *graph, struct err *err)
{
    return path_add_device(graph) || err_set(err, ERR_NO_MEMORY, "no memory for a path");
}

/* Those of the device behind the others. */
static bool take_edges(struct path_graph *graph, const struct path_graph *device)
{
    size_t count = graph->edge_count + device->edge_count;
    graph->unmatched_waits = device->unmatched_waits;
    if (device->state != PATH_BUILT || count > edges_max(graph)) {
        graph->state = PATH_TOO_MANY;
        return true;
    }
    if (count > graph->edge_cap) {
        struct path_edge *grown = scratch_resize(graph->edges, count, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        graph->edges = grown;
        graph->edge_cap = count;
    }
    memcpy(graph->edges + graph->edge_count, device->edges,
           device->edge_count * sizeof *graph->edges);
    graph->edge_count = count;
    return true;
}

/* Beside each other: they add edges of their own, and all else they only read. Names of what takes
 * part are known since choose_events. */
static bool add_nesting_and_device(struct path_graph *graph)
{
    struct err err = ERR_INIT;
    struct path_graph device = *graph;
    struct thread_helper helper;
    if (graph->node_count < PATH_NODES_FOR_A_THREAD) {
        return path_add_nesting(graph) && path_add_device(graph);
    }
    device.edge_count = 0;
    thread_helper_init(&helper, add_device, &device);
    bool ok = reserve_edges(&device) && thread_helper_give(&helper, &err);
    ok = ok && path_add_nesting(graph);
    ok = thread_helper_wait(&helper, &err) && ok && take_edges(graph, &device);
    thread_helper_end(&helper);
    scratch_free(device.edges);
    return ok;
}

/* The edges of a node by where they lead; those that lead to one node in the order of their making.
 * False without memory. */
static bool order_edges(const struct path_graph *graph, uint32_t *places, size_t count)
{
    if (count > FEW_EDGES) {
        int64_t *to = scratch_alloc(count, sizeof *to);
        bool ok = to != NULL;
        for (size_t i = 0; ok && i < count; i++) {
            to[i] = graph->edges[places[i]].to;
        }
        ok = ok && sort_pairs(to, places, count);
        scratch_free(to);
        return ok;
    }
    for (size_t i = 1; i < count; i++) {
        uint32_t place = places[i];
        size_t at = i;
        for (; at > 0 && graph->edges[places[at - 1]].to > graph->edges[place].to; at--) {
            places[at] = places[at - 1];
        }
        places[at] = place;
    }
    return true;
}

/* Numbers of edges by the node they leave, in the order of their making. `ends` says where those
 * of each node end. False without memory. */
static bool place_edges(const struct path_graph *graph, uint32_t *places, uint32_t *ends)
{
    for (size_t i = 0; i < graph->edge_count; i++) {
        ends[graph->edges[i].from]++;
    }
    (void)sort_places(ends, graph->node_count);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        places[ends[graph->edges[i].from]++] = i;
    }
    bool ok = true;
    for (uint32_t node = 0; ok && node < graph->node_count; node++) {
        uint32_t first = node == 0 ? 0 : ends[node - 1];
        ok = order_edges(graph, places + first, ends[node] - first);
    }
    return ok;
}

/* By nodes; of those between two nodes the one that was made last stays. */
static bool settle_edges(struct path_graph *graph)
{
    size_t count = graph->edge_count;
    uint32_t *places = scratch_alloc(count, sizeof *places);
    uint32_t *ends = scratch_calloc(graph->node_count, sizeof *ends);
    struct path_edge *settled = scratch_alloc(count, sizeof *settled);
    bool ok = places != NULL && ends != NULL && settled != NULL && count < UINT32_MAX &&
              place_edges(graph, places, ends);
    size_t n = 0;
    for (size_t i = 0; ok && i < count; i++) {
        const struct path_edge *edge = &graph->edges[places[i]];
        bool replaces = n > 0 && settled[n - 1].from == edge->from && settled[n - 1].to == edge->to;
        n -= replaces ? 1 : 0;
        settled[n++] = *edge;
    }
    SCRATCH_FREE(places, ends);
    if (!ok) {
        scratch_free(settled);
        return false;
    }
    scratch_free(graph->edges);
    graph->edges = settled;
    graph->edge_count = n;
    return true;
}

/* What only the making needs. */
static void free_links(struct path_graph *graph)
{
    SCRATCH_FREE(graph->takes_part, graph->linked, graph->first, graph->last);
    graph->takes_part = NULL;
    graph->linked = graph->first = graph->last = NULL;
}

bool path_graph_build(struct path_graph *graph,
                      const struct causes *causes,
                      const struct path_options *options)
{
    *graph = (struct path_graph){.causes = causes, .options = options};
    graph->name_flags = scratch_calloc(strtab_count(causes->trace->strings), 1);
    if (graph->name_flags == NULL || !look_at_classes(graph) || !find_streams(graph) ||
        !link_sides(graph)) {
        return false;
    }
    find_window(graph);
    if (graph->state != PATH_BUILT) {
        return true;
    }
    bool ok = choose_events(graph) && make_nodes(graph) && reserve_edges(graph) &&
              add_driver_lock(graph) && add_nesting_and_device(graph);
    free_links(graph);
    return ok && settle_edges(graph);
}

void path_graph_free(struct path_graph *graph)
{
    SCRATCH_FREE(graph->name_flags, graph->class_flags, graph->stream, graph->nodes, graph->edges);
    free_links(graph);
}
