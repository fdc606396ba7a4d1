#include "tests/unit/ingest/analysis/model_builder.h"

#include <stdlib.h>

#define ACCUMULATE "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
#define BACKWARD "autograd::engine::evaluate_function: "

static const struct operator_row *by_name(const struct trace_results *results, const char *name)
{
    const struct operator_row *row = build_find(results, OPERATOR_BY_NAME, name);
    assert_non_null(row);
    return row;
}

static void children_and_runtimes_leave_self_time(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "outer", 1, 0, 100, 1);
    build_op(&b, "inner", 1, 10, 60, 2);
    build_runtime(&b, 1, 20, 30, 5, 2);
    build_kernel(&b, "k", 40, 55, 5);
    build_kernel(&b, "k", 56, 60, 5);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(by_name(r, "outer")->host_total_ns, 100000);
    assert_int_equal(by_name(r, "outer")->host_self_ns, 50000);
    assert_int_equal(by_name(r, "outer")->device_total_ns, 19000);
    assert_int_equal(by_name(r, "outer")->device_self_ns, 0);
    assert_int_equal(by_name(r, "inner")->host_self_ns, 40000);
    assert_int_equal(by_name(r, "inner")->device_self_ns, 19000);
    /* children come first */
    assert_string_equal(r->operators[OPERATOR_BY_NAME][0].name, "inner");
    build_end(&b);
}

static void partial_overlap_is_left_out(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "a", 1, 0, 50, 1);
    build_op(&b, "b", 1, 40, 60, 2);
    build_op(&b, "c", 1, 50, 60, 3);
    const struct trace_results *r = build_run_plugin(&b);
    assert_null(build_find(r, OPERATOR_BY_NAME, "b"));
    assert_non_null(build_find(r, OPERATOR_BY_NAME, "c"));
    assert_int_equal(r->warnings.by_code[WARN_OVERLAP].count, 1);
    build_end(&b);
}

static void duplicates_melt_and_take_the_childs_runtimes(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "aten::add", 1, 0, 100, 1);
    build_op(&b, "aten::add", 1, 5, 90, 2);
    build_op(&b, "aten::add", 1, 6, 80, 3);
    build_op(&b, "aten::empty", 1, 10, 20, 4);
    build_op(&b, "aten::fill_", 1, 30, 40, 5);
    build_runtime(&b, 1, 1, 2, 11, 1); /* the outer one's: dropped */
    build_kernel(&b, "lost", 200, 300, 11);
    build_runtime(&b, 1, 50, 52, 13, 3);
    build_kernel(&b, "kept", 400, 410, 13);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(by_name(r, "aten::add")->calls, 1);
    assert_int_equal(by_name(r, "aten::add")->host_total_ns, 100000);
    assert_int_equal(by_name(r, "aten::add")->host_self_ns, 100000 - 10000 - 10000 - 2000);
    assert_int_equal(by_name(r, "aten::add")->device_self_ns, 10000);
    assert_int_equal(r->kernel_launch_count, 1);
    build_end(&b);
}

/* The list of external id 0 belongs to an operator and to the root of its thread; the one visited
 * second counts doubly [TB-5.6]. */
static void zero_ids_count_doubly_on_a_later_thread(void **state)
{
    static const struct {
        int64_t runtime_tid;
        int64_t device_ns;
        const char *owner;
    } rows[] = {{1, 20000, "zero"}, {2, 10000, "CallTreeRoot"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct build b;
        build_begin(&b);
        build_op(&b, "first", 1, 0, 10, 1);
        build_op(&b, "zero", 2, 20, 40, 0);
        build_runtime(&b, rows[i].runtime_tid, 22, 23, 7, 0);
        build_kernel(&b, "k", 30, 40, 7);
        const struct trace_results *r = build_run_plugin(&b);
        assert_int_equal(by_name(r, "zero")->device_total_ns, rows[i].device_ns);
        assert_int_equal(r->kernel_launch_count, 1);
        assert_int_equal(r->kernel_launches[0].calls, 2);
        assert_string_equal(r->kernel_launches[0].operator_name, rows[i].owner);
        build_end(&b);
    }
}

static void stale_kernels_go_to_threads_with_steps(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_op(&b, "op", 2, 0, 50, 1);
    build_kernel(&b, "stale", 10, 20, 99);
    build_device_event(&b, EVENT_MEMCPY, "copy", 0, 10, 20, 98, TRACE_NO_ID, 0, 0);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(r->kernel_launch_count, 1);
    assert_string_equal(r->kernel_launches[0].operator_name, "CallTreeRoot");
    assert_int_equal(r->kernel_launches[0].calls, 1);
    build_end(&b);
}

static void work_before_its_call_waits(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "op", 1, 0, 50, 1);
    build_kernel(&b, "early", 5, 8, 3);
    build_runtime(&b, 1, 10, 12, 3, 1);
    build_kernel(&b, "late", 20, 30, 3);
    build_runtime(&b, 1, 40, 41, 3, 77); /* a later call of the same correlation, lost */
    build_kernel(&b, "lost", 45, 46, 3);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(by_name(r, "op")->device_self_ns, 13000);
    assert_int_equal(r->kernel_launch_count, 2);
    assert_int_equal(r->kernel_count, 3);
    build_end(&b);
}

