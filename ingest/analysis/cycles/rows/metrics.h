/* The metrics of one event in its cycle: which series it looks at, and by what the values are
 * divided [CMP-10.metrics] [CMP-10a.metrics]. */
#ifndef KS_ANALYSIS_CYCLES_ROWS_METRICS_H
#define KS_ANALYSIS_CYCLES_ROWS_METRICS_H

#include "ingest/analysis/cycles/rows/counters.h"
#include "ingest/analysis/cycles/rows/hardware.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"

#include <stdbool.h>
#include <stdint.h>

struct cycle_metrics {
    struct cycle_events *events;
    struct cycle_counters *counters;
    struct cycle_hardware *hardware;
    bool one_host;       /* the present cycle has one host */
    struct id_map cores; /* host key -> cores estimated from the present cycle's samples */
};

/* An interval whose metrics are asked for. */
struct cycle_interval {
    enum cycle_type type;
    uint32_t process;
    uint32_t host;
    int64_t device;
    int64_t start_ns;
    int64_t end_ns;
};

/* Mean and variance of a metric as shares (1 is 100 %). */
struct cycle_value {
    bool found; /* false: there is no such counter */
    bool interpolated;
    double mean;
    double variance;
};

/* To be called before the first question about a cycle. */
void cycle_metrics_open(struct cycle_metrics *metrics, struct cycle *cycle);
/* False without memory. */
bool cycle_metrics_ask(struct cycle_metrics *metrics,
                       const struct cycle_interval *interval,
                       enum cycle_metric metric,
                       struct cycle_value *out) KS_MUST_USE;

#endif
