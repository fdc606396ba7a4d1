#include "ingest/analysis/util/ranges.h"
#include "ingest/tb_plugin/clock.h"
#include "tests/unit/ingest/analysis/model_builder.h"

static void cost_is(const struct trace_results *r, size_t step, enum time_category role, int64_t us)
{
    assert_int_equal(r->steps[step].cost_ns[role], us * 1000);
}

static void ranges_merge_cut_subtract_and_unite(void **state)
{
    struct ranges a = {0};
    struct ranges b = {0};
    struct ranges out;
    assert_true(ranges_merge(&a, 0, 10) && ranges_merge(&a, 2, 5) && ranges_merge(&a, 10, 20) &&
                ranges_merge(&a, 30, 30) && ranges_merge(&a, 40, 50));
    assert_int_equal(a.count, 3);
    assert_int_equal(a.items[0].end, 20);
    assert_true(ranges_merge(&b, 5, 15) && ranges_merge(&b, 45, 60));
    assert_int_equal(ranges_length_within(&a, 15, 45), 10);
    assert_int_equal(ranges_length_within(&a, 20, 40), 0);

    assert_true(ranges_intersect(&out, &a, &b));
    assert_int_equal(out.count, 2);
    assert_int_equal(out.items[1].start, 45);
    ranges_free(&out);
    assert_true(ranges_subtract(&out, &a, &b));
    assert_int_equal(out.count, 3);
    assert_int_equal(out.items[1].start, 15);
    assert_int_equal(out.items[2].end, 45);
    ranges_free(&out);
    assert_true(ranges_unite(&out, &b, &a));
    assert_int_equal(out.count, 3);
    assert_int_equal(out.items[0].end, 20);
    assert_int_equal(out.items[1].start, 30);
    assert_int_equal(out.items[2].start, 40);
    assert_int_equal(out.items[2].end, 60);
    ranges_free(&out);
    ranges_free(&a);
    ranges_free(&b);
}

static void a_moment_counts_for_the_first_role(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#007", 0, 100);
    build_op(&b, "op", 1, 10, 60, 1);
    build_runtime(&b, 1, 20, 30, 5, 1);
    build_kernel(&b, "k", 25, 45, 5);
    build_host(&b, EVENT_USER_ANNOTATION, "enumerate(DataLoader)#L.__next__", 1, 70, 80,
               TRACE_NO_ID);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->step_count, 1);
    assert_string_equal(r->steps[0].name, "7");
    cost_is(r, 0, TIME_KERNEL, 20);
    cost_is(r, 0, TIME_RUNTIME, 5);
    cost_is(r, 0, TIME_CPU_EXEC, 25);
    cost_is(r, 0, TIME_DATALOADER, 10);
    cost_is(r, 0, TIME_OTHER, 40);
    assert_int_equal(r->steps[0].launches, 1);
    assert_int_equal(r->steps[0].device_activities, 1);
    assert_int_equal(r->steps[0].computation_ns, 20000);
    build_end(&b);
}

/* The plugin knows those of the runtime only. */
static void calls_of_the_driver_count_as_runtime(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_runtime(&b, 1, 10, 20, 5, 1);
    build_host(&b, EVENT_DRIVER, "cuLaunchKernel", 1, 30, 37, TRACE_NO_ID);
    const struct trace_results *r = build_run(&b);
    cost_is(r, 0, TIME_RUNTIME, 17);
    cost_is(r, 0, TIME_OTHER, 83);
    r = build_run_plugin(&b);
    cost_is(r, 0, TIME_RUNTIME, 10);
    build_end(&b);
}

/* With nothing left free, the next role takes its full list and all steps are free again [TB-7.1].
 */
static void full_cover_resets_free_time(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_device_event(&b, EVENT_KERNEL, "k", 0, 0, 100, 1, TRACE_NO_ID, 0, 0);
    build_device_event(&b, EVENT_MEMCPY, "m", 0, 10, 30, 2, TRACE_NO_ID, 0, 0);
    build_runtime(&b, 1, 5, 15, 50, 3);
    const struct trace_results *r = build_run_plugin(&b);
    cost_is(r, 0, TIME_KERNEL, 100);
    cost_is(r, 0, TIME_MEMCPY, 20);
    cost_is(r, 0, TIME_RUNTIME, 5);
    cost_is(r, 0, TIME_OTHER, 75);
    build_end(&b);
}

