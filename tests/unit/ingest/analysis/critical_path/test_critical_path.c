/* The critical path of small traces, worked out by hand [CAU-3]. */
#include "ingest/analysis/critical_path/critical_path.h"
#include "tests/unit/ingest/analysis/causes_builder.h"

static struct critical_path path_of(struct fixture *f, struct path_request request)
{
    struct critical_path path;
    request.options.annotation =
        request.options.annotation == NULL ? "" : request.options.annotation;
    request.top = request.top == 0 ? 5 : request.top;
    assert_true(critical_path_analyse(f->build.trace, 0, &request, &f->arena, &path));
    return path;
}

/* An operator 0–20 launches (5–10) work 30–60; then the host waits for it until 70, in a call from
 * 25 on. */
static void build_wait(struct fixture *f)
{
    struct build *b = &f->build;
    op(f, "aten::mm", 0, 20);
    call(f, "cudaLaunchKernel", 5, 10, 1);
    call(f, "cudaStreamSynchronize", 25, 70, 2);
    kernel(f, 7, 30, 60, 1);
    host(f, "cuda_sync", EVENT_OTHER, "Stream Sync", 26, 65, 2);
    trace_set_index(&b->trace->events.track, b->trace->events.count - 1, build_track(b, 0, 7));
    assert_true(trace_add_wait(b->trace, &(struct wait_args){.event = b->trace->events.count - 1,
                                                             .stream = 7,
                                                             .wait_stream = TRACE_NO_ID,
                                                             .wait_correlation = TRACE_NO_ID}));
}

/* 0 → 5 in the operator, 25 until the work starts, since the queue was empty, 30 of work; the wait
 * adds nothing. */
static void a_path_goes_through_the_device(void **state)
{
    struct fixture f;
    begin(&f);
    build_wait(&f);
    struct critical_path path = path_of(&f, (struct path_request){.edges = PATH_EDGES_ALL});
    assert_int_equal(path.state, PATH_BUILT);
    assert_int_equal(path.nodes, 10);
    assert_int_equal(path.edges_by_type[PATH_LAUNCH], 1);
    assert_int_equal(path.edges_by_type[PATH_SYNC], 1);
    assert_int_equal(path.length_ns, 60 * US);
    assert_int_equal(path.bound_ns[PATH_BOUND_CPU], 5 * US);
    assert_int_equal(path.bound_ns[PATH_BOUND_LAUNCH], 25 * US);
    assert_int_equal(path.bound_ns[PATH_BOUND_COMPUTE], 30 * US);
    assert_string_equal(path.gains[0].name, "gemm");
    assert_int_equal(path.gains[0].path_ns, 55 * US);
    assert_int_equal(path.gains[0].length_ns, 30 * US);
    assert_int_equal(path.gains[0].saved_at_most_ns, 30 * US);
    end(&f);
}

static const struct path_request own_ends = {.options = {.own_ends = true},
                                             .edges = PATH_EDGES_ALL};

static void assert_forward(const struct trace *trace, const struct critical_path *path)
{
    for (size_t i = 0; i < path->edge_count; i++) {
        const struct path_edge_row *edge = &path->edges[i];
        const struct trace_events *events = &trace->events;
        uint32_t from = (uint32_t)edge->from_event;
        uint32_t to = (uint32_t)edge->to_event;
        int64_t from_ns = events->ts_ns[from] +
                          (strcmp(edge->from_end, "end") == 0 ? trace_dur_ns(events, from) : 0);
        int64_t to_ns =
            events->ts_ns[to] + (strcmp(edge->to_end, "end") == 0 ? trace_dur_ns(events, to) : 0);
        assert_true(from_ns <= to_ns);
    }
}

/* A frame 0–20 ends within an operator 15–25, which calls another 22–24: of 25 us none counts
 * twice. If the end of the frame left the operator, the path would be 15 + 10 + 2 long and lead
 * from 25 back to 22. 15 are the frame's, 5 + 2 + 1 the operator's, 2 those of the other. */
