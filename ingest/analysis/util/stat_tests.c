#include "ingest/analysis/util/stat_tests.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF_LN_2PI 0.91893853320467274178 /* ln(2 pi) / 2 */
#define STIRLING_FROM 10.0                 /* where the series below has a double's precision */
#define FRACTION_STEPS_MAX 100000
/* A side of at most so many values, and no ties: the exact distribution. */
#define EXACT_VALUES_MAX 8

/* ---- incomplete beta ---- */

/* ln Gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2) for x >= 10: Stirling's series (Abramowitz and
 * Stegun 6.1.41). */
static double stirling_rest(double x)
{
    static const double terms[] = {1.0 / 12,    -1.0 / 360, 1.0 / 1260,
                                   -1.0 / 1680, 1.0 / 1188, -691.0 / 360360};
    double step = 1 / (x * x);
    double sum = 0;
    for (size_t i = sizeof terms / sizeof terms[0]; i-- > 0;) {
        sum = sum * step + terms[i];
    }
    return sum / x;
}

/* ln B(a, b) without lgamma, whose sign is a global variable, and without the difference of large
 * logarithms. */
static double ln_beta(double a, double b)
{
    double small = fmin(a, b);
    double large = fmax(a, b);
    if (large < STIRLING_FROM) {
        return log(tgamma(small) * (tgamma(large) / tgamma(small + large)));
    }
    double rest = stirling_rest(large) - stirling_rest(small + large);
    if (small < STIRLING_FROM) {
        return log(tgamma(small)) + rest + small - small * log(small + large) -
               (large - 0.5) * log1p(small / large);
    }
    rest += stirling_rest(small);
    return HALF_LN_2PI - 0.5 * log(large) + rest + (small - 0.5) * log(small / (small + large)) -
           large * log1p(small / large);
}

static double not_zero(double value)
{
    return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

/* The continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8) by Lentz's method; it
 * converges quickly for x below (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1;
    double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double fraction = d;
    for (int m = 1; m <= FRACTION_STEPS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        fraction *= d * c;
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        fraction *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON) {
            break;
        }
    }
    return fraction;
}

static double ln_of(double x, double rest)
{
    return x < 0.5 ? log(x) : log1p(-rest);
}

/* I_x(a, b) with 1 - x given beside x: near 1 the difference would lose digits. */
static double incomplete_beta(double a, double b, double x, double rest)
{
    if (!(x > 0)) {
        return 0;
    }
    if (!(rest > 0)) {
        return 1;
    }
    double front = exp(a * ln_of(x, rest) + b * ln_of(rest, x) - ln_beta(a, b));
    if (x < (a + 1) / (a + b + 2)) {
        return front * beta_fraction(a, b, x) / a;
    }
    return 1 - front * beta_fraction(b, a, rest) / b;
}

double stat_incomplete_beta(double a, double b, double x)
{
    return incomplete_beta(a, b, x, 1 - x);
}

double stat_student_p(double t, double freedom)
{
    double square = t * t;
    if (isinf(square)) {
        return 0;
    }
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square),
                           square / (freedom + square));
}

/* ---- Welch ---- */

double stat_welch_p(double mean1, double std1, size_t n1, double mean2, double std2, size_t n2)
{
    if (n1 < 2 || n2 < 2) {
        return 1;
    }
    double v1 = std1 * std1 / (double)n1;
    double v2 = std2 * std2 / (double)n2;
    double df = (v1 + v2) * (v1 + v2) / (v1 * v1 / (double)(n1 - 1) + v2 * v2 / (double)(n2 - 1));
    if (isnan(df)) {
        df = 1;
    }
    double t = (mean1 - mean2) / sqrt(v1 + v2);
    if (isnan(t)) {
        return (double)NAN;
    }
    return stat_student_p(t, df);
}

/* ---- Mann-Whitney ---- */

/* The values in ascending order: the array itself when it is so already, else a copy, which is put
 * into *owned for the caller to free. NULL without memory. */
static const double *ascending(const double *values, size_t count, double **owned)
{
    size_t i = 1;
    while (i < count && values[i - 1] <= values[i]) {
        i++;
    }
    if (i >= count) {
        return values;
    }
    *owned = scratch_alloc(count, sizeof **owned);
    if (*owned != NULL) {
        memcpy(*owned, values, count * sizeof **owned);
        qsort(*owned, count, sizeof **owned, order_f64_at);
    }
    return *owned;
}

struct rank_sums {
    double u1;   /* pairs in which the first side's value is the larger, ties half */
    double ties; /* sum of t^3 - t over groups of t equal values */
};

