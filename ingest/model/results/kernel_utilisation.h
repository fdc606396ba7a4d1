/* What the analysis of a kernel table answers: what api/openapi.json promises of
 * kernel-utilisation. Utilisations are shares 0..1 of the peak, weighted by latency over the
 * launches where they were measured; NaN where no launch was. Times in nanoseconds; percentiles
 * linear between ranks (NumPy's default). Rows live as results.h says. */
#ifndef KS_MODEL_RESULTS_KERNEL_UTILISATION_H
#define KS_MODEL_RESULTS_KERNEL_UTILISATION_H

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
    const char *name;      /* cleaned: without return type, template and argument lists and the
                              namespaces at::native::, cutlass::, (anonymous namespace):: */
    const char *full_name; /* of the first launch; kernels of one cleaned name may differ in it */
    int64_t launches;
    int64_t total_ns;
    double mean_ns;
    int64_t min_ns, max_ns;        /* INT64_MIN where a summary does not say */
    double p50_ns, p95_ns, p99_ns; /* NaN where a summary does not say */
    double tensor, dram, sm;
    double headroom_ns; /* total x (1 - the larger of the measured uses); NaN when none was */
    enum use_class use;
    int64_t position; /* in this order, from 0; set where rows come from the store */
};

struct kernel_utilisation_launch_row {
    const char *name;
    const char *full_name;
    const char *grid;  /* NULL where the file has none */
    const char *block; /* the same */
    int64_t start_ns;  /* relative to the trace's start, the earliest launch, copy or set;
                          INT64_MIN where the file has none */
    int64_t dur_ns;
    int64_t device, stream; /* INT64_MIN where the file has none */
    double tensor, dram, sm;
    enum use_class use;
    int64_t position; /* in the file, from 0; set where rows come from the store */
};

/* Another metric that the file has, over the launches of one kernel (index into
 * kernel_utilisation). */
struct kernel_utilisation_metric_row {
    int64_t kernel;
    const char *metric;
    const char *unit; /* "" when none */
    int64_t launches; /* with a value */
    double mean;      /* weighted by latency */
    double min, max;
};

/* The same metric at one launch (index into kernel_utilisation_launches); ascending by launch. */
struct kernel_utilisation_value_row {
    int64_t launch;
    const char *metric;
    const char *unit;
    double value;
};

/* Copies and sets of memory that Nsight Systems lists beside kernels, by name. */
struct transfer_row {
    const char *name;
    const char *kind; /* "memcpy", "memset" */
    int64_t operations;
    int64_t total_ns, min_ns, max_ns;
    int64_t size_bytes; /* sum; INT64_MIN where not known */
};

/* Over all kernels of the table. */
struct kernel_utilisation_totals {
    int64_t launches;
    int64_t kernels; /* cleaned names */
    int64_t total_ns;
    double tensor, dram, sm;
    double headroom_ns;
    int64_t class_ns[USE_CLASS_COUNT]; /* time of the launches in each class, each launch by its own
                                          use (of kernels that are summarised: the kernel's) */
    int64_t class_launches[USE_CLASS_COUNT];
};

#endif
