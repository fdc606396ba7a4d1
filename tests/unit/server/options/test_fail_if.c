#include "server/options/fail_if.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

/* Two steps of 100 µs each side; `gemm` takes 20 µs of each in the base, and 30 µs of one in the
 * candidate. Its rows repeat the duration for a second metric. */
struct pair {
    struct cycle_row cycles[2];
    struct cycle_use_row uses[SIDE_COUNT][4];
    struct trace_results results[SIDE_COUNT];
    const struct trace_results *lists[SIDE_COUNT][1];
    struct fail_if_side sides[SIDE_COUNT];
    struct comparison_row row;
    struct comparison comparison;
};

static struct cycle_use_row use_row(int64_t cycle, const char *metric, double duration_us)
{
    return (struct cycle_use_row){.cycle = cycle,
                                  .pid = 7,
                                  .host = "",
                                  .function = "void gemm<int>(int)",
                                  .simple_name = "gemm",
                                  .type = "gpu_compute",
                                  .metric = metric,
                                  .device = "GPU 0",
                                  .duration_us = duration_us};
}

static void build(struct pair *pair)
{
    *pair = (struct pair){.cycles = {{.number = 1, .dur_us = 100}, {.number = 2, .dur_us = 100}}};
    for (int64_t i = 0; i < 4; i++) {
        const char *metric = i % 2 == 0 ? "gpu_usage" : "gpu_frequency";
        pair->uses[SIDE_BASE][i] = use_row(i / 2, metric, 20);
        pair->uses[SIDE_CANDIDATE][i] = use_row(0, metric, 30);
    }
    pair->uses[SIDE_CANDIDATE][3].pid = 8;
    pair->uses[SIDE_CANDIDATE][2].pid = 8;
    for (int side = 0; side < SIDE_COUNT; side++) {
        pair->results[side] = (struct trace_results){.cycles = pair->cycles,
                                                     .cycle_count = 2,
                                                     .cycle_uses = pair->uses[side],
                                                     .cycle_use_count = 4};
        pair->lists[side][0] = &pair->results[side];
        pair->sides[side] = (struct fail_if_side){pair->lists[side], 1};
        pair->comparison.roles[side] =
            (struct comparison_role){.pid = 7, .cycles = 2, .mean_cycle_us = 100.0 + 10 * side};
        pair->comparison.kernel_us[side] = 20.0 - 5 * side;
        pair->comparison.operator_us[side] = (double)NAN;
    }
    pair->comparison.cycle_p = 0.04;
    pair->row = (struct comparison_row){.score = 12.5};
    pair->comparison.rows = &pair->row;
    pair->comparison.row_count = 1;
}

static void gates_have_one_form(void **state)
{
    static const char *const good[] = {
        "step_time>5%",  "step_time>0",      "suspicion>10.5",      "kernel_time>1e3",
        "kernel:a>b>1%", "operator_time>2%", "kernel:void f<1>>3%", "step_time>5% and p<0.05"};
    static const char *const bad[] = {"",
                                      "step_time",
                                      "step_time>",
                                      "step_time>x",
                                      "step_time<5",
                                      "other>5",
                                      "kernel:>5",
                                      "step_time>5%%",
                                      "step_time>-1",
                                      "suspicion>5%",
                                      "step_time>nan",
                                      "kernel>5",
                                      "step_time>0x5",
                                      "step_time>5% and p<2",
                                      "kernel_time>5% and p<0.05",
                                      "suspicion>5 and p<0.05"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(fail_if_is_valid(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(fail_if_is_valid(bad[i]));
    }
}

static void gates_fire_on_growth_alone(void **state)
{
    static const struct {
        const char *condition;
        bool fires;
    } rows[] = {
        {"step_time>9.9%", true},
        {"step_time>10%", false},
        {"step_time>9", true},
        {"step_time>10", false},
        {"step_time>5% and p<0.05", true}, /* p is 0.04 */
        {"step_time>5% and p<0.04", false},
        {"step_time>10% and p<0.05", false},
        {"suspicion>12", true},
        {"suspicion>12.5", false},
        {"kernel_time>0", false}, /* it shrank */
        {"kernel:gemm>0", false}, /* 20 µs a cycle before, 15 µs now */
        {"kernel:void gemm<int>(int)>0%", false},
    };
    struct pair pair;
    build(&pair);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool fires = !rows[i].fires;
        char why[FAIL_IF_TEXT_BYTES];
        struct err err = ERR_INIT;
        assert_true(
            fail_if_check(rows[i].condition, &pair.comparison, pair.sides, &fires, why, &err));
        assert_int_equal(fires, rows[i].fires);
    }
}

static void a_function_counts_once_a_cycle_and_device(void **state)
{
    struct pair pair;
    bool fires = false;
    char why[FAIL_IF_TEXT_BYTES];
    struct err err = ERR_INIT;
    build(&pair);
    /* The other way round: 15 µs a cycle grow to 20 µs. */
    const struct fail_if_side swapped[SIDE_COUNT] = {pair.sides[SIDE_CANDIDATE],
                                                     pair.sides[SIDE_BASE]};
    assert_true(fail_if_check("kernel:gemm>4.9", &pair.comparison, swapped, &fires, why, &err));
    assert_true(fires);
    assert_non_null(strstr(why, "from 15.00 µs to 20.00 µs"));
    assert_true(fail_if_check("kernel:gemm>33.4%", &pair.comparison, swapped, &fires, why, &err));
    assert_false(fires);
}

static void what_is_not_there_is_an_error(void **state)
{
    struct pair pair;
    bool fires = false;
    char why[FAIL_IF_TEXT_BYTES];
    struct err err = ERR_INIT;
    build(&pair);
    assert_false(fail_if_check("kernel:other>1", &pair.comparison, pair.sides, &fires, why, &err));
    assert_int_equal(err.code, ERR_BAD_REQUEST);
    assert_non_null(strstr(err.msg, "other"));
    assert_false(fail_if_check("operator_time>1", &pair.comparison, pair.sides, &fires, why, &err));
    assert_int_equal(err.code, ERR_BAD_REQUEST);
    pair.comparison.cycle_p = (double)NAN;
    assert_false(
        fail_if_check("step_time>5% and p<0.05", &pair.comparison, pair.sides, &fires, why, &err));
    assert_non_null(strstr(err.msg, "too few cycles"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_have_one_form),
        cmocka_unit_test(gates_fire_on_growth_alone),
        cmocka_unit_test(a_function_counts_once_a_cycle_and_device),
        cmocka_unit_test(what_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
