/* Steps of a serving engine: what it said of each, and the device work launched in it [DEV-4]. */
#ifndef KS_ANALYSIS_ENGINE_STEPS_ENGINE_STEPS_H
#define KS_ANALYSIS_ENGINE_STEPS_ENGINE_STEPS_H

#include "ingest/analysis/captures/capture.h"
#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/index/engine_annotation.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_class {
    const char *name;
    int64_t device_ns;
};

/* The largest device_ns first, then by name. */
struct engine_classes {
    struct engine_class *items;
    size_t count;
};

/* ENGINE_UNKNOWN where nothing is known, or there is none. */
struct engine_step {
    const char *annotation;
    struct engine_annotation said;
    int64_t attention_flops_per_layer;
    int64_t start_ns, duration_ns;
    int64_t host_gap_ns;     /* from the largest end of earlier steps; may be negative */
    int64_t device_start_ns; /* of the work launched in the step, which may run after it */
    int64_t device_end_ns;
    int64_t device_gap_ns; /* from the largest device end of earlier steps */
    int64_t device_busy_ns, device_ns, device_events;
    struct engine_classes classes;
    /* Set by who shows it: the place among all steps, and "1024x768". */
    int64_t index;
    const char *resolution;
};

struct engine_phase_total {
    enum engine_phase phase;
    int64_t steps, requests, duration_ns, device_ns;
    int64_t tokens; /* ENGINE_UNKNOWN: a step does not say */
    struct engine_classes classes;
};

struct engine_steps {
    struct engine_step *rows; /* in order of start, then in file order */
    size_t count;
    struct engine_phase_total phases[ENGINE_PHASE_COUNT]; /* in order of appearance */
    size_t phase_count;
    enum engine engine; /* of the most steps, if there are any */
};

/* Shape of attention, for its FLOPs; 0: from the operators of the step, or of the capture of its
 * graphs. */
struct engine_attention {
    int64_t heads, head_dim_qk, head_dim_v;
};

/* Positions count from `zero_ns`; everything in *out lives in the arena; `own` as for
 * kernel_class_of(), `captures` as capture_choose() takes them. O(n log n). False without memory.
 */
bool engine_steps_analyse(const struct trace *trace,
                          int64_t zero_ns,
                          const struct kernel_rules *own,
                          const struct capture *captures,
                          size_t capture_count,
                          const struct engine_attention *attention,
                          struct arena *arena,
                          struct engine_steps *out) KS_MUST_USE;

extern const struct row_table table_engine_step; /* of the rows */

#endif
