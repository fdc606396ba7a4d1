#include "ingest/analysis/classify/tb_clock.h"
#include "ingest/analysis/relations/op_tree.h"
#include "ingest/base/memory/scratch.h"

static void add_sums(struct op_launch_sums *to, const struct op_launch_sums *add)
{
    to->device = saturating_add(to->device, add->device);
    to->tc = saturating_add(to->tc, add->tc);
    to->tensor = saturating_add(to->tensor, add->tensor);
}

/* Device work of one runtime; no overlap is removed [TB-5d]. Answers OP_RUNS_TC and OP_RUNS_TENSOR.
 */
static uint16_t sum_runtime(struct op_tree *tree, uint32_t runtime, struct op_launch_sums *sums)
{
    const struct event_classes *sel = tree->sel;
    uint16_t flags = 0;
    *sums = (struct op_launch_sums){0};
    uint32_t end = tree->links->launched_first[runtime + 1];
    for (uint32_t i = tree->links->launched_first[runtime]; i < end; i++) {
        uint32_t event = tree->links->launched[i];
        int64_t duration = tb_clock_duration(sel, event);
        sums->device = saturating_add(sums->device, duration);
        if (sel->type[event] != TYPE_KERNEL) {
            continue;
        }
        uint32_t name_flags = names_kernel_flags(&tree->sel->names, sel->name[event]);
        if (name_flags & NAME_TC_KERNEL) {
            sums->tc = saturating_add(sums->tc, duration);
            flags |= OP_RUNS_TC;
        }
        if (name_flags & NAME_TENSOR_KERNEL) {
            sums->tensor = saturating_add(sums->tensor, duration);
            flags |= OP_RUNS_TENSOR;
        }
    }
    return flags;
}

/* A runtime that was visited before, by the root of its thread, counts doubly [TB-5.6]. */
static bool counts_doubly(const struct op_tree *tree, uint32_t list, uint32_t runtime)
{
    if (list != tree->lists.zero_list || !op_tree_zero_owner_is_last(tree, runtime)) {
        return false;
    }
    uint32_t event = tree->links->runtime_event[runtime];
    const struct trace *trace = tree->sel->trace;
    uint32_t track = trace_event_track(&trace->events, event);
    return trace->tracks[track].tid_is_int && tree->track_thread[track] != OP_NO_THREAD;
}

static void sum_node(struct op_tree *tree, struct op_node *node, struct op_launch_sums *sums)
{
    const struct runtime_lists *lists = &tree->lists;
    uint32_t list = node->runtimes;
    *sums = (struct op_launch_sums){0};
    for (uint32_t i = lists->first[list]; i < lists->first[list + 1]; i++) {
        uint32_t runtime = lists->runtimes[i];
        const uint32_t *first = tree->links->launched_first + runtime;
        if (first[0] == first[1]) {
            continue;
        }
        struct op_launch_sums own;
        node->flags |= sum_runtime(tree, runtime, &own) | OP_LAUNCHES;
        add_sums(sums, &own);
        if (counts_doubly(tree, list, runtime)) {
            add_sums(sums, &own);
        }
    }
}

static void find_zero_owner(struct op_tree *tree)
{
    if (tree->lists.zero_list == RUNTIME_LIST_NONE) {
        return;
    }
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        for (uint32_t i = tree->threads[t].first; i < tree->threads[t].end; i++) {
            if (tree->nodes[i].runtimes == tree->lists.zero_list) {
                tree->zero_owner = i;
                tree->zero_owner_thread = t;
                return;
            }
        }
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
        int64_t start = tb_clock_start(tree->sel, event);
        int64_t end = tb_clock_end(tree->sel, event);
        if (tree->sel->mlu && start >= kept_start && end <= kept_end) {
            continue;
        }
        kept_start = start;
        kept_end = end;
        sum = saturating_add(sum, tb_clock_duration(tree->sel, event));
    }
    return sum;
}

