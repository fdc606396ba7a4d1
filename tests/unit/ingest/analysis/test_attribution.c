#include "ingest/tb_plugin/clock.h"
#include "tests/unit/ingest/analysis/model_builder.h"

static int64_t self_us(const struct trace_results *results, const char *name)
{
    const struct operator_row *row = build_find(results, OPERATOR_BY_NAME, name);
    assert_non_null(row);
    return row->device_self_ns / 1000;
}

static int64_t total_us(const struct trace_results *results, const char *name)
{
    const struct operator_row *row = build_find(results, OPERATOR_BY_NAME, name);
    assert_non_null(row);
    return row->device_total_ns / 1000;
}

/* A call and its kernel. */
static void launch(struct build *b,
                   int64_t tid,
                   int64_t start_us,
                   int64_t end_us,
                   int64_t correlation,
                   int64_t external_id,
                   int64_t kernel_us)
{
    build_runtime(b, tid, start_us, end_us, correlation, external_id);
    build_kernel(b, "k", 1000 + 100 * correlation, 1000 + 100 * correlation + kernel_us,
                 correlation);
}

static void calls_without_id_go_to_the_innermost_operator(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "outer", 1, 0, 100, 1);
    build_op(&b, "inner", 1, 10, 50, 2);
    build_op(&b, "elsewhere", 2, 0, 100, 3);
    launch(&b, 1, 10, 50, 1, TRACE_NO_ID, 1);  /* both bounds count as inside */
    launch(&b, 1, 45, 55, 2, TRACE_NO_ID, 2);  /* ends behind inner, which made it all the same */
    launch(&b, 1, 95, 105, 3, TRACE_NO_ID, 4); /* ends behind outer */
    launch(&b, 1, 120, 130, 4, TRACE_NO_ID, 8);
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_int_equal(self_us(r, "inner"), 3);
    assert_int_equal(self_us(r, "outer"), 4);
    assert_int_equal(total_us(r, "outer"), 7);
    assert_int_equal(self_us(r, "elsewhere"), 0);
    /* calls leave the host's self time as those with ids do */
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "inner")->host_self_ns, 0);
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "outer")->host_self_ns, 55000);

    assert_int_equal(tb_clock_per_us(p), RESULTS_NS_PER_US);
    assert_int_equal(total_us(p, "outer"), 0);
    assert_int_equal(build_find(p, OPERATOR_BY_NAME, "inner")->host_self_ns, 40000);
    build_end(&b);
}

static void kernels_get_their_operators_name(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "op", 1, 0, 100, 1);
    launch(&b, 1, 10, 20, 1, TRACE_NO_ID, 5);
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_int_equal(r->kernel_launch_count, 1);
    assert_string_equal(r->kernel_launches[0].operator_name, "op");
    assert_int_equal(p->kernel_launch_count, 0);
    build_end(&b);
}

/* The plugin goes by ids, wherever the call lies. */
static void the_operator_around_decides_whatever_the_id_says(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "owner", 1, 0, 10, 1);
    build_op(&b, "around", 1, 20, 100, 2);
    launch(&b, 1, 30, 40, 7, 1, 1);
    launch(&b, 1, 50, 60, 8, 99, 2); /* nobody has this id */
    launch(&b, 1, 70, 80, 9, TRACE_NO_ID, 4);
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_int_equal(self_us(r, "owner"), 0);
    assert_int_equal(self_us(r, "around"), 7);
    assert_int_equal(self_us(p, "owner"), 1);
    assert_int_equal(self_us(p, "around"), 0);
    build_end(&b);
}

static void an_operator_keeps_its_own_calls(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "op", 1, 0, 100, 1);
    launch(&b, 1, 10, 20, 5, 1, 1);
    launch(&b, 1, 30, 40, 6, TRACE_NO_ID, 2);
    launch(&b, 1, 50, 60, 7, 1, 4);
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_int_equal(self_us(r, "op"), 7);
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "op")->host_self_ns, 70000);
    assert_int_equal(self_us(p, "op"), 5);
    build_end(&b);
}

/* Recorders of PyTorch 1.13 to 2.0: an operator can have the number by accident. */
static void copies_of_the_correlation_are_no_ids(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "accident", 1, 0, 10, 501);
    build_op(&b, "launcher", 1, 20, 100, 2);
    launch(&b, 1, 30, 40, 501, 501, 1);
    launch(&b, 1, 50, 60, 502, 502, 2);
    build_runtime(&b, 1, 70, 80, 503,
                  503); /* starts nothing: a call of the operator's all the same */
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_int_equal(self_us(r, "accident"), 0);
    assert_int_equal(self_us(r, "launcher"), 3);
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "launcher")->host_self_ns, 50000);
    assert_int_equal(self_us(p, "accident"), 1);
    assert_int_equal(self_us(p, "launcher"), 0);
    build_end(&b);
}

