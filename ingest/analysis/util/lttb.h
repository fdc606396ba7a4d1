/* Largest-triangle-three-buckets sampling of a curve [TB-13d]. */
#ifndef KS_ANALYSIS_UTIL_LTTB_H
#define KS_ANALYSIS_UTIL_LTTB_H

#include <stddef.h>

/* Chooses `wanted` of `count` points (wanted >= 3; all of them when there are not more) so that the
 * curve keeps its shape: the first, the last, and from each of `wanted` - 2 bins the one that spans
 * the largest triangle with the one before and the mean of the next bin. Their indices go to
 * `chosen`, ascending; the number of them is answered. */
size_t lttb_choose(const double *x, const double *y, size_t count, size_t wanted, size_t *chosen);

#endif
