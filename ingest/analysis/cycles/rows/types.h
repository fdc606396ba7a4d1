/* Function types [CMP-10.metrics.1] and the metrics of each [CMP-10.metrics.4]. */
#ifndef KS_ANALYSIS_CYCLES_ROWS_TYPES_H
#define KS_ANALYSIS_CYCLES_ROWS_TYPES_H

#include "ingest/analysis/cycles/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cycle_type {
    CYCLE_TYPE_NONE, /* does not count */
    CYCLE_TYPE_GPU_COMPUTE,
    CYCLE_TYPE_GPU_COMM,
    CYCLE_TYPE_H2D,
    CYCLE_TYPE_D2H,
    CYCLE_TYPE_D2D,
    CYCLE_TYPE_SYSCALL_MEM,
    CYCLE_TYPE_SYNC,
    CYCLE_TYPE_DISK,
    CYCLE_TYPE_ONCPU,
    CYCLE_TYPE_RUNQ,
    CYCLE_TYPE_OPERATOR, /* ours: Kineto's operators */
    CYCLE_TYPE_COUNT
};

enum cycle_metric {
    CYCLE_METRIC_PROCESS_GPU_USAGE,
    CYCLE_METRIC_GPU_USAGE,
    CYCLE_METRIC_GPU_SM_UTIL,
    CYCLE_METRIC_GPU_SM_OCCUPANCY,
    CYCLE_METRIC_GPU_MEM_USED,
    CYCLE_METRIC_GPU_FREQUENCY,
    CYCLE_METRIC_GPU_SM_FREQUENCY,
    CYCLE_METRIC_GPU_MEM_FREQUENCY,
    CYCLE_METRIC_GPU_PCIE_TRANSMIT,
    CYCLE_METRIC_GPU_PCIE_RECEIVE,
    CYCLE_METRIC_GPU_LINK_TRANSMIT,
    CYCLE_METRIC_GPU_LINK_RECEIVE,
    CYCLE_METRIC_NET_TX_RATE,
    CYCLE_METRIC_NET_RX_RATE,
    CYCLE_METRIC_PROCESS_CPU_USAGE,
    CYCLE_METRIC_HOST_CPU_USAGE,
    CYCLE_METRIC_HOST_MEM_USAGE,
    CYCLE_METRIC_PROCESS_MEM_USAGE,
    CYCLE_METRIC_CPU_FREQUENCY,
    CYCLE_METRIC_CPU_TEMP,
    CYCLE_METRIC_CPU_POWER,
    CYCLE_METRIC_PROCESS_MEM_RSS,
    CYCLE_METRIC_DISK_USAGE,
    CYCLE_METRIC_COUNT
};

/* Of a row of the trace: by name, whatever the category, but for kernels and disk calls. */
enum cycle_type cycle_type_of_row(struct cycle_events *events, uint32_t row);

static inline enum cycle_type cycle_type_of(const struct cycle_events *events, uint32_t at)
{
    return (enum cycle_type)events->type[at];
}

const char *cycle_type_name(enum cycle_type type); /* "gpu_compute", "gpu_memcpy_h2d", ... */
bool cycle_type_is_gpu(enum cycle_type type);      /* counters of the event's device */
/* The metrics of a type, *count of them. */
const uint8_t *cycle_type_metrics(enum cycle_type type, size_t *count);

const char *cycle_metric_name(enum cycle_metric metric);
bool cycle_metric_is_process(enum cycle_metric metric); /* counters of the event's process */
/* 100 for what is counted in percent, else 1. */
double cycle_metric_scale(enum cycle_metric metric);
/* The metric whose name the text begins with, CYCLE_METRIC_COUNT for none. */
enum cycle_metric cycle_metric_of(const char *counter_name);

#endif
