/* Pairs of forward and backward times from autograd's flow events [TB-3a], and the groups of
 * backward roots that they lead to [TB-5k]. */
#ifndef KS_ANALYSIS_RELATIONS_FWDBWD_H
#define KS_ANALYSIS_RELATIONS_FWDBWD_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

#define FWDBWD_NO_GROUP UINT32_MAX

struct fwdbwd {
    struct id_map by_forward;  /* forward time -> value: index of its slot in by_backward */
    struct id_map by_backward; /* backward time -> value: group of backward roots */
    uint32_t *group;           /* by index in by_backward; FWDBWD_NO_GROUP until set */
};

/* An id's last `s` and last `f` form its pair; of pairs with the same forward time the one whose id
 * came last wins. False without memory; must be freed in either case. */
bool fwdbwd_collect(struct fwdbwd *pairs, const struct trace *trace) KS_MUST_USE;
void fwdbwd_free(struct fwdbwd *pairs);
/* Backward time `saturating` lies in that group; the first group given to a time stays. */
void fwdbwd_set_group(struct fwdbwd *pairs, int64_t ns, uint32_t group);
/* The group that a forward operator beginning at `saturating` leads to, or FWDBWD_NO_GROUP. */
uint32_t fwdbwd_group(const struct fwdbwd *pairs, int64_t ns);

#endif
