/* Conditions, and verdicts worked by hand [HIST-4]. */
#include "ingest/analysis/history/gate.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static void assert_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", value, expected);
    }
}

static struct gate_condition parse(const char *text)
{
    struct gate_condition condition;
    assert_true(gate_condition_parse(&condition, text));
    return condition;
}

static void conditions_are_read_from_the_last_sign(void **state)
{
    struct gate_condition condition = parse("kernel:f<a>(b)>1.5e1%");
    assert_int_equal(condition.name_len, strlen("kernel:f<a>(b)"));
    assert_true(condition.is_relative);
    assert_close(condition.limit, 15);
    assert_string_equal(condition.limit_text, "1.5e1%");
    assert_false(parse("busy>-0.5").is_relative);
    assert_true(isnan(condition.p_below));
    condition = parse("step_time>5% and p<0.05");
    assert_int_equal(condition.name_len, strlen("step_time"));
    assert_close(condition.limit, 5);
    assert_close(condition.p_below, 0.05);
    assert_string_equal(condition.limit_text, "5% and p<0.05");
    assert_close(parse("busy>0.1  and  p < 1e-3").p_below, 1e-3);
    /* A name may look like a condition: the last sign counts. */
    assert_int_equal(parse("kernel:a>5% and p<0.1>7%").name_len, strlen("kernel:a>5% and p<0.1"));
    static const char *const wrong[] = {"",
                                        "step_time",
                                        ">5",
                                        "step_time>",
                                        "step_time>5x",
                                        "step_time>inf",
                                        "step_time>0x5",
                                        "step_time>5%%",
                                        "step_time> 5",
                                        "step_time>1e999",
                                        "step_time>5% ",
                                        "step_time>5%and p<0.05",
                                        "step_time>5% p<0.05",
                                        "step_time>5% and",
                                        "step_time>5% and p",
                                        "step_time>5% and p<",
                                        "step_time>5% and q<0.05",
                                        "step_time>5% or p<0.05",
                                        "step_time>5% and p<=0.05",
                                        "step_time>5% and p<0",
                                        "step_time>5% and p<1.01",
                                        "step_time>5% and p<nan",
                                        "step_time>5% and p<0.05%",
                                        "step_time>5% and p<0.05 and p<0.1"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct gate_condition ignored;
        assert_false(gate_condition_parse(&ignored, wrong[i]));
    }
}

static const struct gate_rules RULES = {.p = 0.05, .min_points = 3};

/* mean 12, std 2, k 3: t = 8 / (2 sqrt(4/3)), t^2 = 12; with 2 degrees p = 1/2 - t / (2 sqrt(2 +
 * t^2)). */
static void a_worse_candidate_fails(void **state)
{
    const struct history_summary baseline = {3, 12, 2, 12, 10, 14};
    struct gate_condition condition = parse("step_time>50%");
    struct gate_row row = gate_judge(20, &baseline, -1, &condition, &RULES);
    assert_close(row.worse_by, 8);
    assert_close(row.change, 2.0 / 3);
    assert_close(row.p, 0.5 - sqrt(12) / (2 * sqrt(14)));
    assert_int_equal(row.verdict, GATE_FAIL);
    /* A better one is as unlikely, but no failure. */
    row = gate_judge(20, &baseline, 1, &condition, &RULES);
    assert_close(row.worse_by, -8);
    assert_close(row.p, 0.5 + sqrt(12) / (2 * sqrt(14)));
    assert_int_equal(row.verdict, GATE_PASS);
    /* Both must hold: the limit, strictly, and the probability. */
    condition = parse("step_time>8");
    assert_int_equal(gate_judge(20, &baseline, -1, &condition, &RULES).verdict, GATE_PASS);
    const struct gate_rules strict = {.p = 0.03, .min_points = 3};
    condition = parse("step_time>7");
    assert_int_equal(gate_judge(20, &baseline, -1, &condition, &strict).verdict, GATE_PASS);
    /* The condition's own bound replaces that of the rules: p is 0.0371 here. */
    condition = parse("step_time>7 and p<0.038");
    assert_int_equal(gate_judge(20, &baseline, -1, &condition, &strict).verdict, GATE_FAIL);
    condition = parse("step_time>7 and p<0.037");
    assert_int_equal(gate_judge(20, &baseline, -1, &condition, &RULES).verdict, GATE_PASS);
    condition = parse("step_time>8 and p<0.038");
    assert_int_equal(gate_judge(20, &baseline, -1, &condition, &RULES).verdict, GATE_PASS);
}

static void what_is_missing_gives_no_verdict(void **state)
{
    const struct history_summary baseline = {2, 12, 2, 12, 10, 14};
    const struct history_summary none = {0};
    struct gate_condition condition = parse("step_time>1%");
    struct gate_row row = gate_judge(20, &baseline, -1, &condition, &RULES);
    assert_int_equal(row.verdict, GATE_NO_BASELINE);
    assert_close(row.worse_by, 8);
    row = gate_judge((double)NAN, &baseline, -1, &condition, &RULES);
    assert_true(row.verdict == GATE_NO_BASELINE && isnan(row.p));
    assert_true(isnan(gate_judge(20, &none, -1, &condition, &RULES).worse_by));
}

static void without_deviation_anything_worse_is_certain(void **state)
{
    const struct history_summary flat = {5, 0, 0, 0, 0, 0};
    struct gate_condition condition = parse("kernel:k>5%");
    struct gate_row row = gate_judge(1, &flat, -1, &condition, &RULES);
    assert_true(row.p == 0 && isnan(row.change));
    assert_int_equal(row.verdict, GATE_FAIL);
    assert_true(gate_judge(0, &flat, -1, &condition, &RULES).p == 1);
}

static void one_failure_decides(void **state)
{
    struct gate_row rows[3] = {{.verdict = GATE_NO_BASELINE}, {.verdict = GATE_NO_BASELINE}};
    assert_int_equal(gate_overall(rows, 2), GATE_NO_BASELINE);
    rows[1].verdict = GATE_PASS;
    rows[2].verdict = GATE_NO_BASELINE;
    assert_int_equal(gate_overall(rows, 3), GATE_PASS);
    rows[2].verdict = GATE_FAIL;
    assert_int_equal(gate_overall(rows, 3), GATE_FAIL);
}

/* 5, 5, 5, 8, 8: the baseline is what came since the change. */
static void the_baseline_begins_at_the_last_change(void **state)
{
    const double values[] = {5, 5, 5, 8, 8};
    const struct history_rules rules = HISTORY_RULES_DEFAULT;
    struct history_baseline out;
    struct arena arena;
    arena_init(&arena, 0);
    assert_true(history_baseline_find(&out, &arena, values, COUNT_OF(values), &rules));
    assert_true(out.has_change);
    assert_int_equal(out.first, 3);
    assert_int_equal(out.summary.count, 2);
    assert_close(out.summary.mean, 8);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_are_read_from_the_last_sign),
        cmocka_unit_test(a_worse_candidate_fails),
        cmocka_unit_test(what_is_missing_gives_no_verdict),
        cmocka_unit_test(without_deviation_anything_worse_is_certain),
        cmocka_unit_test(one_failure_decides),
        cmocka_unit_test(the_baseline_begins_at_the_last_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
