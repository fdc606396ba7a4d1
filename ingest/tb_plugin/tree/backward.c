#include "ingest/tb_plugin/tree/backward.h"

#include "ingest/analysis/relations/fwdbwd.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

/* A group hangs below a mirror once for every operator that begins at its forward time. Files made
 * for the purpose could so grow without bound: beyond this many nodes below mirrors, further
 * references are dropped. */
#define REFERENCED_NODES_MIN ((uint64_t)1 << 20)
#define REFERENCED_NODES_FACTOR 8

#define NO_GROUP UINT32_MAX

struct building {
    struct backward *out;
    struct op_tree *tree;
    struct fwdbwd pairs;
    uint32_t *group_of; /* by index in pairs.by_backward: group of backward roots, NO_GROUP */
    uint32_t *roots;    /* backward roots, parent by parent */
    size_t root_count;
    size_t roots_cap;
    uint32_t *group_first; /* group g: roots[group_first[g] .. group_first[g + 1]) */
    uint32_t group_count;
    uint32_t holder;         /* last thread with a backward root */
    struct id_map mirror_of; /* module node -> value: mirror */
    uint32_t *tops;          /* top-level modules */
    size_t top_count;
    size_t tops_cap;
    size_t refs_cap;
    size_t mirrors_cap;
    uint64_t nodes_left; /* may still be referenced */
};

static bool push(uint32_t **items, size_t *count, size_t *cap, uint32_t value)
{
    uint32_t *grown = scratch_grow(*items, *count, cap, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    *items = grown;
    grown[(*count)++] = value;
    return true;
}

static bool is_backward_root(const struct building *b, uint32_t node)
{
    uint32_t name_flags = b->tree->sel->names.flags[op_node_name(b->tree, node)];
    return (name_flags & NAME_BACKWARD_ROOT) != 0;
}

/* ---- the roots that leave ---- */

static bool push_root(struct building *b, uint32_t node)
{
    return push(&b->roots, &b->root_count, &b->roots_cap, node);
}

/* The backward roots among the siblings in [first, end). */
static bool collect_roots(struct building *b, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i = b->tree->nodes[i].end) {
        if (is_backward_root(b, i) && !push_root(b, i)) {
            return false;
        }
    }
    return true;
}

static bool collect_tops(struct building *b, uint32_t first, uint32_t end)
{
    const struct op_node *nodes = b->tree->nodes;
    for (uint32_t i = first; i < end; i = nodes[i].end) {
        bool is_top = nodes[i].class == OP_MODULE && !is_backward_root(b, i);
        if (is_top && !push(&b->tops, &b->top_count, &b->tops_cap, i)) {
            return false;
        }
        bool is_step = nodes[i].class == OP_STEP && nodes[i].parent == OP_NO_NODE;
        if (is_step && !collect_tops(b, i + 1, nodes[i].end)) {
            return false;
        }
    }
    return true;
}

/* Roots parent by parent, parents in the order in which a walk meets the first root of each. */
static bool collect_thread(struct building *b, const struct op_thread *thread)
{
    const struct op_node *nodes = b->tree->nodes;
    bool root_is_done = false;
    size_t roots_before = b->root_count;
    for (uint32_t i = thread->first; i < thread->end; i = nodes[i].end) {
        bool ok = true;
        if (is_backward_root(b, i)) {
            ok = root_is_done || collect_roots(b, i, thread->end);
            root_is_done = true;
        } else if (nodes[i].class == OP_STEP) {
            ok = collect_roots(b, i + 1, nodes[i].end);
        }
        if (!ok) {
            return false;
        }
    }
    if (b->root_count != roots_before) {
        b->holder = (uint32_t)(thread - b->tree->threads);
    }
    return collect_tops(b, thread->first, thread->end);
}

static bool collect(struct building *b)
{
    for (uint32_t t = 0; t < b->tree->thread_count; t++) {
        if (!collect_thread(b, &b->tree->threads[t])) {
            return false;
        }
    }
    return true;
}