static void a_frame_may_end_within_an_operator(void **state)
{
    static const struct {
        const char *name;
        int64_t path_us;
    } events[] = {{"frame", 15}, {"aten::conv2d", 8}, {"aten::empty", 2}};
    struct fixture f;
    begin(&f);
    op(&f, "frame", 0, 20);
    op(&f, "aten::conv2d", 15, 25);
    op(&f, "aten::empty", 22, 24);
    struct critical_path path = path_of(&f, own_ends);
    assert_int_equal(path.length_ns, 25 * US);
    assert_int_equal(path.path_nodes, 6);
    assert_forward(f.build.trace, &path);
    assert_int_equal(path.event_count, 3);
    for (size_t i = 0; i < path.event_count; i++) {
        assert_string_equal(path.events[i].name, events[i].name);
        assert_int_equal(path.events[i].path_ns, events[i].path_us * US);
    }
    end(&f);
}

/* Each starts and ends behind the one before, as no stack can: 0–10, 1–11, 2–12. */
static void events_may_end_in_the_order_of_their_starts(void **state)
{
    struct fixture f;
    begin(&f);
    for (int64_t i = 0; i < 3; i++) {
        op(&f, "aten::add", i, i + 10);
    }
    op(&f, "aten::mul", 14, 15);
    struct critical_path path = path_of(&f, own_ends);
    assert_int_equal(path.length_ns, 13 * US); /* nothing explains 12 to 14 */
    assert_int_equal(path.path_nodes, 8);
    assert_int_equal(path.path_edges_by_type[PATH_DEPENDENCY], 1);
    assert_forward(f.build.trace, &path);
    end(&f);
}

/* An event without length ends before it begins: its end takes what is on top, which ends later,
 * and has no place on the stack yet. The path is the operator, which that end leaves. */
static void an_event_may_end_before_it_begins(void **state)
{
    struct fixture f;
    begin(&f);
    op(&f, "aten::mm", 0, 20);
    host(&f, "cuda_sync", EVENT_OTHER, "Stream Wait Event", 10, 10, TRACE_NO_ID);
    struct critical_path path = path_of(&f, own_ends);
    assert_int_equal(path.nodes, 2);
    assert_int_equal(path.edge_total, 1);
    assert_int_equal(path.length_ns, 20 * US);
    end(&f);
}

/* As HTA: the end of the frame at 20 leaves the operator, whose end is at 25; the frame is left
 * last, at 25, and its end at 20 comes behind that with weight 0. The path: 15, 10 to the
 * operator's end. */
static void an_end_leaves_what_is_on_top(void **state)
{
    struct fixture f;
    begin(&f);
    op(&f, "frame", 0, 20);
    op(&f, "aten::conv2d", 15, 25);
    struct critical_path path = path_of(&f, (struct path_request){.edges = PATH_EDGES_ALL});
    assert_int_equal(path.edge_count, 3);
    assert_int_equal(path.edges[1].weight_ns, 10 * US);
    assert_string_equal(path.edges[1].to_end, "end");
    assert_int_equal(path.edges[1].to_event, 1);
    assert_int_equal(path.edges[2].to_event, 0);
    assert_int_equal(path.edges[2].weight_ns, 0);
    assert_int_equal(path.length_ns, 25 * US);
    end(&f);
}

/* Edges in order of their nodes; the answer has only the rows that are asked for. */
static void edges_are_written_in_part(void **state)
{
    struct fixture f;
    begin(&f);
    build_wait(&f);
    struct critical_path all = path_of(&f, (struct path_request){.edges = PATH_EDGES_ALL});
    struct critical_path part = path_of(
        &f, (struct path_request){.edges = PATH_EDGES_ALL, .first_edge = 2, .edges_max = 3});
    struct critical_path behind =
        path_of(&f, (struct path_request){.edges = PATH_EDGES_ALL, .first_edge = 100});
    assert_int_equal(all.edge_count, all.edge_total);
    assert_true(all.edge_count > 5);
    assert_int_equal(part.edge_total, all.edge_total);
    assert_int_equal(part.edge_count, 3);
    for (size_t i = 0; i < part.edge_count; i++) {
        assert_int_equal(part.edges[i].from_event, all.edges[i + 2].from_event);
        assert_int_equal(part.edges[i].to_event, all.edges[i + 2].to_event);
        assert_int_equal(part.edges[i].is_on_path, all.edges[i + 2].is_on_path);
    }
    assert_int_equal(behind.edge_total, all.edge_total);
    assert_int_equal(behind.edge_count, 0);
    end(&f);
}

