/* What to try first, by our figures: each with its evidence, a document, and what it would save. */
#ifndef KS_ANALYSIS_OVERVIEW_ADVICE_H
#define KS_ANALYSIS_OVERVIEW_ADVICE_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills results.recommendations from the rows that are there already (steps, devices, kernels) and
 * the trace. Shares are of the average step, or of the whole trace where there are no steps:
 *
 *     dataloader     no device works while input is loaded, for more than 5 %
 *     data_parallel  DataParallel.forward was called and more than one device did work
 *     nccl           DistributedDataParallel without nccl on a device of capability >= 3.5
 *     communication  communication that no other device work covers, more than 10 %
 *     utilisation    a device is busy less than half of the time; only with host events. Says what
 *                    the host did most of that time; input that was loaded is `dataloader` alone
 *     tensor_cores   matrix products and convolutions without matrix units, at least 10 %. Kernels
 *                    of which it is unknown count only where no kernel uses them
 *     memory         peak of allocated memory > 90 % of the device's
 *
 * False without memory. */
bool advice_run(struct trace_results *results, struct event_classes *sel) KS_MUST_USE;

#endif
