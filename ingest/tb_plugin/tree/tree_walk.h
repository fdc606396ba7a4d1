/* The way through the operator tree with its backward mirrors [TB-5j] [TB-5.2]: thread by thread,
 * children left to right, mirrors where they were inserted, nodes that left the tree passed over. A
 * node below several mirrors is met several times. */
#ifndef KS_TB_PLUGIN_TREE_TREE_WALK_H
#define KS_TB_PLUGIN_TREE_TREE_WALK_H

#include "ingest/analysis/relations/op_tree.h"
#include "ingest/base/attr.h"
#include "ingest/tb_plugin/tree/backward.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is done on the way: any but the first may be NULL; false gives up. Each entered one is left,
 * the last one first. `mirror` is an index into backward.mirrors. */
struct tree_visitor {
    /* Whole subtrees, nodes first .. end, with no mirror among them, which are not entered one by
     * one. */
    bool (*see_subtrees)(void *context, uint32_t first, uint32_t end);
    bool (*enter_node)(void *context, uint32_t node);
    bool (*leave_node)(void *context, uint32_t node);
    bool (*enter_mirror)(void *context, uint32_t mirror);
    bool (*leave_mirror)(void *context, uint32_t mirror);
    void *context;
};

/* A mirror whose children are being visited. */
struct tree_open_mirror {
    uint32_t mirror;
    size_t next_ref;
};

struct tree_walk {
    const struct op_tree *tree;
    const struct backward *backward;
    const struct tree_visitor *visitor;
    uint32_t next_insertion;
    struct tree_open_mirror *open; /* stack: as deep as modules nest */
    size_t open_count;
    size_t open_cap;
};

/* All of them must outlive the walk. */
void tree_walk_init(struct tree_walk *walk,
                    const struct op_tree *tree,
                    const struct backward *backward,
                    const struct tree_visitor *visitor);
void tree_walk_free(struct tree_walk *walk);

/* False for threads that are dropped because their children all left, runtimes of the root
 * included. */
bool tree_walk_has_thread(const struct tree_walk *walk, uint32_t thread);
/* Everything below the root of the thread. False without memory or when a visitor gave up. */
bool tree_walk_thread(struct tree_walk *walk, uint32_t thread) KS_MUST_USE;

#endif
