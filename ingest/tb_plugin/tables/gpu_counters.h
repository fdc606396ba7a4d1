/* Utilisation and SM efficiency of each device over time [TB-10g] [TB-10.0]. */
#ifndef KS_TB_PLUGIN_TABLES_GPU_COUNTERS_H
#define KS_TB_PLUGIN_TABLES_GPU_COUNTERS_H

#include "ingest/analysis/kernels/kernels.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/gpu_counters.h"

#include <stdbool.h>

/* `*out` lies in `arena`; NULL when no kernel names a device. False without memory. */
bool gpu_counters_build(struct gpu_counters **out,
                        struct arena *arena,
                        const struct kernels *kernels) KS_MUST_USE;

#endif