static void collectives_claim_their_kernels(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_op(&b, "nccl:all_reduce", 1, 10, 20, 9);
    build_device_event(&b, EVENT_KERNEL, "ncclKernel", 0, 30, 60, 1, 9, 0, 0);
    build_device_event(&b, EVENT_KERNEL, "ncclKernel", 0, 70, 80, 2, 8, 0, 0);
    const struct trace_results *r = build_run_plugin(&b); /* our rule claims both kernels */
    assert_non_null(r);
    assert_true(r->has_communication);
    cost_is(r, 0, TIME_KERNEL, 10);
    cost_is(r, 0, TIME_COMMUNICATION, 40);
    assert_int_equal(r->comm_log->op_count, 1);
    assert_int_equal(r->steps[0].communication_ns, 40000);
    build_end(&b);
}

static void two_libraries_end_the_distributed_view(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "nccl:all_reduce", 1, 10, 20, 9);
    build_op(&b, "gloo:all_reduce", 1, 30, 40, 10);
    const struct trace_results *r = build_run_plugin(&b);
    assert_true(r->has_communication);
    assert_null(r->comm_log);
    assert_false(build_run(&b)->has_communication); /* no device work of that class */
    build_end(&b);
}

static void add_steps(struct build *b, const int *kernels, size_t count)
{
    int64_t id = 1;
    for (size_t s = 0; s < count; s++) {
        char name[32];
        int64_t start_us = (int64_t)s * 100;
        (void)snprintf(name, sizeof name, "ProfilerStep#%u", (unsigned)s);
        build_step(b, name, start_us, start_us + 100);
        for (int k = 0; k < kernels[s]; k++) {
            build_runtime(b, 1, start_us + 10, start_us + 11, id, id);
            build_kernel(b, "k", start_us + 20 + k, start_us + 21 + k, id++);
        }
    }
}

static void the_tail_is_cut_below_four_fifths(void **state)
{
    static const struct {
        int kernels[4];
        size_t kept;
    } rows[] = {{{5, 5, 5, 5}, 4}, {{5, 5, 5, 4}, 4}, {{5, 5, 5, 3}, 3}, {{5, 5, 0, 0}, 2},
                {{5, 3, 0, 0}, 1}, {{0, 0, 0, 0}, 4}, {{1, 0, 0, 0}, 1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct build b;
        build_begin(&b);
        add_steps(&b, rows[i].kernels, 4);
        assert_int_equal(build_run_plugin(&b)->step_count, rows[i].kept);
        build_end(&b);
    }
}

static void device_work_moves_the_bounds_of_steps(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "before", 1, 0, 40, 90);
    build_runtime(&b, 1, 5, 6, 91, 90);
    build_kernel(&b, "k", 10, 120, 91); /* of no step, ends inside step 1 */
    build_step(&b, "ProfilerStep#1", 100, 200);
    build_runtime(&b, 1, 110, 112, 1, 1);
    build_kernel(&b, "k", 130, 250, 1);
    build_step(&b, "ProfilerStep#2", 200, 300);
    build_runtime(&b, 1, 210, 212, 2, 2);
    build_kernel(&b, "k", 260, 290, 2);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(r->step_count, 2);
    assert_int_equal(r->steps[0].start_ns, 120000);
    assert_int_equal(r->steps[0].end_ns, 250000);
    assert_int_equal(r->steps[1].start_ns, 250000);
    assert_int_equal(r->steps[1].end_ns, 300000);
    build_end(&b);
}

static void without_steps_the_trace_is_one_window(void **state)
{
    struct build b;
    build_begin(&b);
    build_host(&b, EVENT_USER_ANNOTATION, "note", 1, 0, 900, TRACE_NO_ID);
    build_op(&b, "op", 1, 100, 300, 1);
    const struct trace_results *r = build_run(&b);
    assert_false(r->has_steps);
    assert_int_equal(r->step_count, 1);
    assert_int_equal(results_step_count(r), 0);
    assert_string_equal(r->steps[0].name, "whole trace");
    assert_int_equal(r->steps[0].start_ns, 0);
    assert_int_equal(r->steps[0].end_ns, 900000);
    assert_string_equal(r->device_type, "CPU");
    const struct trace_results *p = build_run_plugin(&b); /* the range of host events is its step */
    assert_string_equal(p->steps[0].name, "0");
    assert_int_equal(p->steps[0].start_ns, 100000);
    assert_int_equal(p->steps[0].end_ns, 300000);
    build_end(&b);
}

