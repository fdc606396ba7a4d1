#include "ingest/analysis/op_tree.h"

#include "ingest/analysis/scratch.h"
#include "ingest/analysis/sort.h"
#include "ingest/analysis/times.h"

#define INSERTION_RUN 16

int64_t op_node_start_ns(const struct op_tree *tree, uint32_t node)
{
    return tree->sel->trace->events.ts_ns[tree->nodes[node].event];
}

int64_t op_node_start_key(const struct op_tree *tree, uint32_t node)
{
    return times_start_key(tree->sel, tree->nodes[node].event);
}

int64_t op_node_end_key(const struct op_tree *tree, uint32_t node)
{
    return times_end_key(tree->sel, tree->nodes[node].event);
}

int64_t op_node_duration(const struct op_tree *tree, uint32_t node)
{
    return times_duration(tree->sel, tree->nodes[node].event);
}

/* ---- order within a thread: by (start, -end), where the nodes come in order of start ---- */

static int longest_first(uint32_t a, uint32_t b, const struct selection *sel)
{
    int64_t end_a = times_end_key(sel, a);
    int64_t end_b = times_end_key(sel, b);
    return (end_a < end_b) - (end_a > end_b);
}

struct run_order {
    const struct selection *sel;
    const struct op_node *nodes;
};

static int longest_node_first(uint32_t a, uint32_t b, const void *ctx)
{
    const struct run_order *run = ctx;
    return longest_first(run->nodes[a].event, run->nodes[b].event, run->sel);
}

static bool order_long_run(struct op_node *nodes, uint32_t count, const struct selection *sel)
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
    scratch_free(order);
    scratch_free(copy);
    return ok;
}

/* Nodes with the same start. */
static bool order_run(struct op_node *nodes, uint32_t count, const struct selection *sel)
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

static bool order_thread(const struct op_tree *tree, const struct op_thread *thread)
{
    uint32_t begin = thread->first;
    for (uint32_t i = thread->first; i < thread->end; i++) {
        bool run_ends = i + 1 == thread->end ||
                        op_node_start_key(tree, i + 1) != op_node_start_key(tree, begin);
        if (!run_ends) {
            continue;
        }
        if (i > begin && !order_run(tree->nodes + begin, i + 1 - begin, tree->sel)) {
            return false;
        }
        begin = i + 1;
    }
    return true;
}

/* ---- nesting ---- */

/* Closes nodes from `top` up to the first that is still running at a time, and answers it. */
static uint32_t close_ended(struct op_tree *tree, uint32_t top, int64_t start_key, uint32_t at)
{
    while (top != OP_NO_NODE && start_key >= op_node_end_key(tree, top)) {
        tree->nodes[top].end = at;
        top = tree->nodes[top].parent;
    }
    return top;
}

/* A node that begins inside another and ends after it has no place: it is left out (section 5). */
static void nest_thread(struct op_tree *tree, struct op_thread *thread, struct warnings *warnings)
{
    uint32_t top = OP_NO_NODE;
    uint32_t at = thread->first;
    for (uint32_t i = thread->first; i < thread->end; i++) {
        struct op_node node = tree->nodes[i];
        top = close_ended(tree, top, op_node_start_key(tree, i), at);
        if (top != OP_NO_NODE && op_node_end_key(tree, i) > op_node_end_key(tree, top)) {
            warning_add(warnings, WARN_OVERLAP, WARNING_NO_OFFSET);
            continue;
        }
        node.parent = top;
        tree->nodes[at] = node;
        top = at++;
    }
    (void)close_ended(tree, top, INT64_MAX, at);
    thread->end = at;
}

/* ---- duplicates: an operator whose only child has its name takes over what the child has ---- */

static bool is_duplicate(const struct op_tree *tree, uint32_t node)
{
    uint32_t parent = tree->nodes[node].parent;
    if (parent == OP_NO_NODE) {
        return false;
    }
    const struct op_node *child = &tree->nodes[node];
    const struct op_node *owner = &tree->nodes[parent];
    bool is_only_child = node == parent + 1 && child->end == owner->end;
    return is_only_child && child->type == TYPE_OPERATOR && owner->type == TYPE_OPERATOR &&
           op_node_name(tree, node) == op_node_name(tree, parent);
}

/* Puts the future index of each node into its rank and that of its parent into the parent; a
 * duplicate gets the index of the node it melts into. Answers the end of the nodes that stay. */
