/* Which views a run can show as a whole: those that need several traces. */
#ifndef KS_TB_PLUGIN_RUN_VIEWS_H
#define KS_TB_PLUGIN_RUN_VIEWS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all workers of a span must agree on [TB-15b]. */
struct communication {
    uint32_t nodes; /* 0: none, or libraries are mixed */
    uint64_t hash;  /* over the number of ranges of each node, in their order */
};

/* Of each trace, by its stored figures (figures.h), which it must have. Errors: those of the store.
 */
bool run_views_communication(struct store_snapshot *snapshot,
                             const struct store_trace *traces,
                             size_t count,
                             struct communication *out,
                             struct err *err) KS_MUST_USE;
/* Union of the traces' derived views; with VIEW_DISTRIBUTED when it can be built for at least one
 * span [TB-15b] [TB-2.2]: every worker of the span has communication, and all agree. `traces` as
 * store_traces gives them. */
uint32_t run_views_of(const struct store_trace *traces,
                      const struct communication *communication,
                      size_t count);
/* Whether the distributed view can be built for this span. */
bool run_views_span_agrees(const struct store_trace *traces,
                           const struct communication *communication,
                           size_t count,
                           int64_t span);

#endif
