/* The heaviest nodes of a flame graph, in order, and nodes for the rest. */
#include "ingest/analysis/stacks/flame_internal.h"
#include "ingest/base/containers/fnv.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/python_frame.h"
#include "ingest/index/sort.h"

#include <string.h>

#define NONE UINT32_MAX
#define FNV_START UINT64_C(0xCBF29CE484222325)

struct totals {
    int64_t ns[FLAME_SIDES];
};

/* By node of the whole tree. */
struct selection {
    const struct flame *flame;
    uint32_t count;
    struct totals *totals;
    uint64_t *id;
    uint32_t *depth; /* below the root of the answer; NONE: not below it */
    /* of the chosen nodes, NONE: none; the heaviest child first */
    uint32_t *first_child, *last_child, *next;
    uint32_t root;
    uint32_t *chosen; /* in order of weight */
    uint32_t chosen_count;
};

static uint64_t id_of(uint64_t around, const struct flame_raw_node *node)
{
    const char kind = (char)node->kind;
    uint64_t hash = fnv_add(around ^ FNV_START, node->key_name, strlen(node->key_name));
    hash = fnv_add(hash, &kind, 1);
    return hash == FLAME_ROOT ? 1 : hash;
}

static bool allocate(struct selection *s)
{
    s->totals = scratch_calloc(s->count, sizeof *s->totals);
    s->id = scratch_calloc(s->count, sizeof *s->id);
    s->depth = scratch_none(s->count);
    s->first_child = scratch_none(s->count);
    s->last_child = scratch_none(s->count);
    s->next = scratch_none(s->count);
    s->chosen = scratch_alloc(s->count, sizeof *s->chosen);
    return s->totals != NULL && s->id != NULL && s->depth != NULL && s->first_child != NULL &&
           s->last_child != NULL && s->next != NULL && s->chosen != NULL;
}

static void free_selection(struct selection *s)
{
    SCRATCH_FREE(s->totals, s->id, s->depth, s->first_child, s->last_child, s->next, s->chosen);
}

/* Ids from the root down, totals from the leaves up. */
static void add_up(struct selection *s)
{
    for (uint32_t node = 0; node < s->count; node++) {
        const struct flame_raw_node raw = flame_raw_node(s->flame, node);
        memcpy(s->totals[node].ns, raw.self_ns, sizeof raw.self_ns);
        s->id[node] = node == 0 ? FLAME_ROOT : id_of(s->id[raw.parent], &raw);
    }
    for (uint32_t node = s->count; node-- > 1;) {
        int64_t *around = s->totals[flame_raw_node(s->flame, node).parent].ns;
        for (unsigned side = 0; side < FLAME_SIDES; side++) {
            around[side] = saturating_add(around[side], s->totals[node].ns[side]);
        }
    }
}

static int64_t weight_of(const struct selection *s, uint32_t node)
{
    return saturating_add(s->totals[node].ns[0], s->totals[node].ns[1]);
}

static bool find_root(struct selection *s, uint64_t under)
{
    for (s->root = 0; s->root < s->count && s->id[s->root] != under; s->root++) {
    }
    return s->root < s->count;
}

/* Nodes with time below the root, none too deep. A parent is as heavy as its child at least, and
 * stands before it: what is chosen has its parent chosen. */
static bool choose(struct selection *s)
{
    const struct flame_options *options = flame_options_of(s->flame);
    int64_t *keys = scratch_alloc(s->count, sizeof *keys);
    if (keys == NULL) {
        return false;
    }
    s->depth[s->root] = 0;
    s->chosen[0] = s->root;
    keys[0] = INT64_MIN;
    s->chosen_count = 1;
    for (uint32_t node = s->root + 1; node < s->count; node++) {
        uint32_t around = s->depth[flame_raw_node(s->flame, node).parent];
        if (around == NONE || around >= options->depth_max || weight_of(s, node) == 0) {
            continue;
        }
        s->depth[node] = around + 1;
        keys[s->chosen_count] = -weight_of(s, node);
        s->chosen[s->chosen_count++] = node;
    }
    bool ok = sort_pairs(keys, s->chosen, s->chosen_count);
    scratch_free(keys);
    s->chosen_count = s->chosen_count > options->nodes_max ? options->nodes_max : s->chosen_count;
    return ok;
}

static void link_children(struct selection *s)
{
    for (uint32_t i = 1; i < s->chosen_count; i++) {
        uint32_t node = s->chosen[i];
        uint32_t parent = flame_raw_node(s->flame, node).parent;
        if (s->first_child[parent] == NONE) {
            s->first_child[parent] = node;
        } else {
            s->next[s->last_child[parent]] = node;
        }
        s->last_child[parent] = node;
    }
}

