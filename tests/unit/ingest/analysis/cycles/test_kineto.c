/* Cycles of PyTorch's own traces: profiler steps, annotations, operators by self time. */
#include "tests/unit/ingest/analysis/cycles/cycle_fixture.h"

static void add_op(struct scene *s, const char *name, const char *tid, double ts, double dur)
{
    scene_event(s, "cpu_op", name, 300, tid, ts, dur, "{\"External id\": 1}");
}

static void add_kernel(struct scene *s, const char *name, double ts, double dur, int correlation)
{
    scene_add(s,
              "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 1, \"tid\": 7, "
              "\"ts\": %.3f, \"dur\": %.3f, \"args\": {\"device\": 1, \"stream\": 7, "
              "\"correlation\": %d}}",
              name, ts, dur, correlation);
}

static void add_steps(struct scene *s, const char *category)
{
    scene_event(s, category, "ProfilerStep#12", 300, "300", 2000, 1000, "{}");
    scene_event(s, category, "ProfilerStep#11", 300, "300", 1000, 1000, "{}");
    scene_add(s, "{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#11\", "
                 "\"pid\": 1, \"tid\": 7, \"ts\": 1, \"dur\": 5000}");
}

static void profiler_steps_are_cycles(void **state)
{
    static const char *const categories[] = {"user_annotation", "cpu_op", "Operator"};
    for (size_t i = 0; i < COUNT_OF(categories); i++) {
        struct scene s;
        scene_begin(&s);
        add_steps(&s, categories[i]);
        add_op(&s, "aten::add", "300", 1100, 100);
        add_op(&s, "aten::add", "301", 1990, 30);
        add_op(&s, "aten::add", "300", 2999, 100);
        add_op(&s, "aten::add", "300", 3100, 100);
        const struct trace_results *r = scene_run(&s, NULL);
        assert_int_equal(r->cycle_source, CYCLES_PROFILER_STEPS);
        assert_int_equal(r->cycle_count, 2);
        assert_string_equal(r->cycles[0].anchor, "ProfilerStep");
        assert_int_equal(r->cycles[0].kind, CYCLE_STEP);
        assert_int_equal(r->cycles[1].start_ns, 2000000);
        assert_near(r->cycles[1].dur_us, 1000);
        /* Host events count where they start, whole. */
        assert_near(scene_row(r, 1, "aten::add", NULL)->duration_us, 130);
        assert_near(scene_row(r, 1, "aten::add", NULL)->beta_pct, 13);
        assert_int_equal(scene_row(r, 1, "aten::add", NULL)->instances, 2);
        assert_near(scene_row(r, 2, "aten::add", NULL)->duration_us, 100);
        assert_int_equal(r->cycle_use_count, 2);
        scene_end(&s);
    }
}

static void operators_alone_are_no_cycles(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_op(&s, "aten::add", "300", 1100, 100);
    add_op(&s, "aten::add", "300", 1300, 100);
    add_kernel(&s, "k", 1400, 10, 5);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_source, CYCLES_NONE);
    assert_int_equal(r->cycle_count, 0);
    assert_int_equal(r->cycle_use_count, 0);
    assert_int_equal(r->counter_count, 0);
    scene_end(&s);
}

static void operators_count_with_their_self_time(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_steps(&s, "user_annotation");
    add_op(&s, "aten::linear", "300", 1100, 100);
    add_op(&s, "aten::t", "300", 1110, 20);
    add_op(&s, "aten::transpose", "300", 1112, 5);
    add_op(&s, "aten::addmm", "300", 1140, 50);
    add_op(&s, "aten::other_thread", "301", 1150, 10);
    add_op(&s, "aten::crooked", "300", 1190, 30);
    const struct trace_results *r = scene_run(&s, NULL);
    const struct cycle_use_row *row = scene_row(r, 1, "aten::linear", NULL);
    assert_near(row->duration_us, 100 - 20 - 50); /* what ends behind it does not lie in it */
    assert_string_equal(row->type, "operator");
    assert_string_equal(row->device, "Host");
    assert_near(scene_row(r, 1, "aten::t", NULL)->duration_us, 15);
    assert_near(scene_row(r, 1, "aten::transpose", NULL)->duration_us, 5);
    assert_near(scene_row(r, 1, "aten::addmm", NULL)->duration_us, 50);
    assert_near(scene_row(r, 1, "aten::crooked", NULL)->duration_us, 30);
    scene_end(&s);
}

/* Out of order, as older versions wrote them. */
static void the_order_of_the_file_does_not_matter(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_op(&s, "aten::addmm", "300", 1140, 50);
    add_steps(&s, "Operator");
    add_op(&s, "aten::linear", "300", 1100, 100);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 1, "aten::linear", NULL)->duration_us, 50);
    scene_end(&s);
}

/* Operators of two threads in turn, each behind the one inside it; few and many. Of equal
 * starts the longer one is the outer. */
