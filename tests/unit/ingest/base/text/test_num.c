#include "ingest/base/text/num.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The texts are Python's: repr(value). */
static const struct {
    double value;
    const char *text;
} repr_rows[] = {
    {0.0, "0.0"},
    {-0.0, "-0.0"},
    {1.0, "1.0"},
    {754.0, "754.0"},
    {-3.0, "-3.0"},
    {0.1, "0.1"},
    {0.5, "0.5"},
    {-2.675, "-2.675"},
    {100.25, "100.25"},
    {0.30000000000000004, "0.30000000000000004"},
    {1.0 / 3, "0.3333333333333333"},
    {2.0 / 3, "0.6666666666666666"},
    {123456789.123, "123456789.123"},
    {1623143089861.123, "1623143089861.123"},
    {123456.000001, "123456.000001"},
    {0.001, "0.001"},
    {0.0001, "0.0001"},
    {0.00012345, "0.00012345"},
    {0.00001, "1e-05"},
    {0.000012, "1.2e-05"},
    {1e-7, "1e-07"},
    {1e-10, "1e-10"},
    {1e15, "1000000000000000.0"},
    {9007199254740992.0, "9007199254740992.0"},
    {9999999999999998.0, "9999999999999998.0"},
    {1e16, "1e+16"},
    {12345678901234567890.0, "1.2345678901234567e+19"},
    {123456789012345680.0, "1.2345678901234568e+17"},
    {1e22, "1e+22"},
    {1e23, "1e+23"},
    {1e100, "1e+100"},
    {4.35, "4.35"},
    {5e-324, "5e-324"},
    {1.5e-323, "1.5e-323"},
    {2.2250738585072014e-308, "2.2250738585072014e-308"},
    {2.225073858507201e-308, "2.225073858507201e-308"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    /* powers of two whose nearest decimal of 16 digits is another double's */
    {0x1p-24, "5.960464477539063e-08"},
    {0x1p-44, "5.684341886080802e-14"},
    {0x1p-1022, "2.2250738585072014e-308"},
};

static void repr_is_pythons(void **state)
{
    for (size_t i = 0; i < COUNT_OF(repr_rows); i++) {
        char text[NUM_TEXT_BYTES];
        size_t len = num_repr(text, repr_rows[i].value);
        assert_string_equal(text, repr_rows[i].text);
        assert_int_equal(len, strlen(text));
    }
}

static void repr_of_what_is_not_finite(void **state)
{
    char text[NUM_TEXT_BYTES];
    assert_int_equal(num_repr(text, (double)NAN), 3);
    assert_string_equal(text, "nan");
    assert_int_equal(num_repr(text, (double)INFINITY), 3);
    assert_string_equal(text, "inf");
    assert_int_equal(num_repr(text, -(double)INFINITY), 4);
    assert_string_equal(text, "-inf");
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static bool same_double(double a, double b)
{
    uint64_t a_bits;
    uint64_t b_bits;
    memcpy(&a_bits, &a, sizeof a_bits);
    memcpy(&b_bits, &b, sizeof b_bits);
    return a_bits == b_bits;
}

static size_t digits_of(const char *text)
{
    size_t count = 0;
    text += strspn(text, "-0.");
    for (; *text != '\0' && *text != 'e'; text++) {
        count += *text >= '0' && *text <= '9';
    }
    return count;
}

static void repr_reads_back_and_fits(void **state)
{
    uint64_t seed = 88172645463325252U;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        char text[NUM_TEXT_BYTES];
        size_t len = num_repr(text, value);
        assert_true(len < NUM_TEXT_BYTES && len == strlen(text));
        if (!same_double(strtod(text, NULL), value)) {
            fail_msg("%a gives %s", value, text);
        }
        assert_true(digits_of(text) <= 17);
    }
}

static void repr_of_few_decimals_is_short(void **state)
{
    uint64_t seed = 424242;
    for (int i = 0; i < 100000; i++) {
        uint64_t thousandths = next_random(&seed) % 1000000000000000U;
        char expected[64];
        int len = snprintf(expected, sizeof expected, "%llu.%03llu",
                           (unsigned long long)(thousandths / 1000),
                           (unsigned long long)(thousandths % 1000));
        while (expected[len - 1] == '0' && expected[len - 2] != '.') {
            expected[--len] = '\0';
        }
        char text[NUM_TEXT_BYTES];
        (void)num_repr(text, (double)thousandths / 1000);
        assert_string_equal(text, expected);
    }
}

/* Any locale with a decimal comma that this machine has; none installed leaves nothing to test. */
static void repr_does_not_follow_the_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(names) && !found; i++) {
        found = setlocale(LC_ALL, names[i]) != NULL;
    }
    if (!found) {
        skip();
    }
    char text[NUM_TEXT_BYTES];
    (void)num_repr(text, 1.0 / 3);
    double rounded = num_round_digits(2.345678, 2);
    (void)setlocale(LC_ALL, "C");
    assert_string_equal(text, "0.3333333333333333");
    assert_true(rounded == 2.35);
}

static void assert_same_double(double actual, double expected, size_t row)
{
    if (!same_double(actual, expected)) {
        fail_msg("row %zu: %.17g instead of %.17g", row, actual, expected);
    }
}

