/* The operator tree and its backward mirrors as one tree of plain columns (model/call_tree.h). */
#ifndef KS_ANALYSIS_CALL_TREE_H
#define KS_ANALYSIS_CALL_TREE_H

#include "ingest/analysis/backward.h"
#include "ingest/analysis/ns.h"
#include "ingest/analysis/op_tree.h"
#include "ingest/base/arena.h"
#include "ingest/base/attr.h"
#include "ingest/model/call_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* Beside the tree, for the analyses that place something in it: times to compare, see times.h. */
struct call_tree_keys {
    int64_t *start; /* by row; NULL: the times of the tree, counted from the file's zero, are */
    int64_t *stop;
    int64_t origin_ns;
};

static inline int64_t
call_tree_start_key(const struct call_tree *tree, const struct call_tree_keys *keys, uint32_t row)
{
    return keys->start != NULL ? keys->start[row] : ns_add(tree->start[row], keys->origin_ns);
}

static inline int64_t
call_tree_stop_key(const struct call_tree *tree, const struct call_tree_keys *keys, uint32_t row)
{
    return keys->stop != NULL ? keys->stop[row] : ns_add(tree->stop[row], keys->origin_ns);
}

/* `*out` and everything in it lie in `arena`, but for the columns that tell about a node without
 * placing it: tid, call_stack, partner, type, host_self, device_total, device_self and module_id
 * lie in `figures`, which can go before. False without memory; the keys must be freed in either
 * case. */
bool call_tree_build(struct call_tree **out,
                     struct arena *arena,
                     struct arena *figures,
                     const struct op_tree *tree,
                     const struct backward *backward,
                     struct call_tree_keys *keys) KS_MUST_USE;
void call_tree_keys_free(struct call_tree_keys *keys);

#endif
