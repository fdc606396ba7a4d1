/* What the kernel tables of a run measured, merged by cleaned name, and by name, grid and block:
 * one half of query_kernel_match. */
#ifndef KS_QUERY_VIEWS_KERNEL_MEASURED_H
#define KS_QUERY_VIEWS_KERNEL_MEASURED_H

#include "ingest/query/views/kernel_match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mean in the making: weighted by time, over what was measured. */
struct measured_mean {
    double sum, weight;
};

struct measured_use {
    struct measured_mean tensor, dram, sm;
    int64_t launches;
};

struct measured_kernel {
    const char *name;  /* cleaned */
    size_t prefix_len; /* of a cut name ("abc..."): what stands before the dots; else 0 */
    struct measured_use use;
    double total_ns;
    bool matched; /* the trace has it */
};

/* Launches of a kernel with one grid and block. */
struct measured_launch {
    const struct measured_kernel *kernel;
    const char *grid, *block;
    struct measured_use use;
};

struct measured {
    struct measured_kernel *kernels; /* by name */
    size_t kernel_count;
    struct measured_launch *launches; /* by kernel, grid, block */
    size_t launch_count;
};

/* Of these tables, in the arena; the launches only when wanted. */
bool measured_read(struct measured *out,
                   struct store_snapshot *snapshot,
                   struct arena *arena,
                   const int64_t *table_ids,
                   size_t table_count,
                   bool launches,
                   struct err *err) KS_MUST_USE;
struct measured_kernel *measured_find(const struct measured *measured, const char *name);
/* NULL where no launch has this grid and block. */
const struct measured_launch *measured_find_launch(const struct measured *measured,
                                                   const struct measured_kernel *kernel,
                                                   const char *grid,
                                                   const char *block);
/* The figures, for a kernel that takes `total_ns` in the trace. */
struct kernel_match_use
measured_figures(const struct measured_use *use, int64_t total_ns, bool by_launch);

#endif
