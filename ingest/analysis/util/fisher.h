/* Fisher's exact test: is a function as often there on one side as on the other? */
#ifndef KS_ANALYSIS_UTIL_FISHER_H
#define KS_ANALYSIS_UTIL_FISHER_H

#include <stdint.h>

/* Two-sided p of a table of 2 by 2: of n1 cycles k1 have it, of n2 cycles k2. The sum of the
 * hypergeometric probabilities of all tables with these margins that are no likelier than this one.
 * In whole numbers where all tables together are fewer than 2^64, else in doubles, to about
 * (k1 + k2) units in the last place. Never 0 or NaN but for what a double cannot hold; 1 where a
 * side has no cycle. k1 <= n1 and k2 <= n2 below 2^31. O(k1 + k2). */
double fisher_p(int64_t k1, int64_t n1, int64_t k2, int64_t n2);

#endif
