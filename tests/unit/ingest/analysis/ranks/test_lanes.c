/* A window of a rank's lane [RANK-10c]. */
#include "ingest/analysis/ranks/run.h"
#include "tests/unit/unit.h"

#include <string.h>

#define PIXELS 5

static int64_t starts[] = {-50, 0, 105, 110, 300, 470};
static int64_t ends[] = {20, 10, 115, 390, 310, INT64_MAX};
static const struct lane_spans spans = {starts, ends, 6};

static void digits_say_how_much_is_covered(void **state)
{
    char levels[PIXELS + 1];
    int64_t covered_ns = 0;
    assert_true(rank_lane_levels(&spans, 0, 100, PIXELS, levels, &covered_ns));
    /* 20 and 10 at first; 105 to 390 without overlaps counted but where two begin in a pixel. */
    assert_string_equal(levels, "39993");
    assert_int_equal(covered_ns, 30 + 100 + 100 + 100 + 30);
}

static void nothing_is_nought_and_a_nanosecond_is_one(void **state)
{
    static int64_t start_ns[] = {99};
    static int64_t end_ns[] = {100};
    const struct lane_spans one = {start_ns, end_ns, 1};
    char levels[PIXELS + 1];
    int64_t covered_ns = 0;
    assert_true(rank_lane_levels(&one, 0, 50, PIXELS, levels, &covered_ns));
    assert_string_equal(levels, "01000");
    assert_int_equal(covered_ns, 1);
    assert_true(rank_lane_levels(&one, 100, 50, PIXELS, levels, &covered_ns));
    assert_string_equal(levels, "00000");
    assert_int_equal(covered_ns, 0);
}

static void times_at_the_ends_of_64_bits(void **state)
{
    static int64_t start_ns[] = {INT64_MIN, INT64_MAX - 1};
    static int64_t end_ns[] = {INT64_MIN + 1, INT64_MAX};
    const struct lane_spans far = {start_ns, end_ns, 2};
    char levels[PIXELS + 1];
    int64_t covered_ns = 0;
    assert_true(
        rank_lane_levels(&far, -((int64_t)1 << 61), (int64_t)1 << 62, 1, levels, &covered_ns));
    assert_string_equal(levels, "0");
    assert_int_equal(covered_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_say_how_much_is_covered),
        cmocka_unit_test(nothing_is_nought_and_a_nanosecond_is_one),
        cmocka_unit_test(times_at_the_ends_of_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
