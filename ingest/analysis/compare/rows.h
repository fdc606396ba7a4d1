/* Two roles compared: rows in the report's order, and what is concluded from them. */
#ifndef KS_ANALYSIS_COMPARE_ROWS_H
#define KS_ANALYSIS_COMPARE_ROWS_H

#include "ingest/analysis/compare/stats.h"

/* Highest score of a row of the pair, and how many rows it has. No tests are made. */
double compare_top_score(const struct pool *pool,
                         const struct role_stats *base,
                         const struct role_stats *candidate,
                         size_t *row_count);

/* Sets rows and row_count of `out`; *places is the place (pool_key.place) of each row, for the
 * caller to scratch_free(). False without memory. */
bool compare_rows_build(struct comparison *out,
                        struct arena *arena,
                        const struct pool *pool,
                        const struct role_stats *base,
                        const struct role_stats *candidate,
                        uint32_t **places) KS_MUST_USE;

/* Sets findings, appeared and verdict from everything else. False without memory. */
bool compare_conclude(struct comparison *out,
                      struct arena *arena,
                      const uint32_t *places) KS_MUST_USE;

#endif
