/* Kernels by name, operator and launch configuration [TB-12b], for MLUs [TB-17.3]. */
#ifndef KS_ANALYSIS_LAUNCHES_LAUNCHES_H
#define KS_ANALYSIS_LAUNCHES_LAUNCHES_H

#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/devices/devices.h"
#include "ingest/analysis/relations/visits.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills results.kernel_launches: kernels reached through the tree, by total descending, ties in
 * order of their first kernel. Weighted means use plain sums in that order [TB-12.1]. Fills
 * `launched` on the way. False without memory. */
bool launches_run(struct trace_results *results,
                  struct texts *texts,
                  const struct op_tree *tree,
                  const struct visits *visits,
                  struct launched_time *launched) KS_MUST_USE;

#endif
