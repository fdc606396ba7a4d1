/* Change points against series worked by hand: levels, one t-test in closed form, gaps, limits, and
 * the two rules of merging. */
#include "ingest/analysis/history/changes.h"
#include "tests/unit/unit.h"

#include <math.h>

#define GAP ((double)NAN)

static struct history_changes
find(struct arena *arena, const double *values, size_t count, struct history_rules rules)
{
    struct history_changes out;
    arena_init(arena, 0);
    assert_true(history_changes_find(&out, arena, values, count, &rules));
    return out;
}

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

/* [HIST-2.2] [HIST-2.7b] */
static void two_constant_levels_differ_for_sure(void **state)
{
    const double values[] = {1, 1, 1, 2, 2, 2};
    struct arena arena;
    struct history_changes out = find(&arena, values, COUNT_OF(values), HISTORY_RULES_DEFAULT);
    assert_int_equal(out.change_count, 1);
    assert_int_equal(out.changes[0].index, 3);
    assert_true(out.changes[0].test.p == 0);
    assert_close(out.changes[0].test.change, 1);
    assert_close(out.changes[0].test.magnitude, 1); /* backwards it is -0.5 */
    assert_int_equal(out.segment_count, 2);
    assert_int_equal(out.segments[0].last, 2);
    assert_int_equal(out.segments[1].first, 3);
    assert_close(out.segments[1].median, 2);
    arena_free(&arena);
}

/* d = -4, s^2 = 2/3, e = 2/3, t = -6 with 4 degrees: p = 1 - x (3 - x^2) / 2 with x^2 = 36/40. */
static void the_test_has_population_deviations_and_pools_them(void **state)
{
    const double values[] = {1, 2, 3, 5, 6, 7};
    const double expected_p = 1 - sqrt(0.9) * (3 - 0.9) / 2;
    struct history_rules rules = HISTORY_RULES_DEFAULT;
    struct arena arena;
    rules.p = 0.01;
    struct history_changes out = find(&arena, values, COUNT_OF(values), rules);
    assert_int_equal(out.change_count, 1);
    assert_int_equal(out.changes[0].index, 3);
    assert_close(out.changes[0].test.p, expected_p);
    assert_close(out.changes[0].test.std_before, sqrt(2.0 / 3));
    assert_close(out.segments[0].std, 1); /* of the sample */
    arena_free(&arena);
    rules.p = expected_p / 2;
    out = find(&arena, values, COUNT_OF(values), rules);
    assert_int_equal(out.change_count, 0);
    assert_int_equal(out.weak_count, 1); /* windows look up to ten times further */
    arena_free(&arena);
}

static void short_constant_and_empty_series_have_none(void **state)
{
    static const struct {
        size_t count;
        double values[5];
        size_t segments;
    } cases[] = {
        {0, {0}, 0},
        {1, {7}, 1},
        {2, {1, 9}, 1},
        {4, {3, 3, 3, 3}, 1},
        {3, {GAP, GAP, GAP}, 0},
        {3, {GAP, 4, GAP}, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena arena;
        struct history_changes out =
            find(&arena, cases[i].values, cases[i].count, HISTORY_RULES_DEFAULT);
        assert_int_equal(out.change_count, 0);
        assert_int_equal(out.segment_count, cases[i].segments);
        arena_free(&arena);
    }
}

/* [HIST-2.1] The leading gaps get 5, the inner one too. */
static void gaps_take_the_value_before(void **state)
{
    const double values[] = {GAP, GAP, 5, 5, GAP, 5, 9, 9, GAP, 9};
    struct arena arena;
    struct history_changes out = find(&arena, values, COUNT_OF(values), HISTORY_RULES_DEFAULT);
    assert_int_equal(out.change_count, 1);
    assert_int_equal(out.changes[0].index, 6);
    assert_close(out.changes[0].test.mean_before, 5);
    arena_free(&arena);
}

/* [HIST-2.6a] 10 to 15 is 50 %: a limit of exactly that removes it. */
static void a_magnitude_equal_to_the_limit_is_removed(void **state)
{
    const double values[] = {10, 10, 10, 10, 15, 15, 15, 15};
    struct history_rules rules = HISTORY_RULES_DEFAULT;
    struct arena arena;
    rules.min_magnitude = 0.5;
    assert_int_equal(find(&arena, values, COUNT_OF(values), rules).change_count, 0);
    arena_free(&arena);
    rules.min_magnitude = 0.4999;
    assert_int_equal(find(&arena, values, COUNT_OF(values), rules).change_count, 1);
    arena_free(&arena);
}

/* Neither huge nor tiny numbers leave the range on the way. */
static void the_scale_does_not_matter(void **state)
{
    static const double scales[] = {1e300, 1, 1e-300};
    for (size_t s = 0; s < COUNT_OF(scales); s++) {
        double values[40];
        struct arena arena;
        for (size_t i = 0; i < COUNT_OF(values); i++) {
            values[i] = scales[s] * ((i < 20 ? 100 : 130) + (double)(i % 3));
        }
        struct history_changes out = find(&arena, values, COUNT_OF(values), HISTORY_RULES_DEFAULT);
        assert_int_equal(out.change_count, 1);
        assert_int_equal(out.changes[0].index, 20);
        assert_close(out.changes[0].test.mean_before / scales[s], 100 + 19.0 / 20);
        arena_free(&arena);
    }
}

/* Deterministic noise of -0.5 to 0.5. */
static double noise(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 11) / 0x1p53 - 0.5;
}