/* The first group given to a time stays. */
static void set_group(struct building *b, int64_t backward_ns)
{
    const struct id_slot *slot = id_map_find(&b->pairs.by_backward, backward_ns);
    if (slot != NULL && b->group_of[slot->index] == NO_GROUP) {
        b->group_of[slot->index] = b->group_count - 1;
    }
}

/* The group that an operator beginning at a forward time leads to. */
static uint32_t group_at(const struct building *b, int64_t forward_ns)
{
    const struct id_slot *slot = id_map_find(&b->pairs.by_forward, forward_ns);
    return slot == NULL ? NO_GROUP : b->group_of[slot->value];
}

/* Each root begins a group, but the accumulation of a gradient joins the group before it. */
static bool group_roots(struct building *b)
{
    b->group_first = scratch_alloc(b->root_count + 1, sizeof *b->group_first);
    b->group_of = scratch_none(b->pairs.by_backward.count);
    if (b->group_first == NULL || b->group_of == NULL) {
        return false;
    }
    for (size_t i = 0; i < b->root_count; i++) {
        uint32_t root = b->roots[i];
        uint32_t name_flags = b->tree->sel->names.flags[op_node_name(b->tree, root)];
        bool joins = b->group_count > 0 && (name_flags & NAME_ACCUMULATE_GRAD) != 0;
        if (!joins) {
            b->group_first[b->group_count++] = (uint32_t)i;
        }
        b->tree->nodes[root].flags |= TB_REMOVED;
        for (uint32_t n = root; n < b->tree->nodes[root].end; n++) {
            set_group(b, op_node_start_ns(b->tree, n));
        }
    }
    b->group_first[b->group_count] = (uint32_t)b->root_count;
    return true;
}

/* ---- mirrors ---- */

static bool push_ref(struct building *b, uint32_t ref)
{
    return push(&b->out->refs, &b->out->ref_count, &b->refs_cap, ref);
}

static bool push_group(struct building *b, uint32_t group)
{
    if (group == NO_GROUP) {
        return true;
    }
    for (uint32_t i = b->group_first[group]; i < b->group_first[group + 1]; i++) {
        uint32_t root = b->roots[i];
        uint32_t nodes = b->tree->nodes[root].end - root;
        if (nodes > b->nodes_left) {
            continue;
        }
        b->nodes_left -= nodes;
        if (!push_ref(b, root)) {
            return false;
        }
    }
    return true;
}

/* Submodules become child mirrors; every other node below the module brings the group of its start
 * time. */
static bool push_children(struct building *b, uint32_t module)
{
    const struct op_node *nodes = b->tree->nodes;
    uint32_t i = module + 1;
    while (i < nodes[module].end) {
        if (nodes[i].class != OP_MODULE) {
            if (!push_group(b, group_at(b, op_node_start_ns(b->tree, i)))) {
                return false;
            }
            i++;
            continue;
        }
        const struct id_slot *slot = id_map_find(&b->mirror_of, i);
        if (slot == NULL || !push_ref(b, slot->value | BACKWARD_REF_MIRROR)) {
            return false;
        }
        i = nodes[i].end;
    }
    return true;
}

/* Times as they are compared. */
struct interval {
    int64_t start_key;
    int64_t end_key;
};

static struct interval ref_interval(const struct building *b, uint32_t ref)
{
    if (ref & BACKWARD_REF_MIRROR) {
        const struct mirror *mirror = &b->out->mirrors[ref & ~BACKWARD_REF_MIRROR];
        return (struct interval){mirror->start_key, mirror->end_key};
    }
    return (struct interval){op_node_start_key(b->tree, ref), op_node_end_key(b->tree, ref)};
}

static int by_start_and_length(uint32_t a, uint32_t b, const void *ctx)
{
    const struct building *building = ctx;
    struct interval a_at = ref_interval(building, a);
    struct interval b_at = ref_interval(building, b);
    if (a_at.start_key != b_at.start_key) {
        return a_at.start_key < b_at.start_key ? -1 : 1;
    }
    return (a_at.end_key < b_at.end_key) - (a_at.end_key > b_at.end_key);
}