static void without_host_events_there_are_no_bounds(void **state)
{
    struct build b;
    build_begin(&b);
    build_kernel(&b, "k", 10, 20, 1);
    const struct trace_results *p = build_run_plugin(&b);
    assert_true(p->steps_undefined);
    assert_int_equal(p->step_count, 1);
    cost_is(p, 0, TIME_KERNEL, 0);
    assert_int_equal(p->device_count, 1);
    assert_true(p->devices[0].utilisation == 0 && signbit(p->devices[0].utilisation));
    const struct trace_results *r = build_run(&b); /* the device's window */
    assert_false(r->steps_undefined);
    cost_is(r, 0, TIME_KERNEL, 10);
    assert_true(r->devices[0].utilisation == 1);
    assert_int_equal(r->recommendation_count, 0); /* nobody knows what it waits for */
    build_end(&b);

    build_begin(&b);
    assert_true(build_run_plugin(&b)->steps_undefined);
    build_end(&b);
}

static void a_step_needs_a_number(void **state)
{
    static const struct {
        const char *name;
        const char *number; /* NULL: no step */
    } rows[] = {{"ProfilerStep#12", "12"},   {"ProfilerStep# 1_000 ", "1000"},
                {"ProfilerStep#-0", "0"},    {"ProfilerStep#-04", "-4"},
                {"ProfilerStep#+4", "4"},    {"ProfilerStep#", NULL},
                {"ProfilerStep#1__0", NULL}, {"ProfilerStep#_1", NULL},
                {"ProfilerStep#1#2", NULL},  {"ProfilerStep#x", NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct build b;
        build_begin(&b);
        build_step(&b, rows[i].name, 0, 10);
        build_op(&b, "op", 1, 0, 5, 1);
        const struct trace_results *r = build_run_plugin(&b);
        assert_int_equal(r->has_steps, rows[i].number != NULL);
        assert_string_equal(r->steps[0].name, rows[i].number == NULL ? "0" : rows[i].number);
        assert_int_equal(r->warnings.by_code[WARN_STEP_NAME].count, rows[i].number == NULL);
        build_end(&b);
    }
}

/* 100.1 + 0.3 and 100.2 + 0.2 are the same in the file, but not in the plugin's doubles. */
static void decimal_times_are_exact_and_for_the_plugin_doubles(void **state)
{
    struct build b;
    build_begin(&b);
    b.trace->decimal_times = true;
    build_op(&b, "first", 1, 0, 1, 3);
    for (int64_t i = 0; i < 2; i++) {
        struct op_args args = {.shape = build_text(&b, "[]"),
                               .call_stack = build_text(&b, ""),
                               .input_types = STRTAB_NONE};
        build_event(&b,
                    (struct trace_event){.ts_ns = i == 0 ? 100100 : 100200,
                                         .dur_ns = i == 0 ? 300 : 200,
                                         .correlation = TRACE_NO_ID,
                                         .external_id = i + 1,
                                         .track = build_track(&b, BUILD_HOST_PID, 1),
                                         .args = trace_add_op_args(b.trace, &args),
                                         .kind = EVENT_OPERATOR},
                    i == 0 ? "outer" : "inner");
    }
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_non_null(build_find(r, OPERATOR_BY_NAME, "inner"));
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "outer")->host_self_ns, 100);
    bool is_later = 100.2 + 0.2 > 100.1 + 0.3;
    assert_true(is_later);
    assert_null(build_find(p, OPERATOR_BY_NAME, "inner"));
    const struct operator_row *outer = build_find(p, OPERATOR_BY_NAME, "outer");
    double outer_us = (double)outer->host_self_ns / (double)tb_clock_per_us(p);
    assert_true(fabs(outer_us - 0.3) < 1e-6);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_merge_cut_subtract_and_unite),
        cmocka_unit_test(a_moment_counts_for_the_first_role),
        cmocka_unit_test(calls_of_the_driver_count_as_runtime),
        cmocka_unit_test(full_cover_resets_free_time),
        cmocka_unit_test(collectives_claim_their_kernels),
        cmocka_unit_test(two_libraries_end_the_distributed_view),
        cmocka_unit_test(the_tail_is_cut_below_four_fifths),
        cmocka_unit_test(device_work_moves_the_bounds_of_steps),
        cmocka_unit_test(without_steps_the_trace_is_one_window),
        cmocka_unit_test(without_host_events_there_are_no_bounds),
        cmocka_unit_test(a_step_needs_a_number),
        cmocka_unit_test(decimal_times_are_exact_and_for_the_plugin_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
