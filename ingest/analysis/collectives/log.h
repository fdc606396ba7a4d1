/* Parts of a log of collectives: the step of each [TB-15a], its bytes [TB-15.1c], its ranges. */
#ifndef KS_ANALYSIS_COLLECTIVES_LOG_H
#define KS_ANALYSIS_COLLECTIVES_LOG_H

#include "ingest/analysis/steps/steps.h"
#include "ingest/model/collective_log.h"

#include <stdint.h>

/* The step of each op by its event [TB-15a]. */
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
