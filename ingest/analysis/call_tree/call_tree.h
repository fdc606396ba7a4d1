/* The operator tree as one tree of rows (model/results/call_tree.h). */
#ifndef KS_ANALYSIS_CALL_TREE_CALL_TREE_H
#define KS_ANALYSIS_CALL_TREE_CALL_TREE_H

#include "ingest/analysis/call_tree/rows.h"
#include "ingest/analysis/relations/op_tree.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/call_tree.h"

#include <stdbool.h>

/* `*out`, with its names and threads, lies in `arena`; its columns are told by the rows, to which
 * it refers until call_rows_write. The rows refer to `tree` and must be freed in either case. False
 * without memory. */
bool call_tree_build(struct call_tree **out,
                     struct arena *arena,
                     struct call_rows *rows,
                     const struct op_tree *tree) KS_MUST_USE;

#endif
