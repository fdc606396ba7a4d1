/* Fisher's exact test against sums of binomials taken as exact fractions. */
#include "ingest/analysis/util/fisher.h"
#include "tests/unit/unit.h"

#include <math.h>

static void assert_p(int64_t k1, int64_t n1, int64_t k2, int64_t n2, double expected)
{
    double p = fisher_p(k1, n1, k2, n2);
    double mirrored = fisher_p(k2, n2, k1, n1);
    if (!(fabs(p - expected) <= 1e-11 * expected) || !(fabs(mirrored - p) <= 1e-11 * p)) {
        fail_msg("%lld/%lld, %lld/%lld: %.17g and %.17g, expected %.17g", (long long)k1,
                 (long long)n1, (long long)k2, (long long)n2, p, mirrored, expected);
    }
}

static void tables_of_few_cycles(void **state)
{
    assert_p(3, 3, 0, 3, 2.0 / 20);
    assert_p(3, 4, 1, 4, 34.0 / 70); /* the lady tasting tea */
    assert_p(6, 6, 0, 6, 2.0 / 924);
    assert_p(1, 10, 11, 14, 0.0027594561852200836);
    assert_p(8, 10, 2, 15, 0.0024103941555819334);
}

static void tables_beyond_whole_numbers(void **state)
{
    assert_p(200, 200, 0, 150, 3.6459258743975064e-103);
    assert_p(120, 400, 90, 400, 0.019668324359844565);
    assert_p(500, 1000, 450, 1000, 0.028203568904234012);
    assert_p(1000, 1000, 999, 1000, 1);
}

static void nothing_to_tell_apart_is_1(void **state)
{
    assert_p(5, 5, 5, 5, 1);
    assert_p(0, 5, 0, 9, 1);
    assert_p(0, 0, 3, 3, 1);
    assert_p(1, 1, 0, 1, 1);
    assert_true(fisher_p(1000000, 1000000, 0, 1000000) < 1e-300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_few_cycles),
        cmocka_unit_test(tables_beyond_whole_numbers),
        cmocka_unit_test(nothing_to_tell_apart_is_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
