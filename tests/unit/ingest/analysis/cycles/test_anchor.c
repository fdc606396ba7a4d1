/* Which function is the anchor, and which cycles its calls make. */
#include "tests/unit/ingest/analysis/cycles/cycle_fixture.h"

static void calls_of_a_function_are_cycles(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    for (int i = 0; i < 3; i++) {
        scene_slice(&s, "runq", 7, 1010 + 200 * i, 10 + i);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_source, CYCLES_ANCHOR);
    assert_int_equal(r->cycle_count, 3);
    assert_true((r->views & 1U << VIEW_CYCLES) != 0);
    assert_string_equal(r->cycles[1].anchor, "turn");
    assert_int_equal(r->cycles[1].kind, CYCLE_STEP);
    assert_int_equal(r->cycles[1].start_ns, 1200000);
    assert_near(r->cycles[1].dur_us, 100);
    const struct cycle_use_row *row = scene_row(r, 3, "runq", NULL);
    assert_near(row->beta_pct, 12);
    assert_near(row->duration_us, 12);
    assert_int_equal(row->instances, 1);
    assert_int_equal(row->pid, 7);
    assert_string_equal(row->type, "runq");
    assert_string_equal(row->device, "Host");
    assert_true(isnan(row->mu_pct));
    scene_end(&s);
}

static void two_calls_are_not_enough(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_call(&s, "turn", 7, "main", 0, 10);
    scene_call(&s, "turn", 7, "main", 20, 10);
    scene_slice(&s, "runq", 7, 2, 3);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_source, CYCLES_NONE);
    assert_int_equal(r->cycle_count, 0);
    assert_int_equal(r->views, 0);
    scene_end(&s);
}

/* What the anchor is when these functions are called three times each, one after the other. */
static void assert_anchor(const char *const *names, const double *durations, const char *want)
{
    struct scene s;
    double at = 0;
    scene_begin(&s);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; names[i] != NULL; i++) {
            scene_call(&s, names[i], 7, "main", at, durations[i]);
            scene_slice(&s, "runq", 7, at, 1);
            at += durations[i] + 1;
        }
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_true(r->cycle_count > 0);
    assert_string_equal(r->cycles[0].anchor, want);
    scene_end(&s);
}

static void the_longest_total_wins(void **state)
{
    assert_anchor((const char *[]){"a", "b", NULL}, (double[]){50, 60}, "b");
    assert_anchor((const char *[]){"Event.wait", "b", NULL}, (double[]){500, 60}, "b");
    assert_anchor(
        (const char *[]){"_call_impl", "Condition.wait", "Scheduler.recv_requests", "b", NULL},
        (double[]){500, 500, 500, 1}, "b");
}

/* Totals within a tenth: 300 in three calls against 290 in two and a half times the length. */
static void of_close_totals_the_longer_calls_win(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 6; i++) {
        scene_call(&s, "many", 7, "main", 100 * i, 50);
    }
    for (int i = 0; i < 3; i++) {
        scene_call(&s, "few", 7, "main", 1000 + 100 * i, 95);
        scene_slice(&s, "runq", 7, 1000 + 100 * i, 1);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_string_equal(r->cycles[0].anchor, "few");
    scene_end(&s);
}

static void calls_inside_their_own_name_do_not_count(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_call(&s, "turn", 7, "main", 1220, 20);
    scene_slice(&s, "runq", 7, 1225, 5);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_count, 1);
    assert_int_equal(r->cycles[0].number, 2);
    assert_near(r->cycles[0].dur_us, 100);
    scene_end(&s);
}

/* Nothing is called three times: no nesting, so that the inner call is a cycle of its own. */
static void a_marker_without_candidates_knows_no_nesting(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_call(&s, "once", 7, "main", 0, 100);
    scene_call(&s, "once", 7, "main", 50, 20);
    scene_slice(&s, "runq", 7, 55, 5);
    const struct trace_results *r = scene_run(&s, "once");
    assert_int_equal(r->cycle_source, CYCLES_MARKER);
    assert_int_equal(r->cycle_count, 1);
    assert_int_equal(scene_row(r, 1, "runq", NULL)->instances, 1);
    scene_end(&s);
}

static void a_marker_must_be_there(void **state)
{
    struct scene s;
    struct err err = ERR_INIT;
    struct cycles_options options = {.marker = "nowhere"};
    scene_begin(&s);
    scene_turns(&s, 7);
    assert_false(scene_try(&s, &options, &err));
    assert_int_equal(err.code, ERR_BAD_REQUEST);
    assert_non_null(strstr(err.msg, "\"nowhere\""));
    scene_end(&s);
}

