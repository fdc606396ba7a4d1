/* The operator tree of each host thread by the plugin's rules [TB-4] [TB-5]: an op_tree, and which
 * runtime calls each node owns. */
#ifndef KS_TB_PLUGIN_TREE_TREE_H
#define KS_TB_PLUGIN_TREE_TREE_H

#include "ingest/analysis/relations/op_tree.h"
#include "ingest/base/attr.h"
#include "ingest/model/warning.h"
#include "ingest/tb_plugin/tree/launch_correlation.h"
#include "ingest/tb_plugin/tree/runtime_lists.h"

#include <stdbool.h>
#include <stdint.h>

/* In op_node.flags, beside enum op_flag. */
enum tb_flag {
    TB_RUNS_TENSOR = OP_FLAG_FREE,         /* an own runtime started a Tensor Core kernel */
    TB_TENSOR = OP_FLAG_FREE << 1,         /* eligible for Tensor Cores, inheritance included */
    TB_TENSOR_CHILD = OP_FLAG_FREE << 2,   /* a child is eligible */
    TB_ELIGIBLE_BELOW = OP_FLAG_FREE << 3, /* some descendant is a real operator and eligible */
    TB_REMOVED = OP_FLAG_FREE << 4,    /* backward root taken out of the tree, with its subtree */
    TB_DUPLICATE = OP_FLAG_FREE << 5,  /* only while the tree is built */
    TB_TENSOR_NAME = OP_FLAG_FREE << 6 /* eligible by its own name */
};

struct tb_tree {
    struct op_tree ops;
    const struct launch_correlation *links;
    struct runtime_lists lists;
    bool *has_step_name; /* by thread: some node's name begins `ProfilerStep#`: the root gets the
                            stale kernels */
    /* Runtimes with external id 0 belong to the root of their thread as well: zero[zero_first[t]
     * ..). */
    uint32_t *zero_first;
    uint32_t *zero;
    uint32_t zero_owner; /* node that owns the list of external id 0, or OP_NO_NODE */
    uint32_t zero_owner_thread;
    int64_t *tensor; /* by rank, as op_tree.sums: time in Tensor Core kernels */
};

/* Builds and fills in everything. `sel` and `links` must outlive the tree.
 * Counts WARN_BAD_TID and WARN_OVERLAP. False without memory; must be freed in either case. */
bool tb_tree_build(struct tb_tree *tree,
                   struct event_classes *sel,
                   const struct launch_correlation *links,
                   struct warnings *warnings) KS_MUST_USE;
void tb_tree_free(struct tb_tree *tree);

/* Own list in tree.lists, or RUNTIME_LIST_NONE. */
static inline uint32_t tb_tree_list(const struct tb_tree *tree, uint32_t node)
{
    return tree->lists.of_event[tree->ops.nodes[node].event];
}

/* Threads and their nodes in order of time, and, once there are runtime lists, what the roots of
 * threads own (threads.c); parts of tb_tree_build. */
bool tb_tree_threads_fill(struct tb_tree *tree, struct warnings *warnings) KS_MUST_USE;
bool tb_tree_threads_give_zero(struct tb_tree *tree) KS_MUST_USE;
/* Host self times, device sums and Tensor Core eligibility of every node (stats.c); part of
 * tb_tree_build. */
bool tb_tree_add_stats(struct tb_tree *tree) KS_MUST_USE;

/* Runtimes of external id 0 have two owners, the operator with that id and the root of their
 * thread; what is visited second counts doubly and gives the kernels their operator [TB-5.6]. True
 * when that is the operator, for a runtime (number) of its list. */
bool tb_tree_zero_owner_is_last(const struct tb_tree *tree, uint32_t runtime);

#endif
