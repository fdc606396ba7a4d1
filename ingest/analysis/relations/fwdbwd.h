/* Pairs of forward and backward times from autograd's flow events [TB-3a]. */
#ifndef KS_ANALYSIS_RELATIONS_FWDBWD_H
#define KS_ANALYSIS_RELATIONS_FWDBWD_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

struct fwdbwd {
    struct id_map by_forward;  /* forward time -> value: index of its slot in by_backward */
    struct id_map by_backward; /* backward time */
};

/* Whether the event is an end of such a flow, with a time and an id. */
bool fwdbwd_is_end(const struct trace_events *events, uint32_t event);
/* An id's last `s` and last `f` form its pair; of pairs with the same forward time the one whose id
 * came last wins. False without memory; must be freed in either case. */
bool fwdbwd_collect(struct fwdbwd *pairs, const struct trace *trace) KS_MUST_USE;
void fwdbwd_free(struct fwdbwd *pairs);

#endif