static void threads_need_a_number(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "good", 1, 0, 10, 1);
    struct trace_track track = {
        .pid_text = build_text(&b, "1"), .tid_text = build_text(&b, "main"), .tid_is_text = true};
    struct op_args args = {.shape = build_text(&b, "[]"),
                           .call_stack = build_text(&b, ""),
                           .input_types = STRTAB_NONE};
    build_event(&b,
                (struct trace_event){.dur_ns = 5000,
                                     .external_id = 2,
                                     .kind = EVENT_OPERATOR,
                                     .track = trace_add_track(b.trace, &track),
                                     .args = trace_add_op_args(b.trace, &args)},
                "bad");
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(r->operator_count[OPERATOR_BY_NAME], 1);
    assert_int_equal(r->warnings.by_code[WARN_BAD_TID].count, 1);
    build_end(&b);
}

static void groups_by_shape_and_stack(void **state)
{
    static const struct {
        const char *shape;
        const char *stack;
    } calls[] = {{"[[1]]", ""}, {"[[2]]", "a.py(1)"}, {"[[1]]", "b.py(2)"}, {"[[1]]", "b.py(2)"}};
    struct build b;
    build_begin(&b);
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        struct op_args args = {.shape = build_text(&b, calls[i].shape),
                               .call_stack = build_text(&b, calls[i].stack),
                               .input_types = STRTAB_NONE};
        build_event(&b,
                    (struct trace_event){.ts_ns = (int64_t)i * 1000,
                                         .dur_ns = ((int64_t)i + 1) * 100,
                                         .correlation = TRACE_NO_ID,
                                         .external_id = (int64_t)i + 1,
                                         .track = build_track(&b, BUILD_HOST_PID, 1),
                                         .args = trace_add_op_args(b.trace, &args),
                                         .kind = EVENT_OPERATOR},
                    "op");
    }
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->operator_count[OPERATOR_BY_NAME], 1);
    assert_int_equal(r->operator_count[OPERATOR_BY_NAME_SHAPE], 2);
    assert_int_equal(r->operator_count[OPERATOR_BY_NAME_STACK], 2);
    assert_int_equal(r->operator_count[OPERATOR_BY_NAME_SHAPE_STACK], 2);
    const struct operator_row *all = by_name(r, "op");
    assert_int_equal(all->calls, 4);
    assert_true(all->has_call_stack);
    assert_int_equal(all->host_min_ns, 100);
    assert_int_equal(all->host_max_ns, 400);
    assert_int_equal(all->host_p50_ns, 250);
    assert_int_equal(all->host_p95_ns, 385);
    assert_string_equal(r->operators[OPERATOR_BY_NAME_SHAPE][0].input_shape, "[[1]]");
    assert_int_equal(r->operators[OPERATOR_BY_NAME_SHAPE][0].calls, 3);
    assert_string_equal(r->operators[OPERATOR_BY_NAME_STACK][1].call_stack, "b.py(2)");
    assert_int_equal(r->operators[OPERATOR_BY_NAME_STACK][1].calls, 2);
    build_end(&b);
}

static void eligibility_is_inherited_upwards(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "wrapper", 1, 0, 100, 1);
    build_op(&b, "aten::mm", 1, 10, 60, 2);
    build_op(&b, "plain", 1, 200, 300, 3);
    build_op(&b, "AddmmBackward0", 1, 400, 500, 4);
    build_runtime(&b, 1, 20, 21, 5, 2);
    build_kernel(&b, "volta_s884gemm", 30, 40, 5);
    const struct trace_results *r = build_run_plugin(&b);
    assert_true(by_name(r, "wrapper")->tensor_eligible);
    assert_false(by_name(r, "plain")->tensor_eligible);
    assert_false(by_name(r, "AddmmBackward0")->tensor_eligible); /* of no list of the plugin's */
    assert_true(by_name(build_run(&b), "AddmmBackward0")->tensor_eligible);
    assert_int_equal(by_name(r, "wrapper")->tensor_total_ns, 10000);
    assert_int_equal(by_name(r, "wrapper")->tensor_self_ns, 0);
    assert_true(r->kernel_launches[0].op_tensor_eligible);
    build_end(&b);
}

/* The backward root of the module's operator is counted where the mirror lies, with the
 * accumulation that follows it; the root without a pair leaves the tree. */
