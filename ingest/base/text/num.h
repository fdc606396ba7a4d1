/* Numbers as Python prints them [TB-1]: shortest round-trip doubles, and Python's rounding.
 * Thread-safe; independent of the locale. */
#ifndef KS_BASE_TEXT_NUM_H
#define KS_BASE_TEXT_NUM_H

#include <stddef.h>
#include <stdint.h>

#define NUM_TEXT_BYTES 40
#define NUM_POWERS 20

extern const uint64_t num_powers_of_ten[NUM_POWERS]; /* 10^0 to 10^19 */

/* Shortest text that reads back as the same double, in Python's form: 754.0, 1e-05, 1e+16, nan,
 * inf. */
size_t num_repr(char out[NUM_TEXT_BYTES], double value);
/* round(value): to the nearest integer, halves to even, decided on the exact binary value. */
double num_round(double value);
/* round(value, digits): correctly rounded decimal, digits 0 to 15. */
double num_round_digits(double value, int digits);
/* DisplayRounder(2) [TB-1d]. */
double num_round_display(double value);
/* Percentile of `count` ascending values with linear interpolation between closest ranks
 * (numpy's default); `q` in 0..1; 0 for no values. */
double num_percentile_sorted(const int64_t *sorted, size_t count, double q);
/* Mean of the middle two where the count is even; sorts the values. NaN for none. */
double num_median(double *values, size_t count);
/* NumPy's pairwise sum [TB-12.1]: below 8 terms in order, up to 128 in eight running sums, above
 * that split at half rounded down to a multiple of 8. */
double num_sum_pairwise(const double *values, size_t count);

#endif
