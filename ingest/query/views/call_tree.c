#include "ingest/query/views/call_tree.h"

#include "ingest/base/order.h"
#include "ingest/store/db/match.h"

#include <stdlib.h>
#include <string.h>

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the call tree");
}

uint32_t query_tree_thread_of(const struct call_tree *tree, uint32_t node)
{
    size_t low = 0;
    ORDER_SEARCH(low, tree->thread_count, at, node >= tree->threads[at].end);
    bool is_inside = low < tree->thread_count && node >= tree->threads[low].first;
    return is_inside ? (uint32_t)low : CALL_NONE;
}

static uint32_t count_children(const struct call_tree *tree, uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t child = node + 1; child < tree->end[node]; child = tree->end[child]) {
        count++;
    }
    return count;
}

/* ---- what lies below a node ---- */

/* The child of `node` in whose subtree `wanted` lies. */
static uint32_t child_towards(const struct call_tree *tree, uint32_t node, uint32_t wanted)
{
    uint32_t child = node + 1;
    while (tree->end[child] <= wanted) {
        child = tree->end[child];
    }
    return child;
}

static bool find_path(struct arena *arena,
                      const struct call_tree *tree,
                      uint32_t root,
                      struct query_tree_part *out,
                      uint32_t node)
{
    size_t count = 1;
    for (uint32_t at = root; at != node; at = child_towards(tree, at, node)) {
        count++;
    }
    out->path = arena_calloc(arena, count, sizeof *out->path);
    if (out->path == NULL) {
        return false;
    }
    for (uint32_t at = root; at != node; at = child_towards(tree, at, node)) {
        out->path[out->path_count++] = at;
    }
    out->path[out->path_count++] = node;
    return true;
}

/* A node whose children are being listed. */
struct listing {
    uint32_t node;
    uint32_t next_child;
    uint32_t listed;
};

/* The next child of the innermost listing; CALL_NONE: it has no more, or no more are wanted. */
static uint32_t
next_child(const struct call_tree *tree, struct listing *top, uint32_t limit, bool *truncated)
{
    if (top->next_child >= tree->end[top->node]) {
        return CALL_NONE;
    }
    if (top->listed == limit) {
        *truncated = true;
        return CALL_NONE;
    }
    uint32_t child = top->next_child;
    top->next_child = tree->end[child];
    top->listed++;
    return child;
}

/* `open` has room for as many listings as rows and one more. */
static void list_rows(const struct call_tree *tree,
                      struct listing *open,
                      uint32_t depth,
                      uint32_t limit,
                      struct query_tree_part *out)
{
    size_t open_count = 1;
    while (open_count > 0) {
        struct listing *top = &open[open_count - 1];
        uint32_t child = next_child(tree, top, limit, &out->truncated);
        if (child == CALL_NONE) {
            open_count--;
            continue;
        }
        if (out->row_count == QUERY_TREE_ROWS_MAX) {
            out->truncated = true;
            return;
        }
        out->rows[out->row_count++] =
            (struct query_tree_row){.node = child,
                                    .parent = top->node,
                                    .depth = (uint32_t)open_count,
                                    .child_count = count_children(tree, child)};
        if (open_count < depth) {
            open[open_count++] = (struct listing){.node = child, .next_child = child + 1};
        }
    }
}

bool query_tree_part(struct arena *arena,
                     const struct call_tree *tree,
                     uint32_t thread,
                     uint32_t node,
                     uint32_t depth,
                     uint32_t limit,
                     uint32_t offset,
                     struct query_tree_part *out,
                     struct err *err)
{
    *out = (struct query_tree_part){.child_count = count_children(tree, node)};
    struct listing *open = calloc(QUERY_TREE_ROWS_MAX + 1, sizeof *open);
    out->rows = arena_calloc(arena, QUERY_TREE_ROWS_MAX, sizeof *out->rows);
    bool ok = open != NULL && out->rows != NULL &&
              find_path(arena, tree, tree->threads[thread].first, out, node);
    if (ok && depth > 0) {
        open[0] = (struct listing){.node = node, .next_child = node + 1};
        for (uint32_t i = 0; i < offset && open[0].next_child < tree->end[node]; i++) {
            open[0].next_child = tree->end[open[0].next_child];
        }
        list_rows(tree, open, depth, limit, out);
    }
    free(open);
    return ok || no_memory(err);
}

/* ---- the nodes of a name ---- */

enum { NAME_UNKNOWN, NAME_MATCHES, NAME_DIFFERS };

struct search {
    struct arena *arena;
    const struct call_tree *tree;
    struct matcher matcher;
    uint8_t *names; /* by name: whether it matches, once it is known */
    uint32_t *open; /* ancestors of the node */
    size_t depth;
    size_t limit;
    struct query_tree_search *out;
};

static bool has_wanted_name(struct search *s, uint32_t node)
{
    uint32_t name = s->tree->name[node];
    if (s->names[name] == NAME_UNKNOWN) {
        s->names[name] =
            match_test(&s->matcher, s->tree->names[name]) ? NAME_MATCHES : NAME_DIFFERS;
    }
    return s->names[name] == NAME_MATCHES;
}

static bool add_match(struct search *s, uint32_t node)
{
    if (s->out->row_count == s->limit) {
        return true;
    }
    size_t count = s->depth < QUERY_TREE_PATH_MAX ? s->depth : QUERY_TREE_PATH_MAX;
    uint32_t *path = arena_calloc(s->arena, count + 1, sizeof *path);
    if (path == NULL) {
        return false;
    }
    memcpy(path, s->open + (s->depth - count), count * sizeof *path);
    s->out->rows[s->out->row_count++] = (struct query_tree_match){node, path, count};
    return true;
}

static bool search_thread(struct search *s, const struct call_thread *thread)
{
    for (uint32_t node = thread->first; node < thread->end; node++) {
        while (s->depth > 0 && s->tree->end[s->open[s->depth - 1]] <= node) {
            s->depth--;
        }
        if (has_wanted_name(s, node)) {
            s->out->total++;
            if (!add_match(s, node)) {
                return false;
            }
        }
        s->open[s->depth++] = node;
    }
    return true;
}

bool query_tree_search(struct arena *arena,
                       const struct call_tree *tree,
                       uint32_t thread,
                       const char *q,
                       size_t limit,
                       struct query_tree_search *out,
                       struct err *err)
{
    const struct call_thread *wanted = &tree->threads[thread];
    struct search s = {.arena = arena, .tree = tree, .limit = limit, .out = out};
    *out = (struct query_tree_search){.rows = arena_calloc(arena, limit + 1, sizeof *out->rows)};
    if (!match_init(&s.matcher, q, err)) {
        return false;
    }
    s.names = calloc((size_t)tree->name_count + 1, sizeof *s.names);
    s.open = calloc((size_t)(wanted->end - wanted->first) + 1, sizeof *s.open);
    bool ok = out->rows != NULL && s.names != NULL && s.open != NULL && search_thread(&s, wanted);
    free(s.names);
    free(s.open);
    match_free(&s.matcher);
    return ok || no_memory(err);
}
