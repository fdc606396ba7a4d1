/* Idle time and launches of small traces, worked out by hand [CAU-1] [CAU-2]. */
#include "ingest/analysis/causes/idle.h"
#include "ingest/analysis/causes/launches.h"
#include "tests/unit/ingest/analysis/causes_builder.h"

static struct idle idle_of(struct fixture *f, enum causes_last_step last_step)
{
    struct idle idle;
    assert_true(idle_analyse(f->build.trace, 0, last_step, 10, &f->arena, &idle));
    return idle;
}

/* The example of the specification: a gap of 80, of which the host waited 30. */
static void a_gap_is_divided_by_what_the_host_did(void **state)
{
    struct fixture f;
    begin(&f);
    kernel(&f, 7, 10, 20, 1);
    op(&f, "aten::item", 30, 80);
    call(&f, "cudaStreamSynchronize", 40, 70, 2);
    op(&f, "aten::mm", 85, 96);
    call(&f, "cudaLaunchKernel", 90, 95, 3);
    kernel(&f, 7, 100, 110, 3);
    struct idle idle = idle_of(&f, CAUSES_KEEP_LAST_STEP);
    assert_int_equal(idle.stream_count, 1);
    const struct idle_lane *lane = &idle.streams[0];
    assert_int_equal(lane->idle_ns, 80 * US);
    assert_int_equal(lane->busy_ns, 20 * US);
    assert_int_equal(lane->causes[IDLE_HOST_WAIT].count, 1);
    assert_int_equal(lane->host_ns[HOST_SYNCHRONISATION], 30 * US);
    assert_int_equal(lane->host_ns[HOST_OPERATOR], 26 * US);
    assert_int_equal(lane->host_ns[HOST_RUNTIME], 5 * US);
    assert_int_equal(lane->host_ns[HOST_NOTHING], 19 * US);
    assert_int_equal(idle.longest_count, 1);
    assert_string_equal(idle.longest[0].host, "synchronisation");
    assert_string_equal(idle.longest[0].host_name, "cudaStreamSynchronize");
    assert_int_equal(idle.longest[0].launch_event, 4);
    end(&f);
}

/* Loading of data hides what runs inside it, and counts where nothing else is open. */
static void data_loading_comes_first(void **state)
{
    struct fixture f;
    begin(&f);
    kernel(&f, 7, 0, 10, TRACE_NO_ID);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "enumerate(DataLoader)#_Next", 15, 40,
         TRACE_NO_ID);
    op(&f, "aten::stack", 20, 50);
    call(&f, "cudaLaunchKernel", 60, 65, 3);
    kernel(&f, 7, 70, 80, 3);
    struct idle idle = idle_of(&f, CAUSES_KEEP_LAST_STEP);
    const int64_t *host_ns = idle.streams[0].host_ns;
    assert_int_equal(host_ns[HOST_DATA_LOADING], 25 * US);
    assert_int_equal(host_ns[HOST_OPERATOR], 10 * US);
    assert_int_equal(host_ns[HOST_RUNTIME], 5 * US);
    assert_int_equal(host_ns[HOST_NOTHING], 20 * US);
    end(&f);
}

/* 0–10 and 5–20 overlap; the next comes 40 later without a known launch; then one 20 later. */
static void causes_of_gaps(void **state)
{
    struct fixture f;
    begin(&f);
    call(&f, "cudaLaunchKernel", 0, 1, 4);
    kernel(&f, 7, 0, 10, TRACE_NO_ID);
    kernel(&f, 7, 5, 20, TRACE_NO_ID);
    kernel(&f, 7, 60, 70, TRACE_NO_ID);
    kernel(&f, 7, 90, 95, 4);
    kernel(&f, 8, 65, 80, 4);
    struct idle idle = idle_of(&f, CAUSES_KEEP_LAST_STEP);
    const struct idle_lane *lane = &idle.streams[0];
    assert_int_equal(lane->causes[IDLE_OTHER].count, 1);
    assert_int_equal(lane->causes[IDLE_OTHER].sum_ns, 40 * US);
    assert_int_equal(lane->causes[IDLE_KERNEL_WAIT].count, 2);
    assert_int_equal(lane->causes[IDLE_KERNEL_WAIT].min_ns, 0);
    assert_int_equal(lane->causes[IDLE_KERNEL_WAIT].max_ns, 20 * US);
    assert_int_equal(lane->causes[IDLE_HOST_WAIT].min_ns, CAUSES_UNKNOWN);
    assert_int_equal(lane->host_ns[HOST_UNKNOWN], 40 * US);
    /* With the other stream the device stands still 40 and 10. */
    assert_int_equal(idle.device_count, 1);
    assert_int_equal(idle.devices[0].idle_ns, 50 * US);
    end(&f);
}

