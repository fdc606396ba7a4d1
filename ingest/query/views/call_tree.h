/* Parts of a stored call tree: what lies below a node, and the nodes of a name. Pure functions over
 * a tree; everything they answer lies in the arena. */
#ifndef KS_QUERY_VIEWS_CALL_TREE_H
#define KS_QUERY_VIEWS_CALL_TREE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/call_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part has no more rows than this, whatever is asked for. */
#define QUERY_TREE_ROWS_MAX 5000

struct query_tree_row {
    uint32_t node;   /* row of the call tree */
    uint32_t parent; /* the same */
    uint32_t depth;  /* 1: a child of the node that was asked for */
    uint32_t child_count;
};

struct query_tree_part {
    uint32_t *path; /* from the root of the thread down to the node itself */
    size_t path_count;
    struct query_tree_row *rows; /* pre-order */
    size_t row_count;
    uint32_t child_count; /* of the node itself */
    bool truncated;       /* nodes within the depth were left out */
};

/* Nodes up to `depth` levels below `node`, of each node's children at most `limit`; of the node
 * itself the first `offset` are left out. `node` lies in `thread`. ERR_NO_MEMORY. */
bool query_tree_part(struct arena *arena,
                     const struct call_tree *tree,
                     uint32_t thread,
                     uint32_t node,
                     uint32_t depth,
                     uint32_t limit,
                     uint32_t offset,
                     struct query_tree_part *out,
                     struct err *err) KS_MUST_USE;

/* At most so many ancestors of a match are told, the nearest ones. */
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

/* Nodes of a thread whose name matches `q` as the tables search (ingest/store/db/match.h); at most
 * `limit` rows. ERR_BAD_REQUEST for a wrong expression, ERR_NO_MEMORY. */
bool query_tree_search(struct arena *arena,
                       const struct call_tree *tree,
                       uint32_t thread,
                       const char *q,
                       size_t limit,
                       struct query_tree_search *out,
                       struct err *err) KS_MUST_USE;

/* The thread in which a node lies; CALL_NONE for none. */
uint32_t query_tree_thread_of(const struct call_tree *tree, uint32_t node);

#endif
