/* Views of a run of many ranks [RANK-1] to [RANK-3]: made from the digests of its traces, then
 * kept.
 */
#ifndef KS_QUERY_RANKS_RANKS_H
#define KS_QUERY_RANKS_RANKS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/sha256.h"
#include "ingest/model/results/ranks.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rank of a trace wherever one is shown [RANK-0a]: distributedInfo.rank, else given at
 * upload (the trace's row has the first that there is; `told` the first as the digest has it), else
 * the last number in the worker's name. INT64_MIN: unknown; as `told` too. */
int64_t query_rank_of(int64_t told, const struct store_trace *trace);

/* The traces of one span of a run that are a profiler's, by worker; and what they are known by. */
struct query_ranks {
    const char *run;
    int64_t span;
    const struct store_trace **traces;
    size_t trace_count;
    char inputs[SHA256_HEX_BYTES];
};

/* `span` 0: the first. ERR_NOT_FOUND: no such run, or no trace of a profiler in it. */
bool query_ranks_open(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const char *run,
                      int64_t span,
                      struct query_ranks *out,
                      struct err *err) KS_MUST_USE;

/* What is kept; *out is NULL when it must be made. */
bool query_ranks_find_verdict(struct store_snapshot *snapshot,
                              struct arena *arena,
                              const struct query_ranks *ranks,
                              struct ranks_verdict **out,
                              struct err *err) KS_MUST_USE;
bool query_ranks_find_collectives(struct store_snapshot *snapshot,
                                  struct arena *arena,
                                  const struct query_ranks *ranks,
                                  bool is_raw,
                                  struct ranks_collectives **out,
                                  struct err *err) KS_MUST_USE;

/* From start_ns, so many pixels of pixel_ns each. */
struct query_ranks_window {
    int64_t start_ns, pixel_ns;
    size_t pixels;
};

/* A window of the lane of the rank at a place of the verdict's clocks. *out is NULL when there is
 * none: lanes are kept with the verdict. */
bool query_ranks_levels(struct store_snapshot *snapshot,
                        struct arena *arena,
                        const struct query_ranks *ranks,
                        size_t place,
                        const struct query_ranks_window *window,
                        struct rank_levels **out,
                        struct err *err) KS_MUST_USE;

struct query_ranks_made {
    struct ranks_verdict verdict;
    struct ranks_collectives collectives;
};

/* Reads all digests and makes both, and keeps them. Seconds for a run of 1000 ranks: one at a time.
 */
bool query_ranks_make(struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct query_ranks *ranks,
                      bool is_raw,
                      bool with_parts,
                      struct query_ranks_made *out,
                      struct err *err) KS_MUST_USE;

#endif
