/* Call trees, memory logs and comm logs as packed columns. */
#ifndef KS_STORE_BLOCKS_H
#define KS_STORE_BLOCKS_H

#include "ingest/model/results.h"
#include "ingest/store/row_writer.h"

/* What the results have of them; a failure stays in the writer. */
void blocks_write(struct row_writer *writer, const struct trace_results *results);

#endif