static void a_factor_is_rounded_half_to_even(void **state)
{
    struct fixture f;
    const struct path_scale half = {.name = "gemm", .numerator = 5, .denominator = 10};
    begin(&f);
    build_wait(&f);
    f.build.trace->events.ts_ns[3] += 1; /* the work: 30.001 to 60.001, so that it weighs 30000 */
    struct critical_path path =
        path_of(&f, (struct path_request){.scales = &half, .scale_count = 1});
    assert_int_equal(path.length_ns, 60 * US + 1);
    assert_int_equal(path.scaled_length_ns, 45 * US + 1);
    end(&f);
}

/* 5 in the operator, 25 to the start, 30 of work: the work twice as long makes 90; the operator for
 * nothing 85; the work for nothing leaves the 30 before it, and a name that is not there all. */
static void what_if_several_names_took_another_time(void **state)
{
    static const struct path_scale scales[] = {
        {.name = "gemm", .numerator = 2, .denominator = 1},
        {.name = "aten::mm", .numerator = 0, .denominator = 1},
        {.name = "gemm", .numerator = 0, .denominator = 1},
        {.name = "not there", .numerator = 0, .denominator = 1},
    };
    static const struct {
        size_t first, count;
        int64_t length_us;
    } cases[] = {{0, 1, 90}, {0, 2, 85}, {2, 1, 30}, {3, 1, 60}};
    struct fixture f;
    begin(&f);
    build_wait(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct critical_path path =
            path_of(&f, (struct path_request){.scales = scales + cases[i].first,
                                              .scale_count = cases[i].count});
        assert_int_equal(path.length_ns, 60 * US);
        assert_int_equal(path.scaled_length_ns, cases[i].length_us * US);
    }
    end(&f);
}

/* Beside the path of 60 another thread works from 0 to 45: the work for nothing leaves that, not
 * the 30 before the work; and twice the other thread's operator is a path of 90. */
static void another_path_bounds_what_a_name_gains(void **state)
{
    static const struct path_scale work = {.name = "gemm", .numerator = 1, .denominator = 4};
    static const struct path_scale other = {.name = "aten::sort", .numerator = 2, .denominator = 1};
    struct fixture f;
    begin(&f);
    build_wait(&f);
    op(&f, "aten::sort", 0, 45);
    trace_set_index(&f.build.trace->events.track, f.build.trace->events.count - 1,
                    build_track(&f.build, BUILD_HOST_PID, 2));
    struct critical_path path =
        path_of(&f, (struct path_request){.scales = &work, .scale_count = 1});
    assert_int_equal(path.length_ns, 60 * US);
    assert_int_equal(path.scaled_length_ns, 45 * US);
    assert_string_equal(path.gains[0].name, "gemm");
    assert_int_equal(path.gains[0].length_ns, 45 * US);
    path = path_of(&f, (struct path_request){.scales = &other, .scale_count = 1});
    assert_int_equal(path.scaled_length_ns, 90 * US);
    end(&f);
}

/* Nine names each have a microsecond of the path: the gains of more names than fit side by side. */
static void each_of_many_names_gains_what_it_has(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    struct fixture f;
    begin(&f);
    for (int64_t i = 0; i < 9; i++) {
        op(&f, names[i], i, i + 1);
    }
    op(&f, "a", 9, 10);
    struct critical_path path = path_of(&f, (struct path_request){.top = 9});
    assert_int_equal(path.length_ns, 10 * US);
    assert_int_equal(path.gain_count, 9);
    for (size_t i = 0; i < 9; i++) {
        assert_string_equal(path.gains[i].name, names[i]);
        assert_int_equal(path.gains[i].length_ns, (i == 0 ? 8 : 9) * US);
    }
    end(&f);
}

