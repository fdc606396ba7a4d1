/* Steps of a serving engine: their device work, wherever it runs, their gaps and phases [DEV-4]. */
#include "ingest/analysis/engine_steps/engine_steps.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#define US INT64_C(1000)

static void steps_have_the_work_launched_in_them(void **state)
{
    struct build b;
    struct arena arena;
    struct engine_steps steps;
    const struct engine_attention attention = {.heads = 2, .head_dim_qk = 4, .head_dim_v = 8};
    build_begin(&b);
    arena_init(&arena, 0);
    build_step(&b, "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk9sqsq2sqsk9)", 0, 10);
    build_step(&b, "step[DECODE bs=2]", 1, 9); /* inside: no step of its own */
    build_step(&b, "execute_1_context_1(sq3sk3sqsq9sqsk9)_generation_0(sq0sk0sqsq0sqsk0)", 15, 30);
    build_step(&b, "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk9sqsq2sqsk9)", 40, 41);
    build_runtime(&b, 1, 2, 3, 1, 1);
    build_runtime(&b, 1, 4, 5, 2, 1);
    build_runtime(&b, 2, 16, 17, 3, 1);
    build_runtime(&b, 1, 35, 36, 4, 1);
    build_kernel(&b, "sgemm", 20, 26, 1);
    build_kernel(&b, "softmax", 24, 30, 2);
    build_kernel(&b, "sgemm", 28, 50, 3);
    build_kernel(&b, "sgemm", 60, 61, 4);
    assert_true(engine_steps_analyse(b.trace, 0, NULL, NULL, 0, &attention, &arena, &steps));
    assert_int_equal(steps.count, 3);
    assert_int_equal(steps.engine, ENGINE_VLLM);
    const struct engine_step *first = &steps.rows[0];
    assert_int_equal(first->host_gap_ns, ENGINE_UNKNOWN);
    assert_int_equal(first->device_start_ns, 20 * US);
    assert_int_equal(first->device_end_ns, 30 * US);
    assert_int_equal(first->device_busy_ns, 10 * US);
    assert_int_equal(first->device_ns, 12 * US);
    assert_int_equal(first->device_events, 2);
    assert_int_equal(first->classes.count, 2);
    assert_string_equal(first->classes.items[0].name, "gemm"); /* as much as softmax */
    assert_int_equal(first->attention_flops_per_layer, 2 * (4 + 8) * 2 * 9);
    const struct engine_step *second = &steps.rows[1];
    assert_int_equal(second->host_gap_ns, 5 * US);
    assert_int_equal(second->device_gap_ns, -2 * US);
    assert_int_equal(second->attention_flops_per_layer, 2 * (4 + 8) * (2 * 9 - 9));
    const struct engine_step *third = &steps.rows[2];
    assert_int_equal(third->device_events, 0);
    assert_int_equal(third->device_start_ns, ENGINE_UNKNOWN);
    assert_int_equal(third->device_gap_ns, ENGINE_UNKNOWN);
    assert_int_equal(steps.phase_count, 2);
    assert_int_equal(steps.phases[0].phase, ENGINE_DECODE);
    assert_int_equal(steps.phases[0].steps, 2);
    assert_int_equal(steps.phases[0].tokens, 4);
    assert_int_equal(steps.phases[0].device_ns, 12 * US);
    assert_int_equal(steps.phases[1].duration_ns, 15 * US);
    assert_int_equal(steps.phases[1].classes.items[0].device_ns, 22 * US);
    arena_free(&arena);
    build_end(&b);
}

static void a_trace_without_them_has_none(void **state)
{
    struct build b;
    struct arena arena;
    struct engine_steps steps;
    const struct engine_attention attention = {.heads = 0};
    build_begin(&b);
    arena_init(&arena, 0);
    build_step(&b, "ProfilerStep#1", 0, 10);
    build_runtime(&b, 1, 2, 3, 1, 1);
    build_kernel(&b, "sgemm", 20, 26, 1);
    assert_true(engine_steps_analyse(b.trace, 0, NULL, NULL, 0, &attention, &arena, &steps));
    assert_int_equal(steps.count + steps.phase_count, 0);
    arena_free(&arena);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_the_work_launched_in_them),
        cmocka_unit_test(a_trace_without_them_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
