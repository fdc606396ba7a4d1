/* Kernels by name, operator and launch configuration [TB-12b], for MLUs [TB-17.3]. */
#ifndef KS_ANALYSIS_LAUNCHES_LAUNCHES_H
#define KS_ANALYSIS_LAUNCHES_LAUNCHES_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/devices/devices.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stdint.h>

struct launches;

/* Adds a kernel. `operator_name`: name id of the operator that launched it, that of the empty text
 * when there is none; `operator_flags`: enum name_flag of what decides whether the operator could
 * use Tensor Cores. False without memory. */
bool launches_add(struct launches *launches,
                  uint32_t kernel_event,
                  uint32_t operator_name,
                  uint32_t operator_flags) KS_MUST_USE;

/* Fills results.kernel_launches with the kernels that `feed` adds, by total descending, ties in
 * order of their first kernel. Weighted means use plain sums in that order [TB-12.1].
 * False without memory, or when `feed` answers false. */
bool launches_run(struct trace_results *results,
                  struct texts *texts,
                  struct event_classes *sel,
                  bool (*feed)(struct launches *launches, void *context),
                  void *context) KS_MUST_USE;

#endif
