/* The operator tree and its backward mirrors as one tree of plain columns (model/call_tree.h). */
#ifndef KS_ANALYSIS_CALL_TREE_H
#define KS_ANALYSIS_CALL_TREE_H

#include "ingest/analysis/backward.h"
#include "ingest/analysis/op_tree.h"
#include "ingest/base/arena.h"
#include "ingest/base/attr.h"
#include "ingest/model/call_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* Beside the tree, for the analyses that place something in it. */
struct call_tree_keys {
    int64_t *start; /* by row: times to compare, see times.h */
    int64_t *stop;
};

/* `*out` and everything in it lie in `arena`. False without memory; the keys must be freed in
 * either case. */
bool call_tree_build(struct call_tree **out,
                     struct arena *arena,
                     const struct op_tree *tree,
                     const struct backward *backward,
                     struct call_tree_keys *keys) KS_MUST_USE;
void call_tree_keys_free(struct call_tree_keys *keys);

#endif
