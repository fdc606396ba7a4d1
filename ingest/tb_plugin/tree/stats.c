#include "ingest/analysis/classify/times.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/tb_plugin/tree/tree.h"

struct launch_sums {
    int64_t device;
    int64_t tensor;
};

static void add_sums(struct launch_sums *to, const struct launch_sums *add)
{
    to->device = saturating_add(to->device, add->device);
    to->tensor = saturating_add(to->tensor, add->tensor);
}

/* Device work of one runtime; no overlap is removed [TB-5d]. Answers TB_RUNS_TENSOR. */
static uint16_t sum_runtime(struct tb_tree *tree, uint32_t runtime, struct launch_sums *sums)
{
    const struct event_classes *sel = tree->ops.sel;
    uint16_t flags = 0;
    *sums = (struct launch_sums){0};
    uint32_t end = tree->links->launched_first[runtime + 1];
    for (uint32_t i = tree->links->launched_first[runtime]; i < end; i++) {
        uint32_t event = tree->links->launched[i];
        int64_t duration = times_duration(sel, event);
        sums->device = saturating_add(sums->device, duration);
        if (sel->class[event] != INDEX_KERNEL) {
            continue;
        }
        uint32_t name_flags = names_kernel_flags(&tree->ops.sel->names, sel->name[event]);
        if (name_flags & NAME_TENSOR_KERNEL) {
            sums->tensor = saturating_add(sums->tensor, duration);
            flags |= TB_RUNS_TENSOR;
        }
    }
    return flags;
}

/* A runtime that was visited before, by the root of its thread, counts doubly [TB-5.6]. */
static bool counts_doubly(const struct tb_tree *tree, uint32_t list, uint32_t runtime)
{
    if (list != tree->lists.zero_list || !tb_tree_zero_owner_is_last(tree, runtime)) {
        return false;
    }
    uint32_t event = tree->links->runtime_event[runtime];
    const struct trace *trace = tree->ops.sel->trace;
    uint32_t track = trace_event_track(&trace->events, event);
    return trace->tracks[track].tid_is_int && tree->ops.track_thread[track] != OP_NO_THREAD;
}

static void sum_node(struct tb_tree *tree, struct op_node *node, struct launch_sums *sums)
{
    const struct runtime_lists *lists = &tree->lists;
    uint32_t list = tree->lists.of_event[node->event];
    *sums = (struct launch_sums){0};
    for (uint32_t i = lists->first[list]; i < lists->first[list + 1]; i++) {
        uint32_t runtime = lists->runtimes[i];
        const uint32_t *first = tree->links->launched_first + runtime;
        if (first[0] == first[1]) {
            continue;
        }
        struct launch_sums own;
        node->flags |= sum_runtime(tree, runtime, &own) | OP_LAUNCHES;
        add_sums(sums, &own);
        if (counts_doubly(tree, list, runtime)) {
            add_sums(sums, &own);
        }
    }
}

static void find_zero_owner(struct tb_tree *tree)
{
    if (tree->lists.zero_list == RUNTIME_LIST_NONE) {
        return;
    }
    for (uint32_t t = 0; t < tree->ops.thread_count; t++) {
        for (uint32_t i = tree->ops.threads[t].first; i < tree->ops.threads[t].end; i++) {
            if (tb_tree_list(tree, i) == tree->lists.zero_list) {
                tree->zero_owner = i;
                tree->zero_owner_thread = t;
                return;
            }
        }
    }
}

/* ---- host self time ---- */

static int64_t runtimes_duration(const struct tb_tree *tree, uint32_t list)
{
    int64_t sum = 0;
    int64_t kept_start = INT64_MAX;
    int64_t kept_end = INT64_MIN;
    for (uint32_t i = tree->lists.first[list]; i < tree->lists.first[list + 1]; i++) {
        uint32_t event = tree->links->runtime_event[tree->lists.runtimes[i]];
        int64_t start = times_start(tree->ops.sel, event);
        int64_t end = times_end(tree->ops.sel, event);
        if (tree->ops.sel->mlu && start >= kept_start && end <= kept_end) {
            continue;
        }
        kept_start = start;
        kept_end = end;
        sum = saturating_add(sum, times_duration(tree->ops.sel, event));
    }
    return sum;
}

