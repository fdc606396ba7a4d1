/* Time of each step by role as the plugin divides it [TB-7]: where no step has free time left, it
 * takes the steps to be whole again. */
#ifndef KS_TB_PLUGIN_STEPS_BREAKDOWN_H
#define KS_TB_PLUGIN_STEPS_BREAKDOWN_H

#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* free := {}; for each role by priority: if free = {} then cost := role, free := steps
 *                                        else cost := free ∩ role; free := free - cost
 *
 * The rest as breakdown_run has it. False without memory. */
bool tb_breakdown_run(struct step_row *rows,
                      const struct steps *steps,
                      const struct time_ranges *roles) KS_MUST_USE;

#endif
