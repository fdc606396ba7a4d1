/* The ranks of a run laid beside each other [RANK-1] to [RANK-3]: pure functions over digests.
 *
 *     create -> add each digest -> match -> describe each digest -> kernels of each digest
 *                                        -> ranks_run_collectives, ranks_run_verdict
 *
 * A digest is needed only while a call reads it, so that one is in memory at a time: a run of 1000
 * ranks with 10,000 collectives each takes about 0.6 GB. O(K log K) of all collectives. */
#ifndef KS_ANALYSIS_RANKS_RUN_H
#define KS_ANALYSIS_RANKS_RUN_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/rank_digest.h"
#include "ingest/model/results/ranks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranks_run;

/* `ranks` ascend and differ. All functions are false (NULL) without memory. */
struct ranks_run *
ranks_run_create(const int64_t *ranks, const int64_t *trace_ids, size_t count) KS_MUST_USE;
void ranks_run_destroy(struct ranks_run *run); /* NULL is allowed */

/* `member` is the rank's place, in ascending order; each once. */
bool ranks_run_add(struct ranks_run *run,
                   size_t member,
                   const struct rank_digest *digest) KS_MUST_USE;
/* After all: matches collectives [RANK-1d], sets the clocks [RANK-2], finds who waits [RANK-3]. */
bool ranks_run_match(struct ranks_run *run) KS_MUST_USE;
/* Each digest again: what its collectives move, and how its work divides. */
bool ranks_run_describe(struct ranks_run *run,
                        size_t member,
                        const struct rank_digest *digest) KS_MUST_USE;
/* Each digest again, if ranks_run_has_culprits(): which kernels the culprits took longer for. */
bool ranks_run_has_culprits(const struct ranks_run *run);
bool ranks_run_kernels(struct ranks_run *run,
                       size_t member,
                       const struct rank_digest *digest) KS_MUST_USE;

/* In the arena. `is_raw`: on each rank's own clock. `with_parts`: each rank's part too. */
bool ranks_run_collectives(struct ranks_run *run,
                           bool is_raw,
                           bool with_parts,
                           struct arena *arena,
                           struct ranks_collectives *out) KS_MUST_USE;
bool ranks_run_verdict(struct ranks_run *run,
                       struct arena *arena,
                       struct ranks_verdict *out) KS_MUST_USE;
/* What the rank's device does in time [RANK-10b]; once matched. */
bool ranks_run_lane(struct ranks_run *run,
                    size_t member,
                    const struct rank_digest *digest,
                    struct arena *arena,
                    struct rank_lane *out) KS_MUST_USE;

#define LANE_LEVEL_MAX 9

/* A window of a lane, at a digit a pixel of `pixel_ns` [RANK-10c]: how much of it is covered, 0
 * only where nothing is, LANE_LEVEL_MAX all of it. `levels` takes `pixels` digits and a zero;
 * *covered_ns sums what is covered. O(spans + pixels). False without memory. */
bool rank_lane_levels(const struct lane_spans *spans,
                      int64_t start_ns,
                      int64_t pixel_ns,
                      size_t pixels,
                      char *levels,
                      int64_t *covered_ns) KS_MUST_USE;

#endif
