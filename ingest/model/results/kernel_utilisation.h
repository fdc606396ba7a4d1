/* What the analysis of a kernel table answers: what api/openapi.json promises of
 * kernel-utilisation. Utilisations are shares 0..1 of the peak, weighted by latency over the
 * launches where they were measured; NaN where no launch was. Times in nanoseconds; percentiles
 * linear between ranks (NumPy's default). Rows live as results.h says. */
#ifndef KS_MODEL_RESULTS_KERNEL_UTILISATION_H
#define KS_MODEL_RESULTS_KERNEL_UTILISATION_H

#include "ingest/model/tables/table.h"

#include <stddef.h>
#include <stdint.h>

/* Low is below 1/3; compute is the larger of tensor and SM use that was measured. */
enum use_class {
    USE_BOTH_LOW,
    USE_LOW_COMPUTE,
    USE_LOW_DRAM,
    USE_NEITHER_LOW,
    USE_UNKNOWN, /* compute or DRAM use was not measured */
    USE_CLASS_COUNT
};
/* "both_low", "low_compute", "low_dram", "neither_low"; NULL for USE_UNKNOWN */
const char *use_class_name(enum use_class use);

/* Kernels whose cleaned names are equal. In descending order of total time, stable by first launch.
 */
struct kernel_utilisation_row {
#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation.def"
#include "ingest/model/tables/struct.h"
};

/* start_ns: from the trace's start, the earliest launch, copy or set. */
struct kernel_utilisation_launch_row {
#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation_launch.def"
#include "ingest/model/tables/struct.h"
};

/* Another metric that the file has, over the launches of one kernel (index into
 * kernel_utilisation). */
struct kernel_utilisation_metric_row {
#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation_metric.def"
#include "ingest/model/tables/struct.h"
};

/* The same metric at one launch (index into kernel_utilisation_launches); ascending by launch. */
struct kernel_utilisation_value_row {
#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation_value.def"
#include "ingest/model/tables/struct.h"
};

struct transfer_row {
#define TABLE_DEF "ingest/model/tables/kernels/transfer.def"
#include "ingest/model/tables/struct.h"
};

/* Over all kernels of the table. */
struct kernel_utilisation_totals {
#define TABLE_DEF "ingest/model/tables/kernels/kernel_utilisation_total.def"
#include "ingest/model/tables/struct.h"
};

#endif
