#include "ingest/analysis/visits.h"

#include "ingest/analysis/scratch.h"

/* A mirror whose children are being visited. */
struct open_mirror {
    uint32_t mirror;
    size_t next_ref;
};

struct walk {
    struct visits *visits;
    const struct op_tree *tree;
    const struct backward *backward;
    uint32_t next_insertion;
    struct open_mirror *open; /* stack: as deep as modules nest */
    size_t open_count;
    size_t open_cap;
};

static bool push_visit(struct walk *w, uint32_t visit)
{
    struct visits *visits = w->visits;
    uint32_t *items = scratch_grow(visits->items, visits->count, &visits->cap, sizeof *items);
    if (items == NULL) {
        return false;
    }
    visits->items = items;
    items[visits->count++] = visit;
    return true;
}

static bool leave_node(struct walk *w, uint32_t node)
{
    bool matters = (w->tree->nodes[node].flags & (OP_REAL | OP_LAUNCHES)) != 0;
    return !matters || push_visit(w, node);
}

/* A subtree without insertions, in post-order. */
static bool walk_subtree(struct walk *w, uint32_t root)
{
    const struct op_node *nodes = w->tree->nodes;
    uint32_t open = root;
    for (uint32_t i = root + 1; i < nodes[root].end; i++) {
        while (open != nodes[i].parent) {
            if (!leave_node(w, open)) {
                return false;
            }
            open = nodes[open].parent;
        }
        open = i;
    }
    while (open != root) {
        if (!leave_node(w, open)) {
            return false;
        }
        open = nodes[open].parent;
    }
    return leave_node(w, root);
}

static bool open_mirror(struct walk *w, uint32_t mirror)
{
    struct open_mirror *open = scratch_grow(w->open, w->open_count, &w->open_cap, sizeof *open);
    if (open == NULL) {
        return false;
    }
    w->open = open;
    open[w->open_count++] = (struct open_mirror){mirror, 0};
    return true;
}

static bool walk_mirror(struct walk *w, uint32_t mirror)
{
    bool ok = open_mirror(w, mirror);
    while (ok && w->open_count > 0) {
        struct open_mirror *top = &w->open[w->open_count - 1];
        const struct mirror *here = &w->backward->mirrors[top->mirror];
        if (top->next_ref == here->ref_count) {
            w->open_count--;
            continue;
        }
        uint32_t ref = w->backward->refs[here->first_ref + top->next_ref++];
        bool is_mirror = (ref & BACKWARD_REF_MIRROR) != 0;
        ok = is_mirror ? open_mirror(w, ref & ~BACKWARD_REF_MIRROR) : walk_subtree(w, ref);
    }
    return ok;
}

/* Mirrors that stand before node `before` among the children of `parent`. */
static bool walk_insertions(struct walk *w, uint32_t parent, uint32_t before)
{
    const struct backward *backward = w->backward;
    while (w->next_insertion < backward->insertion_count) {
        const struct insertion *insertion = &backward->insertions[w->next_insertion];
        if (insertion->parent != parent || insertion->before != before) {
            break;
        }
        w->next_insertion++;
        if (!walk_mirror(w, insertion->mirror)) {
            return false;
        }
    }
    return true;
}

/* Leaves nodes from *open up to `parent`, where the node at `at` comes next. */
static bool leave_up_to(struct walk *w, uint32_t *open, uint32_t parent, uint32_t at)
{
    while (*open != parent) {
        if (!walk_insertions(w, *open, at) || !leave_node(w, *open)) {
            return false;
        }
        *open = w->tree->nodes[*open].parent;
    }
    return walk_insertions(w, parent, at);
}

static bool walk_thread(struct walk *w, const struct op_thread *thread)
{
    const struct op_node *nodes = w->tree->nodes;
    uint32_t open = OP_NO_NODE;
    uint32_t i = thread->first;
    while (i < thread->end) {
        if (!leave_up_to(w, &open, nodes[i].parent, i)) {
            return false;
        }
        if (nodes[i].flags & OP_REMOVED) {
            i = nodes[i].end;
        } else {
            open = i++;
        }
    }
    return leave_up_to(w, &open, OP_NO_NODE, thread->end);
}

