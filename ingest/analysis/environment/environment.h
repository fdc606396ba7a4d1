/* The environment of a trace, from what it says of devices, the distributed job and the profiler.
 */
#ifndef KS_ANALYSIS_ENVIRONMENT_ENVIRONMENT_H
#define KS_ANALYSIS_ENVIRONMENT_ENVIRONMENT_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/environment.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>

/* Of all traces of one side. Reads environment, devices, gpus and the number of steps of results
 * (store_overview has them). A driver or runtime is a number as its library packs it: 12040 is CUDA
 * 12.4, 60443483 is HIP 6.4.43483. Texts in the arena. False without memory. */
bool environment_of(const struct trace_results *const *traces,
                    size_t count,
                    struct arena *arena,
                    struct environment *out) KS_MUST_USE;

#endif