int64_t op_node_sum_host_self(const struct op_tree *tree, uint32_t node)
{
    const struct op_node *self = &tree->nodes[node];
    int64_t self_time = op_node_duration(tree, node);
    for (uint32_t child = node + 1; child < self->end; child = tree->nodes[child].end) {
        self_time = saturating_sub(self_time, op_node_duration(tree, child));
    }
    if (self->runtimes != RUNTIME_LIST_NONE) {
        self_time = saturating_sub(self_time, runtimes_duration(tree, self->runtimes));
    }
    return self_time;
}

static uint32_t host_self_word(int64_t ticks)
{
    return ticks >= 0 && ticks < OP_HOST_SELF_WIDE ? (uint32_t)ticks : OP_HOST_SELF_WIDE;
}

/* Parents stand before their children. */
static void take_host_time(struct op_tree *tree, uint32_t index)
{
    const struct op_node *node = &tree->nodes[index];
    int64_t duration = op_node_duration(tree, index);
    int64_t self = node->runtimes == RUNTIME_LIST_NONE
                       ? duration
                       : saturating_sub(duration, runtimes_duration(tree, node->runtimes));
    tree->host_self[index] = host_self_word(self);
    uint32_t *parent = node->parent == OP_NO_NODE ? NULL : &tree->host_self[node->parent];
    if (parent != NULL && *parent != OP_HOST_SELF_WIDE) {
        *parent = host_self_word(saturating_sub(*parent, duration));
    }
}

/* ---- all nodes ---- */

static bool make_columns(struct op_tree *tree)
{
    size_t nodes = tree->thread_count == 0 ? 0 : tree->threads[tree->thread_count - 1].end;
    tree->sums = scratch_alloc((size_t)tree->lists.count + 1, sizeof *tree->sums);
    tree->host_self = scratch_alloc(nodes, sizeof *tree->host_self);
    return tree->sums != NULL && tree->host_self != NULL;
}

static bool sum_nodes(struct op_tree *tree)
{
    if (!make_columns(tree)) {
        return false;
    }
    uint32_t rank = 0;
    tree->sums[0] = (struct op_launch_sums){0};
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        for (uint32_t i = tree->threads[t].first; i < tree->threads[t].end; i++) {
            struct op_node *node = &tree->nodes[i];
            node->rank = rank;
            take_host_time(tree, i);
            if (node->runtimes == RUNTIME_LIST_NONE) {
                continue;
            }
            struct op_launch_sums sums;
            sum_node(tree, node, &sums);
            if (node->flags & OP_LAUNCHES) {
                add_sums(&sums, &tree->sums[rank]);
                tree->sums[++rank] = sums;
            }
        }
        tree->nodes[tree->threads[t].end].rank = rank;
    }
    return true;
}

/* Eligible by own name, which the flags tell before, or, being an operator, by an own kernel or a
 * child [TB-5f] [TB-5.5]. */
static void decide_eligibility(struct op_tree *tree, uint32_t index)
{
    struct op_node *node = &tree->nodes[index];
    uint16_t flags = node->flags;
    if (node->type == TYPE_OPERATOR) {
        flags |= (flags & (OP_RUNS_TC | OP_TC_CHILD)) != 0 ? OP_TC : 0;
        flags |= (flags & (OP_RUNS_TENSOR | OP_TENSOR_CHILD)) != 0 ? OP_TENSOR : 0;
    }
    node->flags = flags;
    if (node->parent == OP_NO_NODE) {
        return;
    }
    bool tc = (flags & OP_TC) != 0;
    bool is_below = (tc && (flags & OP_REAL) != 0) || (flags & OP_ELIGIBLE_BELOW) != 0;
    tree->nodes[node->parent].flags |= (tc ? OP_TC_CHILD : 0) |
                                       ((flags & OP_TENSOR) != 0 ? OP_TENSOR_CHILD : 0) |
                                       (is_below ? OP_ELIGIBLE_BELOW : 0);
}

bool op_tree_add_stats(struct op_tree *tree)
{
    find_zero_owner(tree);
    if (!sum_nodes(tree)) {
        return false;
    }
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        for (uint32_t i = tree->threads[t].end; i-- > tree->threads[t].first;) {
            decide_eligibility(tree, i); /* children stand behind their parents */
        }
    }
    return true;
}