/* The first cycle starts 1 us behind its call, the others 1 us behind the one before. */
static void a_chain_leaves_no_time_out(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_slice(&s, "runq", 8, 900, 1000);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 1, "runq", NULL)->duration_us, 99);
    assert_near(scene_row(r, 2, "runq", NULL)->duration_us, 199);
    assert_near(scene_row(r, 3, "runq", NULL)->duration_us, 199);
    assert_near(scene_row(r, 3, "runq", NULL)->beta_pct, 199);
    scene_end(&s);
}

static void a_pause_breaks_the_chain(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_call(&s, "turn", 7, "main", 0, 2000);
    scene_call(&s, "turn", 7, "main", 3000, 2000);
    scene_call(&s, "turn", 7, "main", 60000, 2000);
    scene_slice(&s, "runq", 8, 0, 70000);
    scene_slice(&s, "mmap", 7, 10000, 45000);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 2, "runq", NULL)->duration_us, 2999);
    assert_near(scene_row(r, 3, "runq", NULL)->duration_us, 1999);
    /* What lies between two calls of its process is the later one's, whole, across the pause. */
    assert_near(scene_row(r, 3, "mmap", NULL)->beta_pct, 2250);
    scene_end(&s);
}

static void only_the_lowest_pid_makes_steps(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        scene_call(&s, "turn", 9, "b", 1010 + 200 * i, 100);
        scene_call(&s, "turn", 8, "a", 1000 + 200 * i, 100);
        scene_slice(&s, "runq", 9, 1020 + 200 * i, 10);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_int_equal(r->cycle_count, 3);
    /* The time runs over the calls of the other process too, cut at the boundary. */
    assert_int_equal(r->cycles[0].start_ns, 1000000);
    assert_near(r->cycles[0].dur_us, 100);
    assert_int_equal(r->cycles[1].start_ns, 1101000);
    assert_near(r->cycles[1].dur_us, 199);
    assert_int_equal(scene_row(r, 2, "runq", NULL)->pid, 9);
    scene_end(&s);
}

/* The anchor lies in an outer call that holds no other anchor: what lies beside it is in the gap.
 */
static void outer_calls_that_hold_one_anchor_are_its_boundary(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 4; i++) {
        scene_call(&s, "outer", 7, "main", 1000 * i, 900);
        scene_call(&s, "inner", 7, "main", 1000 * i + 100, 200);
        scene_slice(&s, "runq", 7, 1000 * i + 400, 10);
        scene_slice(&s, "mmap", 7, 1000 * i + 920, 10);
    }
    const struct trace_results *r = scene_run(&s, "inner");
    /* The slice hangs under `outer`, which is no anchor: it is in the cycle that begins behind the
     * end of `inner` ... */
    assert_near(scene_row(r, 2, "runq", NULL)->duration_us, 10);
    assert_null(scene_find(r, 1, "runq", NULL));
    /* ... and the call between two boundaries is the later one's. */
    assert_near(scene_row(r, 2, "mmap", NULL)->duration_us, 10);
    assert_null(scene_find(r, 1, "mmap", NULL));
    scene_end(&s);
}

/* `prepare` stands before each turn; before the first one it tells where that begins. */
static void the_first_cycle_begins_with_the_usual_calls(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    for (int i = 0; i < 3; i++) {
        scene_call(&s, "prepare", 7, "main", 920 + 200 * i, 30);
    }
    scene_slice(&s, "runq", 8, 900, 5);
    scene_slice(&s, "runq", 8, 930, 5);
    scene_slice(&s, "runq", 8, 990, 20);
    scene_kernel(&s, "early", 8, 960, 8, 0);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 1, "early", NULL)->duration_us, 8);
    assert_int_equal(r->cycles[0].start_ns, 920000);
    assert_near(r->cycles[0].dur_us, 180);
    assert_near(scene_row(r, 1, "runq", NULL)->duration_us, 5 + 9);
    scene_end(&s);
}

static void an_uncut_call_brings_its_device_work(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_launch(&s, 7, 1050, 5, 11);
    scene_kernel(&s, "late", 7, 1350, 40, 11);
    scene_launch(&s, 7, 1290, 20, 12); /* under `turn`, and beyond its end: in two cycles, cut */
    scene_kernel(&s, "of a cut call", 7, 1400, 40, 12);
    scene_launch(&s, 7, 1450, 5, 0);
    scene_kernel(&s, "of no call", 7, 1460, 5, 0);
    scene_kernel(&s, "of another process", 8, 1460, 5, 11);
    scene_event(&s, "CAT_APP", "cuLaunchKernelEx", 7, "probe", 1460, 2,
                "{\"args\": \"{\\\"correlation\\\": \\\"13\\\"}\"}");
    scene_kernel(&s, "probed", 7, 1470, 9, 13);
    const struct trace_results *r = scene_run(&s, NULL);
    assert_near(scene_row(r, 1, "late", NULL)->beta_pct, 40);
    assert_string_equal(scene_row(r, 1, "late", NULL)->device, "GPU 0 (virtual)");
    assert_null(scene_find(r, 2, "late", NULL));
    for (int64_t i = 1; i <= 3; i++) {
        assert_null(scene_find(r, i, "of a cut call", NULL));
        assert_null(scene_find(r, i, "of no call", NULL));
        assert_null(scene_find(r, i, "of another process", NULL));
    }
    assert_near(scene_row(r, 3, "probed", NULL)->duration_us, 9);
    scene_end(&s);
}

