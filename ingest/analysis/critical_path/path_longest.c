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

/* Walks the edges of the nodes from place `from` of `order` on, which grows meanwhile. */
static uint32_t walk(struct search *s, uint32_t from)
{
    for (; from < s->done; from++) {
        uint32_t node = s->out->order[from];
        for (uint32_t at = s->out->first[node]; at < s->out->first[node + 1]; at++) {
            if (s->is_dropped[at]) {
                continue;
            }
            reach(s, at);
            if (--s->waits_for[s->graph->edges[at].to] == 0) {
                make_ready(s, s->graph->edges[at].to);
            }
        }
    }
    return from;
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
    for (uint32_t i = 0; i < s->graph->node_count; i++) {
        if (!s->is_done[i] && s->waits_for[i] == 0) {
            make_ready(s, i);
        }
    }
}

static void search(struct search *s)
{
    for (size_t i = 0; i < s->graph->edge_count; i++) {
        s->waits_for[s->graph->edges[i].to]++;
    }
    for (uint32_t i = 0; i < s->graph->node_count; i++) {
        if (s->waits_for[i] == 0) {
            make_ready(s, i);
        }
    }
    uint32_t at = walk(s, 0);
    if (s->done < s->graph->node_count) {
        drop_backward(s);
        (void)walk(s, at);
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
    scratch_free(s.waits_for);
    scratch_free(s.reach_ns);
    scratch_free(s.is_done);
    scratch_free(s.is_dropped);
    return ok;
}

void path_longest_free(struct path_longest *longest)
{
    scratch_free(longest->edge);
    scratch_free(longest->order);
    scratch_free(longest->first);
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

void path_longest_without(const struct path_longest *longest,
                          const struct path_graph *graph,
                          const uint32_t names[PATH_NAMES_AT_ONCE],
                          int64_t *reach_ns,
                          int64_t lengths_ns[PATH_NAMES_AT_ONCE])
{
    const uint32_t *name_of = graph->causes->trace->events.name;
    memset(reach_ns, 0, (size_t)graph->node_count * PATH_NAMES_AT_ONCE * sizeof *reach_ns);
    memset(lengths_ns, 0, PATH_NAMES_AT_ONCE * sizeof *lengths_ns);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t node = longest->order[i];
        const int64_t *from_ns = reach_ns + (size_t)node * PATH_NAMES_AT_ONCE;
        for (uint32_t lane = 0; lane < PATH_NAMES_AT_ONCE; lane++) {
            lengths_ns[lane] = i64_max(lengths_ns[lane], from_ns[lane]);
        }
        for (uint32_t at = longest->first[node]; at < longest->first[node + 1]; at++) {
            const struct path_edge *edge = &graph->edges[at];
            bool has_name = edge->type == PATH_OPERATOR && edge->event != PATH_NONE;
            uint32_t name = has_name ? name_of[edge->event] : STRTAB_NONE;
            int64_t *to_ns = reach_ns + (size_t)edge->to * PATH_NAMES_AT_ONCE;
            for (uint32_t lane = 0; lane < PATH_NAMES_AT_ONCE; lane++) {
                bool is_gone = has_name && name == names[lane];
                int64_t ns =
                    is_gone ? from_ns[lane] : saturating_add(from_ns[lane], edge->weight_ns);
                to_ns[lane] = i64_max(to_ns[lane], ns);
            }
        }
    }
}