/* Ten thousand noisy values with three steps: those are found and nothing else. */
static void planted_changes_are_found_alone(void **state)
{
    const size_t count = 10000;
    double *values = calloc(count, sizeof *values);
    const struct history_rules both[] = {{.window = 50, .p = 1e-5},
                                         {.window = 50, .p = 0.001, .p_of_series = true}};
    uint64_t seed = 1;
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) {
        double level = i < 2500 ? 100 : i < 5000 ? 106 : i < 7500 ? 103 : 110;
        values[i] = level + 2 * (noise(&seed) + noise(&seed) + noise(&seed));
    }
    for (size_t k = 0; k < 2; k++) {
        struct arena arena;
        struct history_changes out = find(&arena, values, count, both[k]);
        assert_int_equal(out.change_count, 3);
        for (size_t i = 0; i < out.change_count; i++) {
            size_t planted = 2500 * (i + 1);
            size_t index = out.changes[i].index;
            assert_true(index + 3 > planted && index < planted + 3);
        }
        arena_free(&arena);
    }
    free(values);
}

/* The rate that api/openapi.json states for p: of quiet series of 100 values about 1 in 16 shows a
 * change at 0.001. */
static void quiet_series_seldom_alarm(void **state)
{
    size_t alarms = 0;
    uint64_t seed = 42;
    for (size_t series = 0; series < 1000; series++) {
        double values[100];
        struct arena arena;
        for (size_t i = 0; i < COUNT_OF(values); i++) {
            values[i] = 100 + noise(&seed) + noise(&seed) + noise(&seed);
        }
        alarms += find(&arena, values, COUNT_OF(values), HISTORY_RULES_DEFAULT).change_count > 0;
        arena_free(&arena);
    }
    assert_true(alarms < 1000 / 12);
}

static void p_of_a_series_shrinks_with_its_windows(void **state)
{
    struct history_rules rules = HISTORY_RULES_DEFAULT;
    assert_close(history_rules_p(&rules, 10000), 0.001);
    rules.p_of_series = true;
    assert_close(history_rules_p(&rules, 0), 0.001);
    assert_close(history_rules_p(&rules, 50), 0.001);
    assert_close(history_rules_p(&rules, 100), 0.0005);
    assert_close(history_rules_p(&rules, 10000), 5e-6);
}

static void a_summary_has_the_figures_of_a_sample(void **state)
{
    const double values[] = {4, 1, 7, 2};
    struct history_summary out;
    assert_true(history_summarise(&out, values, COUNT_OF(values)));
    assert_close(out.mean, 3.5);
    assert_close(out.std, sqrt(21.0 / 3));
    assert_close(out.median, 3);
    assert_close(out.min, 1);
    assert_close(out.max, 7);
    assert_true(history_summarise(&out, values, 0));
    assert_true(isnan(out.mean) && out.count == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_constant_levels_differ_for_sure),
        cmocka_unit_test(the_test_has_population_deviations_and_pools_them),
        cmocka_unit_test(short_constant_and_empty_series_have_none),
        cmocka_unit_test(gaps_take_the_value_before),
        cmocka_unit_test(a_magnitude_equal_to_the_limit_is_removed),
        cmocka_unit_test(the_scale_does_not_matter),
        cmocka_unit_test(planted_changes_are_found_alone),
        cmocka_unit_test(quiet_series_seldom_alarm),
        cmocka_unit_test(p_of_a_series_shrinks_with_its_windows),
        cmocka_unit_test(a_summary_has_the_figures_of_a_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
