/* What one role (a process in cycles of one kind) of one side comes to: figures per triplet, cycle
 * times. */
#ifndef KS_ANALYSIS_COMPARE_STATS_H
#define KS_ANALYSIS_COMPARE_STATS_H

#include "ingest/analysis/compare/pool.h"

enum stat_of { STAT_BETA, STAT_MU, STAT_LOG_MU, STAT_COUNT };

/* One triplet. Means and sample deviations over its rows as [CMP-4b] and [CMP-4d] take them; 0 for
 * no row, a deviation of one row too. */
struct triplet_stats {
    uint32_t key;
    bool is_operator; /* a row is of a type that the reference does not know */
    double mean[STAT_COUNT];
    double deviation[STAT_COUNT];
    int64_t cycles; /* distinct numbers */
    size_t first;   /* into role_stats.values */
    size_t beta_count, mu_count;
};

struct role_stats {
    const struct pool_role *role;
    struct triplet_stats *triplets; /* ascending by key */
    size_t triplet_count;
    double *values[2]; /* beta (STAT_BETA) and mu (STAT_MU), of each triplet ascending */
    uint32_t *places;  /* of all its triplets, ascending, each once */
    size_t place_count;
    bool has_metrics;    /* a row has one */
    int64_t cycle_count; /* distinct cycles with a row */
    double *cycle_us;    /* their durations that are numbers, descending */
    size_t cycle_us_count;
    double mean_cycle_us, cycle_deviation_us;
    double kernel_us, operator_us; /* mean time a cycle */
};

/* False without memory, when there is nothing to free. */
bool role_stats_build(struct role_stats *stats,
                      const struct pool *pool,
                      const struct pool_role *role) KS_MUST_USE;
void role_stats_free(struct role_stats *stats);

#endif
