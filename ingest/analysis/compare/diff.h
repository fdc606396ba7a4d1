/* Two call trees laid beside each other [TB-16a] [TB-16.1]: the trees of the first threads, matched
 * at the nodes that have a name of their own (steps, modules, their mirrors, optimizers, data
 * loaders). */
#ifndef KS_ANALYSIS_COMPARE_DIFF_H
#define KS_ANALYSIS_COMPARE_DIFF_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/diff.h"

#include <stdbool.h>

/* In `arena`; refers to the trees. False without memory. */
bool diff_build(struct diff *out,
                struct arena *arena,
                const struct call_tree *left,
                const struct call_tree *right) KS_MUST_USE;

/* What one side of a node took, operators in `arena`. Costs what lies below the node, whatever the
 * trees have beside it. Not for two threads with one diff. False without memory. */
bool diff_read_side(struct diff_side *out,
                    struct arena *arena,
                    const struct diff *diff,
                    const struct diff_node *node,
                    int side) KS_MUST_USE;

#endif
