#include "ingest/tb_plugin/tree/tree.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

#include <string.h>

#define INSERTION_RUN 16

/* ---- order within a thread: by (start, -end), where the nodes come in order of start ---- */

static int longest_first(uint32_t a, uint32_t b, const struct event_classes *sel)
{
    int64_t end_a = times_end_key(sel, a);
    int64_t end_b = times_end_key(sel, b);
    return (end_a < end_b) - (end_a > end_b);
}

struct run_order {
    const struct event_classes *sel;
    const struct op_node *nodes;
};

static int longest_node_first(uint32_t a, uint32_t b, const void *ctx)
{
    const struct run_order *run = ctx;
    return longest_first(run->nodes[a].event, run->nodes[b].event, run->sel);
}

static bool order_long_run(struct op_node *nodes, uint32_t count, const struct event_classes *sel)
{
    const struct run_order run = {sel, nodes};
    uint32_t *order = scratch_alloc(count, sizeof *order);
    struct op_node *copy = scratch_alloc(count, sizeof *copy);
    bool ok = order != NULL && copy != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, count, longest_node_first, &run);
    if (ok) {
        memcpy(copy, nodes, count * sizeof *copy);
        for (uint32_t i = 0; i < count; i++) {
            nodes[i] = copy[order[i]];
        }
    }
    SCRATCH_FREE(order, copy);
    return ok;
}

/* Nodes with the same start. */
static bool order_run(struct op_node *nodes, uint32_t count, const struct event_classes *sel)
{
    if (count > INSERTION_RUN) {
        return order_long_run(nodes, count, sel);
    }
    for (uint32_t i = 1; i < count; i++) {
        struct op_node node = nodes[i];
        uint32_t j = i;
        while (j > 0 && longest_first(node.event, nodes[j - 1].event, sel) < 0) {
            nodes[j] = nodes[j - 1];
            j--;
        }
        nodes[j] = node;
    }
    return true;
}

/* ---- nesting ---- */

struct nesting {
    struct tb_tree *tree;
    uint32_t top; /* the innermost node that is still running, OP_NO_NODE */
    int64_t top_end_key;
    uint32_t at; /* where the next node goes: nodes that are left out leave no gap */
    bool may_melt;
};

/* The first node with an external id, in order of time, takes all its runtimes. Modules have no id,
 * so that the first node without one, a module perhaps, takes those without [TB-5.7]. */
static void give_runtimes(struct tb_tree *tree, const struct op_node *node)
{
    int64_t id = node->class == OP_MODULE
                     ? TRACE_NO_ID
                     : trace_external_id(&tree->ops.sel->trace->events, node->event);
    struct id_slot *list = id_map_find(&tree->lists.by_external_id, id);
    if (list == NULL) {
        return;
    }
    tree->lists.of_event[node->event] = list->value;
    list->value = RUNTIME_LIST_NONE;
}

/* Closes what has ended at a time. */
static inline void close_ended(struct nesting *n, int64_t start_key)
{
    struct op_node *nodes = n->tree->ops.nodes;
    while (n->top != OP_NO_NODE && start_key >= n->top_end_key) {
        nodes[n->top].end = n->at;
        n->top = nodes[n->top].parent;
        n->top_end_key = n->top == OP_NO_NODE ? 0 : op_node_end_key(&n->tree->ops, n->top);
    }
}

/* A node that begins inside another and ends after it has no place: it is left out [TB-5a]. */
static void nest_node(struct nesting *n, uint32_t i, int64_t start_key, struct warnings *warnings)
{
    struct tb_tree *tree = n->tree;
    struct op_node node = tree->ops.nodes[i];
    int64_t end_key = times_end_key(tree->ops.sel, node.event);
    close_ended(n, start_key);
    if (n->top != OP_NO_NODE && end_key > n->top_end_key) {
        warning_add(warnings, WARN_OVERLAP, WARNING_NO_OFFSET);
        return;
    }
    bool is_first_child = n->top != OP_NO_NODE && n->top + 1 == n->at;
    n->may_melt |=
        is_first_child && tree->ops.sel->name[node.event] == op_node_name(&tree->ops, n->top);
    node.parent = n->top;
    tree->ops.nodes[n->at] = node;
    n->top = n->at++;
    n->top_end_key = end_key;
}

/* Nodes that start together at a time. */
struct node_run {
    uint32_t begin;
    uint32_t end;
    int64_t start_key;
};

static struct node_run run_from(const struct tb_tree *tree, uint32_t begin, uint32_t end)
{
    struct node_run run = {begin, begin + 1, op_node_start_key(&tree->ops, begin)};
    while (run.end < end && op_node_start_key(&tree->ops, run.end) == run.start_key) {
        run.end++;
    }
    return run;
}

