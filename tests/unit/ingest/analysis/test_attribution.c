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
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "outer", 1, 0, 100, 1);
    build_op(&b, "inner", 1, 10, 50, 2);
    build_op(&b, "elsewhere", 2, 0, 100, 3);
    launch(&b, 1, 10, 50, 1, TRACE_NO_ID, 1);  /* both bounds count as inside */
    launch(&b, 1, 45, 55, 2, TRACE_NO_ID, 2);  /* ends behind inner */
    launch(&b, 1, 95, 105, 3, TRACE_NO_ID, 4); /* ends behind outer: nobody's */
    launch(&b, 1, 120, 130, 4, TRACE_NO_ID, 8);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "inner"), 1);
    assert_int_equal(self_us(r, "outer"), 2);
    assert_int_equal(total_us(r, "outer"), 3);
    assert_int_equal(self_us(r, "elsewhere"), 0);
    /* calls leave the host's self time as those with ids do */
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "inner")->host_self_ns, 0);
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "outer")->host_self_ns, 50000);

    assert_non_null(r->plugin);
    assert_int_equal(r->plugin->ticks_per_us, RESULTS_NS_PER_US);
    assert_int_equal(total_us(r->plugin, "outer"), 0);
    assert_int_equal(build_find(r->plugin, OPERATOR_BY_NAME, "inner")->host_self_ns, 40000);
    build_end(&b);
}

static void kernels_get_their_operators_name(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "op", 1, 0, 100, 1);
    launch(&b, 1, 10, 20, 1, TRACE_NO_ID, 5);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->kernel_launch_count, 1);
    assert_string_equal(r->kernel_launches[0].operator_name, "op");
    assert_int_equal(r->plugin->kernel_launch_count, 0);
    build_end(&b);
}

static void an_id_of_its_own_decides(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "owner", 1, 0, 10, 1);
    build_op(&b, "around", 1, 20, 100, 2);
    launch(&b, 1, 30, 40, 7, 1, 1);
    launch(&b, 1, 50, 60, 8, 99, 2); /* nobody has this id */
    launch(&b, 1, 70, 80, 9, TRACE_NO_ID, 4);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "owner"), 1);
    assert_int_equal(self_us(r, "around"), 4);
    assert_int_equal(self_us(r->plugin, "owner"), 1);
    assert_int_equal(self_us(r->plugin, "around"), 0);
    build_end(&b);
}

static void an_operator_keeps_its_own_calls(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "op", 1, 0, 100, 1);
    launch(&b, 1, 10, 20, 5, 1, 1);
    launch(&b, 1, 30, 40, 6, TRACE_NO_ID, 2);
    launch(&b, 1, 50, 60, 7, 1, 4);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "op"), 7);
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "op")->host_self_ns, 70000);
    assert_int_equal(self_us(r->plugin, "op"), 5);
    build_end(&b);
}

/* Recorders of PyTorch 1.13 to 2.0: an operator can have the number by accident. */
static void copies_of_the_correlation_are_no_ids(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "accident", 1, 0, 10, 501);
    build_op(&b, "launcher", 1, 20, 100, 2);
    launch(&b, 1, 30, 40, 501, 501, 1);
    launch(&b, 1, 50, 60, 502, 502, 2);
    build_runtime(&b, 1, 70, 80, 503,
                  503); /* starts nothing: a call of the operator's all the same */
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "accident"), 0);
    assert_int_equal(self_us(r, "launcher"), 3);
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "launcher")->host_self_ns, 50000);
    assert_int_equal(self_us(r->plugin, "accident"), 1);
    assert_int_equal(self_us(r->plugin, "launcher"), 0);
    build_end(&b);
}

static void one_equal_number_is_no_copy(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "owner", 1, 0, 10, 5);
    build_op(&b, "around", 1, 20, 100, 6);
    launch(&b, 1, 30, 40, 5, 5, 1);
    launch(&b, 1, 50, 60, 7, 6, 2);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "owner"), 1);
    assert_int_equal(self_us(r, "around"), 2);
    assert_null(r->plugin);
    build_end(&b);
}

