/* Views of a run of many ranks, kept beside its traces: derived data, which anyone may make again.
 */
#ifndef KS_STORE_STORE_RANKS_H
#define KS_STORE_STORE_RANKS_H

#include "ingest/model/rank_digest.h"
#include "ingest/model/results/ranks.h"
#include "ingest/store/store.h"

enum run_view {
    RUN_VIEW_VERDICT,
    RUN_VIEW_COLLECTIVES,
    RUN_VIEW_COLLECTIVES_RAW,
    RUN_VIEW_LANES /* the last: with `part` */
};

/* Names a view of a run. `inputs` names what it was made of: a view made of other traces is not
 * found, and is replaced by the next one. */
struct run_view_key {
    const char *run;
    int64_t span;
    enum run_view view;
    const char *inputs;
    int64_t part; /* of lanes: the rank's place, from 0; else 0 */
};

/* *out is NULL when there is none. */
bool store_ranks_verdict(struct store_snapshot *snapshot,
                         struct arena *arena,
                         const struct run_view_key *key,
                         struct ranks_verdict **out,
                         struct err *err) KS_MUST_USE;
bool store_ranks_verdict_put(struct store *store,
                             const struct run_view_key *key,
                             const struct ranks_verdict *verdict,
                             struct err *err) KS_MUST_USE;
/* Without the parts of ranks. */
bool store_ranks_collectives(struct store_snapshot *snapshot,
                             struct arena *arena,
                             const struct run_view_key *key,
                             struct ranks_collectives **out,
                             struct err *err) KS_MUST_USE;
bool store_ranks_collectives_put(struct store *store,
                                 const struct run_view_key *key,
                                 const struct ranks_collectives *collectives,
                                 struct err *err) KS_MUST_USE;
/* One rank's lane. */
bool store_ranks_lane(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct run_view_key *key,
                      struct rank_lane **out,
                      struct err *err) KS_MUST_USE;
/* Those of neighbouring ranks, from key->part on. */
bool store_ranks_lanes_put(struct store *store,
                           const struct run_view_key *key,
                           const struct rank_lane *lanes,
                           size_t count,
                           struct err *err) KS_MUST_USE;

#endif