/* False without memory. `*may_melt`: some node and its first child have the same name. */
static bool nest_thread(struct tb_tree *tree,
                        struct op_thread *thread,
                        struct warnings *warnings,
                        bool *may_melt)
{
    struct nesting n = {.tree = tree, .top = OP_NO_NODE, .at = thread->first};
    for (uint32_t i = thread->first; i < thread->end;) {
        struct node_run run = run_from(tree, i, thread->end);
        for (; i < run.end; i++) {
            give_runtimes(tree, &tree->ops.nodes[i]);
        }
        uint32_t count = run.end - run.begin;
        if (count > 1 && !order_run(tree->ops.nodes + run.begin, count, tree->ops.sel)) {
            return false;
        }
        for (uint32_t node = run.begin; node < run.end; node++) {
            nest_node(&n, node, run.start_key, warnings);
        }
    }
    close_ended(&n, INT64_MAX);
    thread->end = n.at;
    *may_melt = n.may_melt;
    return true;
}

/* ---- duplicates: an operator whose only child has its name takes over what the child has ---- */

static bool is_duplicate(const struct tb_tree *tree, uint32_t node)
{
    uint32_t parent = tree->ops.nodes[node].parent;
    if (parent == OP_NO_NODE) {
        return false;
    }
    const struct op_node *child = &tree->ops.nodes[node];
    const struct op_node *owner = &tree->ops.nodes[parent];
    bool is_only_child = node == parent + 1 && child->end == owner->end;
    return is_only_child && child->type == INDEX_OPERATOR && owner->type == INDEX_OPERATOR &&
           op_node_name(&tree->ops, node) == op_node_name(&tree->ops, parent);
}

/* Puts the future index of each node into its rank and that of its parent into the parent; a
 * duplicate gets the index of the node it melts into. Answers the end of the nodes that stay. */
static uint32_t number_kept(struct tb_tree *tree, const struct op_thread *thread)
{
    uint32_t kept = thread->first;
    for (uint32_t i = thread->first; i < thread->end; i++) {
        struct op_node *node = &tree->ops.nodes[i];
        uint32_t parent =
            node->parent == OP_NO_NODE ? OP_NO_NODE : tree->ops.nodes[node->parent].rank;
        if (is_duplicate(tree, i)) {
            node->flags |= TB_DUPLICATE;
            node->rank = parent;
        } else {
            node->rank = kept++;
        }
        node->parent = parent;
    }
    return kept;
}

/* Children and runtimes of a duplicate go to the node before it; that node's own runtimes are
 * dropped [TB-5c]. */
static void melt_duplicates(struct tb_tree *tree, struct op_thread *thread)
{
    uint32_t kept_end = number_kept(tree, thread);
    for (uint32_t i = thread->first; i < thread->end; i++) {
        struct op_node node = tree->ops.nodes[i];
        if (node.flags & TB_DUPLICATE) {
            tree->lists.of_event[tree->ops.nodes[node.rank].event] =
                tree->lists.of_event[node.event];
            continue;
        }
        /* The node behind a subtree is never a duplicate: those follow their parent at once. */
        node.end = node.end < thread->end ? tree->ops.nodes[node.end].rank : kept_end;
        tree->ops.nodes[node.rank] = node;
    }
    thread->end = kept_end;
}

static void set_root_bounds(const struct tb_tree *tree, struct op_thread *thread)
{
    if (thread->first == thread->end) {
        return;
    }
    thread->start = times_start(tree->ops.sel, tree->ops.nodes[thread->first].event);
    thread->start_key = op_node_start_key(&tree->ops, thread->first);
    for (uint32_t i = thread->first; i < thread->end; i = tree->ops.nodes[i].end) {
        thread->end_time = times_end(tree->ops.sel, tree->ops.nodes[i].event);
        thread->end_key = op_node_end_key(&tree->ops, i);
    }
}

bool tb_tree_build(struct tb_tree *tree,
                   struct event_classes *sel,
                   const struct launch_correlation *links,
                   struct warnings *warnings)
{
    *tree = (struct tb_tree){.ops = {.sel = sel}, .links = links, .zero_owner = OP_NO_NODE};
    /* The lists last: what finds the nodes is gone by then. */
    if (!tb_tree_threads_fill(tree, warnings) || !runtime_lists_build(&tree->lists, links, sel) ||
        !tb_tree_threads_give_zero(tree)) {
        return false;
    }
    for (uint32_t t = 0; t < tree->ops.thread_count; t++) {
        struct op_thread *thread = &tree->ops.threads[t];
        bool may_melt = false;
        if (!nest_thread(tree, thread, warnings, &may_melt)) {
            return false;
        }
        if (may_melt) {
            melt_duplicates(tree, thread);
        }
        set_root_bounds(tree, thread);
    }
    runtime_lists_close(&tree->lists);
    return tb_tree_add_stats(tree);
}

void tb_tree_free(struct tb_tree *tree)
{
    op_tree_free(&tree->ops);
    runtime_lists_free(&tree->lists);
    SCRATCH_FREE(tree->has_step_name, tree->zero_first, tree->zero, tree->tensor);
    *tree = (struct tb_tree){.links = NULL};
}
