/* What a hardware file (topo_component.csv, [CMP-10a.metrics.5]) says of hosts. */
#ifndef KS_MODEL_RESULTS_HARDWARE_H
#define KS_MODEL_RESULTS_HARDWARE_H

#include "ingest/base/memory/arena.h"

#include <stddef.h>
#include <stdint.h>

/* INT64_MIN, 0 or NULL where the file does not say. */
struct hardware_host {
    const char *name;
    double cpu_freq_mhz; /* 0: not said */
    int64_t cpu_cores;   /* 0: not said */
    double memory_bytes; /* 0: not said */
};

struct hardware_gpu {
    const char *host;
    int64_t index;
    double memory_bytes; /* 0: not said */
};

/* Which physical device a process's device number means. */
struct hardware_process {
    const char *host;
    int64_t pid;
    int64_t gpu_index;
};

struct hardware {
    struct arena arena;
    struct hardware_host *hosts;
    size_t host_count;
    struct hardware_gpu *gpus;
    size_t gpu_count;
    struct hardware_process *processes;
    size_t process_count;
};

#endif
