/* Places memory records in the call tree [TB-13a] [TB-13b] and pairs releases with allocations
 * [TB-13e] [TB-13.5b]. */
#ifndef KS_ANALYSIS_MEMORY_LOG_H
#define KS_ANALYSIS_MEMORY_LOG_H

#include "ingest/analysis/call_tree/rows.h"
#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/memory_log.h"

#include <stdbool.h>

/* `*out` lies in `arena`; NULL for a trace without memory records. What the records themselves say
 * is told by its source, which refers to `sel` until memory_log_write. Of the tree only the threads
 * are looked at, the rest is asked of its rows. `thread_of`: by track, the thread of the tree in
 * which its records are placed, CALL_NONE. False without memory. */
bool memory_log_build(struct memory_log **out,
                      struct arena *arena,
                      const struct event_classes *sel,
                      const struct call_tree *tree,
                      const struct call_rows *rows,
                      const uint32_t *thread_of) KS_MUST_USE;
/* All columns as arrays, in `arena`. NULL is allowed. False without memory. */
bool memory_log_write(struct memory_log *log, struct arena *arena) KS_MUST_USE;

#endif
