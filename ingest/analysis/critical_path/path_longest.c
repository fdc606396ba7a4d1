#include "ingest/analysis/critical_path/path_longest.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <string.h>

struct search {
    struct path_graph *graph;
    struct path_longest *out;
    uint32_t *waits_for; /* by node: edges that lead to it and have not been walked */
    int64_t *reach_ns;
    uint32_t done; /* nodes of `order` */
    bool *is_done;
    bool *is_dropped; /* by edge */
};

static bool find_first_edges(struct search *s)
{
    const struct path_graph *graph = s->graph;
    s->out->first = scratch_calloc((size_t)graph->node_count + 1, sizeof *s->out->first);
    for (size_t i = 0; s->out->first != NULL && i < graph->edge_count; i++) {
        s->out->first[graph->edges[i].from + 1]++;
    }
    for (uint32_t i = 0; s->out->first != NULL && i < graph->node_count; i++) {
        s->out->first[i + 1] += s->out->first[i];
    }
    return s->out->first != NULL;
}

static void make_ready(struct search *s, uint32_t node)
{
    s->out->order[s->done++] = node;
    s->is_done[node] = true;
}

/* Of ways that are as long the one from the lowest node. */
static void reach(struct search *s, uint32_t at)
{
    const struct path_edge *edge = &s->graph->edges[at];
    uint32_t *best = &s->out->edge[edge->to];
    int64_t ns = saturating_add(s->reach_ns[edge->from], edge->weight_ns);
    bool is_better = *best == PATH_NONE || ns > s->reach_ns[edge->to] ||
                     (ns == s->reach_ns[edge->to] && edge->from < s->graph->edges[*best].from);
    if (is_better) {
        *best = at;
        s->reach_ns[edge->to] = ns;
    }
}

/* Walks the edges of a node; nodes up to `swept` that wait for nothing more are next in `order`. */
static void walk_node(struct search *s, uint32_t node, uint32_t swept)
{
    for (uint32_t at = s->out->first[node]; at < s->out->first[node + 1]; at++) {
        if (s->is_dropped[at]) {
            continue;
        }
        uint32_t to = s->graph->edges[at].to;
        reach(s, at);
        if (--s->waits_for[to] == 0 && to <= swept) {
            make_ready(s, to);
        }
    }
}

/* Nodes are in order of time, and few edges lead back: the order is close to that of the nodes,
 * and memory is walked from end to end. */
static void sweep(struct search *s)
{
    for (uint32_t node = 0; node < s->graph->node_count; node++) {
        uint32_t from = s->done;
        if (!s->is_done[node] && s->waits_for[node] == 0) {
            make_ready(s, node);
        }
        for (; from < s->done; from++) {
            walk_node(s, s->out->order[from], node);
        }
    }
}

/* Among the nodes of cycles, edges from a higher to a lower one. */
static void drop_backward(struct search *s)
{
    for (size_t i = 0; i < s->graph->edge_count; i++) {
        const struct path_edge *edge = &s->graph->edges[i];
        if (edge->to < edge->from && !s->is_done[edge->from] && !s->is_done[edge->to]) {
            s->is_dropped[i] = true;
            s->waits_for[edge->to]--;
            s->out->dropped_edges++;
        }
    }
}

static void search(struct search *s)
{
    for (size_t i = 0; i < s->graph->edge_count; i++) {
        s->waits_for[s->graph->edges[i].to]++;
    }
    sweep(s);
    if (s->done < s->graph->node_count) {
        drop_backward(s);
        sweep(s);
    }
    s->out->goal = s->graph->node_count == 0 ? PATH_NONE : 0;
    for (uint32_t i = 1; i < s->graph->node_count; i++) {
        s->out->goal = s->reach_ns[i] > s->reach_ns[s->out->goal] ? i : s->out->goal;
    }
    s->out->length_ns = s->out->goal == PATH_NONE ? 0 : s->reach_ns[s->out->goal];
}

