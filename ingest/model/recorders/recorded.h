/* What the file of another recorder says of itself, beside its events [FMT-0.2]. */
#ifndef KS_MODEL_RECORDED_H
#define KS_MODEL_RECORDED_H

#include <stddef.h>
#include <stdint.h>

#define RECORDED_UNKNOWN INT64_MIN

/* Records that were left out, or taken otherwise than they stand. */
struct skipped_records {
    const char *what; /* "negative duration", "plane /host:metadata", ... */
    const char *reason;
    int64_t count;
};

/* A collective as the recorder measured it. */
struct collective_times {
    const char *name;
    int64_t start_ns; /* as the events of the trace */
    int64_t elapse_ns, transit_ns, wait_ns, synchronization_ns, idle_ns;
};

/* Kernels of one type on one kind of core. */
struct op_type_times {
    const char *name; /* NULL: not said */
    const char *core;
    int64_t calls, total_ns, min_ns, max_ns;
};

/* What was measured at the launches of a kernel. */
struct kernel_metric {
    const char *kernel;
    const char *metric; /* "SQ_WAVES", "aic_mac_ratio" */
    int64_t calls;      /* launches that have it */
    double mean, mean_by_time, min, max;
};

/* Blocks of memory that were taken under one name. */
struct recorded_memory {
    const char *name;
    int64_t allocations, bytes;
    int64_t kept_bytes; /* of them, those not given back in the recording */
};

/* Of Ascend's components the allocator of PyTorch, whose figures a device's memory is [FMT-1.3]. */
#define RECORDED_ALLOCATOR "PTA"

/* What an allocator had at most. */
struct recorded_device_memory {
    const char *device;    /* "NPU:0" */
    const char *component; /* "PTA", "GE", "APP"; NULL: not said */
    int64_t peak_bytes, reserved_peak_bytes, records;
};

/* What an allocator had at one time. */
struct recorded_memory_point {
    int64_t device;                                   /* place in `devices`: of one component */
    int64_t time_ns, allocated_bytes, reserved_bytes; /* allocated: RECORDED_UNKNOWN: not said */
};

struct recorded {
    const char *recorder; /* NULL: not said */
    const char *format_version;
    int64_t linked; /* device records whose launching record is in the file; RECORDED_UNKNOWN */
    struct skipped_records *skipped;
    size_t skipped_count;
    struct collective_times *collectives;
    size_t collective_count;
    struct op_type_times *op_types;
    size_t op_type_count;
    struct kernel_metric *metrics;
    size_t metric_count;
    struct recorded_memory *memory;
    size_t memory_count;
    struct recorded_device_memory *devices;
    size_t device_count;
    struct recorded_memory_point *points; /* in the order of the file */
    size_t point_count;
};

#endif
