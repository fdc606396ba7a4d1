/* Mean and deviation of any piece of a series at once: prefix sums with 106 bits, which lose
 * nothing that a direct sum would keep. */
#ifndef KS_ANALYSIS_HISTORY_PREFIX_H
#define KS_ANALYSIS_HISTORY_PREFIX_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

/* The unevaluated sum of two doubles. */
struct wide {
    double high, low;
};

struct prefix_sums {
    const double *values; /* the caller's */
    size_t count;
    double origin;    /* sums are of values less this one, */
    int exponent;     /* times 2^-exponent, so that no square leaves the range */
    struct wide *sum; /* of the values before an index */
    struct wide *square;
    size_t *same_since; /* the first of the equal values that end at an index */
};

/* Of finite values. False without memory; must be freed in either case. */
bool prefix_sums_build(struct prefix_sums *sums, const double *values, size_t count) KS_MUST_USE;
void prefix_sums_free(struct prefix_sums *sums);

struct piece {
    size_t count;
    double mean;
    double std;         /* of the population */
    double scaled_mean; /* less the origin and scaled, for tests between pieces */
    double scaled_variance;
};
/* Of values [first, end), at least one. Equal values have exactly that mean and deviation 0. */
struct piece prefix_piece(const struct prefix_sums *sums, size_t first, size_t end);

#endif
