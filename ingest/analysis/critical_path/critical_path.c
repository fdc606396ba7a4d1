#include "ingest/analysis/critical_path/critical_path.h"

#include "ingest/analysis/critical_path/path_longest.h"
#include "ingest/analysis/efficiency/counted_calls.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/thread.h"
#include "ingest/index/sort.h"

#include <math.h>
#include <string.h>

struct analysis {
    const struct path_request *request;
    int64_t zero_ns;
    struct arena *arena;
    struct critical_path *out;
    struct causes causes;
    struct path_graph graph;
    struct path_longest longest;
    uint8_t *is_on_path; /* by edge */
    uint32_t *path;      /* nodes of the path, from its start on */
    uint32_t path_count;
    int64_t *path_ns; /* by event: what it has of the path */
    double *roofline; /* by event: the share of its time that it has at the roofline; NULL: not
                         asked for */
};

const char *path_bound_text(enum path_bound bound)
{
    static const char *const texts[PATH_BOUND_COUNT] = {"cpu_bound",
                                                        "data_loading",
                                                        "gpu_compute_bound",
                                                        "gpu_communication_bound",
                                                        "gpu_kernel_kernel_overhead",
                                                        "gpu_kernel_launch_overhead"};
    return texts[bound];
}

static const char *name_of(const struct analysis *a, uint32_t event)
{
    const struct trace *trace = a->causes.trace;
    return strtab_text(trace->strings, trace->events.name[event]);
}

/* ---- the path ---- */

static bool trace_back(struct analysis *a)
{
    uint32_t node = a->longest.goal;
    a->is_on_path = scratch_calloc(a->graph.edge_count, sizeof *a->is_on_path);
    a->path = scratch_alloc(a->graph.node_count, sizeof *a->path);
    if (a->is_on_path == NULL || a->path == NULL) {
        return false;
    }
    while (node != PATH_NONE) {
        uint32_t edge = a->longest.edge[node];
        a->path[a->path_count++] = node;
        node = edge == PATH_NONE ? PATH_NONE : a->graph.edges[edge].from;
        if (edge != PATH_NONE) {
            a->is_on_path[edge] = 1;
        }
    }
    return true;
}

/* Kernels of communication libraries [HTA-2]. */
static bool communicates(const char *name)
{
    return strncmp(name, "nccl", 4) == 0 || strncmp(name, "hip", 3) == 0 ||
           strncmp(name, "hccl", 4) == 0 || strstr(name, "ncclKernel") != NULL;
}

/* What an edge of an event is bound by; PATH_NONE: of none. */
static enum path_bound bound_of(const struct analysis *a, uint32_t event)
{
    if (event == PATH_NONE) {
        return PATH_BOUND_CPU;
    }
    if (a->graph.stream[event] >= 0) {
        return communicates(name_of(a, event)) ? PATH_BOUND_COMMUNICATION : PATH_BOUND_COMPUTE;
    }
    return path_name_has(&a->graph, event, PATH_NAME_LOADS) ? PATH_BOUND_DATA_LOADING
                                                            : PATH_BOUND_CPU;
}

static void add_to_bounds(struct analysis *a, const struct path_edge *edge)
{
    enum path_bound bound = bound_of(a, edge->event);
    if (edge->type == PATH_DEPENDENCY || edge->type == PATH_SYNC) {
        return;
    }
    if (edge->type != PATH_OPERATOR) {
        bound = edge->type == PATH_LAUNCH ? PATH_BOUND_LAUNCH : PATH_BOUND_KERNEL_KERNEL;
    }
    a->out->bound_ns[bound] = saturating_add(a->out->bound_ns[bound], edge->weight_ns);
    if (edge->event != PATH_NONE) {
        a->path_ns[edge->event] = saturating_add(a->path_ns[edge->event], edge->weight_ns);
    }
}

