/* Packs call trees, memory logs, comm logs, and what each function took of each cycle, into
 * columns. */
#ifndef KS_STORE_RESULTS_BLOCKS_H
#define KS_STORE_RESULTS_BLOCKS_H

#include "ingest/model/results/results.h"
#include "ingest/store/db/row_writer.h"

/* What the results have of them; a failure stays in the writer. */
void blocks_write(struct row_writer *writer, const struct trace_results *results);
/* Sets cycle_uses and their count: 0 where the trace has none. */
bool blocks_read_cycle_uses(struct db *db,
                            struct arena *arena,
                            struct trace_results *out,
                            struct err *err) KS_MUST_USE;

#endif
