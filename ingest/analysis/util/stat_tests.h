/* Statistical tests, as [CMP-4f] and [CMP-4g] define them. NaN-free unless said otherwise. */
#ifndef KS_ANALYSIS_UTIL_STAT_TESTS_H
#define KS_ANALYSIS_UTIL_STAT_TESTS_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

/* Two-sided p of Welch's t-test from summary figures (sample deviations, n - 1). 1 unless both n
 * > 1. Zero variance on both sides: NaN for equal means, 0 for different ones. */
double stat_welch_p(double mean1, double std1, size_t n1, double mean2, double std2, size_t n2);

/* Two-sided p of the Mann-Whitney U test of finite values; those in
 * ascending order are not copied.
 * Exact when a side has at most 8 values and the pooled ones have no ties, else normal with tie and
 * continuity correction. 1 unless both sides have more than one value, and where all values are
 * equal. False without memory. */
bool stat_mann_whitney_p(const double *a, size_t n1, const double *b, size_t n2, double *p)
    KS_MUST_USE;

/* Benjamini-Hochberg: q[i] from p[i]; a NaN stays NaN and does not count as a test. False without
 * memory. */
bool stat_benjamini_hochberg(const double *p, double *q, size_t count) KS_MUST_USE;

/* Regularised incomplete beta function I_x(a, b), a and b above 0: to about 1e-14 of its value,
 * 1e-12 where both are in the thousands. */
double stat_incomplete_beta(double a, double b, double x);
/* Two-sided probability of Student's t; `freedom` above 0. */
double stat_student_p(double t, double freedom);

#endif