static bool sum_path(struct analysis *a)
{
    a->path_ns = scratch_calloc(a->causes.trace->events.count, sizeof *a->path_ns);
    for (size_t i = 0; a->path_ns != NULL && i < a->graph.edge_count; i++) {
        const struct path_edge *edge = &a->graph.edges[i];
        a->out->edges_by_type[edge->type]++;
        if (a->is_on_path[i] != 0) {
            a->out->path_edges_by_type[edge->type]++;
            a->out->path_edges++;
            add_to_bounds(a, edge);
        }
    }
    a->out->path_nodes = a->path_count;
    return a->path_ns != NULL;
}

/* ---- events of the path ---- */

/* The text of a string id in the arena, which many rows share. NULL without memory. */
static const char *share_text(struct analysis *a, const char **texts, uint32_t id)
{
    if (texts[id] == NULL) {
        const struct strtab *strings = a->causes.trace->strings;
        texts[id] = arena_strndup(a->arena, strtab_text(strings, id), strtab_len(strings, id));
    }
    return texts[id];
}

/* `texts`: by string id, those that rows have already. */
static bool
write_event(struct analysis *a, uint32_t event, const char **texts, struct path_event_row *row)
{
    const struct trace *trace = a->causes.trace;
    const struct trace_events *events = &trace->events;
    bool is_on_device = a->graph.stream[event] >= 0;
    *row = (struct path_event_row){
        .event = event,
        .name = share_text(a, texts, events->name[event]),
        .category = share_text(a, texts, trace->categories[trace_category(events, event)]),
        .device = is_on_device ? causes_device(trace, event) : INT64_MIN,
        .stream = is_on_device ? a->graph.stream[event] : INT64_MIN,
        .start_ns = saturating_sub(events->ts_ns[event], a->zero_ns),
        .dur_ns = trace_dur_ns(events, event),
        .path_ns = a->path_ns[event],
        .bound = path_bound_text(bound_of(a, event)),
    };
    return row->name != NULL && row->category != NULL;
}

/* Each event once, in order of start, then of the file. */
static bool write_events(struct analysis *a)
{
    const struct trace_events *events = &a->causes.trace->events;
    uint8_t *is_there = scratch_calloc(events->count, sizeof *is_there);
    uint32_t *order = scratch_alloc(a->path_count, sizeof *order);
    const char **texts = scratch_calloc(strtab_count(a->causes.trace->strings), sizeof *texts);
    uint32_t count = 0;
    bool ok = is_there != NULL && order != NULL && texts != NULL;
    for (uint32_t i = 0; ok && i < a->path_count; i++) {
        is_there[a->graph.nodes[a->path[i]].event] = 1;
    }
    for (uint32_t i = 0; ok && i < events->count; i++) {
        if (is_there[i] != 0) {
            order[count++] = i;
        }
    }
    a->out->events = arena_alloc(a->arena, (size_t)count * sizeof *a->out->events);
    ok = ok && a->out->events != NULL && sort_by_key(order, count, events->ts_ns);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = write_event(a, order[i], texts, &a->out->events[i]);
    }
    a->out->event_count = ok ? count : 0;
    SCRATCH_FREE(is_there, order, texts);
    return ok;
}

static struct path_edge_row edge_row(const struct analysis *a, size_t at)
{
    const struct path_edge *edge = &a->graph.edges[at];
    const struct path_node *from = &a->graph.nodes[edge->from];
    const struct path_node *to = &a->graph.nodes[edge->to];
    return (struct path_edge_row){.type = path_edge_type_text((enum path_edge_type)edge->type),
                                  .weight_ns = edge->weight_ns,
                                  .from_event = from->event,
                                  .to_event = to->event,
                                  .event = causes_known(edge->event),
                                  .from_end = from->is_end ? "end" : "start",
                                  .to_end = to->is_end ? "end" : "start",
                                  .is_on_path = a->is_on_path[at] != 0};
}

static bool write_edges(struct analysis *a)
{
    enum path_edges_shown shown = a->request->edges;
    size_t total = shown == PATH_EDGES_NONE  ? 0
                   : shown == PATH_EDGES_ALL ? a->graph.edge_count
                                             : (size_t)a->out->path_edges;
    size_t first = a->request->first_edge < total ? a->request->first_edge : total;
    size_t rest = total - first;
    size_t most = a->request->edges_max;
    size_t count = most != 0 && most < rest ? most : rest;
    size_t seen = 0;
    a->out->edge_total = (int64_t)total;
    a->out->edges = arena_calloc(a->arena, count + 1, sizeof *a->out->edges);
    for (size_t i = 0; a->out->edges != NULL && a->out->edge_count < count; i++) {
        bool is_asked = shown == PATH_EDGES_ALL || a->is_on_path[i] != 0;
        if (is_asked && seen++ >= first) {
            a->out->edges[a->out->edge_count++] = edge_row(a, i);
        }
    }
    return a->out->edges != NULL;
}

