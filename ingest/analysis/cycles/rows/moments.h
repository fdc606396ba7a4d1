/* Mean and variance of any stretch of a series of samples: by two passes over a short one, from
 * sums over blocks for a long one, so that many long stretches of one series cost little. */
#ifndef KS_ANALYSIS_CYCLES_ROWS_MOMENTS_H
#define KS_ANALYSIS_CYCLES_ROWS_MOMENTS_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct moments {
    double count;
    double mean;
    double squares; /* sum of squared distances from the mean */
};

/* Of the blocks of one series; starts as zeroes. */
struct moment_tree {
    struct moments *nodes; /* a node joins its children 2i and 2i + 1; leaves from block_count on */
    uint32_t block_count;
};

/* Of values[from .. to), which is not empty; `tree` belongs to values[0 .. count) and is filled
 * when first needed. False without memory. */
bool moments_of(struct moment_tree *tree,
                const double *values,
                uint32_t count,
                uint32_t from,
                uint32_t to,
                struct moments *out) KS_MUST_USE;
/* Of few values, in two passes. */
struct moments moments_direct(const double *values, uint32_t count);
void moment_tree_free(struct moment_tree *tree);

#endif