/* Threads whose children all left are dropped, runtimes of the root included. */
static bool has_children(const struct walk *w, uint32_t t)
{
    const struct op_thread *thread = &w->tree->threads[t];
    for (uint32_t i = thread->first; i < thread->end; i = w->tree->nodes[i].end) {
        if ((w->tree->nodes[i].flags & OP_REMOVED) == 0) {
            return true;
        }
    }
    return w->backward->main_thread == t && w->backward->insertion_count > 0;
}

static bool visit_root(struct walk *w, uint32_t t)
{
    const struct op_tree *tree = w->tree;
    bool has_stale = tree->threads[t].has_step_name && tree->links->stale_count > 0;
    bool has_zero = tree->zero_first[t] != tree->zero_first[t + 1];
    return !(has_stale || has_zero) || push_visit(w, t | VISIT_ROOT);
}

bool visits_build(struct visits *visits,
                  const struct op_tree *tree,
                  const struct backward *backward)
{
    *visits = (struct visits){0};
    struct walk w = {.visits = visits, .tree = tree, .backward = backward};
    bool ok = true;
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        w.next_insertion = t == backward->main_thread ? 0 : backward->insertion_count;
        ok = !has_children(&w, t) || (walk_thread(&w, &tree->threads[t]) && visit_root(&w, t));
    }
    free(w.open);
    return ok;
}

void visits_free(struct visits *visits)
{
    free(visits->items);
    *visits = (struct visits){0};
}

struct kernel_sink {
    const struct op_tree *tree;
    bool (*see)(void *ctx, uint32_t kernel_event, uint32_t owner);
    void *ctx;
};

static bool see_runtime(const struct kernel_sink *sink, uint32_t runtime, uint32_t owner)
{
    const struct links *links = sink->tree->links;
    uint32_t end = links->launched_first[runtime + 1];
    for (uint32_t i = links->launched_first[runtime]; i < end; i++) {
        uint32_t event = links->launched[i];
        bool is_kernel = sink->tree->sel->type[event] == TYPE_KERNEL;
        if (is_kernel && !sink->see(sink->ctx, event, owner)) {
            return false;
        }
    }
    return true;
}

static bool see_root(const struct kernel_sink *sink, uint32_t thread)
{
    const struct op_tree *tree = sink->tree;
    for (uint32_t i = tree->zero_first[thread]; i < tree->zero_first[thread + 1]; i++) {
        uint32_t runtime = tree->zero[i];
        uint32_t owner = op_tree_zero_owner_is_last(tree, runtime) ? tree->zero_owner : OP_NO_NODE;
        if (!see_runtime(sink, runtime, owner)) {
            return false;
        }
    }
    uint32_t stale_count = tree->threads[thread].has_step_name ? tree->links->stale_count : 0;
    for (uint32_t i = 0; i < stale_count; i++) {
        if (!sink->see(sink->ctx, tree->links->stale[i], OP_NO_NODE)) {
            return false;
        }
    }
    return true;
}

bool visits_kernels(const struct op_tree *tree,
                    uint32_t visit,
                    bool (*see)(void *ctx, uint32_t kernel_event, uint32_t owner),
                    void *ctx)
{
    const struct kernel_sink sink = {tree, see, ctx};
    if (visit & VISIT_ROOT) {
        return see_root(&sink, visit & ~VISIT_ROOT);
    }
    uint32_t list = tree->nodes[visit].runtimes;
    if ((tree->nodes[visit].flags & OP_LAUNCHES) == 0) {
        return true;
    }
    bool is_zero_list = list == tree->lists.zero_list;
    for (uint32_t i = tree->lists.first[list]; i < tree->lists.first[list + 1]; i++) {
        uint32_t runtime = tree->lists.runtimes[i];
        bool is_roots = is_zero_list && !op_tree_zero_owner_is_last(tree, runtime);
        if (!see_runtime(&sink, runtime, is_roots ? OP_NO_NODE : visit)) {
            return false;
        }
    }
    return true;
}
