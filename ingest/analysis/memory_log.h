/* Places memory records in the call tree and pairs releases with allocations (SPEC_tb section 13).
 */
#ifndef KS_ANALYSIS_MEMORY_LOG_H
#define KS_ANALYSIS_MEMORY_LOG_H

#include "ingest/analysis/call_tree.h"
#include "ingest/analysis/select.h"
#include "ingest/base/arena.h"
#include "ingest/base/attr.h"
#include "ingest/model/memory_log.h"

#include <stdbool.h>

/* `*out` lies in `arena`; NULL for a trace without memory records. False without memory. */
bool memory_log_build(struct memory_log **out,
                      struct arena *arena,
                      const struct selection *sel,
                      const struct call_tree *tree,
                      const struct call_tree_keys *keys) KS_MUST_USE;

#endif