/* How many values from `at` on equal `value`. */
static size_t run_length(const double *values, size_t count, size_t at, double value)
{
    size_t end = at;
    while (end < count && values[end] == value) {
        end++;
    }
    return end - at;
}

static struct rank_sums rank(const double *a, size_t n1, const double *b, size_t n2)
{
    struct rank_sums sums = {0, 0};
    size_t i = 0;
    size_t j = 0;
    while (i < n1 || j < n2) {
        bool from_a = j == n2 || (i < n1 && a[i] <= b[j]);
        double value = from_a ? a[i] : b[j];
        size_t in_a = run_length(a, n1, i, value);
        size_t in_b = run_length(b, n2, j, value);
        double tied = (double)(in_a + in_b);
        sums.u1 += (double)in_a * ((double)j + (double)in_b / 2);
        sums.ties += tied * tied * tied - tied;
        i += in_a;
        j += in_b;
    }
    return sums;
}

/* P(U <= u) without ties. The number of arrangements with a given U is a coefficient of the
 * Gaussian binomial [n + m over m], m the smaller side: the product over i = 1 .. m of (1 - q^(n +
 * i)) / (1 - q^i), taken a factor at a time so that it stays a distribution. u is at most nm / 2.
 * Below 0 without memory. */
static double exact_below(size_t small, size_t large, size_t u)
{
    double *share = scratch_calloc(u + 1, sizeof *share);
    if (share == NULL) {
        return -1;
    }
    share[0] = 1;
    for (size_t i = 1; i <= small; i++) {
        for (size_t k = u; k >= large + i; k--) {
            share[k] -= share[k - large - i];
        }
        for (size_t k = i; k <= u; k++) {
            share[k] += share[k - i];
        }
        double scale = (double)i / (double)(large + i);
        for (size_t k = 0; k <= u; k++) {
            share[k] *= scale;
        }
    }
    double sum = 0;
    for (size_t k = 0; k <= u; k++) {
        sum += share[k];
    }
    scratch_free(share);
    return sum;
}

static double normal_p(double u, double n1, double n2, double ties)
{
    double n = n1 + n2;
    double deviation = sqrt(n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1))));
    double distance = u - n1 * n2 / 2 - 0.5;
    if (!(deviation > 0)) {
        return 1;
    }
    return fmin(erfc(distance / deviation / sqrt(2)), 1);
}

static bool p_of_ranks(struct rank_sums sums, size_t n1, size_t n2, double *p)
{
    double pairs = (double)n1 * (double)n2;
    double larger = fmax(sums.u1, pairs - sums.u1);
    size_t small = n1 < n2 ? n1 : n2;
    if (small > EXACT_VALUES_MAX || sums.ties > 0) {
        *p = normal_p(larger, (double)n1, (double)n2, sums.ties);
        return true;
    }
    double below = exact_below(small, n1 < n2 ? n2 : n1, (size_t)(pairs - larger));
    *p = fmin(2 * below, 1);
    return below >= 0;
}

bool stat_mann_whitney_p(const double *a, size_t n1, const double *b, size_t n2, double *p)
{
    *p = 1;
    if (n1 < 2 || n2 < 2) {
        return true;
    }
    double *owned[2] = {NULL, NULL};
    const double *first = ascending(a, n1, &owned[0]);
    const double *second = ascending(b, n2, &owned[1]);
    bool ok = first != NULL && second != NULL && p_of_ranks(rank(first, n1, second, n2), n1, n2, p);
    SCRATCH_FREE(owned[0], owned[1]);
    return ok;
}

/* ---- Benjamini-Hochberg ---- */

struct tested {
    double p;
    size_t at;
};

ORDER_BY(compare_tested, struct tested, ORDER_UP(p))

bool stat_benjamini_hochberg(const double *p, double *q, size_t count)
{
    struct tested *tests = scratch_alloc(count, sizeof *tests);
    if (tests == NULL) {
        return false;
    }
    size_t tested = 0;
    for (size_t i = 0; i < count; i++) {
        q[i] = p[i];
        if (!isnan(p[i])) {
            tests[tested++] = (struct tested){.p = p[i], .at = i};
        }
    }
    qsort(tests, tested, sizeof *tests, compare_tested);
    double lowest = 1;
    for (size_t rank = tested; rank > 0; rank--) {
        lowest = fmin(lowest, tests[rank - 1].p * (double)tested / (double)rank);
        q[tests[rank - 1].at] = lowest;
    }
    scratch_free(tests);
    return true;
}
