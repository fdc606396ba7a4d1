/* The order in which everything is summed up [TB-5j]: thread by thread, children left to right,
 * then own runtimes' kernels, then the node itself. Backward mirrors are visited where they were
 * inserted, so that a node can occur several times. */
#ifndef KS_TB_PLUGIN_TREE_POSTORDER_H
#define KS_TB_PLUGIN_TREE_POSTORDER_H

#include "ingest/base/attr.h"
#include "ingest/tb_plugin/tree/backward.h"
#include "ingest/tb_plugin/tree/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In postorder.items: the rest is a thread, whose root is visited. */
#define POSTORDER_ROOT (UINT32_C(1) << 31)

/* Only nodes that are real operators or start device work, and roots that own device work. */
struct postorder {
    uint32_t *items;
    size_t count;
    size_t cap;
};

/* False without memory; must be freed in either case. */
bool postorder_build(struct postorder *postorder,
                     const struct tb_tree *tree,
                     const struct backward *backward) KS_MUST_USE;
void postorder_free(struct postorder *postorder);

/* Calls `see` for each kernel that the visited node or root owns, in order, with `owner` the node
 * that gives it its operator (OP_NO_NODE: the root of a thread). Stops when `see` answers false,
 * and answers that. */
bool postorder_kernels(const struct tb_tree *tree,
                       uint32_t visit,
                       bool (*see)(void *ctx, uint32_t kernel_event, uint32_t owner),
                       void *ctx) KS_MUST_USE;

#endif
