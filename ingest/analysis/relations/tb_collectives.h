/* Collective operations and the device work that belongs to them [TB-4g] [TB-17b]. */
#ifndef KS_ANALYSIS_RELATIONS_TB_COLLECTIVES_H
#define KS_ANALYSIS_RELATIONS_TB_COLLECTIVES_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"

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
/* The numbers of the nodes in order of (start, -end), to be freed; NULL when there are none or when
 * libraries are mixed [TB-4i]. False without memory. */
bool tb_collectives_order(const struct tb_collectives *comms,
                          const struct event_classes *sel,
                          uint32_t **order) KS_MUST_USE;
/* Nodes, and a hash over the number of ranges of each in order of (start, -end): what all workers
 * of a span must agree on for the distributed view [TB-15b]. Both 0 when libraries are mixed
 * [TB-4i]. False without memory. */
bool tb_collectives_summary(const struct tb_collectives *comms,
                            const struct event_classes *sel,
                            int64_t *node_count,
                            int64_t *signature) KS_MUST_USE;

#endif
