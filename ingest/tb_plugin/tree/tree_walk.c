#include "ingest/tb_plugin/tree/tree_walk.h"

#include "ingest/base/memory/scratch.h"

void tree_walk_init(struct tree_walk *walk,
                    const struct op_tree *tree,
                    const struct backward *backward,
                    const struct tree_visitor *visitor)
{
    *walk = (struct tree_walk){.tree = tree, .backward = backward, .visitor = visitor};
}

void tree_walk_free(struct tree_walk *walk)
{
    scratch_free(walk->open);
    walk->open = NULL;
}

static bool tell(const struct tree_walk *walk, bool (*see)(void *, uint32_t), uint32_t what)
{
    return see == NULL || see(walk->visitor->context, what);
}

static bool enter_node(const struct tree_walk *walk, uint32_t node)
{
    return tell(walk, walk->visitor->enter_node, node);
}

static bool leave_node(const struct tree_walk *walk, uint32_t node)
{
    return tell(walk, walk->visitor->leave_node, node);
}

static bool see_subtrees(const struct tree_walk *walk, uint32_t first, uint32_t end)
{
    return first == end || walk->visitor->see_subtrees(walk->visitor->context, first, end);
}

/* ---- mirrors ---- */

static bool open_mirror(struct tree_walk *walk, uint32_t mirror)
{
    struct tree_open_mirror *open =
        scratch_grow(walk->open, walk->open_count, &walk->open_cap, sizeof *open);
    if (open == NULL) {
        return false;
    }
    walk->open = open;
    open[walk->open_count++] = (struct tree_open_mirror){mirror, 0};
    return tell(walk, walk->visitor->enter_mirror, mirror);
}

static bool close_mirror(struct tree_walk *walk)
{
    uint32_t mirror = walk->open[--walk->open_count].mirror;
    return tell(walk, walk->visitor->leave_mirror, mirror);
}

static bool walk_mirror(struct tree_walk *walk, uint32_t mirror)
{
    bool ok = open_mirror(walk, mirror);
    while (ok && walk->open_count > 0) {
        struct tree_open_mirror *top = &walk->open[walk->open_count - 1];
        const struct mirror *here = &walk->backward->mirrors[top->mirror];
        if (top->next_ref == here->ref_count) {
            ok = close_mirror(walk);
            continue;
        }
        uint32_t ref = walk->backward->refs[here->first_ref + top->next_ref++];
        bool is_mirror = (ref & BACKWARD_REF_MIRROR) != 0;
        ok = is_mirror ? open_mirror(walk, ref & ~BACKWARD_REF_MIRROR)
                       : see_subtrees(walk, ref, walk->tree->nodes[ref].end);
    }
    return ok;
}

static bool walk_mirrors(struct tree_walk *walk, uint32_t parent, uint32_t before)
{
    const struct backward *backward = walk->backward;
    while (walk->next_insertion < backward->insertion_count) {
        const struct insertion *insertion = &backward->insertions[walk->next_insertion];
        if (insertion->parent != parent || insertion->before != before) {
            break;
        }
        walk->next_insertion++;
        if (!walk_mirror(walk, insertion->mirror)) {
            return false;
        }
    }
    return true;
}

/* Mirrors that stand before node `before` among the children of `parent`. Most threads have none.
 */
static bool walk_insertions(struct tree_walk *walk, uint32_t parent, uint32_t before)
{
    return walk->next_insertion == walk->backward->insertion_count ||
           walk_mirrors(walk, parent, before);
}

/* ---- threads ---- */

/* Leaves nodes from *open up to `parent`, where the node at `at` comes next. */
static bool leave_up_to(struct tree_walk *walk, uint32_t *open, uint32_t parent, uint32_t at)
{
    while (*open != parent) {
        if (!walk_insertions(walk, *open, at) || !leave_node(walk, *open)) {
            return false;
        }
        *open = walk->tree->nodes[*open].parent;
    }
    return walk_insertions(walk, parent, at);
}

bool tree_walk_thread(struct tree_walk *walk, uint32_t thread)
{
    const struct op_node *nodes = walk->tree->nodes;
    const struct op_thread *here = &walk->tree->threads[thread];
    bool is_main = thread == walk->backward->main_thread;
    if (walk->backward->main_thread == OP_NO_THREAD) {
        return see_subtrees(walk, here->first, here->end);
    }
    uint32_t open = OP_NO_NODE;
    uint32_t i = here->first;
    walk->next_insertion = is_main ? 0 : walk->backward->insertion_count;
    while (i < here->end) {
        if (!leave_up_to(walk, &open, nodes[i].parent, i)) {
            return false;
        }
        if (nodes[i].flags & TB_REMOVED) {
            i = nodes[i].end;
            continue;
        }
        if (!enter_node(walk, i)) {
            return false;
        }
        open = i++;
    }
    return leave_up_to(walk, &open, OP_NO_NODE, here->end);
}

bool tree_walk_has_thread(const struct tree_walk *walk, uint32_t thread)
{
    const struct op_thread *here = &walk->tree->threads[thread];
    for (uint32_t i = here->first; i < here->end; i = walk->tree->nodes[i].end) {
        if ((walk->tree->nodes[i].flags & TB_REMOVED) == 0) {
            return true;
        }
    }
    return walk->backward->main_thread == thread && walk->backward->insertion_count > 0;
}
