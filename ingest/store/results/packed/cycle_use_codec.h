/* What each function took of each cycle of a trace: thousands of rows that are always read
 * together, as packed columns, a few thousand rows at a time.
 *
 *     rows, texts, every text | rows 0.. : a column a field | rows 4096.. : ... */
#ifndef KS_STORE_RESULTS_CYCLE_USE_CODEC_H
#define KS_STORE_RESULTS_CYCLE_USE_CODEC_H

#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"
#include "ingest/store/codec/column_parts.h"

#include <stdbool.h>

/* The cycle_uses of `results`, which are struct trace_results. A failure stays in `parts`. */
void cycle_use_encode(struct column_parts *parts, const void *results);
/* Sets cycle_uses and cycle_use_count of `out`; rows and texts go to the unpacker's arena. What
 * does not fit is the unpacker's failure; false without memory for the rows. */
bool cycle_use_decode(struct column_decoder *dec,
                      struct trace_results *out,
                      struct err *err) KS_MUST_USE;

#endif
