#include "ingest/analysis/cycles/rows/types.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static enum cycle_type copy_type(uint32_t flags)
{
    if ((flags & CYCLE_NAME_DTOH) != 0) {
        return CYCLE_TYPE_D2H;
    }
    return flags & CYCLE_NAME_DTOD ? CYCLE_TYPE_D2D : CYCLE_TYPE_H2D;
}

static enum cycle_type named_type(uint32_t name, uint8_t category)
{
    if ((name & CYCLE_NAME_MEMCPY) != 0) {
        return copy_type(name);
    }
    if ((name & CYCLE_NAME_MEMSET) != 0) {
        return CYCLE_TYPE_H2D;
    }
    if ((name & CYCLE_NAME_SYSCALL_MEM) != 0) {
        return CYCLE_TYPE_SYSCALL_MEM;
    }
    bool is_driver_sync =
        (name & CYCLE_NAME_DRIVER_SYNC) != 0 && (category & CYCLE_CATEGORY_APP) != 0;
    if ((name & CYCLE_NAME_RUNTIME_SYNC) != 0 || is_driver_sync) {
        return CYCLE_TYPE_SYNC;
    }
    if ((name & CYCLE_NAME_DISK) != 0 && (category & CYCLE_CATEGORY_DISK) != 0) {
        return CYCLE_TYPE_DISK;
    }
    if ((name & CYCLE_NAME_ONCPU) != 0) {
        return CYCLE_TYPE_ONCPU;
    }
    return name & CYCLE_NAME_RUNQ ? CYCLE_TYPE_RUNQ : CYCLE_TYPE_NONE;
}

enum cycle_type cycle_type_of_row(struct cycle_events *events, uint32_t row)
{
    const struct trace_events *rows = &events->trace->events;
    uint32_t flags = cycle_name_flags(&events->names, rows->name[row]);
    switch (trace_kind(rows, row)) {
    case EVENT_KERNEL:
        return flags & CYCLE_NAME_NCCL ? CYCLE_TYPE_GPU_COMM : CYCLE_TYPE_GPU_COMPUTE;
    case EVENT_MEMCPY:
        return copy_type(flags);
    case EVENT_MEMSET:
        return CYCLE_TYPE_H2D;
    case EVENT_OPERATOR:
        return index_class(events->index, row) == INDEX_OPERATOR ? CYCLE_TYPE_OPERATOR
                                                                 : CYCLE_TYPE_NONE;
    case EVENT_USER_ANNOTATION:
        return CYCLE_TYPE_NONE;
    default:
        /* Most names mean nothing. */
        return (flags & ~(uint32_t)CYCLE_NAME_KNOWN) == 0
                   ? CYCLE_TYPE_NONE
                   : named_type(flags, events->names.category_flags[trace_category(rows, row)]);
    }
}

const char *cycle_type_name(enum cycle_type type)
{
    static const char *const names[CYCLE_TYPE_COUNT] = {
        [CYCLE_TYPE_NONE] = "",
        [CYCLE_TYPE_GPU_COMPUTE] = "gpu_compute",
        [CYCLE_TYPE_GPU_COMM] = "gpu_comm",
        [CYCLE_TYPE_H2D] = "gpu_memcpy_h2d",
        [CYCLE_TYPE_D2H] = "gpu_memcpy_d2h",
        [CYCLE_TYPE_D2D] = "gpu_memcpy_d2d",
        [CYCLE_TYPE_SYSCALL_MEM] = "cpu_os_syscall_mem",
        [CYCLE_TYPE_SYNC] = "cpu_sync",
        [CYCLE_TYPE_DISK] = "disk_read_and_write",
        [CYCLE_TYPE_ONCPU] = "oncpu",
        [CYCLE_TYPE_RUNQ] = "runq",
        [CYCLE_TYPE_OPERATOR] = "operator",
    };
    return names[type];
}

bool cycle_type_is_gpu(enum cycle_type type)
{
    return type >= CYCLE_TYPE_GPU_COMPUTE && type <= CYCLE_TYPE_D2D;
}