static void other_traces_have_one_set_of_figures(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "op", 1, 0, 100, 1);
    launch(&b, 1, 10, 20, 5, 1, 1);
    build_runtime(&b, 1, 30, 40, 6, TRACE_NO_ID); /* inside, but starts nothing */
    assert_null(build_run(&b)->plugin);
    build_end(&b);

    build_begin(&b);
    build_op(&b, "op", 1, 0, 100, 1);
    launch(&b, 1, 200, 210, 5, TRACE_NO_ID, 1); /* inside nothing */
    assert_null(build_run(&b)->plugin);
    build_end(&b);
}

/* The plugin gives all calls without an id to the first node without one. */
static void modules_do_not_collect_what_has_no_id(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: A", 0, 10, 1, TRACE_NO_ID);
    build_module(&b, "nn.Module: B", 20, 100, 2, TRACE_NO_ID);
    build_op(&b, "op", 1, 30, 60, 7);
    launch(&b, 1, 40, 50, 5, TRACE_NO_ID, 1);
    launch(&b, 1, 70, 80, 6, TRACE_NO_ID, 2);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "op"), 1);
    assert_int_equal(r->module_count, 2);
    assert_int_equal(r->modules[0].device_total, 0);
    assert_int_equal(r->modules[1].device_total, 3000);
    assert_int_equal(r->plugin->modules[0].device_total, 3000);
    assert_int_equal(r->plugin->modules[1].device_total, 0);
    build_end(&b);
}

static void annotations_of_collectives_pass_calls_on(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "record_param_comms", 1, 0, 100, 1);
    build_host(&b, EVENT_USER_ANNOTATION, "nccl:all_reduce", 1, 10, 90, 2);
    launch(&b, 1, 20, 30, 5, TRACE_NO_ID, 3);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "record_param_comms"), 3);
    build_end(&b);
}

static void duplicates_share_what_either_encloses(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "aten::add", 1, 0, 100, 1);
    build_op(&b, "aten::add", 1, 10, 50, 2);
    launch(&b, 1, 20, 30, 5, TRACE_NO_ID, 1);
    launch(&b, 1, 60, 70, 6, TRACE_NO_ID, 2);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "aten::add")->calls, 1);
    assert_int_equal(self_us(r, "aten::add"), 3);
    build_end(&b);
}

/* Calls of id 0 belong to the root as well, by the number of the owner's list. */
static void the_owner_of_id_zero_gets_no_others(void **state)
{
    (void)state;
    struct build b;
    build_begin(&b);
    build_op(&b, "outer", 1, 0, 100, 1);
    build_op(&b, "zero", 1, 10, 90, 0);
    launch(&b, 1, 20, 30, 5, 0, 1);
    launch(&b, 1, 40, 50, 6, TRACE_NO_ID, 2);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "outer"), 2);
    assert_int_equal(self_us(r, "zero"), self_us(r->plugin, "zero"));
    build_end(&b);
}

/* What a quadratic search would not get through. */
static void deep_nesting_is_searched_in_halves(void **state)
{
    (void)state;
    const int64_t depth = 60000;
    struct build b;
    build_begin(&b);
    for (int64_t i = 0; i < depth; i++) {
        build_op(&b, i == 0 ? "top" : "nested", 1, i, 4 * depth - i, i + 1);
    }
    for (int64_t i = 0; i < depth; i++) { /* each ends where only the outermost still runs */
        launch(&b, 1, depth + i, 4 * depth, depth + i, TRACE_NO_ID, 1);
    }
    const struct trace_results *r = build_run(&b);
    assert_int_equal(self_us(r, "top"), depth);
    assert_int_equal(self_us(r, "nested"), 0);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_without_id_go_to_the_innermost_operator),
        cmocka_unit_test(kernels_get_their_operators_name),
        cmocka_unit_test(an_id_of_its_own_decides),
        cmocka_unit_test(an_operator_keeps_its_own_calls),
        cmocka_unit_test(copies_of_the_correlation_are_no_ids),
        cmocka_unit_test(one_equal_number_is_no_copy),
        cmocka_unit_test(other_traces_have_one_set_of_figures),
        cmocka_unit_test(modules_do_not_collect_what_has_no_id),
        cmocka_unit_test(annotations_of_collectives_pass_calls_on),
        cmocka_unit_test(duplicates_share_what_either_encloses),
        cmocka_unit_test(the_owner_of_id_zero_gets_no_others),
        cmocka_unit_test(deep_nesting_is_searched_in_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
