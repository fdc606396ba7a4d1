/* Which devices did any work [TB-15.1b]. */
#ifndef KS_ANALYSIS_DEVICES_GPUS_H
#define KS_ANALYSIS_DEVICES_GPUS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills results.gpus. False without memory. */
bool gpus_run(struct trace_results *results, const struct event_classes *sel) KS_MUST_USE;

#endif