static void one_equal_number_is_no_copy(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "owner", 1, 0, 10, 5);
    build_op(&b, "around", 1, 20, 100, 6);
    launch(&b, 1, 30, 40, 5, 5, 1);
    launch(&b, 1, 50, 60, 7, 6, 2);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(self_us(r, "owner"), 1);
    assert_int_equal(self_us(r, "around"), 2);
    build_end(&b);
}

/* The plugin gives all calls without an id to the first node without one. */
static void modules_do_not_collect_what_has_no_id(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: A", 0, 10, 1, TRACE_NO_ID);
    build_module(&b, "nn.Module: B", 20, 100, 2, TRACE_NO_ID);
    build_op(&b, "op", 1, 30, 60, 7);
    launch(&b, 1, 40, 50, 5, TRACE_NO_ID, 1);
    launch(&b, 1, 70, 80, 6, TRACE_NO_ID, 2);
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_int_equal(self_us(r, "op"), 1);
    assert_int_equal(r->module_count, 2);
    assert_int_equal(r->modules[0].device_total, 0);
    assert_int_equal(r->modules[1].device_total, 3000);
    assert_int_equal(p->modules[0].device_total, 3000);
    assert_int_equal(p->modules[1].device_total, 0);
    build_end(&b);
}

static void annotations_of_collectives_pass_calls_on(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "record_param_comms", 1, 0, 100, 1);
    build_host(&b, EVENT_USER_ANNOTATION, "nccl:all_reduce", 1, 10, 90, 2);
    launch(&b, 1, 20, 30, 5, TRACE_NO_ID, 3);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "record_param_comms"), 3);
    build_end(&b);
}

/* The plugin melts an operator with its only child of the same name. */
static void equal_names_inside_each_other_count_each(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "aten::add", 1, 0, 100, 1);
    build_op(&b, "aten::add", 1, 10, 50, 2);
    launch(&b, 1, 20, 30, 5, TRACE_NO_ID, 1);
    launch(&b, 1, 60, 70, 6, TRACE_NO_ID, 2);
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "aten::add")->calls, 2);
    assert_int_equal(build_find(p, OPERATOR_BY_NAME, "aten::add")->calls, 1);
    assert_int_equal(self_us(r, "aten::add"), 3);
    build_end(&b);
}

static void id_zero_is_an_id_like_any_other(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "outer", 1, 0, 100, 1);
    build_op(&b, "zero", 1, 10, 90, 0);
    launch(&b, 1, 20, 30, 5, 0, 1);
    launch(&b, 1, 40, 50, 6, TRACE_NO_ID, 2);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "outer"), 0);
    assert_int_equal(self_us(r, "zero"), 3);
    build_end(&b);
}

/* What a quadratic search would not get through. */
static void deep_nesting_is_searched_once(void **state)
{
    const int64_t depth = 60000;
    struct build b;
    build_begin(&b);
    for (int64_t i = 0; i < depth; i++) {
        build_op(&b, i == 0 ? "top" : "nested", 1, i, 4 * depth - i, i + 1);
    }
    for (int64_t i = 0; i < depth; i++) { /* each begins in the innermost, and ends outside */
        launch(&b, 1, depth + i, 4 * depth, depth + i, TRACE_NO_ID, 1);
    }
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "top"), 0);
    assert_int_equal(self_us(r, "nested"), depth);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_without_id_go_to_the_innermost_operator),
        cmocka_unit_test(kernels_get_their_operators_name),
        cmocka_unit_test(the_operator_around_decides_whatever_the_id_says),
        cmocka_unit_test(an_operator_keeps_its_own_calls),
        cmocka_unit_test(copies_of_the_correlation_are_no_ids),
        cmocka_unit_test(one_equal_number_is_no_copy),
        cmocka_unit_test(modules_do_not_collect_what_has_no_id),
        cmocka_unit_test(annotations_of_collectives_pass_calls_on),
        cmocka_unit_test(equal_names_inside_each_other_count_each),
        cmocka_unit_test(id_zero_is_an_id_like_any_other),
        cmocka_unit_test(deep_nesting_is_searched_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
