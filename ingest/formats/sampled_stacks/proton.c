#include "ingest/formats/sampled_stacks/proton.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/sampled_stacks/stack_slices.h"

#define TIME "time (ns)"

/* Children stand behind their parent. */
struct node {
    uint32_t parent; /* STRTAB_NONE: none */
    uint32_t name;
    int64_t ns;                /* of its own, then with its children */
    int64_t begin_ns, next_ns; /* next_ns: where its next child begins */
};

struct tree {
    struct stack_slices slices;
    struct node *nodes;
    size_t count, cap;
    uint32_t open[STACK_DEPTH_MAX];
    size_t depth;
    bool is_too_deep;
    bool failed; /* no memory */
};

/* Its first key is one of a node, and the window has a node's others. */
bool proton_recognises(const char *window, size_t len)
{
    struct json_walk walk = {.at = window, .end = window + len};
    struct json_value key;
    if (!json_walk_enter(&walk, '[') || !json_walk_enter(&walk, '{') ||
        !json_walk_key(&walk, &key)) {
        return false;
    }
    return json_walk_text_is(&key, "children") ||
           (json_walk_text_is(&key, "frame") && json_walk_is(&walk, '{'));
}

static bool add_node(struct tree *tree)
{
    tree->is_too_deep = tree->depth == STACK_DEPTH_MAX || tree->count == STRTAB_NONE;
    if (tree->is_too_deep) {
        return false;
    }
    struct node *grown = scratch_grow(tree->nodes, tree->count, &tree->cap, sizeof *grown);
    if (grown == NULL) {
        tree->failed = true;
        return false;
    }
    tree->nodes = grown;
    uint32_t parent = tree->depth == 0 ? STRTAB_NONE : tree->open[tree->depth - 1];
    grown[tree->count] = (struct node){.parent = parent, .name = STRTAB_NONE};
    tree->open[tree->depth++] = (uint32_t)tree->count++;
    return true;
}

/* A frame or metrics: what is asked for of it. */
static void take_member(struct tree *tree, struct json_walk *walk, const struct json_value *key)
{
    struct node *node = &tree->nodes[tree->open[tree->depth - 1]];
    struct json_value inner;
    struct json_value value;
    bool is_frame = json_walk_text_is(key, "frame");
    if ((!is_frame && !json_walk_text_is(key, "metrics")) || !json_walk_is(walk, '{') ||
        !json_walk_enter(walk, '{')) {
        (void)json_walk_skip(walk);
        return;
    }
    while (json_walk_key(walk, &inner) && json_walk_value(walk, &value)) {
        if (is_frame && json_walk_text_is(&inner, "name") && value.kind == JSON_KIND_STRING) {
            node->name = stack_slices_json_name(&tree->slices, &value);
        } else if (!is_frame && json_walk_text_is(&inner, TIME)) {
            node->ns = i64_max(0, json_walk_int(&value, 0));
        }
    }
}

/* Nodes in lists in nodes: which of the two stands open is all there is to keep. */
static void read_nodes(struct tree *tree, struct json_walk *walk)
{
    bool in_list = json_walk_enter(walk, '[');
    bool goes_on = in_list;
    while (goes_on && !walk->failed && !tree->failed && !tree->slices.failed) {
        struct json_value key;
        if (in_list && !json_walk_item(walk)) {
            goes_on = tree->depth > 0;
            in_list = false;
        } else if (in_list && json_walk_is(walk, '{')) {
            goes_on = add_node(tree) && json_walk_enter(walk, '{');
            in_list = false;
        } else if (in_list) {
            goes_on = json_walk_skip(walk);
        } else if (!json_walk_key(walk, &key)) {
            tree->depth--;
            in_list = true;
        } else if (json_walk_text_is(&key, "children") && json_walk_is(walk, '[')) {
            in_list = json_walk_enter(walk, '[');
        } else {
            take_member(tree, walk, &key);
        }
    }
}

/* Children lie one after the other at the begin of their parent, its own time behind them. */
static void place(struct tree *tree)
{
    int64_t now_ns = 0;
    for (size_t i = tree->count; i-- > 0;) {
        const struct node *node = &tree->nodes[i];
        if (node->parent != STRTAB_NONE) {
            struct node *parent = &tree->nodes[node->parent];
            parent->ns = saturating_add(parent->ns, node->ns);
        }
    }
    for (size_t i = 0; i < tree->count; i++) {
        struct node *node = &tree->nodes[i];
        int64_t *at = node->parent == STRTAB_NONE ? &now_ns : &tree->nodes[node->parent].next_ns;
        node->begin_ns = *at;
        node->next_ns = *at;
        *at = saturating_add(*at, node->ns);
    }
}

/* Nodes without a time, and what is no node, are nothing to show. */
static void add_slices(struct tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        if (node->ns > 0 && node->name != STRTAB_NONE) {
            int64_t end_ns = saturating_add(node->begin_ns, node->ns);
            stack_slices_add(&tree->slices,
                             (struct stack_slice){node->name, 0, node->begin_ns, end_ns});
        }
    }
}

bool proton_read(const struct whole *whole,
                 const struct format_options *options,
                 struct trace **out,
                 struct err *err)
{
    struct tree tree = {.nodes = NULL};
    struct json_walk walk = {.at = whole->bytes, .end = whole->bytes + whole->len};
    stack_slices_init(&tree.slices, "Triton Proton");
    read_nodes(&tree, &walk);
    tree.slices.failed = tree.slices.failed || tree.failed;
    if (walk.failed || tree.is_too_deep) {
        tree.slices.cut_at = (uint64_t)(walk.at - whole->bytes);
    }
    place(&tree);
    add_slices(&tree);
    bool ok =
        stack_slices_read(&tree.slices, "the tree has no node with a time (ns)", options, out, err);
    stack_slices_free(&tree.slices);
    scratch_free(tree.nodes);
    return ok;
}
