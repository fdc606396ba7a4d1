/* What a recorder measured at kernels besides their time, summed by kernel and metric while its
 * records pass [FMT-0.7]. */
#ifndef KS_FORMATS_RELAY_KERNEL_METRICS_H
#define KS_FORMATS_RELAY_KERNEL_METRICS_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/text/json_write.h"
#include "ingest/base/text/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay_metric_sum {
    int64_t calls;
    double sum, sum_by_time, time_ns, min, max;
};

struct relay_metrics {
    struct key_map groups; /* kernel and metric */
    struct strtab *texts;
    struct relay_metric_sum *rows; /* by group */
    size_t cap, count;
    bool failed; /* no memory */
};

bool relay_metrics_init(struct relay_metrics *metrics) KS_MUST_USE;
void relay_metrics_free(struct relay_metrics *metrics);
/* A value of one launch. What is no finite number is no value. */
void relay_metrics_add(struct relay_metrics *metrics,
                       const char *kernel,
                       size_t kernel_len,
                       const char *metric,
                       double value,
                       int64_t dur_ns);
/* The member "kernel_metrics" of the object at hand; beyond 4 MB of text rows are left out. */
void relay_metrics_write(const struct relay_metrics *metrics, struct json_write *w);

#endif