static uint32_t number_kept(struct op_tree *tree, const struct op_thread *thread)
{
    uint32_t kept = thread->first;
    for (uint32_t i = thread->first; i < thread->end; i++) {
        struct op_node *node = &tree->nodes[i];
        uint32_t parent = node->parent == OP_NO_NODE ? OP_NO_NODE : tree->nodes[node->parent].rank;
        if (is_duplicate(tree, i)) {
            node->flags |= OP_DUPLICATE;
            node->rank = parent;
        } else {
            node->rank = kept++;
        }
        node->parent = parent;
    }
    return kept;
}

/* Children and runtimes of a duplicate go to the node before it; that node's own runtimes are
 * dropped. */
static void melt_duplicates(struct op_tree *tree, struct op_thread *thread)
{
    uint32_t kept_end = number_kept(tree, thread);
    for (uint32_t i = thread->first; i < thread->end; i++) {
        struct op_node node = tree->nodes[i];
        if (node.flags & OP_DUPLICATE) {
            tree->nodes[node.rank].runtimes = node.runtimes;
            continue;
        }
        /* The node behind a subtree is never a duplicate: those follow their parent at once. */
        node.end = node.end < thread->end ? tree->nodes[node.end].rank : kept_end;
        tree->nodes[node.rank] = node;
    }
    thread->end = kept_end;
}

static void set_root_bounds(const struct op_tree *tree, struct op_thread *thread)
{
    if (thread->first == thread->end) {
        return;
    }
    thread->start = times_start(tree->sel, tree->nodes[thread->first].event);
    thread->start_key = op_node_start_key(tree, thread->first);
    for (uint32_t i = thread->first; i < thread->end; i = tree->nodes[i].end) {
        thread->end_time = times_end(tree->sel, tree->nodes[i].event);
        thread->end_key = op_node_end_key(tree, i);
    }
}

/* ---- host self time ---- */

static int64_t runtimes_duration(const struct op_tree *tree, uint32_t list)
{
    int64_t sum = 0;
    int64_t kept_start = INT64_MAX;
    int64_t kept_end = INT64_MIN;
    for (uint32_t i = tree->lists.first[list]; i < tree->lists.first[list + 1]; i++) {
        uint32_t event = tree->links->runtime_event[tree->lists.runtimes[i]];
        int64_t start = times_start(tree->sel, event);
        int64_t end = times_end(tree->sel, event);
        if (tree->sel->mlu && start >= kept_start && end <= kept_end) {
            continue;
        }
        kept_start = start;
        kept_end = end;
        sum = ns_add(sum, times_duration(tree->sel, event));
    }
    return sum;
}

int64_t op_node_host_self(const struct op_tree *tree, uint32_t node)
{
    const struct op_node *self = &tree->nodes[node];
    int64_t self_time = op_node_duration(tree, node);
    for (uint32_t child = node + 1; child < self->end; child = tree->nodes[child].end) {
        self_time = ns_sub(self_time, op_node_duration(tree, child));
    }
    if (self->runtimes != RUNTIME_LIST_NONE) {
        self_time = ns_sub(self_time, runtimes_duration(tree, self->runtimes));
    }
    return self_time;
}

bool op_tree_build(struct op_tree *tree,
                   struct selection *sel,
                   const struct links *links,
                   struct attribution *attribution,
                   struct warnings *warnings)
{
    *tree = (struct op_tree){
        .sel = sel, .links = links, .attribution = attribution, .zero_owner = OP_NO_NODE};
    if (!runtime_lists_build(&tree->lists, attribution, links, sel) ||
        !op_threads_fill(tree, warnings)) {
        return false;
    }
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        struct op_thread *thread = &tree->threads[t];
        if (!order_thread(tree, thread)) {
            return false;
        }
        nest_thread(tree, thread, warnings);
        melt_duplicates(tree, thread);
        set_root_bounds(tree, thread);
    }
    bool ok = attribution_give(attribution, tree);
    runtime_lists_close(&tree->lists);
    return ok && op_tree_add_stats(tree);
}

void op_tree_free(struct op_tree *tree)
{
    runtime_lists_free(&tree->lists);
    scratch_free(tree->nodes);
    scratch_free(tree->threads);
    scratch_free(tree->track_thread);
    scratch_free(tree->zero_first);
    scratch_free(tree->zero);
    scratch_free(tree->sums);
    *tree = (struct op_tree){0};
}
