/* A table of kernel launches as Nsight Compute, Nsight Systems or the short text table print it:
 * what formats hand to the analysis of utilisation. Plain rows in file order; names interned.
 * Owned by one thread at a time; one kernel_table_destroy frees all. */
#ifndef KS_MODEL_RESULTS_KERNEL_TABLE_H
#define KS_MODEL_RESULTS_KERNEL_TABLE_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/strtab.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kernel_table_kind {
    KERNEL_TABLE_KERNEL,
    KERNEL_TABLE_MEMCPY, /* Nsight Systems: names such as "[CUDA memcpy Host-to-Device]" */
    KERNEL_TABLE_MEMSET
};

/* One launch. Utilisations are shares 0..1 of the peak, NaN where not measured. */
struct kernel_table_launch {
    uint32_t name;  /* string id of the full name as the file has it */
    uint32_t grid;  /* "[128, 1, 1]", STRTAB_NONE when the file has none */
    uint32_t block; /* the same */
    enum kernel_table_kind kind;
    int64_t dur_ns;
    int64_t start_ns;   /* as in the file, INT64_MIN when it has none */
    int64_t device;     /* INT64_MIN when the file has none */
    int64_t stream;     /* the same */
    int64_t size_bytes; /* memcpy, memset; INT64_MIN otherwise */
    double tensor;      /* sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed / 100 */
    double dram;        /* gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed / 100 */
    double sm;          /* sm__throughput.avg.pct_of_peak_sustained_elapsed / 100 */
};

/* Kernels of one name where the file has only their summary (cuda_gpu_kern_sum). NaN, INT64_MIN:
 * not in the file. */
struct kernel_table_summary {
    uint32_t name;
    int64_t launches;
    int64_t total_ns, min_ns, max_ns;
    double mean_ns, median_ns;
};

/* Another metric of a launch, kept by its name. */
struct kernel_table_metric {
    uint32_t launch; /* index into launches; ascending */
    uint32_t name;   /* string ids */
    uint32_t unit;   /* "" when none */
    double value;    /* in that unit */
};

struct kernel_table {
    struct arena arena;
    struct strtab *strings;
    struct kernel_table_launch *launches;
    uint32_t launch_count;
    struct kernel_table_summary *summaries; /* set only where there are no launches */
    uint32_t summary_count;
    struct kernel_table_metric *metrics;
    uint32_t metric_count;
    uint32_t launch_capacity, summary_capacity, metric_capacity;
    /* Rows that could not be read: counted as WARN_BAD_LINE; the first of them are described in
     * words with their line numbers ("line 17: the latency "abc" is no number"), the rest only
     * counted. In the arena. */
    const char **bad_rows;
    size_t bad_row_count;
    struct warnings warnings;
};

#define KERNEL_TABLE_BAD_ROWS_MAX 100

struct kernel_table *kernel_table_create(void) KS_MUST_USE; /* NULL without memory */
void kernel_table_destroy(struct kernel_table *table);      /* NULL is allowed */
/* Append a copy. False without memory. */
bool kernel_table_add_launch(struct kernel_table *table,
                             const struct kernel_table_launch *launch) KS_MUST_USE;
bool kernel_table_add_summary(struct kernel_table *table,
                              const struct kernel_table_summary *summary) KS_MUST_USE;
bool kernel_table_add_metric(struct kernel_table *table,
                             const struct kernel_table_metric *metric) KS_MUST_USE;
/* Counts a row that could not be read, with its place; `what` is copied. */
bool kernel_table_add_bad_row(struct kernel_table *table,
                              uint64_t byte_off,
                              const char *what) KS_MUST_USE;

#endif
