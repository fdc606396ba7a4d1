#include "ingest/analysis/relations/attribution.h"

#include "ingest/analysis/classify/tb_clock.h"
#include "ingest/analysis/relations/op_tree.h"
#include "ingest/base/memory/scratch.h"

/* ---- calls without an id ---- */

struct id_census {
    uint32_t launching; /* calls that started device work */
    uint32_t without;   /* of them: have no id */
    uint32_t copies;    /* of them: the id is the correlation */
};

static struct id_census count_ids(const struct launch_correlation *links,
                                  const struct event_classes *sel)
{
    const struct trace_events *events = &sel->trace->events;
    struct id_census census = {0};
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        if (links->launched_first[r] == links->launched_first[r + 1]) {
            continue;
        }
        int64_t id = trace_external_id(events, links->runtime_event[r]);
        census.launching++;
        census.without += id == TRACE_NO_ID;
        census.copies +=
            id != TRACE_NO_ID && id == trace_correlation(events, links->runtime_event[r]);
    }
    return census;
}

bool attribution_find(struct attribution *attribution,
                      const struct launch_correlation *links,
                      const struct event_classes *sel)
{
    const struct trace_events *events = &sel->trace->events;
    struct id_census census = count_ids(links, sel);
    bool are_copies = census.copies > 0 && census.copies + census.without == census.launching;
    *attribution = (struct attribution){0};
    if (census.without == 0 && !are_copies) {
        return true;
    }
    attribution->has_no_id = scratch_alloc(links->runtime_count, sizeof *attribution->has_no_id);
    if (attribution->has_no_id == NULL) {
        return false;
    }
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        uint32_t event = links->runtime_event[r];
        int64_t id = trace_external_id(events, event);
        bool is_copy = are_copies && id == trace_correlation(events, event);
        attribution->has_no_id[r] = id == TRACE_NO_ID || is_copy;
    }
    attribution->differs = are_copies;
    return true;
}

void attribution_free(struct attribution *attribution)
{
    scratch_free(attribution->has_no_id);
    *attribution = (struct attribution){0};
}

/* ---- calls by thread ---- */

/* A node that is running, and whose a call directly inside it is. */
struct open_node {
    uint32_t node;
    uint32_t owner;
};

struct giving {
    struct op_tree *tree;
    uint32_t *calls;        /* without an id: runtimes thread by thread, in order of time */
    uint32_t *first;        /* by thread; behind the last one the end */
    uint32_t *owner;        /* by runtime: the node, or OP_NO_NODE */
    struct open_node *open; /* each inside the one before */
    uint32_t open_count;
};

static uint32_t thread_of(const struct op_tree *tree, uint32_t runtime)
{
    uint32_t event = tree->links->runtime_event[runtime];
    return tree->track_thread[trace_event_track(&tree->sel->trace->events, event)];
}

static bool list_calls(struct giving *g, const bool *has_no_id)
{
    const struct op_tree *tree = g->tree;
    uint32_t count = tree->links->runtime_count;
    uint32_t *next = scratch_alloc(tree->thread_count, sizeof *next);
    if (next == NULL) {
        return false;
    }
    for (uint32_t r = 0; r < count; r++) {
        uint32_t thread = has_no_id[r] ? thread_of(tree, r) : OP_NO_THREAD;
        if (thread != OP_NO_THREAD) {
            g->first[thread + 1]++;
        }
    }
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        g->first[t + 1] += g->first[t];
        next[t] = g->first[t];
    }
    for (uint32_t r = 0; r < count; r++) {
        uint32_t thread = has_no_id[r] ? thread_of(tree, r) : OP_NO_THREAD;
        if (thread != OP_NO_THREAD) {
            g->calls[next[thread]++] = r;
        }
    }
    scratch_free(next);
    return true;
}

/* ---- the innermost node ---- */

