/* Traces cut to a window, and how the time of one divides. */
#include "ingest/analysis/classify/clip.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#define US INT64_C(1000)

static void assert_time(const struct build *b, uint32_t event, int64_t start_us, int64_t dur_us)
{
    const struct trace_events *events = &b->trace->events;
    assert_int_equal(trace_flags(events, event) & EVENT_NO_TS, 0);
    assert_int_equal(events->ts_ns[event], start_us * US);
    assert_int_equal(trace_dur_ns(events, event), dur_us * US);
}

static void assert_out(const struct build *b, uint32_t event)
{
    assert_int_equal(trace_flags(&b->trace->events, event) & EVENT_NO_TS, EVENT_NO_TS);
    assert_int_equal(b->trace->events.ts_ns[event], 0);
    assert_int_equal(trace_dur_ns(&b->trace->events, event), 0);
}

static void events_are_cut_at_both_ends(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "around", 1, 0, 100, 1);
    build_op(&b, "begins before", 1, 5, 30, 2);
    build_op(&b, "ends behind", 1, 30, 90, 3);
    build_op(&b, "inside", 1, 40, 45, 4);
    build_op(&b, "touches the begin", 1, 10, 20, 5);
    build_op(&b, "touches the end", 1, 60, 70, 6);
    build_op(&b, "before", 1, 0, 10, 7);
    build_op(&b, "behind", 1, 70, 80, 8);
    assert_true(clip_events(b.trace, 20 * US, 60 * US));
    assert_time(&b, 0, 20, 40);
    assert_time(&b, 1, 20, 10);
    assert_time(&b, 2, 30, 30);
    assert_time(&b, 3, 40, 5);
    for (uint32_t i = 4; i < 8; i++) {
        assert_out(&b, i);
    }
    build_end(&b);
}

/* What has no length belongs to a window that it stands at the edge of. */
static void instants_stay_at_the_edges(void **state)
{
    struct build b;
    build_begin(&b);
    static const int64_t at_us[] = {19, 20, 40, 60, 61};
    for (size_t i = 0; i < sizeof at_us / sizeof at_us[0]; i++) {
        build_op(&b, "empty", 1, at_us[i], at_us[i], 1);
    }
    assert_true(clip_events(b.trace, 20 * US, 60 * US));
    assert_out(&b, 0);
    assert_time(&b, 1, 20, 0);
    assert_time(&b, 2, 40, 0);
    assert_time(&b, 3, 60, 0);
    assert_out(&b, 4);
    build_end(&b);
}

/* Another phase is where it is or is not: a counter has no length that could be cut. */
static void only_complete_events_are_cut(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "begin", 1, 10, 50, 1);
    assert_true(
        trace_set_class(b.trace, 0, (struct event_class){.kind = EVENT_OPERATOR, .phase = 'B'}));
    build_op(&b, "metadata", 1, 0, 0, 2);
    assert_true(trace_set_class(
        b.trace, 1,
        (struct event_class){.kind = EVENT_OPERATOR, .flags = EVENT_NO_TS, .phase = 'M'}));
    assert_true(clip_events(b.trace, 10 * US, 20 * US));
    assert_time(&b, 0, 10, 40);
    assert_out(&b, 1);
    build_end(&b);
}

static void absurd_times_stay_within_bounds(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "long", 1, 0, 1, 1);
    b.trace->events.ts_ns[0] = -(INT64_C(1) << 62);
    assert_true(trace_set_dur_ns(b.trace, 0, INT64_C(1) << 62));
    build_op(&b, "inside", 1, -3, -2, 2);
    assert_true(clip_events(b.trace, INT64_MIN, INT64_MAX));
    assert_int_equal(b.trace->events.ts_ns[0], -(INT64_C(1) << 62));
    assert_int_equal(trace_dur_ns(&b.trace->events, 0), INT64_C(1) << 62);
    assert_true(clip_events(b.trace, -5 * US, INT64_MAX));
    assert_time(&b, 0, -5, 5);
    assert_time(&b, 1, -3, 1);
    build_end(&b);
}

/* Of operators that all cover the window the outer one still is the outer one, whatever the order
 * of the file. */
static void nesting_survives_the_cut(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "aten::inner", 1, 10, 90, 3);
    build_op(&b, "aten::outer", 1, 0, 100, 1);
    build_op(&b, "aten::middle", 1, 0, 95, 2);
    assert_true(clip_events(b.trace, 40 * US, 50 * US));
    struct trace_results *results = build_run(&b);
    const struct operator_row *rows = results->operators[OPERATOR_BY_NAME];
    assert_int_equal(results->operator_count[OPERATOR_BY_NAME], 3);
    for (size_t i = 0; i < 3; i++) {
        bool is_inner = strcmp(rows[i].name, "aten::inner") == 0;
        assert_int_equal(rows[i].host_total_ns, 10 * US);
        assert_int_equal(rows[i].host_self_ns, is_inner ? 10 * US : 0);
    }
    build_end(&b);
}

/* Inside of steps and outside, each moment once. */
static void time_divides_over_the_whole(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_op(&b, "aten::add", 1, 10, 60, 1);
    build_runtime(&b, 1, 20, 30, 7, 1);
    build_kernel(&b, "gemm", 50, 80, 7);
    build_kernel(&b, "late", 150, 250, 8);
    struct trace_results *results = build_run(&b);
    assert_int_equal(results->duration_ns, 250 * US);
    assert_int_equal(results->role_ns[TIME_KERNEL], 130 * US);
    assert_int_equal(results->role_ns[TIME_RUNTIME], 10 * US);
    assert_int_equal(results->role_ns[TIME_CPU_EXEC], 30 * US);
    assert_int_equal(results->role_ns[TIME_OTHER], 80 * US);
    build_end(&b);
}

/* A role that takes all the time leaves none to those behind it. */
static void a_full_role_leaves_nothing(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "aten::add", 1, 0, 100, 1);
    build_kernel(&b, "gemm", 0, 100, 7);
    struct trace_results *results = build_run(&b);
    assert_int_equal(results->role_ns[TIME_KERNEL], 100 * US);
    for (int role = TIME_MEMCPY; role < TIME_CATEGORY_COUNT; role++) {
        assert_int_equal(results->role_ns[role], 0);
    }
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_cut_at_both_ends),
        cmocka_unit_test(instants_stay_at_the_edges),
        cmocka_unit_test(only_complete_events_are_cut),
        cmocka_unit_test(absurd_times_stay_within_bounds),
        cmocka_unit_test(nesting_survives_the_cut),
        cmocka_unit_test(time_divides_over_the_whole),
        cmocka_unit_test(a_full_role_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
