/* Operators and launches by the trace index: every operator call counts once, and every kernel
 * belongs to the operator around its launch, whatever call that is (ingest/index/index.h).
 *
 *     host_self     the call's time that neither an operator nor a runtime or driver call inside it
 *                   covers; never negative
 *     device_self   durations of the device work that it launched itself (sums: overlapping work
 *                   counts for each)
 *     device_total  the same with the operators inside it
 *
 * What no operator launched is in no row of operators, and in launches with an empty name. */
#ifndef KS_ANALYSIS_OPERATORS_CALLS_H
#define KS_ANALYSIS_OPERATORS_CALLS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/devices/devices.h"
#include "ingest/base/attr.h"
#include "ingest/index/index.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills results.operators, kernel_launches, device_ns and `launched`. False without memory. */
bool operator_calls_run(struct trace_results *results,
                        struct texts *texts,
                        struct event_classes *sel,
                        const struct trace_index *index,
                        struct launched_time *launched) KS_MUST_USE;

/* The rows of one grouping of operators alone, with the stack that `stack` names for each event
 * (operators.h). False without memory. */
bool operator_calls_by_stack(struct trace_results *results,
                             struct event_classes *sel,
                             const struct trace_index *index,
                             const uint32_t *stack,
                             enum operator_group by) KS_MUST_USE;

#endif