/* ---- what if ---- */

/* weight * numerator / denominator, half to even. */
static int64_t scale(int64_t weight_ns, const struct path_scale *by)
{
    uint64_t weight = (uint64_t)weight_ns;
    uint64_t whole = weight / by->denominator;
    uint64_t part = weight % by->denominator * by->numerator;
    uint64_t rest = part % by->denominator;
    if (by->numerator > 0 && whole > (uint64_t)INT64_MAX / by->numerator) {
        return INT64_MAX;
    }
    uint64_t scaled = whole * by->numerator + part / by->denominator;
    bool rounds_up = rest * 2 > by->denominator || (rest * 2 == by->denominator && scaled % 2 == 1);
    scaled += rounds_up ? 1 : 0;
    return scaled > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)scaled;
}

static int64_t
scaled_weight(const struct analysis *a, const struct path_edge *edge, const struct path_scale *by)
{
    if (!by->at_roofline) {
        return scale(edge->weight_ns, by);
    }
    double share = a->roofline[edge->event];
    return share < 1 ? llrint((double)edge->weight_ns * share) : edge->weight_ns;
}

/* In weights that no scale of the same name has changed. */
static void scale_name(const struct analysis *a, const struct path_scale *by, int64_t *weights_ns)
{
    const struct trace *trace = a->causes.trace;
    uint32_t name = strtab_find(trace->strings, by->name, strlen(by->name));
    for (size_t i = 0; name != STRTAB_NONE && i < a->graph.edge_count; i++) {
        const struct path_edge *edge = &a->graph.edges[i];
        if (edge->type == PATH_OPERATOR && edge->event != PATH_NONE &&
            trace->events.name[edge->event] == name) {
            weights_ns[i] = scaled_weight(a, edge, by);
        }
    }
}

/* With all scales of the request. */
static int64_t length_with(struct analysis *a, int64_t *weights_ns, int64_t *reach_ns)
{
    for (size_t i = 0; i < a->graph.edge_count; i++) {
        weights_ns[i] = a->graph.edges[i].weight_ns;
    }
    for (size_t at = 0; at < a->request->scale_count; at++) {
        scale_name(a, &a->request->scales[at], weights_ns);
    }
    return path_longest_with(&a->longest, &a->graph, weights_ns, reach_ns);
}

/* A name and what its events have of the path. */
struct name_sum {
    uint32_t name;
    int64_t path_ns;
};

struct name_order {
    const struct analysis *a;
    const struct name_sum *sums;
};

static int compare_sums(uint32_t x, uint32_t y, const void *order_void)
{
    const struct name_order *order = order_void;
    const struct strtab *strings = order->a->causes.trace->strings;
    int64_t x_ns = order->sums[x].path_ns;
    int64_t y_ns = order->sums[y].path_ns;
    if (x_ns != y_ns) {
        return x_ns > y_ns ? -1 : 1;
    }
    return strcmp(strtab_text(strings, order->sums[x].name),
                  strtab_text(strings, order->sums[y].name));
}