/* The gap 10–32: the host waits until 15 and again 25–30, an operator runs 15–25. Waiting and
 * operator have 10 each: waiting stands first in the order of kinds, and of its two stretches the
 * earlier counts, as long as it is inside the gap [CAU-1.4]. */
static void kinds_that_are_as_long_go_by_their_order(void **state)
{
    struct fixture f;
    begin(&f);
    kernel(&f, 7, 0, 10, TRACE_NO_ID);
    call(&f, "cudaStreamSynchronize", 5, 15, 1);
    op(&f, "aten::mm", 15, 25);
    call(&f, "cudaEventSynchronize", 25, 30, 2);
    call(&f, "cudaLaunchKernel", 30, 31, 3);
    kernel(&f, 7, 32, 40, 3);
    struct idle idle = idle_of(&f, CAUSES_KEEP_LAST_STEP);
    const int64_t *host_ns = idle.streams[0].host_ns;
    assert_int_equal(host_ns[HOST_SYNCHRONISATION], 10 * US);
    assert_int_equal(host_ns[HOST_OPERATOR], 10 * US);
    assert_int_equal(host_ns[HOST_RUNTIME], US);
    assert_int_equal(host_ns[HOST_NOTHING], US);
    assert_string_equal(idle.longest[0].host, "synchronisation");
    assert_string_equal(idle.longest[0].host_name, "cudaStreamSynchronize");
    assert_int_equal(idle.longest[0].host_event, 1);
    end(&f);
}

/* The gap 10–100: Python 10–50, in it an operator 20–70, which is cut where its parent ends. What
 * another thread does, and an annotation, say nothing of the thread that launches [CAU-1.1]. */
static void an_event_ends_with_its_parent(void **state)
{
    struct fixture f;
    begin(&f);
    kernel(&f, 7, 0, 10, TRACE_NO_ID);
    op(&f, "aten::elsewhere", 10, 100);
    trace_set_index(&f.build.trace->events.track, 1, build_track(&f.build, BUILD_HOST_PID, 2));
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "forward", 5, 99, TRACE_NO_ID);
    host(&f, "python_function", EVENT_PYTHON_FUNCTION, "train.py(3): f", 10, 50, TRACE_NO_ID);
    op(&f, "aten::mm", 20, 70);
    call(&f, "cudaLaunchKernel", 90, 95, 3);
    kernel(&f, 7, 100, 110, 3);
    struct idle idle = idle_of(&f, CAUSES_KEEP_LAST_STEP);
    const int64_t *host_ns = idle.streams[0].host_ns;
    assert_int_equal(host_ns[HOST_PYTHON], 10 * US);
    assert_int_equal(host_ns[HOST_OPERATOR], 30 * US);
    assert_int_equal(host_ns[HOST_RUNTIME], 5 * US);
    assert_int_equal(host_ns[HOST_NOTHING], 45 * US);
    assert_string_equal(idle.longest[0].host, "nothing");
    assert_int_equal(idle.longest[0].host_event, CAUSES_UNKNOWN);
    end(&f);
}

/* The device works 0–10 (stream 7), 40–50 (8), 45–60 (7), 70–80 (8), 180–190 (7): gaps of 30, 10
 * and 100. The call at 120–125 launches the last work; before it an operator runs 90–110. */
static void gaps_of_a_device(void **state)
{
    struct fixture f;
    struct idle_gaps gaps;
    begin(&f);
    kernel(&f, 7, 0, 10, TRACE_NO_ID);
    kernel(&f, 8, 40, 50, TRACE_NO_ID);
    kernel(&f, 7, 45, 60, TRACE_NO_ID);
    kernel(&f, 8, 70, 80, TRACE_NO_ID);
    op(&f, "aten::item", 90, 110);
    call(&f, "cudaLaunchKernel", 120, 125, 3);
    kernel(&f, 7, 180, 190, 3);
    struct idle_gaps_request request = {
        .start_ns = INT64_MIN, .end_ns = INT64_MAX, .limit = 2, .next_event = 6};
    assert_true(idle_gaps_analyse(f.build.trace, 0, &request, &f.arena, &gaps));
    assert_int_equal(gaps.total, 3);
    assert_int_equal(gaps.left_out, 1);
    assert_int_equal(gaps.left_out_ns, 10 * US);
    assert_int_equal(gaps.device_count, 1);
    const struct idle_device_gaps *device = &gaps.devices[0];
    assert_int_equal(device->lane.idle_ns, 140 * US);
    assert_int_equal(device->count, 2);
    assert_int_equal(device->start_ns[0], 10 * US);
    assert_int_equal(device->duration_ns[0], 30 * US);
    assert_int_equal(device->causes[0], IDLE_OTHER);
    assert_int_equal(device->next_event[0], 1);
    assert_int_equal(device->start_ns[1], 80 * US);
    assert_int_equal(device->duration_ns[1], 100 * US);
    assert_int_equal(device->causes[1], IDLE_HOST_WAIT);
    assert_true(gaps.has_chosen);
    assert_int_equal(gaps.chosen.stream, 7);
    assert_int_equal(gaps.chosen.previous_event, 3);
    assert_int_equal(gaps.chosen.launch_event, 5);
    assert_string_equal(gaps.chosen.host, "nothing");
    assert_int_equal(gaps.chosen_host_ns[HOST_OPERATOR], 20 * US);
    assert_int_equal(gaps.chosen_host_ns[HOST_RUNTIME], 5 * US);
    assert_int_equal(gaps.chosen_host_ns[HOST_NOTHING], 75 * US);
    /* From 60 to 80 only the gap of 10, which ends at 70; what ends none has no gap. */
    request = (struct idle_gaps_request){
        .start_ns = 60 * US, .end_ns = 80 * US, .limit = 9, .next_event = 0};
    assert_true(idle_gaps_analyse(f.build.trace, 0, &request, &f.arena, &gaps));
    assert_int_equal(gaps.total, 1);
    assert_int_equal(gaps.left_out, 0);
    assert_int_equal(gaps.devices[0].start_ns[0], 60 * US);
    assert_false(gaps.has_chosen);
    end(&f);
}