/* Who passes it on to the node around it: annotations of collectives, as recorders name the
 * operator in which such an annotation lies; and the owner of the runtimes of external id 0, which
 * have rules of their own. */
static bool passes_on(const struct op_tree *tree, const struct op_node *node)
{
    uint32_t zero_list = tree->lists.zero_list;
    bool is_annotation = node->class == OP_PLAIN && node->type == TYPE_USER_ANNOTATION;
    return (is_annotation && node->parent != OP_NO_NODE) ||
           (zero_list != RUNTIME_LIST_NONE && node->runtimes == zero_list);
}

static void open_node(struct giving *g, uint32_t node)
{
    const struct op_node *self = &g->tree->nodes[node];
    while (g->open_count > 0 && g->open[g->open_count - 1].node != self->parent) {
        g->open_count--;
    }
    uint32_t around = g->open_count == 0 ? OP_NO_NODE : g->open[g->open_count - 1].owner;
    uint32_t owner = passes_on(g->tree, self) ? around : node;
    g->open[g->open_count++] = (struct open_node){node, owner};
}

/* By the last of the open nodes, which all began before, that ends at `end_key` or later; their
 * ends go down. */
static uint32_t innermost_owner(const struct giving *g, int64_t end_key)
{
    uint32_t low = 0;
    uint32_t high = g->open_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (op_node_end_key(g->tree, g->open[middle].node) >= end_key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? OP_NO_NODE : g->open[low - 1].owner;
}

static void find_owners(struct giving *g, uint32_t t)
{
    const struct op_tree *tree = g->tree;
    const struct op_thread *thread = &tree->threads[t];
    uint32_t node = thread->first;
    g->open_count = 0;
    for (uint32_t i = g->first[t]; i < g->first[t + 1]; i++) {
        uint32_t event = tree->links->runtime_event[g->calls[i]];
        int64_t start_key = tb_clock_start_key(tree->sel, event);
        while (node < thread->end && op_node_start_key(tree, node) <= start_key) {
            open_node(g, node++);
        }
        g->owner[g->calls[i]] = innermost_owner(g, tb_clock_end_key(tree->sel, event));
    }
}

/* ---- into the lists ---- */

static bool extend_lists(struct giving *g, struct attribution *attribution)
{
    struct op_tree *tree = g->tree;
    struct runtime_lists *lists = &tree->lists;
    bool any = false;
    for (uint32_t r = 0; r < tree->links->runtime_count; r++) {
        if (g->owner[r] == OP_NO_NODE) {
            continue;
        }
        struct op_node *node = &tree->nodes[g->owner[r]];
        if (node->runtimes == RUNTIME_LIST_NONE) {
            node->runtimes = lists->count++;
        }
        lists->list_of[r] = node->runtimes;
        any = true;
    }
    attribution->differs = attribution->differs || any;
    return !any || runtime_lists_arrange(lists, tree->links, tree->sel);
}

bool attribution_give(struct attribution *attribution, struct op_tree *tree)
{
    if (attribution->has_no_id == NULL) {
        return true;
    }
    uint32_t node_count = tree->thread_count == 0 ? 0 : tree->threads[tree->thread_count - 1].end;
    struct giving g = {
        .tree = tree,
        .calls = scratch_alloc(tree->links->runtime_count, sizeof *g.calls),
        .first = scratch_calloc((size_t)tree->thread_count + 1, sizeof *g.first),
        .owner = scratch_none(tree->links->runtime_count),
        .open = scratch_alloc(node_count, sizeof *g.open),
    };
    bool ok = g.calls != NULL && g.first != NULL && g.owner != NULL && g.open != NULL &&
              list_calls(&g, attribution->has_no_id);
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        find_owners(&g, t);
    }
    ok = ok && extend_lists(&g, attribution);
    scratch_free(g.calls);
    scratch_free(g.first);
    scratch_free(g.owner);
    scratch_free(g.open);
    return ok;
}