/* Names that have an event with a part of the path, in order of their numbers. */
static bool sum_names(struct analysis *a, struct name_sum **out, uint32_t *count)
{
    const struct trace *trace = a->causes.trace;
    uint32_t names = strtab_count(trace->strings);
    int64_t *by_name = scratch_calloc(names, sizeof *by_name);
    uint8_t *is_there = scratch_calloc(names, sizeof *is_there);
    struct name_sum *sums = scratch_alloc(names, sizeof *sums);
    bool ok = by_name != NULL && is_there != NULL && sums != NULL;
    for (size_t i = 0; ok && i < a->graph.edge_count; i++) {
        const struct path_edge *edge = &a->graph.edges[i];
        bool counts = a->is_on_path[i] != 0 && edge->event != PATH_NONE &&
                      edge->type != PATH_DEPENDENCY && edge->type != PATH_SYNC;
        if (counts) {
            uint32_t name = trace->events.name[edge->event];
            is_there[name] = 1;
            by_name[name] = saturating_add(by_name[name], edge->weight_ns);
        }
    }
    *count = 0;
    for (uint32_t i = 0; ok && i < names; i++) {
        if (is_there[i] != 0) {
            sums[(*count)++] = (struct name_sum){i, by_name[i]};
        }
    }
    SCRATCH_FREE(by_name, is_there);
    *out = sums;
    return ok;
}

#define NO_LANE UINT8_MAX

/* By edge: the place of its name among `order`, if scaling the name would scale it; NO_LANE. */
static uint8_t *find_lanes(const struct analysis *a,
                           const struct name_sum *sums,
                           const uint32_t *order,
                           size_t count)
{
    const struct trace *trace = a->causes.trace;
    uint32_t names = strtab_count(trace->strings);
    uint8_t *by_name = scratch_alloc(names, sizeof *by_name);
    uint8_t *lane_of = scratch_alloc(a->graph.edge_count, sizeof *lane_of);
    bool ok = by_name != NULL && lane_of != NULL;
    if (ok) {
        memset(by_name, NO_LANE, names);
    }
    for (size_t i = 0; ok && i < count; i++) {
        by_name[sums[order[i]].name] = (uint8_t)i;
    }
    for (size_t i = 0; ok && i < a->graph.edge_count; i++) {
        const struct path_edge *edge = &a->graph.edges[i];
        bool has_name = edge->type == PATH_OPERATOR && edge->event != PATH_NONE;
        lane_of[i] = has_name ? by_name[trace->events.name[edge->event]] : NO_LANE;
    }
    scratch_free(by_name);
    if (!ok) {
        scratch_free(lane_of);
    }
    return ok ? lane_of : NULL;
}

/* The names of the most of the path, and how long it would be without each. */
struct what_if {
    struct name_sum *sums;
    uint32_t *order;
    uint32_t count;
    uint8_t *lane_of;
    int64_t lengths_ns[PATH_TOP_MAX + PATH_LANES]; /* in their order */
};

/* A piece of work for any thread. */
struct lengths_work {
    const struct analysis *a;
    struct what_if *what_if;
};

static bool find_lengths(void *work_void, struct err *err)
{
    const struct lengths_work *work = work_void;
    struct what_if *what_if = work->what_if;
    size_t room = (size_t)work->a->graph.node_count * PATH_LANES;
    int64_t *reach_ns = scratch_calloc(room, sizeof *reach_ns);
    if (reach_ns == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for lengths of a path");
    }
    for (uint32_t i = 0; i < what_if->count; i += PATH_LANES) {
        if (i > 0) {
            memset(reach_ns, 0, room * sizeof *reach_ns);
        }
        path_longest_without(&work->a->longest, &work->a->graph, what_if->lane_of, i, reach_ns,
                             what_if->lengths_ns + i);
    }
    scratch_free(reach_ns);
    return true;
}

static bool choose_names(struct analysis *a, struct what_if *what_if)
{
    uint32_t count = 0;
    bool ok = sum_names(a, &what_if->sums, &count);
    what_if->order = scratch_alloc(ok ? count : 0, sizeof *what_if->order);
    const struct name_order by_time = {a, what_if->sums};
    ok = ok && what_if->order != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        what_if->order[i] = i;
    }
    ok = ok && sort_stable(what_if->order, count, compare_sums, &by_time);
    what_if->count = count < a->request->top ? count : (uint32_t)a->request->top;
    what_if->lane_of = ok ? find_lanes(a, what_if->sums, what_if->order, what_if->count) : NULL;
    return what_if->lane_of != NULL;
}

static bool is_device_work(const struct causes *causes, uint32_t name)
{
    uint32_t i = 0;
    while (i < causes->device_count && causes->trace->events.name[causes->by_stream[i]] != name) {
        i++;
    }
    return i < causes->device_count;
}