static bool ref_is_eligible(const struct building *b, uint32_t ref)
{
    if (ref & BACKWARD_REF_MIRROR) {
        return b->out->mirrors[ref & ~BACKWARD_REF_MIRROR].has_eligible;
    }
    uint16_t flags = b->tree->nodes[ref].flags;
    return (flags & TB_ELIGIBLE_BELOW) != 0 || ((flags & TB_TENSOR) != 0 && (flags & OP_REAL) != 0);
}

static bool add_mirror(struct building *b, uint32_t module)
{
    struct backward *out = b->out;
    struct mirror mirror = {.module = module,
                            .first_ref = out->ref_count,
                            .start_key = op_node_start_key(b->tree, module),
                            .end_key = op_node_end_key(b->tree, module)};
    if (!push_children(b, module)) {
        return false;
    }
    mirror.ref_count = out->ref_count - mirror.first_ref;
    if (mirror.ref_count > 0) {
        uint32_t *refs = out->refs + mirror.first_ref;
        if (!sort_stable(refs, mirror.ref_count, by_start_and_length, b)) {
            return false;
        }
        mirror.start_key = ref_interval(b, refs[0]).start_key;
        mirror.end_key = ref_interval(b, refs[mirror.ref_count - 1]).end_key;
        for (size_t i = 0; i < mirror.ref_count; i++) {
            mirror.has_eligible = mirror.has_eligible || ref_is_eligible(b, refs[i]);
        }
    }
    struct mirror *mirrors =
        scratch_grow(out->mirrors, out->mirror_count, &b->mirrors_cap, sizeof *mirrors);
    struct id_slot *slot = id_map_add(&b->mirror_of, module);
    if (mirrors == NULL || slot == NULL) {
        out->mirrors = mirrors == NULL ? out->mirrors : mirrors;
        return false;
    }
    out->mirrors = mirrors;
    slot->value = out->mirror_count;
    out->mirrors[out->mirror_count++] = mirror;
    return true;
}

/* Turns the list of top-level modules into the list of their mirrors. Inner modules first, so that
 * theirs exist. */
static bool add_mirrors(struct building *b)
{
    for (size_t t = 0; t < b->top_count; t++) {
        uint32_t top = b->tops[t];
        for (uint32_t i = b->tree->nodes[top].end; i-- > top;) {
            if (b->tree->nodes[i].class == OP_MODULE && !add_mirror(b, i)) {
                return false;
            }
        }
        b->tops[t] = (b->out->mirror_count - 1) | BACKWARD_REF_MIRROR;
    }
    return sort_stable(b->tops, b->top_count, by_start_and_length, b);
}

/* ---- their place in the main thread ---- */

static bool has_step(const struct op_tree *tree, const struct op_thread *thread)
{
    for (uint32_t i = thread->first; i < thread->end; i = tree->nodes[i].end) {
        if (tree->nodes[i].class == OP_STEP) {
            return true;
        }
    }
    return false;
}

/* The thread with steps; else the only one; else the longest but the one with the backward roots.
 */
static uint32_t find_main_thread(const struct building *b)
{
    const struct op_tree *tree = b->tree;
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        if (has_step(tree, &tree->threads[t])) {
            return t;
        }
    }
    uint32_t longest = 0;
    int64_t longest_length = -1;
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        int64_t length = saturating_sub(tree->threads[t].end_time, tree->threads[t].start);
        if (t != b->holder && length > longest_length) {
            longest_length = length;
            longest = t;
        }
    }
    return longest;
}

/* Where the one monotone walk of all insertions stands: before `child` among the children of
 * `node`. */
struct place {
    const struct op_tree *tree;
    const struct op_thread *thread;
    uint32_t node; /* OP_NO_NODE: the root */
    uint32_t child;
};

static uint32_t place_end(const struct place *at)
{
    return at->node == OP_NO_NODE ? at->thread->end : at->tree->nodes[at->node].end;
}

static struct interval place_interval(const struct place *at)
{
    if (at->node == OP_NO_NODE) {
        return (struct interval){at->thread->start_key, at->thread->end_key};
    }
    return (struct interval){op_node_start_key(at->tree, at->node),
                             op_node_end_key(at->tree, at->node)};
}

