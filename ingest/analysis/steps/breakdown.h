/* Time of each step by role, without counting a moment twice [TB-7]. */
#ifndef KS_ANALYSIS_STEPS_BREAKDOWN_H
#define KS_ANALYSIS_STEPS_BREAKDOWN_H

#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills cost_ns, computation_ns, communication_ns and overlap_ns of `rows`, one a step:
 *
 *     free := all time; for each role by priority: cost := free ∩ role; free := free - cost
 *     cost(step, role) = |step ∩ cost|,  Other = |step ∩ free|                       [TB-7.1]
 *     computation = |step ∩ Kernel| (CPU Exec without kernels), overlap = |step ∩ Kernel ∩
 * Communication|
 *
 * and cost_ns, which is 0 before: the time of a span in which all steps lie, whatever they are: a
 * moment belongs to the first role under way, else to Other, so that all add up to its length.
 * False without memory. */
bool breakdown_run(struct step_row *rows,
                   int64_t cost_ns[TIME_CATEGORY_COUNT],
                   struct range span,
                   const struct steps *steps,
                   const struct time_ranges *roles) KS_MUST_USE;

/* ---- its parts ---- */

/* All time of the steps is free: cost_ns[TIME_OTHER]. */
void breakdown_begin(struct step_row *rows, const struct steps *steps);
/* False without memory. */
bool breakdown_take(struct ranges *free_time, const struct ranges *role_ranges) KS_MUST_USE;
/* What the steps lost to the role since the last call is its cost. */
void breakdown_add_costs(struct step_row *rows,
                         const struct steps *steps,
                         enum time_category role,
                         const struct ranges *free_time);
/* computation_ns, communication_ns, overlap_ns. False without memory. */
bool breakdown_add_overlap(struct step_row *rows,
                           const struct steps *steps,
                           const struct time_ranges *roles) KS_MUST_USE;

#endif
