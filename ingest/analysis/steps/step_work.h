/* Device work launched in each step [DEV-6c], and how busy each device was over all steps [DEV-2f].
 */
#ifndef KS_ANALYSIS_STEPS_STEP_WORK_H
#define KS_ANALYSIS_STEPS_STEP_WORK_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/index/index.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stdint.h>

/* The window runs from the first step to the end of the last one, or of the device's work that the
 * steps launched; without steps it is that of all its work. */
struct device_use {
    int64_t id; /* as index_device(): never TRACE_NO_ID */
    int64_t start_ns, end_ns;
    int64_t busy_ns;              /* union of its work inside the window */
    int64_t covered_ns;           /* until when it is busy so far */
    int64_t kernel_ns, matrix_ns; /* of all its kernels, and of those known to use matrix units */
};

struct device_uses {
    struct id_map place_of;
    struct device_use *items; /* in order of their first work in time */
    size_t cap;
};

/* Fills the device columns of `rows`, one a step of the index, and `uses`. One pass over the device
 * work in order of time. False without memory; `uses` is to be freed in either case. */
bool step_work_run(struct step_row *rows,
                   struct device_uses *uses,
                   const struct event_classes *sel,
                   const struct trace_index *index) KS_MUST_USE;
void device_uses_free(struct device_uses *uses);

/* Sets utilisation and share of matrix units of the devices' rows, and adds a row for each device
 * without kernels that name it, all in order of their ids. False without memory. */
bool step_work_fill_devices(struct trace_results *results,
                            const struct device_uses *uses) KS_MUST_USE;

#endif
