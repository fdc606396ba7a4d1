/* Call trees of stored traces: one, or two side by side [TB-16]. */
#ifndef KS_QUERY_COMPARE_TREE_QUERY_H
#define KS_QUERY_COMPARE_TREE_QUERY_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/diff.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `figures_ids` as in memory_query.h. ERR_NOT_FOUND when a trace has no call tree. */
bool query_diff(struct store_snapshot *snapshot,
                struct arena *arena,
                const int64_t figures_ids[DIFF_SIDES],
                struct diff *out,
                struct err *err) KS_MUST_USE;
/* Finds the node of a path: "0" is the root, "0-2" its third child. ERR_NOT_FOUND. */
bool query_diff_find(const struct diff *diff, const char *path, uint32_t *node, struct err *err)
    KS_MUST_USE;
bool query_diff_side(struct arena *arena,
                     const struct diff *diff,
                     const struct diff_node *node,
                     int side,
                     struct diff_side *out,
                     struct err *err) KS_MUST_USE;

#endif
