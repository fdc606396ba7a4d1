/* Where the time of the devices goes, by the class of their work [DEV-2]. */
#ifndef KS_ANALYSIS_DEVICE_TIME_DEVICE_TIME_H
#define KS_ANALYSIS_DEVICE_TIME_DEVICE_TIME_H

#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a stretch of time; computation, exposed communication, exposed copies and idle time add up to
 * it [DEV-2c]. */
struct device_time_block {
    bool is_there; /* else nothing is known of it */
    int64_t start_ns, end_ns;
    int64_t busy_ns;
    int64_t computation_ns;
    int64_t communication_ns;
    int64_t exposed_communication_ns; /* while nothing computes */
    int64_t memcpy_ns;
    int64_t exposed_memcpy_ns; /* while nothing computes or communicates */
    int64_t events;
};

struct device_time_blocks {
    struct device_time_block window;   /* all device work */
    struct device_time_block launched; /* device work whose call was recorded */
    struct device_time_block steps;    /* from the first step on, to the end of their work */
};

struct device_time_device {
    int64_t device;    /* as index_device() has it */
    int64_t device_ns; /* sum of the durations */
    struct device_time_blocks blocks;
};

/* A class, or a kind of communication. */
struct device_time_class {
    const char *name;
    int64_t events;
    int64_t device_ns; /* sum of the durations */
    int64_t busy_ns;   /* length of their union */
};

struct device_time_kernel {
    const char *name;
    struct kernel_class class;
    int64_t events;
    int64_t device_ns;
    double share; /* of all, set by who shows it */
};

struct device_time {
    struct device_time_blocks blocks;   /* of all devices together: at least one is busy */
    struct device_time_device *devices; /* in order of their numbers; those without one last */
    size_t device_count;
    struct device_time_class *classes; /* the largest device_ns first, then by name */
    size_t class_count;
    struct device_time_class *kinds; /* of communication; in this order */
    size_t kind_count;
    struct device_time_kernel *kernels; /* in this order; class sync too, which counts nowhere */
    size_t kernel_count;
    int64_t device_ns;
    int64_t matrix_unit_ns; /* of work on matrix units */
};

/* All devices, or the one at `device`; `own` as for kernel_class_of(). Positions in *out count from
 * `zero_ns`; everything in it lives in the arena. O(n log n). False without memory. */
bool device_time_analyse(const struct trace *trace,
                         int64_t zero_ns,
                         const struct kernel_rules *own,
                         const int64_t *device,
                         struct arena *arena,
                         struct device_time *out) KS_MUST_USE;

extern const struct row_table table_device_time_kernel; /* of the rows */

#endif
