/* What to try first [TB-9]. */
#ifndef KS_TB_PLUGIN_TABLES_RECOMMEND_H
#define KS_TB_PLUGIN_TABLES_RECOMMEND_H

#include "ingest/analysis/devices/devices.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills results.recommendations from the rows that are there already (steps, devices, kernels) and
 * the trace:
 *
 *     dataloader     average DataLoader time > 5 % of the average step
 *     data_parallel  DataParallel.forward was called and more than one device did work
 *     nccl           DistributedDataParallel without nccl on a device of capability >= 3.5
 *     communication  average communication time > 10 % of the average step
 *     utilisation    devices busy less than half of the time
 *     tensor_cores   capability >= 7, no Tensor Core kernel at all, but operators that could use
 * them memory         peak of allocated memory > 90 % of the device's
 *
 * Plain text. False without memory. */
bool recommend_run(struct trace_results *results,
                   const struct event_classes *sel,
                   const struct kernels *kernels,
                   const struct launched_time *launched) KS_MUST_USE;

#endif
