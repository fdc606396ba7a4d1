#include "ingest/tb_plugin/tree/postorder.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/tb_plugin/tree/tree_walk.h"

/* Room for `count` more. */
static bool make_room(struct postorder *postorder, size_t count)
{
    if (postorder->cap - postorder->count >= count && postorder->items != NULL) {
        return true;
    }
    size_t cap = postorder->cap * 2 > postorder->count + count ? postorder->cap * 2
                                                               : postorder->count + count;
    uint32_t *items = scratch_resize(postorder->items, cap, sizeof *items);
    if (items != NULL) {
        postorder->items = items;
        postorder->cap = cap;
    }
    return items != NULL;
}

static bool push_visit(struct postorder *postorder, uint32_t visit)
{
    if (!make_room(postorder, 1)) {
        return false;
    }
    postorder->items[postorder->count++] = visit;
    return true;
}

struct visiting {
    struct postorder *postorder;
    const struct tb_tree *tree;
};

static bool matters(const struct op_node *node)
{
    return (node->flags & (OP_REAL | OP_LAUNCHES)) != 0;
}

/* Leaves nodes from `open` until `parent` is the open one. */
static inline void leave_until(struct postorder *postorder,
                               const struct op_node *nodes,
                               uint32_t open,
                               uint32_t parent)
{
    for (; open != parent; open = nodes[open].parent) {
        postorder->items[postorder->count] = open;
        postorder->count += matters(&nodes[open]);
    }
}

static bool see_subtrees(void *context, uint32_t first, uint32_t end)
{
    const struct visiting *visiting = context;
    struct postorder *postorder = visiting->postorder;
    const struct op_node *nodes = visiting->tree->ops.nodes;
    uint32_t above = nodes[first].parent;
    /* What does not matter stands there until the next one comes. */
    if (!make_room(postorder, (size_t)(end - first) + 1)) {
        return false;
    }
    uint32_t open = above;
    for (uint32_t i = first; i < end; i++) {
        leave_until(postorder, nodes, open, nodes[i].parent);
        open = i;
    }
    leave_until(postorder, nodes, open, above);
    return true;
}

static bool leave_node(void *context, uint32_t node)
{
    struct visiting *visiting = context;
    return !matters(&visiting->tree->ops.nodes[node]) || push_visit(visiting->postorder, node);
}

static bool visit_root(const struct visiting *visiting, uint32_t t)
{
    const struct tb_tree *tree = visiting->tree;
    bool has_stale = tree->has_step_name[t] && tree->links->stale_count > 0;
    bool has_zero = tree->zero_first[t] != tree->zero_first[t + 1];
    return !(has_stale || has_zero) || push_visit(visiting->postorder, t | POSTORDER_ROOT);
}

bool postorder_build(struct postorder *postorder,
                     const struct tb_tree *tree,
                     const struct backward *backward)
{
    struct visiting visiting = {.postorder = postorder, .tree = tree};
    const struct tree_visitor visitor = {
        .see_subtrees = see_subtrees, .leave_node = leave_node, .context = &visiting};
    struct tree_walk walk;
    bool ok = true;
    *postorder = (struct postorder){0};
    tree_walk_init(&walk, &tree->ops, backward, &visitor);
    for (uint32_t t = 0; ok && t < tree->ops.thread_count; t++) {
        ok = !tree_walk_has_thread(&walk, t) ||
             (tree_walk_thread(&walk, t) && visit_root(&visiting, t));
    }
    tree_walk_free(&walk);
    return ok;
}

void postorder_free(struct postorder *postorder)
{
    scratch_free(postorder->items);
    *postorder = (struct postorder){0};
}

struct kernel_sink {
    const struct tb_tree *tree;
    bool (*see)(void *ctx, uint32_t kernel_event, uint32_t owner);
    void *ctx;
};

static bool see_runtime(const struct kernel_sink *sink, uint32_t runtime, uint32_t owner)
{
    const struct launch_correlation *links = sink->tree->links;
    uint32_t end = links->launched_first[runtime + 1];
    for (uint32_t i = links->launched_first[runtime]; i < end; i++) {
        uint32_t event = links->launched[i];
        bool is_kernel = sink->tree->ops.sel->class[event] == INDEX_KERNEL;
        if (is_kernel && !sink->see(sink->ctx, event, owner)) {
            return false;
        }
    }
    return true;
}

static bool see_root(const struct kernel_sink *sink, uint32_t thread)
{
    const struct tb_tree *tree = sink->tree;
    for (uint32_t i = tree->zero_first[thread]; i < tree->zero_first[thread + 1]; i++) {
        uint32_t runtime = tree->zero[i];
        uint32_t owner = tb_tree_zero_owner_is_last(tree, runtime) ? tree->zero_owner : OP_NO_NODE;
        if (!see_runtime(sink, runtime, owner)) {
            return false;
        }
    }
    uint32_t stale_count = tree->has_step_name[thread] ? tree->links->stale_count : 0;
    for (uint32_t i = 0; i < stale_count; i++) {
        if (!sink->see(sink->ctx, tree->links->stale[i], OP_NO_NODE)) {
            return false;
        }
    }
    return true;
}

bool postorder_kernels(const struct tb_tree *tree,
                       uint32_t visit,
                       bool (*see)(void *ctx, uint32_t kernel_event, uint32_t owner),
                       void *ctx)
{
    const struct kernel_sink sink = {tree, see, ctx};
    if (visit & POSTORDER_ROOT) {
        return see_root(&sink, visit & ~POSTORDER_ROOT);
    }
    uint32_t list = tb_tree_list(tree, visit);
    if ((tree->ops.nodes[visit].flags & OP_LAUNCHES) == 0) {
        return true;
    }
    bool is_zero_list = list == tree->lists.zero_list;
    for (uint32_t i = tree->lists.first[list]; i < tree->lists.first[list + 1]; i++) {
        uint32_t runtime = tree->lists.runtimes[i];
        bool is_roots = is_zero_list && !tb_tree_zero_owner_is_last(tree, runtime);
        if (!see_runtime(&sink, runtime, is_roots ? OP_NO_NODE : visit)) {
            return false;
        }
    }
    return true;
}
