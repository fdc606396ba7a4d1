/* What memory views show, whole or of a window [TB-13]: pure functions over the call tree and the
 * memory log. All rows lie in `arena` and refer to names of tree and log. False without memory. */
#ifndef KS_ANALYSIS_MEMORY_VIEW_H
#define KS_ANALYSIS_MEMORY_VIEW_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/memory_log.h"
#include "ingest/model/results/call_tree.h"
#include "ingest/model/results/memory_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool memory_stats_run(struct memory_stats *out,
                      struct arena *arena,
                      const struct call_tree *tree,
                      const struct memory_log *log,
                      struct memory_window window) KS_MUST_USE;

/* In this order [TB-13]: pairs at their release, then what was never released, then releases
 * without an allocation. Records outside the window are dropped before blocks are paired. */
bool memory_blocks_run(struct memory_block **out,
                       size_t *count,
                       struct arena *arena,
                       const struct call_tree *tree,
                       const struct memory_log *log,
                       struct memory_window window) KS_MUST_USE;

/* The name that views show: `aten::empty*` below another node is `parent (name)`, an unknown
 * one `<unknown>`. In the arena or static; NULL without memory. */
const char *memory_block_name(struct arena *arena, const struct memory_block *block);

/* One curve a device, in the order in which they appear: records with an address and both totals.
 */
bool memory_curves_run(struct memory_curve **out,
                       size_t *count,
                       struct arena *arena,
                       const struct memory_log *log) KS_MUST_USE;
/* The same, and behind them a curve of each further device that views show, whose records name no
 * totals: sums of their sizes, which may fall below 0. */
bool memory_curves_with_sums(struct memory_curve **out,
                             size_t *count,
                             struct arena *arena,
                             const struct memory_log *log) KS_MUST_USE;

#endif
