/* Kernels by name [TB-12a], in the order of [TB-18]. */
#ifndef KS_ANALYSIS_KERNELS_KERNELS_H
#define KS_ANALYSIS_KERNELS_KERNELS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/base/attr.h"
#include "ingest/index/index.h"
#include "ingest/model/results/results.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define KERNEL_DEVICES 64 /* valid device ids: 0 .. 63 */

/* All kernel events in order of time. */
struct kernels {
    const struct event_classes *sel;
    uint32_t *events;
    uint32_t count;
};

bool kernels_collect(struct kernels *kernels, const struct event_classes *sel) KS_MUST_USE;
void kernels_free(struct kernels *kernels);

/* By end, equal ends as they stand: those of one stream come so. False without memory. */
bool kernels_sort_by_end(uint32_t *events,
                         uint32_t count,
                         const struct event_classes *sel) KS_MUST_USE;

/* Arguments of a kernel; missing ones are NaN or TRACE_NO_ID. */
static inline int64_t kernel_device(const struct trace *trace, uint32_t event)
{
    const struct kernel_args *args = trace_kernel_args_of(trace, event);
    return args == NULL ? TRACE_NO_ID : args->device;
}

/* The device that a kernel counts for: in the annex's figures, which have a clock of their own,
 * what its arguments say alone. */
static inline int64_t kernel_counts_for(const struct event_classes *sel, uint32_t event)
{
    return sel->clock == NULL ? index_device_number(sel->trace, event)
                              : kernel_device(sel->trace, event);
}

static inline double kernel_blocks_per_sm(const struct trace *trace, uint32_t event)
{
    const struct kernel_args *args = trace_kernel_args_of(trace, event);
    return args == NULL ? (double)NAN : args->blocks_per_sm;
}

static inline double kernel_occupancy_pct(const struct trace *trace, uint32_t event)
{
    const struct kernel_args *args = trace_kernel_args_of(trace, event);
    return args == NULL ? (double)NAN : args->occupancy_pct;
}

/* Fills results.kernels in the order of [TB-18], tensor_pie_used, has_blocks_per_sm and
 * has_occupancy:
 *
 *     mean(x) = pairwise Σ x·dur / pairwise Σ dur, in microseconds, missing x = 0; 0 when Σ dur = 0
 * (12.1) pie     = pairwise Σ total of Tensor Core rows / pairwise Σ total, in the order of the
 * rows      (12.2)
 *
 * False without memory. */
bool kernels_run(struct trace_results *results,
                 struct texts *texts,
                 struct names *names,
                 const struct kernels *kernels) KS_MUST_USE;

#endif
