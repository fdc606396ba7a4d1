/* Parts of a stored call tree: the nodes below a node, and the nodes of a name. Pure functions over
 * a tree; results are in the arena. */
#ifndef KS_QUERY_VIEWS_CALL_TREE_H
#define KS_QUERY_VIEWS_CALL_TREE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/call_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum of rows of a part. */
#define QUERY_TREE_ROWS_MAX 5000

struct query_tree_row {
    uint32_t node;   /* row of the call tree */
    uint32_t parent; /* the same */
    uint32_t depth;  /* 1: a child of the requested node */
    uint32_t child_count;
};

struct query_tree_part {
    uint32_t *path; /* from the root of the thread to the node itself */
    size_t path_count;
    struct query_tree_row *rows; /* pre-order */
    size_t row_count;
    uint32_t child_count; /* of the node itself */
    bool truncated;       /* some nodes within the depth were left out */
};

/* Returns nodes up to `depth` levels below `node`, at most `limit` children per node; skips the
 * first `offset` children of the node itself. `node` is in `thread`. ERR_NO_MEMORY. */
bool query_tree_part(struct arena *arena,
                     const struct call_tree *tree,
                     uint32_t thread,
                     uint32_t node,
                     uint32_t depth,
                     uint32_t limit,
                     uint32_t offset,
                     struct query_tree_part *out,
                     struct err *err) KS_MUST_USE;

/* Maximum of ancestors of a match, the nearest ones. */
#define QUERY_TREE_PATH_MAX 64

struct query_tree_match {
    uint32_t node;
    const uint32_t *path; /* ancestors, outermost first, without the node itself */
    size_t path_count;
};

struct query_tree_search {
    struct query_tree_match *rows; /* in the order of the tree */
    size_t row_count;
    int64_t total; /* nodes that match */
};

/* Finds nodes of a thread whose name matches `q`, as tables search (ingest/store/db/match.h); at
 * most `limit` rows. ERR_BAD_REQUEST: a bad expression; ERR_NO_MEMORY. */
bool query_tree_search(struct arena *arena,
                       const struct call_tree *tree,
                       uint32_t thread,
                       const char *q,
                       size_t limit,
                       struct query_tree_search *out,
                       struct err *err) KS_MUST_USE;

/* The thread of a node; CALL_NONE for none. */
uint32_t query_tree_thread_of(const struct call_tree *tree, uint32_t node);

#endif
