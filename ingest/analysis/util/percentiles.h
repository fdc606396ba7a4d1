/* Percentiles of many groups at once: the values are sorted once, then one walk in that order tells
 * for each group when it passes the ranks it needs. */
#ifndef KS_ANALYSIS_UTIL_PERCENTILES_H
#define KS_ANALYSIS_UTIL_PERCENTILES_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERCENTILES_QUANTILES 3

/* Linear interpolation between closest ranks, rounded to the nearest integer. */
struct percentiles {
    int64_t p50;
    int64_t p95;
    int64_t p99;
    double median; /* p50 before it was rounded */
};

/* What a walk through values in ascending order knows of a group: how many of its values have
 * passed, the smallest rank still wanted, and the values on both sides of each quantile. */
struct percentile_progress {
    uint32_t seen;
    uint32_t next_rank;
};
struct percentile_found {
    int64_t low[PERCENTILES_QUANTILES];
    int64_t high[PERCENTILES_QUANTILES];
};
struct percentile_walk {
    struct percentile_progress *progress; /* by group */
    struct percentile_found *found;
    const int64_t *calls;
    uint32_t count;
};

/* `calls` counts the values of each group and must outlive the walk. False without memory; must be
 * freed in either case. */
bool percentile_walk_init(struct percentile_walk *walk,
                          const int64_t *calls,
                          uint32_t group_count) KS_MUST_USE;
void percentile_walk_free(struct percentile_walk *walk);
/* `rank` is wanted of the group: the value that has it. */
void percentile_walk_take(struct percentile_walk *walk,
                          uint32_t group,
                          uint32_t rank,
                          int64_t value);
/* The next value of a group, not smaller than those before. */
static inline void percentile_walk_see(struct percentile_walk *walk, uint32_t group, int64_t value)
{
    uint32_t rank = walk->progress[group].seen++;
    if (KS_UNLIKELY(rank == walk->progress[group].next_rank)) {
        percentile_walk_take(walk, group, rank, value);
    }
}
/* All values of a group at once, in ascending order. */
void percentile_walk_see_all(struct percentile_walk *walk, uint32_t group, const int64_t *sorted);
/* One entry a group, when all values have been seen. */
void percentile_walk_finish(const struct percentile_walk *walk, struct percentiles *out);

/* All of it for values[i] of group[i], which are put in the order of the values. `out` has one
 * entry a group. False without memory. */
bool percentiles_by_group(int64_t *values,
                          uint32_t *group,
                          size_t count,
                          const int64_t *calls,
                          uint32_t group_count,
                          struct percentiles *out) KS_MUST_USE;

#endif