/* How long a device, whose work is in order of start, does nothing from start_ns to end_ns. */
static int64_t waits_within(const struct trace *trace,
                            const uint32_t *work,
                            uint32_t count,
                            int64_t start_ns,
                            int64_t end_ns)
{
    int64_t waited_ns = 0;
    int64_t at_ns = start_ns;
    for (uint32_t i = 0; i < count && at_ns < end_ns; i++) {
        int64_t begin_ns = i64_min(trace->events.ts_ns[work[i]], end_ns);
        int64_t done_ns =
            saturating_add(trace->events.ts_ns[work[i]], trace_dur_ns(&trace->events, work[i]));
        waited_ns += begin_ns > at_ns ? begin_ns - at_ns : 0;
        at_ns = i64_max(at_ns, done_ns);
    }
    return waited_ns + (end_ns > at_ns ? end_ns - at_ns : 0);
}

/* How long the device that waits longest does nothing while the path lasts. False without memory.
 */
static bool find_longest_wait(const struct analysis *a, int64_t *longest_ns)
{
    const struct causes *causes = &a->causes;
    int64_t start_ns = a->graph.nodes[a->path[a->path_count - 1]].ts_ns;
    int64_t end_ns = a->graph.nodes[a->longest.goal].ts_ns;
    uint32_t *work = scratch_alloc(causes->device_count, sizeof *work);
    bool ok = work != NULL;
    *longest_ns = causes->device_count == 0 ? INT64_MAX : 0;
    for (uint32_t i = 0; ok && i < causes->stream_count;) {
        uint32_t count;
        ok = causes_device_work(causes, &i, work, &count);
        *longest_ns = i64_max(*longest_ns,
                              ok ? waits_within(causes->trace, work, count, start_ns, end_ns) : 0);
    }
    scratch_free(work);
    return ok;
}

static bool write_gains(struct analysis *a, const struct what_if *what_if)
{
    int64_t wait_ns = 0;
    if (what_if->count > 0 && !find_longest_wait(a, &wait_ns)) {
        return false;
    }
    bool ok = true;
    a->out->gains = arena_calloc(a->arena, (size_t)what_if->count + 1, sizeof *a->out->gains);
    for (uint32_t i = 0; a->out->gains != NULL && ok && i < what_if->count; i++) {
        const struct name_sum *sum = &what_if->sums[what_if->order[i]];
        const char *name = strtab_text(a->causes.trace->strings, sum->name);
        struct path_gain *gain = &a->out->gains[a->out->gain_count++];
        gain->name = arena_strdup(a->arena, name);
        gain->path_ns = sum->path_ns;
        gain->length_ns = what_if->lengths_ns[i];
        int64_t saved_ns = saturating_sub(a->out->length_ns, gain->length_ns);
        gain->saved_at_most_ns =
            is_device_work(&a->causes, sum->name) ? saved_ns : i64_min(saved_ns, wait_ns);
        ok = gain->name != NULL;
    }
    return a->out->gains != NULL && ok;
}

static void set_rooflines(struct analysis *a, const struct counted_calls *calls)
{
    const struct device_peaks *peaks = device_peaks_find(a->causes.trace, a->request->peaks);
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct counted_call *call = &calls->items[i];
        enum formula_precision precision = counted_call_precision(&call->formula, call->uses_tf32);
        bool is_compute_bound;
        double roofline_ns = call->has_formula ? counted_call_roofline(&call->formula, precision,
                                                                       peaks, &is_compute_bound)
                                               : (double)NAN;
        /* A call that computes and moves nothing has no roofline to run at. */
        for (uint32_t at = call->first_work;
             roofline_ns > 0 && call->time_ns > 0 && at < call->end_work; at++) {
            a->roofline[calls->work[at]] = fmin(1, roofline_ns / (double)call->time_ns);
        }
    }
}

bool path_asks_rooflines(const struct path_request *request)
{
    bool is_asked = false;
    for (size_t i = 0; i < request->scale_count; i++) {
        is_asked = is_asked || request->scales[i].at_roofline;
    }
    return is_asked;
}

