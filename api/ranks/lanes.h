/* Ranks in the timeline of their run [RANK-10]. Memory is the call's or the arena's. */
#ifndef KS_API_RANKS_LANES_H
#define KS_API_RANKS_LANES_H

#include "api/call.h"
#include "ingest/model/results/ranks.h"
#include "ingest/query/ranks/ranks.h"

/* A row for each rank of the verdict, in its order. */
bool lanes_rows(struct arena *arena,
                const struct query_ranks *ranks,
                const struct ranks_verdict *verdict,
                struct lane_row **rows,
                struct err *err) KS_MUST_USE;
/* `ranks=`: numbers, comma-separated, as places in the verdict in the order of the request; without
 * it all. ERR_BAD_REQUEST: not a rank of the run. */
bool lanes_chosen(struct api_call *call,
                  const struct ranks_verdict *verdict,
                  size_t **places,
                  size_t *count,
                  struct err *err) KS_MUST_USE;

#endif