static void the_last_step_is_dropped_with_its_work(void **state)
{
    struct fixture f;
    begin(&f);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "ProfilerStep#1", 0, 50, TRACE_NO_ID);
    call(&f, "cudaLaunchKernel", 1, 2, 1);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "ProfilerStep#2", 50, 100, TRACE_NO_ID);
    call(&f, "cudaLaunchKernel", 51, 52, 2);
    kernel(&f, 7, 10, 20, 1);
    kernel(&f, 7, 60, 70, 2);
    assert_int_equal(idle_of(&f, CAUSES_KEEP_LAST_STEP).streams[0].work, 2);
    assert_int_equal(idle_of(&f, CAUSES_DROP_LAST_STEP).streams[0].work, 1);
    end(&f);
}

/* Two calls at 0 and 2; their works start at 5 and 30. */
static void launches_and_the_queue(void **state)
{
    struct fixture f;
    struct launches launches;
    const struct launch_stream_id asked = {0, 7};
    begin(&f);
    call(&f, "cudaLaunchKernel", 0, 1, 1);
    call(&f, "cudaLaunchKernel", 2, 60, 2);
    call(&f, "cudaStreamSynchronize", 3, 4, 3);
    kernel(&f, 7, 5, 30, 1);
    kernel(&f, 7, 30, 35, 2);
    struct trace_track *thread =
        &f.build.trace->tracks[trace_event_track(&f.build.trace->events, 0)];
    thread->tid_is_int = false; /* "1" is thread 1, too */
    thread->tid_is_text = true;
    assert_true(
        launches_analyse(f.build.trace, 0, CAUSES_KEEP_LAST_STEP, &asked, &f.arena, &launches));
    assert_int_equal(launches.count, 2);
    assert_int_equal(launches.rows[0].delay_ns, 4 * US);
    assert_int_equal(launches.rows[1].delay_ns, 0);
    assert_int_equal(launches.rows[1].thread, 1);
    assert_int_equal(launches.short_kernels, 1);
    assert_int_equal(launches.slow_calls, 1);
    assert_int_equal(launches.stream_count, 1);
    assert_int_equal(launches.streams[0].queue.max_ns, 2);
    const int64_t lengths[] = {1, 2, 1, 0};
    assert_int_equal(launches.series_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(launches.series[i].length, lengths[i]);
    }
    end(&f);
}

/* 400 calls and as many works with one correlation would be 160,000 pairs. */
static void one_correlation_for_all_is_refused(void **state)
{
    struct fixture f;
    struct launches launches;
    begin(&f);
    for (int i = 0; i < 400; i++) {
        call(&f, "cudaLaunchKernel", i, i + 1, 1);
        kernel(&f, 7, i, i + 1, 1);
    }
    assert_true(
        launches_analyse(f.build.trace, 0, CAUSES_KEEP_LAST_STEP, NULL, &f.arena, &launches));
    assert_true(launches.is_too_many);
    assert_int_equal(idle_of(&f, CAUSES_KEEP_LAST_STEP).streams[0].work, 400);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_divided_by_what_the_host_did),
        cmocka_unit_test(data_loading_comes_first),
        cmocka_unit_test(causes_of_gaps),
        cmocka_unit_test(kinds_that_are_as_long_go_by_their_order),
        cmocka_unit_test(an_event_ends_with_its_parent),
        cmocka_unit_test(gaps_of_a_device),
        cmocka_unit_test(the_last_step_is_dropped_with_its_work),
        cmocka_unit_test(launches_and_the_queue),
        cmocka_unit_test(one_correlation_for_all_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