/* Dropped edges leave the graph; the numbers of the others change. */
static void compact(struct search *s)
{
    struct path_graph *graph = s->graph;
    uint32_t kept = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint32_t begin = s->out->first[node];
        uint32_t end = s->out->first[node + 1];
        s->out->first[node] = kept;
        for (uint32_t at = begin; at < end; at++) {
            if (s->is_dropped[at]) {
                continue;
            }
            uint32_t to = graph->edges[at].to;
            graph->edges[kept] = graph->edges[at];
            /* Numbers only fall, so that one that was given cannot be met again. */
            if (s->out->edge[to] == at) {
                s->out->edge[to] = kept;
            }
            kept++;
        }
        if (node + 1 == graph->node_count) {
            s->out->first[graph->node_count] = kept;
        }
    }
    graph->edge_count = kept;
}

bool path_longest_find(struct path_longest *longest, struct path_graph *graph)
{
    struct search s = {.graph = graph, .out = longest};
    *longest = (struct path_longest){.goal = PATH_NONE};
    longest->edge = scratch_none(graph->node_count);
    longest->order = scratch_alloc(graph->node_count, sizeof *longest->order);
    s.waits_for = scratch_calloc(graph->node_count, sizeof *s.waits_for);
    s.reach_ns = scratch_calloc(graph->node_count, sizeof *s.reach_ns);
    s.is_done = scratch_calloc(graph->node_count, sizeof *s.is_done);
    s.is_dropped = scratch_calloc(graph->edge_count, sizeof *s.is_dropped);
    bool ok = longest->edge != NULL && longest->order != NULL && s.waits_for != NULL &&
              s.reach_ns != NULL && s.is_done != NULL && s.is_dropped != NULL &&
              graph->edge_count < PATH_NONE && find_first_edges(&s);
    if (ok) {
        search(&s);
        compact(&s);
    }
    SCRATCH_FREE(s.waits_for, s.reach_ns, s.is_done, s.is_dropped);
    return ok;
}

void path_longest_free(struct path_longest *longest)
{
    SCRATCH_FREE(longest->edge, longest->order, longest->first);
}

int64_t path_longest_with(const struct path_longest *longest,
                          const struct path_graph *graph,
                          const int64_t *weights_ns,
                          int64_t *reach_ns)
{
    int64_t length_ns = 0;
    memset(reach_ns, 0, graph->node_count * sizeof *reach_ns);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t node = longest->order[i];
        length_ns = i64_max(length_ns, reach_ns[node]);
        for (uint32_t at = longest->first[node]; at < longest->first[node + 1]; at++) {
            uint32_t to = graph->edges[at].to;
            reach_ns[to] = i64_max(reach_ns[to], saturating_add(reach_ns[node], weights_ns[at]));
        }
    }
    return length_ns;
}

/* Of times and weights of 0 and above. */
static int64_t add_up(int64_t a_ns, int64_t b_ns)
{
    uint64_t sum_ns = (uint64_t)a_ns + (uint64_t)b_ns;
    return sum_ns > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)sum_ns;
}

void path_longest_without(const struct path_longest *longest,
                          const struct path_graph *graph,
                          const uint8_t *lane_of,
                          uint32_t first_lane,
                          int64_t *reach_ns,
                          int64_t lengths_ns[PATH_LANES])
{
    memset(lengths_ns, 0, PATH_LANES * sizeof *lengths_ns);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t node = longest->order[i];
        const int64_t *from_ns = reach_ns + (size_t)node * PATH_LANES;
        for (uint32_t lane = 0; lane < PATH_LANES; lane++) {
            lengths_ns[lane] = i64_max(lengths_ns[lane], from_ns[lane]);
        }
        for (uint32_t at = longest->first[node]; at < longest->first[node + 1]; at++) {
            const struct path_edge *edge = &graph->edges[at];
            uint32_t without = lane_of[at] - first_lane;
            int64_t *to_ns = reach_ns + (size_t)edge->to * PATH_LANES;
            for (uint32_t lane = 0; lane < PATH_LANES; lane++) {
                int64_t weight_ns = lane == without ? 0 : edge->weight_ns;
                to_ns[lane] = i64_max(to_ns[lane], add_up(from_ns[lane], weight_ns));
            }
        }
    }
}
