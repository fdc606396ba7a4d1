/* How busy each device was over time: what the annex puts beside the events of a trace as
 * counters [TB-10g] [TB-10.0]. Columns, a row a stretch of time; first the utilisation of all
 * devices, then their SM efficiency, each by ascending device and time. */
#ifndef KS_MODEL_RESULTS_GPU_COUNTERS_H
#define KS_MODEL_RESULTS_GPU_COUNTERS_H

#include <stdint.h>

enum gpu_counter_kind {
    GPU_COUNTER_UTILISATION,
    GPU_COUNTER_SM_EFFICIENCY,
    GPU_COUNTER_KIND_COUNT
};

struct gpu_counters {
    uint32_t count;
    uint32_t device_count;
    uint32_t *devices; /* that ran kernels, ascending: 0..63 */
    int64_t start;     /* of the whole range, relative to the trace's start */
    int64_t end;
    uint8_t *kind; /* enum gpu_counter_kind */
    uint32_t *device;
    int64_t *from; /* the same */
    int64_t *to;
    int64_t *value; /* the bits of a double */
};

#endif