const uint8_t *cycle_type_metrics(enum cycle_type type, size_t *count)
{
    static const uint8_t compute[] = {
        CYCLE_METRIC_PROCESS_GPU_USAGE, CYCLE_METRIC_GPU_USAGE,         CYCLE_METRIC_GPU_SM_UTIL,
        CYCLE_METRIC_GPU_SM_OCCUPANCY,  CYCLE_METRIC_GPU_MEM_USED,      CYCLE_METRIC_GPU_FREQUENCY,
        CYCLE_METRIC_GPU_SM_FREQUENCY,  CYCLE_METRIC_GPU_MEM_FREQUENCY,
    };
    static const uint8_t communication[] = {
        CYCLE_METRIC_PROCESS_GPU_USAGE, CYCLE_METRIC_GPU_USAGE,
        CYCLE_METRIC_GPU_SM_UTIL,       CYCLE_METRIC_GPU_SM_OCCUPANCY,
        CYCLE_METRIC_GPU_PCIE_TRANSMIT, CYCLE_METRIC_GPU_PCIE_RECEIVE,
        CYCLE_METRIC_GPU_LINK_TRANSMIT, CYCLE_METRIC_GPU_LINK_RECEIVE,
        CYCLE_METRIC_NET_TX_RATE,       CYCLE_METRIC_NET_RX_RATE,
    };
    static const uint8_t host_copy[] = {CYCLE_METRIC_GPU_PCIE_TRANSMIT,
                                        CYCLE_METRIC_GPU_PCIE_RECEIVE};
    static const uint8_t device_copy[] = {CYCLE_METRIC_GPU_LINK_TRANSMIT,
                                          CYCLE_METRIC_GPU_LINK_RECEIVE, CYCLE_METRIC_NET_TX_RATE,
                                          CYCLE_METRIC_NET_RX_RATE};
    static const uint8_t cpu[] = {CYCLE_METRIC_PROCESS_CPU_USAGE, CYCLE_METRIC_HOST_CPU_USAGE,
                                  CYCLE_METRIC_HOST_MEM_USAGE,    CYCLE_METRIC_PROCESS_MEM_USAGE,
                                  CYCLE_METRIC_CPU_FREQUENCY,     CYCLE_METRIC_CPU_TEMP,
                                  CYCLE_METRIC_CPU_POWER};
    static const uint8_t queue[] = {CYCLE_METRIC_PROCESS_CPU_USAGE, CYCLE_METRIC_HOST_CPU_USAGE,
                                    CYCLE_METRIC_HOST_MEM_USAGE, CYCLE_METRIC_PROCESS_MEM_USAGE};
    static const uint8_t memory_call[] = {
        CYCLE_METRIC_HOST_MEM_USAGE, CYCLE_METRIC_PROCESS_MEM_USAGE, CYCLE_METRIC_PROCESS_MEM_RSS};
    static const uint8_t disk[] = {CYCLE_METRIC_DISK_USAGE};
    static const struct {
        const uint8_t *metrics;
        size_t count;
    } lists[CYCLE_TYPE_COUNT] = {
        [CYCLE_TYPE_GPU_COMPUTE] = {compute, COUNT_OF(compute)},
        [CYCLE_TYPE_GPU_COMM] = {communication, COUNT_OF(communication)},
        [CYCLE_TYPE_H2D] = {host_copy, COUNT_OF(host_copy)},
        [CYCLE_TYPE_D2H] = {host_copy, COUNT_OF(host_copy)},
        [CYCLE_TYPE_D2D] = {device_copy, COUNT_OF(device_copy)},
        [CYCLE_TYPE_SYSCALL_MEM] = {memory_call, COUNT_OF(memory_call)},
        [CYCLE_TYPE_DISK] = {disk, COUNT_OF(disk)},
        [CYCLE_TYPE_ONCPU] = {cpu, COUNT_OF(cpu)},
        [CYCLE_TYPE_RUNQ] = {queue, COUNT_OF(queue)},
    };
    *count = lists[type].count;
    return lists[type].metrics;
}

/* ---- metrics ---- */

static const char *const metric_names[CYCLE_METRIC_COUNT] = {
    [CYCLE_METRIC_PROCESS_GPU_USAGE] = "process_gpu_usage",
    [CYCLE_METRIC_GPU_USAGE] = "gpu_usage",
    [CYCLE_METRIC_GPU_SM_UTIL] = "gpu_sm_util",
    [CYCLE_METRIC_GPU_SM_OCCUPANCY] = "gpu_sm_occupancy",
    [CYCLE_METRIC_GPU_MEM_USED] = "gpu_mem_used",
    [CYCLE_METRIC_GPU_FREQUENCY] = "gpu_frequency",
    [CYCLE_METRIC_GPU_SM_FREQUENCY] = "gpu_sm_frequency",
    [CYCLE_METRIC_GPU_MEM_FREQUENCY] = "gpu_mem_frequency",
    [CYCLE_METRIC_GPU_PCIE_TRANSMIT] = "gpu_pcie_transmit",
    [CYCLE_METRIC_GPU_PCIE_RECEIVE] = "gpu_pcie_receive",
    [CYCLE_METRIC_GPU_LINK_TRANSMIT] = "gpu_link_transmit",
    [CYCLE_METRIC_GPU_LINK_RECEIVE] = "gpu_link_receive",
    [CYCLE_METRIC_NET_TX_RATE] = "net_tx_rate",
    [CYCLE_METRIC_NET_RX_RATE] = "net_rx_rate",
    [CYCLE_METRIC_PROCESS_CPU_USAGE] = "process_cpu_usage",
    [CYCLE_METRIC_HOST_CPU_USAGE] = "host_cpu_usage",
    [CYCLE_METRIC_HOST_MEM_USAGE] = "host_mem_usage",
    [CYCLE_METRIC_PROCESS_MEM_USAGE] = "process_mem_usage",
    [CYCLE_METRIC_CPU_FREQUENCY] = "cpu_frequency",
    [CYCLE_METRIC_CPU_TEMP] = "cpu_temp",
    [CYCLE_METRIC_CPU_POWER] = "cpu_power",
    [CYCLE_METRIC_PROCESS_MEM_RSS] = "process_mem_rss",
    [CYCLE_METRIC_DISK_USAGE] = "disk_usage",
};

const char *cycle_metric_name(enum cycle_metric metric)
{
    return metric_names[metric];
}

bool cycle_metric_is_process(enum cycle_metric metric)
{
    static const char PREFIX[] = "process_";
    return strncmp(metric_names[metric], PREFIX, sizeof PREFIX - 1) == 0;
}

double cycle_metric_scale(enum cycle_metric metric)
{
    static const char *const percentages[] = {"usage", "rate", "util", "occupancy"};
    for (size_t i = 0; i < COUNT_OF(percentages); i++) {
        if (strstr(metric_names[metric], percentages[i]) != NULL) {
            return 100.0;
        }
    }
    return 1.0;
}

enum cycle_metric cycle_metric_of(const char *counter_name)
{
    for (int i = 0; i < CYCLE_METRIC_COUNT; i++) {
        if (strncmp(counter_name, metric_names[i], strlen(metric_names[i])) == 0) {
            return (enum cycle_metric)i;
        }
    }
    return CYCLE_METRIC_COUNT;
}
