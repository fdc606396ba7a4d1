/* How busy each device was [TB-10]. */
#ifndef KS_ANALYSIS_DEVICES_DEVICES_H
#define KS_ANALYSIS_DEVICES_DEVICES_H

#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/kernels/kernels.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"
#include "ingest/model/warning.h"

#include <stdbool.h>

/* Kernel time that operators launched: own runtimes of real operators [TB-9f] [TB-10e]. */
struct launched_time {
    /* durations of times.h */
    int64_t total;
    int64_t bottom_eligible; /* of eligible operators without eligible ones below */
    bool has_kernels;
    int64_t device[KERNEL_DEVICES];
    int64_t device_tensor[KERNEL_DEVICES];
};

/* Adds a kernel that an operator launched. `is_bottom_eligible`: that operator could use Tensor
 * Cores, and none inside it could. */
void launched_time_add(struct launched_time *launched,
                       struct event_classes *sel,
                       bool is_bottom_eligible,
                       uint32_t kernel_event);

/* Copies the name and the compute capability ("8.0") of a device into the arena; NULL: not said.
 * False without memory. */
bool device_says(const struct device_properties *from,
                 struct arena *arena,
                 const char **name,
                 const char **capability) KS_MUST_USE;

/* Fills results.devices: one row a device id 0 .. 63 that a kernel names, in order. With T the
 * interval from the first step's start to the last one's end:
 *
 *     utilisation   = |merged kernels ∩ T| / |T|
 *     sm_efficiency = Σ min(1, Σ blocks per SM of running kernels) · length within T / |T|
 *     occupancy     = Σ occupancy · length within T / Σ length within T, over kernels that have it
 *     tensor_share  = Tensor Core kernel time / kernel time that operators launched on the device
 *
 * Counts WARN_DEVICE_ID. False without memory. */
bool devices_run(struct trace_results *results,
                 struct arena *arena,
                 const struct kernels *kernels,
                 const struct steps *steps,
                 const struct launched_time *launched) KS_MUST_USE;

#endif