static void backward_roots_follow_their_modules(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 1000);
    build_module(&b, "nn.Module: Linear_0", 10, 100, 1, TRACE_NO_ID);
    build_op(&b, "aten::linear", 1, 20, 90, 1);
    build_op(&b, BACKWARD "AddmmBackward0", 2, 300, 400, 2);
    build_op(&b, "AddmmBackward0", 2, 310, 390, 3);
    build_op(&b, ACCUMULATE, 2, 400, 450, 4);
    build_op(&b, BACKWARD "ReluBackward0", 2, 500, 600, 5);
    build_flow(&b, 's', 1, 20);
    build_flow(&b, 'f', 1, 310);
    const struct trace_results *r = build_run_plugin(&b);
    assert_string_equal(r->operators[OPERATOR_BY_NAME][0].name, "aten::linear");
    assert_string_equal(r->operators[OPERATOR_BY_NAME][1].name, "AddmmBackward0");
    assert_non_null(build_find(r, OPERATOR_BY_NAME, ACCUMULATE));
    assert_null(build_find(r, OPERATOR_BY_NAME, BACKWARD "ReluBackward0"));
    assert_true((r->views & (1u << VIEW_MODULE)) != 0);
    build_end(&b);
}

static void without_top_level_modules_roots_stay(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "outer", 1, 0, 200, 1);
    build_module(&b, "nn.Module: Linear_0", 10, 100, 1, TRACE_NO_ID);
    build_op(&b, "aten::linear", 1, 20, 90, 2);
    build_op(&b, BACKWARD "AddmmBackward0", 2, 300, 400, 3);
    build_flow(&b, 's', 1, 20);
    build_flow(&b, 'f', 1, 300);
    const struct trace_results *r = build_run_plugin(&b);
    assert_non_null(build_find(r, OPERATOR_BY_NAME, BACKWARD "AddmmBackward0"));
    build_end(&b);
}

/* Two nested operators with one start time: the group counts twice [TB-5.2]. */
static void equal_starts_add_a_group_twice(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Linear_0", 10, 100, 1, TRACE_NO_ID);
    build_op(&b, "aten::linear", 1, 20, 90, 1);
    build_op(&b, "aten::addmm", 1, 20, 80, 2);
    build_op(&b, "last", 1, 900, 1000, 6);
    build_op(&b, BACKWARD "AddmmBackward0", 2, 300, 400, 3);
    build_flow(&b, 's', 1, 20);
    build_flow(&b, 'f', 1, 300);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(by_name(r, BACKWARD "AddmmBackward0")->calls, 2);
    build_end(&b);
}

static void deep_trees_need_no_stack(void **state)
{
    const int64_t depth = 100000;
    struct build b;
    build_begin(&b);
    for (int64_t i = 0; i < depth; i++) {
        build_op(&b, i % 2 == 0 ? "even" : "odd", 1, i, 4 * depth - i, i + 1);
    }
    build_runtime(&b, 1, 2 * depth, 2 * depth + 1, 7, depth);
    build_kernel(&b, "k", 2 * depth, 2 * depth + 3, 7);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(by_name(r, "even")->calls, depth / 2);
    assert_int_equal(by_name(r, "even")->device_total_ns, 3000 * depth / 2);
    build_end(&b);
}

static void many_equal_starts_nest_by_length(void **state)
{
    const int64_t count = 1000;
    struct build b;
    build_begin(&b);
    for (int64_t i = 0; i < count; i++) {
        char name[32];
        int64_t length = (i * 7919) % count + 1;
        (void)snprintf(name, sizeof name, "op %lld", (long long)length);
        build_op(&b, name, 1, 0, length, i + 1);
    }
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(r->operator_count[OPERATOR_BY_NAME], count);
    assert_string_equal(r->operators[OPERATOR_BY_NAME][0].name, "op 1");
    assert_string_equal(r->operators[OPERATOR_BY_NAME][count - 1].name, "op 1000");
    assert_int_equal(r->operators[OPERATOR_BY_NAME][count - 1].host_self_ns, 1000);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_and_runtimes_leave_self_time),
        cmocka_unit_test(partial_overlap_is_left_out),
        cmocka_unit_test(duplicates_melt_and_take_the_childs_runtimes),
        cmocka_unit_test(zero_ids_count_doubly_on_a_later_thread),
        cmocka_unit_test(stale_kernels_go_to_threads_with_steps),
        cmocka_unit_test(work_before_its_call_waits),
        cmocka_unit_test(threads_need_a_number),
        cmocka_unit_test(groups_by_shape_and_stack),
        cmocka_unit_test(eligibility_is_inherited_upwards),
        cmocka_unit_test(backward_roots_follow_their_modules),
        cmocka_unit_test(without_top_level_modules_roots_stay),
        cmocka_unit_test(equal_starts_add_a_group_twice),
        cmocka_unit_test(deep_trees_need_no_stack),
        cmocka_unit_test(many_equal_starts_nest_by_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