static void a_window_is_an_instance_of_an_annotation(void **state)
{
    struct fixture f;
    begin(&f);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "ProfilerStep#1", 0, 10, TRACE_NO_ID);
    op(&f, "aten::add", 2, 6);
    host(&f, "user_annotation", EVENT_USER_ANNOTATION, "ProfilerStep#2", 20, 40, TRACE_NO_ID);
    op(&f, "aten::mul", 22, 30);
    const struct path_options second = {
        .annotation = "ProfilerStep", .first_instance = 1, .last_instance = 1};
    const struct path_options third = {
        .annotation = "ProfilerStep", .first_instance = 2, .last_instance = 2};
    struct critical_path path = path_of(&f, (struct path_request){.options = second});
    assert_int_equal(path.length_ns, 8 * US);
    assert_int_equal(path.event_count, 1);
    assert_string_equal(path.events[0].name, "aten::mul");
    assert_int_equal(path_of(&f, (struct path_request){.options = third}).state,
                     PATH_NO_ANNOTATION);
    end(&f);
}

/* Long enough for a second thread: every 100 us an operator of 20, which launches 30 of work from 5
 * to 10. Nine names of operators take turns; each has 15 of its 20, the last one 5 of them. */
static void a_long_trace_is_worked_on_by_two_threads(void **state)
{
    static const char *const names[] = {"op0", "op1", "op2", "op3", "op4",
                                        "op5", "op6", "op7", "op8"};
    const int64_t turns = PATH_NODES_FOR_A_THREAD / 6 / 9 + 1;
    const int64_t count = turns * 9;
    const int64_t length_us = 20 * (count - 1) + 60;
    struct fixture f;
    begin(&f);
    for (int64_t i = 0; i < count; i++) {
        op(&f, names[i % 9], 100 * i, 100 * i + 20);
        call(&f, "cudaLaunchKernel", 100 * i + 5, 100 * i + 10, i + 1);
        kernel(&f, 7, 100 * i + 30, 100 * i + 60, i + 1);
    }
    struct critical_path path =
        path_of(&f, (struct path_request){.top = PATH_TOP_MAX, .edges = PATH_EDGES_ALL});
    assert_int_equal(path.nodes, 6 * count);
    assert_int_equal(path.edges_by_type[PATH_LAUNCH], count);
    assert_int_equal(path.length_ns, length_us * US);
    assert_int_equal(path.gain_count, 11);
    for (size_t i = 0; i < path.gain_count; i++) {
        const struct path_gain *gain = &path.gains[i];
        int64_t less_us = strcmp(gain->name, "gemm") == 0               ? 30
                          : strcmp(gain->name, "cudaLaunchKernel") == 0 ? 5 * (count - 1)
                          : strcmp(gain->name, "op8") == 0              ? 15 * (turns - 1) + 5
                                                                        : 15 * turns;
        assert_int_equal(gain->length_ns, (length_us - less_us) * US);
    }
    end(&f);
}

/* Nothing takes part: an answer all the same. */
static void an_empty_trace_has_an_empty_path(void **state)
{
    struct fixture f;
    begin(&f);
    struct critical_path path = path_of(&f, (struct path_request){.edges = PATH_EDGES_ALL});
    assert_int_equal(path.nodes, 0);
    assert_int_equal(path.length_ns, 0);
    assert_int_equal(path.event_count, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_goes_through_the_device),
        cmocka_unit_test(an_end_leaves_what_is_on_top),
        cmocka_unit_test(a_frame_may_end_within_an_operator),
        cmocka_unit_test(events_may_end_in_the_order_of_their_starts),
        cmocka_unit_test(an_event_may_end_before_it_begins),
        cmocka_unit_test(edges_are_written_in_part),
        cmocka_unit_test(a_factor_is_rounded_half_to_even),
        cmocka_unit_test(what_if_several_names_took_another_time),
        cmocka_unit_test(another_path_bounds_what_a_name_gains),
        cmocka_unit_test(each_of_many_names_gains_what_it_has),
        cmocka_unit_test(a_window_is_an_instance_of_an_annotation),
        cmocka_unit_test(a_long_trace_is_worked_on_by_two_threads),
        cmocka_unit_test(an_empty_trace_has_an_empty_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
