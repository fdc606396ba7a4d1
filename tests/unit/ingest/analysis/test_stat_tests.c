/* The tests of significance against closed forms, exact fractions and published tables. */
#include "ingest/analysis/util/stat_tests.h"
#include "tests/unit/unit.h"

#include <math.h>

#define PI 3.14159265358979323846

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fmax(1e-300, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

/* With whole numbers a and b, I_x(a, b) is a binomial sum: taken as an exact fraction. */
static void the_incomplete_beta_equals_exact_fractions(void **state)
{
    static const struct {
        double a, b, x, expected;
    } cases[] = {
        {2, 3, 0.3, 0.3483},
        {5, 5, 0.5, 0.5},
        {12, 11, 0.7, 0.961255211410591},
        {50, 60, 0.45, 0.46423529143060355},
        {50, 60, 0.2, 1.0328973362230168e-09},
        {3, 200, 0.01, 0.3287618289616106},
        {300, 2, 0.99, 0.19616357628514342},
        {1000, 1000, 0.51, 0.81444734056848833},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_close(stat_incomplete_beta(cases[i].a, cases[i].b, cases[i].x), cases[i].expected,
                     cases[i].a * cases[i].b < 1e5 ? 1e-13 : 2e-12);
        assert_close(stat_incomplete_beta(cases[i].b, cases[i].a, 1 - cases[i].x),
                     1 - cases[i].expected, cases[i].a * cases[i].b < 1e5 ? 1e-13 : 2e-12);
    }
}

static void the_incomplete_beta_equals_closed_forms(void **state)
{
    for (int i = 1; i < 20; i++) {
        double x = i / 20.0;
        assert_close(stat_incomplete_beta(0.5, 0.5, x), 2 / PI * asin(sqrt(x)), 1e-14);
        assert_close(stat_incomplete_beta(7.25, 1, x), pow(x, 7.25), 1e-13);
        assert_close(stat_incomplete_beta(1, 33.5, x), 1 - pow(1 - x, 33.5), 1e-13);
    }
    assert_true(stat_incomplete_beta(2, 3, 0) == 0);
    assert_true(stat_incomplete_beta(2, 3, 1) == 1);
}

/* With equal sizes and deviations Welch's test is Student's with 2n - 2 degrees of freedom. */
static double student_p(double t, size_t degrees)
{
    size_t n = degrees / 2 + 1;
    return stat_welch_p(0, 1, n, t * sqrt(2.0 / (double)n), 1, n);
}

/* Two-sided critical values of Student's t as any table prints them, to three decimals. */
static void welch_gives_the_critical_values_of_student(void **state)
{
    static const struct {
        size_t degrees;
        double p, t;
    } cases[] = {{2, 0.05, 4.303},  {4, 0.05, 2.776},  {10, 0.05, 2.228},  {20, 0.05, 2.086},
                 {30, 0.05, 2.042}, {60, 0.05, 2.000}, {120, 0.05, 1.980}, {2, 0.01, 9.925},
                 {10, 0.01, 3.169}, {10, 0.10, 1.812}, {4, 0.001, 8.610},  {40, 0.001, 3.551}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(student_p(cases[i].t - 0.0006, cases[i].degrees) > cases[i].p);
        assert_true(student_p(cases[i].t + 0.0006, cases[i].degrees) < cases[i].p);
        assert_close(student_p(-cases[i].t, cases[i].degrees),
                     student_p(cases[i].t, cases[i].degrees), 1e-14);
    }
    /* two degrees of freedom have a closed form */
    assert_close(student_p(1.5, 2), 1 - 1.5 / sqrt(2 + 1.5 * 1.5), 1e-13);
}

static double welch_of(const double *a, size_t n1, const double *b, size_t n2)
{
    const double *values[2] = {a, b};
    size_t counts[2] = {n1, n2};
    double means[2] = {0, 0};
    double deviations[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < counts[side]; i++) {
            means[side] += values[side][i] / (double)counts[side];
        }
        for (size_t i = 0; i < counts[side]; i++) {
            double off = values[side][i] - means[side];
            deviations[side] += off * off / (double)(counts[side] - 1);
        }
    }
    return stat_welch_p(means[0], sqrt(deviations[0]), n1, means[1], sqrt(deviations[1]), n2);
}

/* Two samples that are often printed with the test, of equal and of unequal sizes. */
static void welch_gives_published_examples(void **state)
{
    static const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                               21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
    static const double b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                               24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4};
    static const double c[] = {17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8};
    static const double d[] = {21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8,
                               20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8};
    assert_close(welch_of(a, COUNT_OF(a), b, COUNT_OF(b)), 0.021378001462867, 1e-12);
    assert_close(welch_of(c, COUNT_OF(c), d, COUNT_OF(d)), 0.148841696605327, 1e-12);
}

static void welch_answers_for_what_has_no_variance(void **state)
{
    assert_true(stat_welch_p(1, 0, 5, 2, 0, 5) == 0);
    assert_true(isnan(stat_welch_p(1, 0, 5, 1, 0, 5)));
    assert_true(stat_welch_p(1, 2, 1, 9, 2, 5) == 1);
    assert_true(stat_welch_p(1, 2, 5, 9, 2, 0) == 1);
    assert_true(stat_welch_p(0, 1, 100000, 1e6, 1, 100000) == 0);
    assert_close(stat_welch_p(3, 1, 1000000, 3, 1, 1000000), 1, 1e-14);
}