static void operators_may_stand_behind_those_inside_them(void **state)
{
    static const int depths[] = {3, 200};
    for (size_t i = 0; i < COUNT_OF(depths); i++) {
        int depth = depths[i];
        struct scene s;
        scene_begin(&s);
        for (int inner = 0; inner < depth; inner++) {
            int start = 1100 + 2 * (depth - 1 - inner);
            add_op(&s, inner == 0 ? "aten::inner" : "aten::outer", "300", start, 2 * inner + 2);
            add_op(&s, "aten::other", "301", start, 1);
        }
        add_steps(&s, "Operator");
        add_op(&s, "aten::first", "302", 1500, 10);
        add_op(&s, "aten::second", "302", 1500, 30);
        const struct trace_results *r = scene_run(&s, NULL);
        assert_near(scene_row(r, 1, "aten::inner", NULL)->duration_us, 2);
        assert_near(scene_row(r, 1, "aten::outer", NULL)->duration_us, 2 * (depth - 1));
        assert_near(scene_row(r, 1, "aten::other", NULL)->duration_us, depth);
        assert_near(scene_row(r, 1, "aten::first", NULL)->duration_us, 10);
        assert_near(scene_row(r, 1, "aten::second", NULL)->duration_us, 20);
        scene_end(&s);
    }
}

static void device_work_follows_its_call(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_steps(&s, "user_annotation");
    scene_launch(&s, 300, 1900, 10, 41);
    add_kernel(&s, "of the first step", 2500, 400, 41);
    add_kernel(&s, "without a call", 2500, 40, 99);
    add_kernel(&s, "ncclKernel_AllReduce", 2600, 70, 0);
    scene_event(&s, "cuda_driver", "cuLaunchKernel", 300, "300", 1950, 5, "{\"correlation\": 43}");
    add_kernel(&s, "triton_of_the_driver", 2700, 4, 43);
    scene_launch(&s, 300, 500, 10, 44);
    add_kernel(&s, "of no step", 2700, 4, 44);
    scene_event(&s, "cuda_runtime", "cudaStreamSynchronize", 300, "300", 2950, 100, "{}");
    const struct trace_results *r = scene_run(&s, NULL);
    const struct cycle_use_row *row = scene_row(r, 1, "of the first step", NULL);
    assert_near(row->beta_pct, 40);
    assert_int_equal(row->pid, 300);
    assert_string_equal(row->device, "GPU 1 (virtual)");
    assert_string_equal(row->type, "gpu_compute");
    assert_int_equal(scene_row(r, 2, "without a call", NULL)->pid, 300);
    assert_string_equal(scene_row(r, 2, "ncclKernel_AllReduce", NULL)->type, "gpu_comm");
    assert_string_equal(scene_row(r, 1, "triton_of_the_driver", NULL)->simple_name,
                        "triton_kernel");
    assert_null(scene_find(r, 2, "of no step", NULL));
    assert_string_equal(scene_row(r, 2, "cudaStreamSynchronize", NULL)->type, "cpu_sync");
    scene_end(&s);
}

/* Correlations far apart are found as well as those in a row. */
static void correlations_may_be_any_numbers(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_steps(&s, "user_annotation");
    scene_launch(&s, 300, 1900, 10, 2000000000);
    scene_launch(&s, 300, 1910, 10, -7);
    add_kernel(&s, "a", 2500, 400, 2000000000);
    add_kernel(&s, "b", 2500, 400, -7);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_non_null(scene_find(r, 1, "a", NULL));
    assert_non_null(scene_find(r, 1, "b", NULL));
    scene_end(&s);
}

static void counters_of_steps_become_metrics(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_steps(&s, "user_annotation");
    add_kernel(&s, "k", 1500, 40, 0);
    scene_sample(&s, "CAT_XPU", "gpu_usage", "CAT_XPU_1", 1400, 30);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 1, "k", "gpu_usage")->mu_pct, 30);
    scene_end(&s);
}

static void repeated_annotations_are_cycles(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        double at = 1000 * i;
        scene_event(&s, "user_annotation", "request", 300, "300", at, 500, "{}");
        scene_event(&s, "user_annotation", "nccl:all_reduce", 300, "302", at, 900, "{}");
        add_op(&s, "aten::add", "300", at + 10, 100);
        add_op(&s, "aten::late", "300", at + 600, 100);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_source, CYCLES_ANNOTATION);
    assert_int_equal(r->cycle_count, 3);
    assert_string_equal(r->cycles[2].anchor, "request");
    assert_near(scene_row(r, 3, "aten::add", NULL)->beta_pct, 20);
    assert_null(scene_find(r, 3, "aten::late", NULL));
    scene_end(&s);
}

/* Requests of several threads overlap: an event belongs to that of its own thread. */
static void requests_of_threads_keep_their_events(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        const char *tid = i == 0 ? "300" : i == 1 ? "301" : "302";
        scene_event(&s, "user_annotation", "request", 300, tid, 10 * i, 500 - 30 * i, "{}");
        add_op(&s, "aten::add", tid, 100 + i, 100 + i);
    }
    add_op(&s, "aten::mul", "309", 200, 7);
    const struct trace_results *r = scene_run(&s, "request");
    for (int64_t i = 1; i <= 3; i++) {
        assert_near(scene_row(r, i, "aten::add", NULL)->duration_us, 99 + (double)i);
    }
    assert_near(scene_row(r, 3, "aten::mul", NULL)->duration_us, 7);
    scene_end(&s);
}

