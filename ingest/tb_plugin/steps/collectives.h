/* Collectives by the plugin's rule, operators named `nccl:all_reduce` and their like, and the
 * device work that belongs to them [TB-4g] [TB-17b]. */
#ifndef KS_TB_PLUGIN_STEPS_COLLECTIVES_H
#define KS_TB_PLUGIN_STEPS_COLLECTIVES_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/collective_log.h"

#include <stdbool.h>
#include <stdint.h>

struct tb_collective {
    uint32_t event;       /* the operator: the last one with its external id */
    uint32_t range_count; /* its own interval and those of its device work */
};

struct tb_collectives {
    struct id_map by_external_id;
    struct tb_collective *nodes; /* by number of the id in the map */
    bool joins_memcpy;           /* MLU with nccl or cncl: copies count like kernels */
};

/* False without memory; `comms` must be freed in either case. */
bool tb_collectives_collect(struct tb_collectives *comms,
                            const struct event_classes *sel) KS_MUST_USE;
void tb_collectives_free(struct tb_collectives *comms);
/* Whether this kernel (or copy) belongs to a collective: its role is communication then. */
bool tb_collectives_has_device_event(const struct tb_collectives *comms,
                                     const struct event_classes *sel,
                                     uint32_t event);
/* Makes TIME_COMMUNICATION the category of those. */
void tb_collectives_mark(const struct tb_collectives *comms,
                         const struct event_classes *sel,
                         uint8_t *categories);
/* The numbers of the nodes in order of (start, -end), to be freed; NULL when there are none or when
 * libraries are mixed [TB-4i]. False without memory. */
bool tb_collectives_order(const struct tb_collectives *comms,
                          const struct event_classes *sel,
                          uint32_t **order) KS_MUST_USE;
/* The log [TB-15a]: `*out` lies in `arena`; NULL when there is no collective, or when libraries are
 * mixed. False without memory. */
bool tb_collectives_log(struct collective_log **out,
                        struct arena *arena,
                        const struct tb_collectives *comms,
                        const struct event_classes *sel,
                        const struct steps *steps) KS_MUST_USE;

#endif