/* ---- writing ---- */

struct writing {
    const struct selection *selection;
    struct arena *arena;
    struct flame_graph *out;
    const char **copies; /* of names, by their ids: each once */
};

static bool write_node(struct writing *w, uint32_t node, uint32_t parent)
{
    const struct selection *s = w->selection;
    const struct flame_raw_node raw = flame_raw_node(s->flame, node);
    struct flame_node *out = &w->out->nodes[w->out->count++];
    if (w->copies[raw.text] == NULL) {
        w->copies[raw.text] = arena_strdup(w->arena, raw.name);
    }
    *out = (struct flame_node){.id = s->id[node],
                               .parent = parent,
                               .depth = s->depth[node],
                               .name = w->copies[raw.text],
                               .kind = raw.kind,
                               .is_library =
                                   raw.kind == FLAME_PYTHON && python_frame_is_library(raw.name)};
    memcpy(out->total_ns, s->totals[node].ns, sizeof out->total_ns);
    memcpy(out->self_ns, raw.self_ns, sizeof out->self_ns);
    memcpy(out->calls, raw.calls, sizeof out->calls);
    return out->name != NULL;
}

/* What its children in the answer leave of a node. */
static void write_rest(struct writing *w, uint32_t node, uint32_t place)
{
    const struct selection *s = w->selection;
    const struct flame_node *around = &w->out->nodes[place];
    int64_t rest[FLAME_SIDES];
    bool has_rest = false;
    for (unsigned side = 0; side < FLAME_SIDES; side++) {
        rest[side] = saturating_sub(around->total_ns[side], around->self_ns[side]);
        for (uint32_t child = s->first_child[node]; child != NONE; child = s->next[child]) {
            rest[side] = saturating_sub(rest[side], s->totals[child].ns[side]);
        }
        has_rest = has_rest || rest[side] > 0;
    }
    if (has_rest) {
        struct flame_node *out = &w->out->nodes[w->out->count++];
        *out = (struct flame_node){.id = around->id,
                                   .parent = place,
                                   .depth = around->depth + 1,
                                   .name = "",
                                   .kind = FLAME_OTHER};
        memcpy(out->total_ns, rest, sizeof rest);
        memcpy(out->self_ns, rest, sizeof rest);
    }
}

/* Down to the first child, else to the next sibling of the innermost node that has one. */
static bool write_nodes(struct writing *w, uint32_t *place)
{
    const struct selection *s = w->selection;
    uint32_t node = s->root;
    uint32_t parent = FLAME_NO_PARENT;
    for (;;) {
        place[node] = (uint32_t)w->out->count;
        if (!write_node(w, node, parent)) {
            return false;
        }
        if (s->first_child[node] != NONE) {
            parent = place[node];
            node = s->first_child[node];
            continue;
        }
        write_rest(w, node, place[node]);
        while (node != s->root && s->next[node] == NONE) {
            node = flame_raw_node(s->flame, node).parent;
            write_rest(w, node, place[node]);
        }
        if (node == s->root) {
            return true;
        }
        node = s->next[node];
        parent = place[flame_raw_node(s->flame, node).parent];
    }
}

static bool write_answer(struct selection *s, struct arena *arena, struct flame_graph *out)
{
    if (!choose(s)) {
        return false;
    }
    link_children(s);
    struct writing w = {.selection = s, .arena = arena, .out = out};
    w.copies = scratch_calloc(flame_text_count(s->flame), sizeof *w.copies);
    uint32_t *place = scratch_alloc(s->count, sizeof *place);
    out->nodes = arena_calloc(arena, 2 * (size_t)s->chosen_count, sizeof *out->nodes);
    bool ok = w.copies != NULL && place != NULL && out->nodes != NULL && write_nodes(&w, place);
    SCRATCH_FREE((void *)w.copies, place);
    return ok;
}

bool flame_finish(struct flame *flame, struct arena *arena, struct flame_graph *out, bool *found)
{
    struct selection s = {.flame = flame, .count = flame_node_count(flame)};
    *out = (struct flame_graph){.node_count = s.count};
    for (unsigned side = 0; side < FLAME_SIDES; side++) {
        out->steps[side] = flame_steps(flame, side);
    }
    bool ok = allocate(&s);
    *found = false;
    if (ok) {
        add_up(&s);
        *found = find_root(&s, flame_options_of(flame)->under);
    }
    ok = ok && (!*found || write_answer(&s, arena, out));
    free_selection(&s);
    return ok;
}