/* A text says "0"; only the number means that there is none. */
static void the_text_0_is_a_correlation(void **state)
{
    struct scene s;
    scene_begin(&s);
    scene_turns(&s, 7);
    scene_event(&s, "cuda_runtime", "launch", 7, "main", 1010, 5, "{\"correlation\": \"0\"}");
    scene_event(&s, "Kernel", "k", 7, "device:3", 1020, 5, "{\"correlation\": \"0\"}");
    const struct trace_results *r = scene_run(&s, NULL);
    assert_string_equal(scene_row(r, 1, "k", NULL)->device, "GPU 3 (virtual)");
    scene_end(&s);
}

/* Of two calls with equal start the one earlier in the file holds the other, even when shorter. */
static void equal_starts_nest_in_file_order(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        scene_call(&s, "short", 7, "main", 1000 * i, 50);
        scene_call(&s, "long", 7, "main", 1000 * i, 500);
        scene_slice(&s, "runq", 7, 1000 * i + 10, 5);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_string_equal(r->cycles[0].anchor, "short");
    scene_end(&s);
}

/* ---- times of doubles ---- */

static void times_of_doubles_are_taken_as_meant(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        scene_add(
            &s,
            "{\"ph\": \"X\", \"cat\": \"python\", \"name\": \"turn\", \"pid\": 7, \"tid\": 1, "
            "\"ts\": 176300158000%d344.2, \"dur\": 100.5}",
            i);
        scene_add(&s,
                  "{\"ph\": \"X\", \"cat\": \"x\", \"name\": \"runq\", \"pid\": 7, \"tid\": 2, "
                  "\"ts\": 176300158000%d399.8, \"dur\": 1.25}",
                  i);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_true(r->cycles[0].start_ns == INT64_C(1763001580000344250));
    assert_near(scene_row(r, 1, "runq", NULL)->duration_us, 1.25);
    scene_end(&s);
}

static void times_with_nanoseconds_are_exact(void **state)
{
    struct scene s;
    scene_begin(&s);
    for (int i = 0; i < 3; i++) {
        scene_add(
            &s,
            "{\"ph\": \"X\", \"cat\": \"python\", \"name\": \"turn\", \"pid\": 7, \"tid\": 1, "
            "\"ts\": 176300158000%d344.2%02d, \"dur\": 100.5}",
            i, i);
        scene_add(&s,
                  "{\"ph\": \"X\", \"cat\": \"x\", \"name\": \"runq\", \"pid\": 7, \"tid\": 2, "
                  "\"ts\": 176300158000%d350, \"dur\": 1.25}",
                  i);
    }
    const struct trace_results *r = scene_run(&s, NULL);
    assert_true(r->cycles[0].start_ns == INT64_C(1763001580000344200));
    assert_true(r->cycles[1].start_ns == INT64_C(1763001580001344201));
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_a_function_are_cycles),
        cmocka_unit_test(two_calls_are_not_enough),
        cmocka_unit_test(the_longest_total_wins),
        cmocka_unit_test(of_close_totals_the_longer_calls_win),
        cmocka_unit_test(calls_inside_their_own_name_do_not_count),
        cmocka_unit_test(a_marker_without_candidates_knows_no_nesting),
        cmocka_unit_test(a_marker_must_be_there),
        cmocka_unit_test(a_chain_leaves_no_time_out),
        cmocka_unit_test(a_pause_breaks_the_chain),
        cmocka_unit_test(only_the_lowest_pid_makes_steps),
        cmocka_unit_test(outer_calls_that_hold_one_anchor_are_its_boundary),
        cmocka_unit_test(the_first_cycle_begins_with_the_usual_calls),
        cmocka_unit_test(an_uncut_call_brings_its_device_work),
        cmocka_unit_test(the_text_0_is_a_correlation),
        cmocka_unit_test(equal_starts_nest_in_file_order),
        cmocka_unit_test(times_of_doubles_are_taken_as_meant),
        cmocka_unit_test(times_with_nanoseconds_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