/* n1 and n2 values without ties whose U is `u`, the number of pairs that the first side wins. */
static double mann_whitney_of(size_t n1, size_t n2, size_t u)
{
    double a[32];
    double b[600];
    assert_true(n1 <= COUNT_OF(a) && n2 <= COUNT_OF(b));
    for (size_t i = 0; i < n2; i++) {
        b[i] = (double)(n2 - 1 - i) * 10;
    }
    for (size_t i = 0; i < n1; i++) {
        size_t wins = u < n2 ? u : n2;
        a[i] = (double)wins * 10 - 5 + (double)i * 0.01;
        u -= wins;
    }
    double p = -1;
    double reversed = -1;
    assert_true(stat_mann_whitney_p(a, n1, b, n2, &p));
    assert_true(stat_mann_whitney_p(b, n2, a, n1, &reversed));
    assert_close(p, reversed, 1e-13);
    return p;
}

/* Largest U that is significant at 0.05 (two-sided), as the tables of the test print it. */
static void mann_whitney_gives_the_critical_values(void **state)
{
    static const struct {
        size_t n1, n2, critical;
    } cases[] = {{4, 4, 0},   {5, 5, 2},   {5, 6, 3},   {5, 8, 6},   {6, 6, 5},
                 {6, 8, 8},   {7, 7, 8},   {7, 10, 14}, {8, 8, 13},  {8, 10, 17},
                 {8, 15, 29}, {8, 20, 41}, {5, 20, 20}, {7, 20, 34}, {3, 10, 3}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(mann_whitney_of(cases[i].n1, cases[i].n2, cases[i].critical) <= 0.05);
        assert_true(mann_whitney_of(cases[i].n1, cases[i].n2, cases[i].critical + 1) > 0.05);
    }
    assert_close(mann_whitney_of(4, 4, 0), 2.0 / 70, 1e-14);
    assert_close(mann_whitney_of(5, 5, 2), 8.0 / 252, 1e-14);
    assert_close(mann_whitney_of(8, 20, 41), 0.048748674835631355, 1e-13);
    assert_close(mann_whitney_of(5, 5, 12), 1, 1e-14);
}

/* Counted in whole numbers of any size: far from the normal distribution at the edge. */
static void mann_whitney_stays_exact_against_a_large_side(void **state)
{
    static const struct {
        size_t u;
        double p;
    } cases[] = {{800, 0.0005599225435229989},
                 {1200, 0.013066203509424206},
                 {1600, 0.1061692099752792},
                 {2000, 0.4252997166080361},
                 {2350, 0.9216135325427399}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_close(mann_whitney_of(8, 600, cases[i].u), cases[i].p, 1e-10);
    }
    /* one arrangement of C(608, 8): all of the small side come first */
    double ways = 1;
    for (size_t i = 1; i <= 8; i++) {
        ways *= (double)(600 + i) / (double)i;
    }
    assert_close(mann_whitney_of(8, 600, 0), 2 / ways, 1e-12);
}

static void mann_whitney_corrects_for_ties(void **state)
{
    static const double a[] = {1, 2, 3, 4, 5};
    static const double b[] = {2, 3, 6, 7, 8};
    double p = -1;
    assert_true(stat_mann_whitney_p(a, 5, b, 5, &p));
    /* b wins 1.5, 2.5, 5, 5 and 5 pairs; two groups of two are tied, which makes 2 x 6 */
    double deviation = sqrt(25.0 / 12 * (11 - 12.0 / 90));
    assert_close(p, erfc((19 - 12.5 - 0.5) / deviation / sqrt(2)), 1e-14);
    static const double same[] = {4, 4, 4};
    assert_true(stat_mann_whitney_p(same, 3, same, 3, &p));
    assert_true(p == 1);
    assert_true(stat_mann_whitney_p(a, 1, b, 5, &p));
    assert_true(p == 1);
    assert_true(stat_mann_whitney_p(a, 5, b, 0, &p));
    assert_true(p == 1);
}

/* The fifteen p-values of the paper that introduced the procedure: four are rejected at 0.05. */
static void benjamini_hochberg_gives_its_paper(void **state)
{
    static const double ascending[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201,
                                       0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
                                       0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    double p[17];
    double q[17];
    for (size_t i = 0; i < 15; i++) {
        p[i] = ascending[(i * 4) % 15];
    }
    p[15] = (double)NAN;
    p[16] = (double)NAN;
    assert_true(stat_benjamini_hochberg(p, q, 17));
    size_t rejected = 0;
    for (size_t i = 0; i < 15; i++) {
        rejected += q[i] < 0.05;
        assert_true(q[i] >= p[i] && q[i] <= 1);
    }
    assert_int_equal(rejected, 4);
    assert_true(isnan(q[15]) && isnan(q[16]));
    assert_close(q[0], 0.0001 * 15, 1e-14);
    assert_close(q[12], 0.0095 * 15 / 4, 1e-14); /* 12 * 4 % 15 = 3 */
    /* 0.0278, the sixth, takes the smaller bound of the seventh */
    assert_close(q[5], 0.0298 * 15 / 7, 1e-14); /* 5 * 4 % 15 = 5 */
    assert_true(stat_benjamini_hochberg(p, q, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_incomplete_beta_equals_exact_fractions),
        cmocka_unit_test(the_incomplete_beta_equals_closed_forms),
        cmocka_unit_test(welch_gives_the_critical_values_of_student),
        cmocka_unit_test(welch_gives_published_examples),
        cmocka_unit_test(welch_answers_for_what_has_no_variance),
        cmocka_unit_test(mann_whitney_gives_the_critical_values),
        cmocka_unit_test(mann_whitney_stays_exact_against_a_large_side),
        cmocka_unit_test(mann_whitney_corrects_for_ties),
        cmocka_unit_test(benjamini_hochberg_gives_its_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
