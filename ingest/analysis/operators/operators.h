/* The operator view [TB-11]: calls of real operators grouped by name, input shape and call stack.
 */
#ifndef KS_ANALYSIS_OPERATORS_OPERATORS_H
#define KS_ANALYSIS_OPERATORS_OPERATORS_H

#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/relations/visits.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills results.operators and operator_count. A call's figures are those of its node:
 *
 *     host_total = duration          host_self = duration - children - own runtimes
 *     device_total = device work of the subtree, device_self = of the own runtimes (sums, overlap
 * not removed)
 *
 * False without memory. */
bool operators_run(struct trace_results *results,
                   struct texts *texts,
                   const struct op_tree *tree,
                   const struct visits *visits) KS_MUST_USE;

#endif