static void python_functions_can_be_the_anchor(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        double at = 1000 * i;
        scene_event(&s, "python_function", "serve.py(7): turn", 300, "300", at, 500, "{}");
        scene_event(&s, "user_annotation", "request", 300, "300", at, 600, "{}");
        scene_launch(&s, 300, at + 20, 10, 50 + i);
        add_kernel(&s, "k", at + 550, 100, 50 + i);
        add_op(&s, "aten::add", "300", at + 10, 100);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_source, CYCLES_ANCHOR);
    assert_string_equal(r->cycles[0].anchor, "serve.py(7): turn");
    assert_near(scene_row(r, 1, "k", NULL)->beta_pct, 20);
    assert_near(scene_row(r, 1, "aten::add", NULL)->duration_us, 100);
    scene_end(&s);
}

static void any_operator_can_be_the_marker(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_steps(&s, "user_annotation");
    add_op(&s, "aten::linear", "300", 1100, 100);
    add_op(&s, "aten::addmm", "300", 1140, 50);
    const struct trace_results *r = scene_run(&s, "aten::linear");
    assert_int_equal(r->cycle_source, CYCLES_MARKER);
    assert_int_equal(r->cycle_count, 1);
    assert_near(scene_row(r, 1, "aten::addmm", NULL)->beta_pct, 50);
    assert_near(scene_row(r, 1, "aten::linear", NULL)->beta_pct, 50);
    assert_true((r->views & 1U << VIEW_CYCLES) == 0);
    scene_end(&s);
}

/* Three decode steps and a longer prefill, in Python calls that repeat too. */
static void add_engine_steps(struct scene *s)
{
    static const char *const names[] = {"step[EXTEND bs=2 toks=64]", "step[DECODE bs=1 toks=1]",
                                        "step[DECODE bs=2 toks=2]", "step[DECODE bs=3 toks=3]"};
    scene_event(s, "user_annotation", names[0], 300, "300", 1000, 250, "{}");
    for (int i = 1; i < 4; i++) {
        scene_event(s, "user_annotation", names[i], 300, "300", 1000 + 300 * i, 100, "{}");
    }
    for (int i = 0; i < 4; i++) {
        scene_event(s, "python_function", "decorate_context", 300, "300", 1001 + 300 * i, 50, "{}");
        add_op(s, "aten::mm", "300", 1010 + 300 * i, 20);
    }
}

static void steps_of_an_engine_are_the_cycles(void **state)
{
    struct scene s;
    scene_begin(&s);
    add_engine_steps(&s);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_source, CYCLES_ANNOTATION);
    assert_int_equal(r->cycle_count, 3);
    assert_string_equal(r->cycles[0].anchor, "sglang:decode");
    assert_int_equal(r->cycles[0].kind, CYCLE_DECODE);
    assert_int_equal(r->cycles[0].start_ns, 1300000);
    assert_near(r->cycles[2].dur_us, 100);
    assert_near(scene_row(r, 3, "aten::mm", NULL)->beta_pct, 20);
    scene_end(&s);
}

static void a_phase_can_be_the_marker(void **state)
{
    struct err err = ERR_INIT;
    const struct cycles_options mixed = {.marker = "sglang:mixed"};
    struct scene s;
    scene_begin(&s);
    add_engine_steps(&s);
    const struct trace_results *r = scene_run(&s, "sglang:prefill");
    assert_int_equal(r->cycle_count, 1);
    assert_int_equal(r->cycles[0].kind, CYCLE_PREFILL);
    assert_near(r->cycles[0].dur_us, 250);
    scene_end(&s);
    scene_begin(&s);
    add_engine_steps(&s);
    r = scene_run(&s, "decorate_context");
    assert_string_equal(r->cycles[0].anchor, "decorate_context");
    scene_end(&s);
    scene_begin(&s);
    add_engine_steps(&s);
    assert_false(scene_try(&s, &mixed, &err));
    assert_int_equal(err.code, ERR_BAD_REQUEST);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiler_steps_are_cycles),
        cmocka_unit_test(operators_alone_are_no_cycles),
        cmocka_unit_test(operators_count_with_their_self_time),
        cmocka_unit_test(the_order_of_the_file_does_not_matter),
        cmocka_unit_test(operators_may_stand_behind_those_inside_them),
        cmocka_unit_test(device_work_follows_its_call),
        cmocka_unit_test(correlations_may_be_any_numbers),
        cmocka_unit_test(counters_of_steps_become_metrics),
        cmocka_unit_test(repeated_annotations_are_cycles),
        cmocka_unit_test(requests_of_threads_keep_their_events),
        cmocka_unit_test(python_functions_can_be_the_anchor),
        cmocka_unit_test(any_operator_can_be_the_marker),
        cmocka_unit_test(steps_of_an_engine_are_the_cycles),
        cmocka_unit_test(a_phase_can_be_the_marker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