/* Own duration - durations of the children - durations of the own runtimes; may be negative. On an
 * MLU a runtime inside the one kept before it is not subtracted again [TB-17e]. Parents stand
 * before their children. */
static void take_host_time(struct tb_tree *tree, uint32_t node)
{
    uint32_t parent = tree->ops.nodes[node].parent;
    uint32_t list = tb_tree_list(tree, node);
    int64_t duration = op_node_duration(&tree->ops, node);
    int64_t *host_self = tree->ops.host_self;
    host_self[node] = list == RUNTIME_LIST_NONE
                          ? duration
                          : saturating_sub(duration, runtimes_duration(tree, list));
    if (parent != OP_NO_NODE) {
        host_self[parent] = saturating_sub(host_self[parent], duration);
    }
}

/* ---- all nodes ---- */

static bool make_columns(struct tb_tree *tree)
{
    size_t threads = tree->ops.thread_count;
    size_t nodes = threads == 0 ? 0 : tree->ops.threads[threads - 1].end;
    size_t ranks = (size_t)tree->lists.count + 1;
    tree->ops.sums = scratch_calloc(ranks, sizeof *tree->ops.sums);
    tree->tensor = scratch_calloc(ranks, sizeof *tree->tensor);
    tree->ops.host_self = scratch_alloc(nodes, sizeof *tree->ops.host_self);
    return tree->ops.sums != NULL && tree->tensor != NULL && tree->ops.host_self != NULL;
}

static bool sum_nodes(struct tb_tree *tree)
{
    if (!make_columns(tree)) {
        return false;
    }
    uint32_t rank = 0;
    struct launch_sums all = {0};
    for (uint32_t t = 0; t < tree->ops.thread_count; t++) {
        for (uint32_t i = tree->ops.threads[t].first; i < tree->ops.threads[t].end; i++) {
            struct op_node *node = &tree->ops.nodes[i];
            node->rank = rank;
            take_host_time(tree, i);
            if (tb_tree_list(tree, i) == RUNTIME_LIST_NONE) {
                continue;
            }
            struct launch_sums sums;
            sum_node(tree, node, &sums);
            if (node->flags & OP_LAUNCHES) {
                add_sums(&all, &sums);
                tree->ops.sums[++rank] = all.device;
                tree->tensor[rank] = all.tensor;
            }
        }
        tree->ops.nodes[tree->ops.threads[t].end].rank = rank;
    }
    return true;
}

/* Eligible by own name, which the flags tell before, or, being an operator, by an own kernel or a
 * child [TB-5f] [TB-5.5]. */
static void decide_eligibility(struct tb_tree *tree, uint32_t index)
{
    struct op_node *node = &tree->ops.nodes[index];
    uint16_t flags = node->flags;
    if (node->type == INDEX_OPERATOR) {
        flags |= (flags & (TB_RUNS_TENSOR | TB_TENSOR_CHILD)) != 0 ? TB_TENSOR : 0;
    }
    node->flags = flags;
    if (node->parent == OP_NO_NODE) {
        return;
    }
    bool tensor = (flags & TB_TENSOR) != 0;
    bool is_below = (tensor && (flags & OP_REAL) != 0) || (flags & TB_ELIGIBLE_BELOW) != 0;
    tree->ops.nodes[node->parent].flags |=
        (tensor ? TB_TENSOR_CHILD : 0) | (is_below ? TB_ELIGIBLE_BELOW : 0);
}

bool tb_tree_add_stats(struct tb_tree *tree)
{
    find_zero_owner(tree);
    if (!sum_nodes(tree)) {
        return false;
    }
    for (uint32_t t = 0; t < tree->ops.thread_count; t++) {
        for (uint32_t i = tree->ops.threads[t].end; i-- > tree->ops.threads[t].first;) {
            decide_eligibility(tree, i); /* children stand behind their parents */
        }
    }
    return true;
}
