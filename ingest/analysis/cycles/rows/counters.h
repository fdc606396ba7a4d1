/* Samples of counters as series: one a metric, host and instance (a device, a process), in order of
 * time [CMP-10.metrics.5] [CMP-10a.metrics.3]. */
#ifndef KS_ANALYSIS_CYCLES_ROWS_COUNTERS_H
#define KS_ANALYSIS_CYCLES_ROWS_COUNTERS_H

#include "ingest/analysis/cycles/events.h"
#include "ingest/analysis/cycles/rows/mean_variance.h"
#include "ingest/analysis/cycles/rows/types.h"
#include "ingest/analysis/cycles/set.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stdint.h>

/* A host in keys of series: all hosts together, where only one is about, or one of them. */
#define CYCLE_HOST_COMMON 0u
#define CYCLE_HOST_KEY(host) ((host) + 1u)

struct cycle_series {
    uint32_t first; /* samples first .. first + count */
    uint32_t count;
    uint32_t from; /* those in the window that was looked at last: first + from .. first + to */
    uint32_t to;
    uint32_t window; /* which window that was */
    uint32_t host_key;
    enum cycle_metric metric;
    struct mean_variance_tree stats;
};

struct cycle_counters {
    struct key_map keys; /* (metric, host key, instance): the first series_count ones have series */
    struct cycle_series *series;
    uint32_t series_count;
    int64_t *time_ns; /* of samples, series by series */
    double *value;
    uint32_t localhost; /* the host of samples that name none, where there are several hosts */
    /* Samples with a host, over all series, in order of time. */
    uint32_t hosted_count;
    int64_t *hosted_ns;
    uint32_t *hosted_host;
    uint32_t *hosted_change; /* the next one with another host */
    uint32_t window;         /* number of the present window, from 1 */
    int64_t window_start_ns;
    int64_t window_end_ns;
    uint32_t *cpu_series; /* those of process_cpu_usage */
    uint32_t cpu_series_count;
};

/* False without memory; must be freed in either case. */
bool cycle_counters_init(struct cycle_counters *counters, struct cycle_events *events) KS_MUST_USE;
void cycle_counters_free(struct cycle_counters *counters);

/* What follows looks at samples of this cycle only. Decides whether it has several hosts. */
void cycle_counters_open(struct cycle_counters *counters, struct cycle *cycle);

/* The series with samples in the window, NULL when there is none. *no_memory: the look-up failed.
 */
struct cycle_series *cycle_counters_find(struct cycle_counters *counters,
                                         enum cycle_metric metric,
                                         uint32_t host_key,
                                         int64_t instance,
                                         bool *no_memory);
/* Whether the series has samples in the window; from and to are then set. */
bool cycle_series_window(struct cycle_counters *counters, struct cycle_series *series);

/* Mean and population variance of the series from start to end. *interpolated: fewer than three
 * samples lie there, so that both ends were interpolated. False without memory. */
bool cycle_series_between(struct cycle_counters *counters,
                          struct cycle_series *series,
                          int64_t start_ns,
                          int64_t end_ns,
                          struct mean_variance *out,
                          bool *interpolated) KS_MUST_USE;

/* results.counters (cycle_counter_rows.c). False without memory. */
bool cycle_counters_summarise(struct trace_results *results,
                              const struct cycle_events *events) KS_MUST_USE;

#endif
