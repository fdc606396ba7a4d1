/* What the routes of a run of many ranks share. */
#ifndef KS_API_RANKS_COMMON_H
#define KS_API_RANKS_COMMON_H

#include "api/call.h"
#include "ingest/query/ranks/ranks.h"

/* The views of the run in params[0] and of ?span=. A view that is not kept yet is made, one at a
 * time. With NULL that view is not asked for. `with_parts`: of the collectives, which are then made
 * anew. */
struct ranks_wanted {
    struct ranks_verdict **verdict;
    struct ranks_collectives **collectives;
    bool is_raw, with_parts;
};
bool ranks_read(struct api_call *call,
                const struct ranks_wanted *wanted,
                struct err *err) KS_MUST_USE;
/* The same; *ranks are the traces that the views are of. */
bool ranks_read_of(struct api_call *call,
                   struct query_ranks *ranks,
                   const struct ranks_wanted *wanted,
                   struct err *err) KS_MUST_USE;

/* The member `warnings`: those codes whose count is not 0. */
void ranks_warnings(struct json_write *w, const struct ranks_verdict *verdict);

#endif