static void round_goes_to_even_at_the_half(void **state)
{
    static const struct {
        double value;
        double rounded;
    } rows[] = {
        {0.5, 0},
        {1.5, 2},
        {2.5, 2},
        {3.5, 4},
        {-0.5, 0},
        {-0.2, 0},
        {-1.5, -2},
        {-2.5, -2},
        {0.49999999999999994, 0},
        {0.5000000000000001, 1},
        {2.4999999999999996, 2},
        {4503599627370495.5, 4503599627370496.0},
        {4503599627370497.0, 4503599627370497.0},
        {1e300, 1e300},
        {0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_same_double(num_round(rows[i].value), rows[i].rounded, i);
    }
}

/* The results are Python's: round(value, digits). */
static void round_digits_looks_at_the_binary_value(void **state)
{
    static const struct {
        double value;
        int digits;
        double rounded;
    } rows[] = {
        {2.675, 2, 2.67},
        {0.125, 2, 0.12},
        {0.375, 2, 0.38},
        {1.005, 2, 1.0},
        {-2.675, 2, -2.67},
        {-0.001, 2, -0.0},
        {0.5, 0, 0.0},
        {1.5, 0, 2.0},
        {92.6349, 2, 92.63},
        {99.999, 2, 100.0},
        {30, 2, 30},
        {0.1 + 0.2, 15, 0.3},
        {1.0 / 3, 4, 0.3333},
        {1e20, 2, 1e20},
        {4503599627370495.5, 0, 4503599627370496.0},
        {5e-324, 2, 0.0},
        {1.7976931348623157e308, 15, 1.7976931348623157e308},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_same_double(num_round_digits(rows[i].value, rows[i].digits), rows[i].rounded, i);
    }
    assert_true(isnan(num_round_digits((double)NAN, 2)));
    assert_true(isinf(num_round_digits((double)INFINITY, 2)));
}

static void round_display_keeps_one_digit_of_small_values(void **state)
{
    static const struct {
        double value;
        double rounded;
    } rows[] = {
        {0, 0},
        {0.01, 0.01},
        {0.014, 0.01},
        {0.015, 0.01},
        {0.025, 0.03},
        {123.456, 123.46},
        {-123.456, -123.46},
        {0.00999, 0.01},
        {0.0034, 0.003},
        {-0.0034, -0.003},
        {0.00097, 0.001},
        {0.001, 0.001},
        {0.0000123, 0.00001},
        {1.6e-20, 2e-20},
        {5e-324, 5e-324},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_same_double(num_round_display(rows[i].value), rows[i].rounded, i);
    }
    assert_true(isnan(num_round_display((double)NAN)));
    assert_true(isinf(num_round_display((double)INFINITY)));
}

/* The results are those of NumPy's formula, computed by Python. */
static void percentiles_lie_between_the_ranks(void **state)
{
    static const int64_t values[] = {3, 10, 17, 1000, 1007, 90001};
    static const struct {
        size_t count;
        double q;
        double expected;
    } rows[] = {
        {0, 0.5, 0},      {1, 0.0, 3},     {1, 0.5, 3},        {1, 1.0, 3},
        {2, 0.5, 6.5},    {6, 0.0, 3},     {6, 0.05, 4.75},    {6, 0.13, 7.550000000000001},
        {6, 0.25, 11.75}, {6, 0.5, 508.5}, {6, 0.75, 1005.25}, {6, 0.99, 85551.30000000002},
        {6, 1.0, 90001},  {6, -0.1, 3},    {6, 1.1, 90001},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_same_double(num_percentile_sorted(values, rows[i].count, rows[i].q),
                           rows[i].expected, i);
    }
    static const int64_t wide[] = {INT64_MIN, INT64_MAX};
    assert_true(fabs(num_percentile_sorted(wide, 2, 0.5)) <= 2048);
}

/* The sums of 0.1 * (i % 97 + 1) for i below count, by a Python model of [TB-12.1]; nearly all of
 * the larger ones differ from the sum in order. */
static void sums_are_pairwise(void **state)
{
    static const struct {
        size_t count;
        double sum;
    } rows[] = {
        {0, 0.0},
        {1, 0.1},
        {2, 0.30000000000000004},
        {3, 0.6000000000000001},
        {7, 2.8000000000000003},
        {8, 3.6},
        {9, 4.5},
        {15, 12.0},
        {16, 13.600000000000001},
        {17, 15.3},
        {63, 201.60000000000002},
        {127, 521.8},
        {128, 524.9000000000001},
        {129, 528.0999999999999},
        {136, 553.3},
        {255, 1139.7},
        {256, 1145.9},
        {257, 1152.2000000000003},
        {300, 1430.4},
        {1000, 4799.5},
        {1023, 4896.1},
        {4999, 24378.1},
        {5000, 24383.4},
    };
    double values[5000];
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        values[i] = 0.1 * (double)(i % 97 + 1);
    }
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_same_double(num_sum_pairwise(values, rows[i].count), rows[i].sum, rows[i].count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repr_is_pythons),
        cmocka_unit_test(repr_of_what_is_not_finite),
        cmocka_unit_test(repr_reads_back_and_fits),
        cmocka_unit_test(repr_of_few_decimals_is_short),
        cmocka_unit_test(repr_does_not_follow_the_locale),
        cmocka_unit_test(round_goes_to_even_at_the_half),
        cmocka_unit_test(round_digits_looks_at_the_binary_value),
        cmocka_unit_test(round_display_keeps_one_digit_of_small_values),
        cmocka_unit_test(percentiles_lie_between_the_ranks),
        cmocka_unit_test(sums_are_pairwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
