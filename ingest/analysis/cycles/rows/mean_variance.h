/* Mean and variance of any stretch of a series of samples: by two passes over a short one, from
 * sums over blocks for a long one, so that many long stretches of one series cost little. */
#ifndef KS_ANALYSIS_CYCLES_ROWS_MEAN_VARIANCE_H
#define KS_ANALYSIS_CYCLES_ROWS_MEAN_VARIANCE_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct mean_variance {
    double count;
    double mean;
    double squares; /* sum of squared distances from the mean */
};

/* Of the blocks of one series; starts as zeroes. */
struct mean_variance_tree {
    struct mean_variance
        *nodes; /* a node joins its children 2i and 2i + 1; leaves from block_count on */
    uint32_t block_count;
};

/* Of values[from .. to), which is not empty; `tree` belongs to values[0 .. count) and is filled
 * when first needed. False without memory. */
bool mean_variance_of(struct mean_variance_tree *tree,
                      const double *values,
                      uint32_t count,
                      uint32_t from,
                      uint32_t to,
                      struct mean_variance *out) KS_MUST_USE;
/* Of few values, in two passes. */
struct mean_variance mean_variance_direct(const double *values, uint32_t count);
void mean_variance_tree_free(struct mean_variance_tree *tree);

#endif
