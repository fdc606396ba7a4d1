/* The collectives of a trace in order, each with its step [TB-15a], its bytes [TB-15.1c] and its
 * ranges. */
#ifndef KS_ANALYSIS_COLLECTIVES_LOG_H
#define KS_ANALYSIS_COLLECTIVES_LOG_H

#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/relations/tb_collectives.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/collective_log.h"

#include <stdbool.h>
#include <stdint.h>

/* `*out` lies in `arena`; NULL when there is no collective, or when libraries are mixed. False
 * without memory. */
bool collective_log_build(struct collective_log **out,
                          struct arena *arena,
                          const struct tb_collectives *comms,
                          const struct event_classes *sel,
                          const struct steps *steps) KS_MUST_USE;

/* Parts of it that other logs share. The step of each op by its event: */
void collective_log_find_steps(struct collective_log *log,
                               const struct event_classes *sel,
                               const uint32_t *events,
                               const struct steps *steps);
/* Ranges by (start, -end) within each op. */
void collective_log_sort_ranges(struct collective_log *log);
/* The next range of an op whose first_range is set. */
void collective_log_add_range(struct collective_log *log,
                              struct collective_op *op,
                              const struct event_classes *sel,
                              uint32_t event);
/* By the inputs of an operator; 0 where they were not recorded. */
int64_t collective_event_bytes(const struct event_classes *sel, uint32_t event);

/* Bytes of inputs by the texts of their shapes and types: sum of product(shape) x size of the type;
 * an empty shape is a scalar, an unknown type has no size. At most INT64_MAX. */
int64_t collective_input_bytes(const char *shapes, const char *types);

#endif
