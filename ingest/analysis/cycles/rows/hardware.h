/* The hardware file in terms of a trace's hosts and processes [CMP-10a.metrics.5]. */
#ifndef KS_ANALYSIS_CYCLES_ROWS_HARDWARE_H
#define KS_ANALYSIS_CYCLES_ROWS_HARDWARE_H

#include "ingest/analysis/cycles/events.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/model/results/hardware.h"

#include <stdbool.h>
#include <stdint.h>

struct cycle_hardware {
    const struct hardware *file; /* NULL: none */
    const struct cycle_events *events;
    struct id_map devices; /* device number of the trace -> process of the file */
    uint32_t known_host;   /* whose figures are at hand, CYCLE_NONE */
    const struct hardware_host *host;
};

/* `file` may be NULL. False without memory; must be freed in either case. */
bool cycle_hardware_init(struct cycle_hardware *hardware,
                         const struct cycle_events *events,
                         const struct hardware *file) KS_MUST_USE;
void cycle_hardware_free(struct cycle_hardware *hardware);

/* Whether the device number stands for a physical device, which is then *physical; else that is the
 * number itself. */
bool cycle_hardware_device(const struct cycle_hardware *hardware,
                           int64_t device,
                           int64_t *physical);
/* What the file says of a host, NULL when it says nothing. */
const struct hardware_host *cycle_hardware_host(struct cycle_hardware *hardware, uint32_t host);
/* Bytes of a physical device's memory, 0 when the file does not say. */
double
cycle_hardware_memory(const struct cycle_hardware *hardware, uint32_t host, int64_t physical);

#endif