/* Passes children that left the tree and those that end before a time. */
static void pass_children(struct place *at, int64_t key)
{
    uint32_t end = place_end(at);
    while (at->child < end && ((at->tree->nodes[at->child].flags & TB_REMOVED) != 0 ||
                               key > op_node_end_key(at->tree, at->child))) {
        at->child = at->tree->nodes[at->child].end;
    }
}

enum placing { PLACED, DROPPED, WALK_IS_OVER };

/* Overlap or touch is enough to descend [TB-5.2]. */
static enum placing place_mirror(struct place *at, const struct mirror *mirror)
{
    for (;;) {
        struct interval here = place_interval(at);
        if (mirror->end_key < here.start_key) {
            return DROPPED;
        }
        if (mirror->start_key > here.end_key) {
            if (at->node == OP_NO_NODE) {
                return WALK_IS_OVER;
            }
            at->child = at->tree->nodes[at->node].end;
            at->node = at->tree->nodes[at->node].parent;
            continue;
        }
        pass_children(at, mirror->start_key);
        bool descends =
            at->child < place_end(at) && mirror->end_key >= op_node_start_key(at->tree, at->child);
        if (!descends) {
            return PLACED;
        }
        at->node = at->child++;
    }
}

/* Operators around an eligible one are no longer the lowest eligible ones [TB-9f]. */
static void mark_eligible_below(struct op_tree *tree, uint32_t node)
{
    while (node != OP_NO_NODE && (tree->nodes[node].flags & TB_ELIGIBLE_BELOW) == 0) {
        tree->nodes[node].flags |= TB_ELIGIBLE_BELOW;
        node = tree->nodes[node].parent;
    }
}

static bool insert_mirrors(struct building *b)
{
    struct backward *out = b->out;
    out->main_thread = find_main_thread(b);
    out->insertions = scratch_alloc(b->top_count, sizeof *out->insertions);
    if (out->insertions == NULL) {
        return false;
    }
    const struct op_thread *thread = &b->tree->threads[out->main_thread];
    struct place at = {b->tree, thread, OP_NO_NODE, thread->first};
    for (size_t t = 0; t < b->top_count; t++) {
        uint32_t mirror = b->tops[t] & ~BACKWARD_REF_MIRROR;
        enum placing placing = place_mirror(&at, &out->mirrors[mirror]);
        if (placing == WALK_IS_OVER) {
            break;
        }
        if (placing == PLACED) {
            out->insertions[out->insertion_count++] = (struct insertion){at.node, at.child, mirror};
            if (out->mirrors[mirror].has_eligible) {
                mark_eligible_below(b->tree, at.node);
            }
        }
    }
    return true;
}

bool backward_build(struct backward *backward, struct op_tree *tree)
{
    *backward = (struct backward){.main_thread = OP_NO_THREAD};
    struct building b = {.out = backward, .tree = tree, .holder = OP_NO_THREAD};
    id_map_init(&b.mirror_of);
    b.nodes_left =
        REFERENCED_NODES_MIN + (uint64_t)tree->sel->trace->events.count * REFERENCED_NODES_FACTOR;
    bool has_modules = tree->sel->class_count[INDEX_MODULE] > 0;
    bool ok = !has_modules || fwdbwd_collect(&b.pairs, tree->sel->trace);
    bool has_pairs = has_modules && b.pairs.by_forward.count > 0;
    ok = ok && (!has_pairs || collect(&b));
    if (ok && b.root_count > 0 && b.top_count > 0) {
        ok = group_roots(&b) && add_mirrors(&b) && insert_mirrors(&b);
    }
    fwdbwd_free(&b.pairs);
    id_map_free(&b.mirror_of);
    SCRATCH_FREE(b.roots, b.group_first, b.group_of, b.tops);
    return ok;
}

void backward_free(struct backward *backward)
{
    SCRATCH_FREE(backward->mirrors, backward->refs, backward->insertions);
    *backward = (struct backward){0};
}