/* Only where a name is to run at its roofline: reads the inputs of all operators. */
static bool find_rooflines(struct analysis *a)
{
    uint32_t count = a->causes.trace->events.count;
    struct counted_calls calls;
    if (!path_asks_rooflines(a->request)) {
        return true;
    }
    a->roofline = scratch_alloc(count, sizeof *a->roofline);
    bool ok = counted_calls_find(&calls, &a->causes) && a->roofline != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        a->roofline[i] = 1;
    }
    if (ok) {
        set_rooflines(a, &calls);
    }
    counted_calls_free(&calls);
    return ok;
}

static bool apply_scales(struct analysis *a)
{
    int64_t *weights_ns = scratch_alloc(a->graph.edge_count, sizeof *weights_ns);
    int64_t *reach_ns = scratch_alloc(a->graph.node_count, sizeof *reach_ns);
    bool ok = weights_ns != NULL && reach_ns != NULL && find_rooflines(a);
    if (ok) {
        a->out->scaled_length_ns = length_with(a, weights_ns, reach_ns);
    }
    SCRATCH_FREE(weights_ns, reach_ns);
    return ok;
}

/* ---- all of it ---- */

static bool write_rows(struct analysis *a)
{
    a->out->scaled_length_ns = a->out->length_ns;
    return write_events(a) && write_edges(a) && (a->request->scale_count == 0 || apply_scales(a));
}

/* The rows, and beside them the lengths. */
static bool write_answer(struct analysis *a, struct what_if *what_if)
{
    struct err err = ERR_INIT;
    struct lengths_work work = {a, what_if};
    struct thread_helper helper;
    if (a->graph.node_count < PATH_NODES_FOR_A_THREAD) {
        return find_lengths(&work, &err) && write_rows(a);
    }
    thread_helper_init(&helper, find_lengths, &work);
    bool ok = thread_helper_give(&helper, &err) && write_rows(a);
    ok = thread_helper_wait(&helper, &err) && ok;
    thread_helper_end(&helper);
    return ok;
}

static bool answer(struct analysis *a)
{
    struct what_if what_if = {.count = 0};
    bool ok = choose_names(a, &what_if) && write_answer(a, &what_if) && write_gains(a, &what_if);
    SCRATCH_FREE(what_if.sums, what_if.order, what_if.lane_of);
    return ok;
}

static bool analyse(struct analysis *a)
{
    struct critical_path *out = a->out;
    if (!path_graph_build(&a->graph, &a->causes, &a->request->options)) {
        return false;
    }
    out->state = a->graph.state;
    if (out->state != PATH_BUILT) {
        return true;
    }
    if (!path_longest_find(&a->longest, &a->graph)) {
        return false;
    }
    out->start_ns = saturating_sub(a->graph.start_ns, a->zero_ns);
    out->end_ns = saturating_sub(a->graph.end_ns, a->zero_ns);
    out->nodes = a->graph.node_count;
    out->dropped_edges = a->longest.dropped_edges;
    out->unmatched_waits = a->graph.unmatched_waits;
    out->length_ns = a->longest.length_ns;
    return trace_back(a) && sum_path(a) && answer(a);
}

bool critical_path_analyse(const struct trace *trace,
                           int64_t zero_ns,
                           const struct path_request *request,
                           struct arena *arena,
                           struct critical_path *out)
{
    struct analysis a = {.request = request, .zero_ns = zero_ns, .arena = arena, .out = out};
    *out = (struct critical_path){.state = PATH_BUILT};
    bool ok = causes_build(&a.causes, trace, CAUSES_KEEP_LAST_STEP) && analyse(&a);
    path_longest_free(&a.longest);
    path_graph_free(&a.graph);
    causes_free(&a.causes);
    SCRATCH_FREE(a.is_on_path, a.path, a.path_ns, a.roofline);
    return ok;
}

/* ---- the rows as a table ---- */

#define TABLE_DEF "ingest/model/tables/causes/path_event.def"
#define TABLE_ROW struct path_event_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/causes/path_edge.def"
#define TABLE_ROW struct path_edge_row
#include "ingest/model/tables/describe.h"
