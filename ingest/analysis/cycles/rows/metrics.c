#include "ingest/analysis/cycles/rows/metrics.h"

#include "ingest/base/memory/scratch.h"

#include <math.h>

/* ---- cores ---- */

/* The size of a machine that is nearest to the busy cores, the smaller one of two
 * [CMP-10a.metrics.4]. */
static uint32_t nearest_machine(double busy)
{
    static const uint32_t sizes[] = {8, 16, 24, 32, 48, 64, 96, 128};
    uint32_t best = sizes[0];
    for (size_t i = 1; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (fabs(sizes[i] - busy) < fabs(best - busy)) {
            best = sizes[i];
        }
    }
    return best;
}

static double greatest_in_window(const struct cycle_counters *counters,
                                 const struct cycle_series *series)
{
    const double *values = counters->value + series->first;
    double greatest = values[series->from];
    for (uint32_t i = series->from; i < series->to; i++) {
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    return greatest;
}

/* Cores that the processes kept busy at most, from the cycle's samples; 1 where none say so
 * [CMP-10.metrics.6] [CMP-10a.metrics.4]. */
static bool estimate_cores(struct cycle_metrics *m, uint32_t host_key, double *cores)
{
    struct id_slot *slot = id_map_add(&m->cores, host_key);
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        double busy = 0.0;
        for (uint32_t i = 0; i < m->counters->cpu_series_count; i++) {
            struct cycle_series *series = &m->counters->series[m->counters->cpu_series[i]];
            if (series->host_key == host_key && cycle_series_window(m->counters, series)) {
                busy += ceil(greatest_in_window(m->counters, series) / 100.0);
            }
        }
        slot->value = busy > 0.0 ? nearest_machine(busy) : 1;
    }
    *cores = slot->value;
    return true;
}

/* ---- dividing ---- */

static double positive_or_one(double value)
{
    return value > 0.0 ? value : 1.0;
}

static double capacity_of(struct cycle_metrics *m,
                          const struct cycle_interval *interval,
                          enum cycle_metric metric,
                          int64_t physical)
{
    const struct hardware_host *host = cycle_hardware_host(m->hardware, interval->host);
    switch (metric) {
    case CYCLE_METRIC_CPU_FREQUENCY:
        return host == NULL ? 1.0 : positive_or_one(host->cpu_freq_mhz);
    case CYCLE_METRIC_PROCESS_MEM_USAGE:
        return host == NULL ? 1.0 : positive_or_one(host->memory_bytes);
    case CYCLE_METRIC_GPU_MEM_USED:
        return positive_or_one(cycle_hardware_memory(m->hardware, interval->host, physical));
    default:
        return 1.0;
    }
}

static bool divisor_of(struct cycle_metrics *m,
                       const struct cycle_interval *interval,
                       enum cycle_metric metric,
                       uint32_t host_key,
                       double *divisor)
{
    *divisor = cycle_metric_scale(metric);
    if (metric == CYCLE_METRIC_PROCESS_CPU_USAGE) {
        const struct hardware_host *host = cycle_hardware_host(m->hardware, interval->host);
        double cores = host == NULL ? 0.0 : (double)host->cpu_cores;
        if (cores < 1.0 && !estimate_cores(m, host_key, &cores)) {
            return false;
        }
        *divisor *= cores;
    }
    return true;
}

/* ---- asking ---- */

void cycle_metrics_open(struct cycle_metrics *m, struct cycle *cycle)
{
    cycle_counters_open(m->counters, cycle);
    m->one_host = !cycle->has_many_hosts;
    id_map_free(&m->cores);
}

static uint32_t host_key_of(const struct cycle_metrics *m, uint32_t host)
{
    if (m->one_host) {
        return CYCLE_HOST_COMMON;
    }
    return CYCLE_HOST_KEY(host == CYCLE_NONE ? m->counters->localhost : host);
}

/* The series of the event's own process or device, else the one without instance
 * [CMP-10.metrics.5]. */
static bool find_series(struct cycle_metrics *m,
                        const struct cycle_interval *interval,
                        enum cycle_metric metric,
                        int64_t physical,
                        struct cycle_series **series)
{
    uint32_t host_key = host_key_of(m, interval->host);
    int64_t instance = CYCLE_NO_INSTANCE;
    bool no_memory = false;
    if (cycle_metric_is_process(metric)) {
        instance = m->events->pid[interval->process];
    } else if (cycle_type_is_gpu(interval->type)) {
        instance = physical;
    }
    *series = cycle_counters_find(m->counters, metric, host_key, instance, &no_memory);
    if (*series == NULL && !no_memory && instance != CYCLE_NO_INSTANCE) {
        *series = cycle_counters_find(m->counters, metric, host_key, CYCLE_NO_INSTANCE, &no_memory);
    }
    return !no_memory;
}

bool cycle_metrics_ask(struct cycle_metrics *m,
                       const struct cycle_interval *interval,
                       enum cycle_metric metric,
                       struct cycle_value *out)
{
    struct cycle_series *series;
    struct mean_variance stats;
    int64_t physical;
    double divisor;
    *out = (struct cycle_value){.found = false};
    (void)cycle_hardware_device(m->hardware, interval->device, &physical);
    if (!find_series(m, interval, metric, physical, &series)) {
        return false;
    }
    if (series == NULL) {
        return true;
    }
    if (!divisor_of(m, interval, metric, host_key_of(m, interval->host), &divisor) ||
        !cycle_series_between(m->counters, series, interval->start_ns, interval->end_ns, &stats,
                              &out->interpolated)) {
        return false;
    }
    divisor *= capacity_of(m, interval, metric, physical);
    out->found = true;
    out->mean = stats.mean / divisor;
    out->variance = stats.squares / stats.count / (divisor * divisor);
    return true;
}
