/* Which runtime call started which work on a device [TB-4a].
 *
 *     cudaLaunchKernel  correlation 7 ──► kernel, memcpy, memset with correlation 7
 *
 * Device work seen before its call waits for it; work whose call never comes is stale. */
#ifndef KS_TB_PLUGIN_TREE_LAUNCH_CORRELATION_H
#define KS_TB_PLUGIN_TREE_LAUNCH_CORRELATION_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

#define LAUNCH_NONE UINT32_MAX

/* Runtimes and devices are numbered from 0 in order of time. */
struct launch_correlation {
    const uint32_t *device_event; /* the selection's lists, as are the runtimes */
    uint32_t *device_runtime; /* LAUNCH_NONE: stale; NULL after launch_correlation_drop_devices */
    uint32_t device_count;
    const uint32_t *runtime_event;
    uint32_t runtime_count;
    uint32_t *
        launched_first; /* runtime r started launched[launched_first[r] .. launched_first[r + 1]) */
    uint32_t *launched; /* events */
    uint32_t *stale;    /* events of kernels without a call, correlation by correlation */
    uint32_t stale_count;
};

/* `sel` must outlive the links. False without memory; `links` must be freed in either case. */
bool launch_correlation_build(struct launch_correlation *links,
                              const struct event_classes *sel) KS_MUST_USE;
/* Frees which call each device activity has; the calls and what they launched stay. */
void launch_correlation_drop_devices(struct launch_correlation *links);
void launch_correlation_free(struct launch_correlation *links);

#endif
