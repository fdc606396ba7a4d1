/* Which views a run can show as a whole: those that need several traces. */
#ifndef KS_QUERY_VIEWS_RUN_VIEWS_H
#define KS_QUERY_VIEWS_RUN_VIEWS_H

#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Union of the traces' views; with VIEW_DISTRIBUTED when it can be built for at least one span
 * [TB-15b] [TB-2.2]: every worker of the span has communication, and all agree on the number of
 * communication nodes and of their ranges. `traces` as store_traces gives them. */
uint32_t query_run_views(const struct store_trace *traces, size_t count);
/* Whether the distributed view can be built for this span (digit strings compare: spans are matched
 * by their number). */
bool query_span_is_distributed(const struct store_trace *traces, size_t count, int64_t span);

#endif
