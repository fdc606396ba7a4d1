/* Time of each step by role, without counting a moment twice [TB-7]. */
#ifndef KS_ANALYSIS_STEPS_BREAKDOWN_H
#define KS_ANALYSIS_STEPS_BREAKDOWN_H

#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills cost_ns, computation_ns, communication_ns and overlap_ns of `rows`, one a step:
 *
 *     free := {}; for each role by priority: if free = {} then cost := role, free := steps
 *                                            else cost := free ∩ role; free := free - cost
 *     cost(step, role) = |step ∩ cost|,  Other = |step ∩ free|                       [TB-7.1]
 *     computation = |step ∩ Kernel| (CPU Exec without kernels), overlap = |step ∩ Kernel ∩
 * Communication|
 *
 * and cost_ns, the time of a span in which all steps lie, whatever they are: a moment belongs to
 * the first role under way, else to Other, so that all add up to its length. False without memory.
 */
bool breakdown_run(struct step_row *rows,
                   int64_t cost_ns[TIME_CATEGORY_COUNT],
                   struct range span,
                   const struct steps *steps,
                   const struct time_ranges *roles) KS_MUST_USE;

#endif
