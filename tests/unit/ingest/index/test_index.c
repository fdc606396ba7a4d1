/* The trace index on traces whose answers are worked out by hand. */
#include "ingest/index/index.h"
#include "tests/unit/ingest/analysis/model_builder.h"
#include "tests/unit/ingest/formats/chrome_json/kineto_fixture.h"

struct made {
    struct build build;
    struct trace_index index;
};

static void make_begin(struct made *made)
{
    build_begin(&made->build);
}

static void make_index(struct made *made)
{
    assert_true(index_build(&made->index, made->build.trace));
}

static void make_end(struct made *made)
{
    index_free(&made->index);
    build_end(&made->build);
}

/* Events are numbered as they are built. */
static void
host(struct made *made, enum event_kind kind, const char *name, int64_t start, int64_t end)
{
    build_host(&made->build, kind, name, 1, start, end, TRACE_NO_ID);
}

static void
driver_call(struct made *made, int64_t tid, int64_t start, int64_t end, int64_t correlation)
{
    build_event(&made->build,
                (struct trace_event){.ts_ns = start * 1000,
                                     .dur_ns = (end - start) * 1000,
                                     .correlation = correlation,
                                     .external_id = TRACE_NO_ID,
                                     .track = build_track(&made->build, BUILD_HOST_PID, tid),
                                     .args = TRACE_NO_ARGS,
                                     .kind = EVENT_DRIVER,
                                     .flags = EVENT_HAS_DUR},
                "cuLaunchKernelEx");
}

/* ---- nesting ---- */

static void test_nests_by_containment(void **state)
{
    struct made made;
    make_begin(&made);
    host(&made, EVENT_OPERATOR, "inner", 20, 40); /* 0 */
    host(&made, EVENT_OPERATOR, "outer", 0, 100); /* 1: before it in time, behind it in the file */
    host(&made, EVENT_PYTHON_FUNCTION, "f.py(1): g", 20, 60); /* 2: starts with 0, is longer */
    build_runtime(&made.build, 1, 30, 35, 7, TRACE_NO_ID);    /* 3 */
    host(&made, EVENT_OPERATOR, "next", 60, 70);              /* 4: starts as 2 ends */
    make_index(&made);
    const struct trace_index *index = &made.index;
    const uint32_t order[] = {1, 2, 0, 3, 4};
    const uint32_t parents[] = {2, INDEX_NONE, 1, 0, 1};
    const uint32_t ends[] = {4, 5, 4, 4, 5};
    const uint32_t ops[] = {1, INDEX_NONE, 1, 0, 1};
    const int64_t self_us[] = {15, 50, 20, 5, 10};
    assert_int_equal(index->count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(index->in_order[i], order[i]);
        assert_int_equal(index->parent[i], parents[i]);
        assert_int_equal(index->end[i], ends[i]);
        assert_int_equal(index->op[i], ops[i]);
        assert_int_equal(index->self_ns[i], self_us[i] * 1000);
    }
    make_end(&made);
}

/* Recorders round: an operator may end after the one around it. Nothing is left out, and what two
 * children both cover is taken from their parent once. */
static void test_keeps_what_overlaps(void **state)
{
    struct made made;
    make_begin(&made);
    host(&made, EVENT_OPERATOR, "all", 0, 100);    /* 0 */
    host(&made, EVENT_OPERATOR, "first", 10, 30);  /* 1 */
    host(&made, EVENT_OPERATOR, "second", 20, 50); /* 2: closes 1 */
    host(&made, EVENT_OPERATOR, "third", 25, 28);  /* 3: in 2 */
    host(&made, EVENT_OPERATOR, "empty", 60, 60);  /* 4 */
    host(&made, EVENT_OPERATOR, "late", 90, 120);  /* 5: closes 0 */
    make_index(&made);
    const uint32_t parents[] = {INDEX_NONE, 0, 0, 2, 0, INDEX_NONE};
    const int64_t self_us[] = {60, 20, 27, 3, 0, 30};
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(made.index.parent[i], parents[i]);
        assert_int_equal(made.index.self_ns[i], self_us[i] * 1000);
    }
    assert_int_equal(made.index.end[0], 5);
    make_end(&made);
}

static void test_threads_are_apart(void **state)
{
    struct made made;
    make_begin(&made);
    build_op(&made.build, "a", 1, 0, 100, TRACE_NO_ID); /* 0 */
    build_op(&made.build, "b", 2, 10, 20, TRACE_NO_ID); /* 1 */
    struct trace_track track = {.pid_text = build_text(&made.build, "100"),
                                .tid_text = build_text(&made.build, "1"),
                                .pid_is_text = true,
                                .tid_is_text = true};
    build_event(&made.build,
                (struct trace_event){.ts_ns = 30000, /* 2: the thread of 0, written as texts */
                                     .dur_ns = 1000,
                                     .correlation = TRACE_NO_ID,
                                     .external_id = TRACE_NO_ID,
                                     .track = trace_add_track(made.build.trace, &track),
                                     .args = TRACE_NO_ARGS,
                                     .kind = EVENT_OPERATOR,
                                     .flags = EVENT_HAS_DUR},
                "c");
    make_index(&made);
    assert_int_equal(made.index.thread_count, 2);
    assert_int_equal(made.index.parent[1], INDEX_NONE);
    assert_int_equal(made.index.parent[2], 0);
    assert_int_equal(made.index.threads[0].events.end, 2);
    make_end(&made);
}

/* ---- launches ---- */

static void test_work_belongs_to_the_operator_around_any_call(void **state)
{
    struct made made;
    make_begin(&made);
    build_op(&made.build, "aten::bmm", 1, 0, 50, 4);       /* 0 */
    build_op(&made.build, "triton", 1, 10, 40, 5);         /* 1 */
    driver_call(&made, 1, 20, 30, 8);                      /* 2 */
    build_runtime(&made.build, 1, 45, 46, 9, 5);           /* 3: in 0, whatever its id says */
    build_runtime(&made.build, 1, 60, 61, 0, TRACE_NO_ID); /* 4: correlation 0 is none */
    build_kernel(&made.build, "late", 200, 210, 8);        /* 5 */
    build_kernel(&made.build, "early", 100, 110, 8);       /* 6 */
    build_kernel(&made.build, "other", 120, 130, 9);       /* 7 */
    build_kernel(&made.build, "lost", 0, 1, 0);            /* 8 */
    build_device_event(&made.build, EVENT_MEMSET, "set", 0, 5, 6, 77, 4, 0,
                       0); /* 9: no call, an id */
    make_index(&made);
    const struct trace_index *index = &made.index;
    assert_int_equal(index->launch[5], 2);
    assert_int_equal(index->launch[6], 2);
    assert_int_equal(index->launch[7], 3);
    assert_int_equal(index->launch[8], INDEX_NONE);
    assert_int_equal(index->op[5], 1);
    assert_int_equal(index->op[6], 1);
    assert_int_equal(index->op[7], 0);
    assert_int_equal(index->op[8], INDEX_NONE);
    assert_int_equal(index->launch[9], INDEX_NONE);
    assert_int_equal(index->op[9], 0);
    struct index_range work = index_launched(index, 2);
    assert_int_equal(work.end - work.first, 2);
    assert_int_equal(index->launched[work.first], 6);
    assert_int_equal(index->launched[work.first + 1], 5);
    work = index_launched(index, 4);
    assert_int_equal(work.end - work.first, 0);
    assert_int_equal(index->launched_count, 3);
    make_end(&made);
}

/* [DEV-8]: a text is read as the number that it writes, and 0 is none. */
static void test_correlations_as_texts(void **state)
{
    const char *const ids[] = {"\"10\"", "11", "\"0\"", "10", "\"11\"", "\"0\""};
    const uint32_t launches[] = {0, 1, INDEX_NONE};
    struct trace_index index;
    char text[1024] = "{\"traceEvents\": [";
    for (uint32_t i = 0; i < 6; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len,
                 "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"n\", \"pid\": 1, \"tid\": 1, "
                 "\"ts\": %u, \"dur\": 1, \"args\": {\"correlation\": %s}}%s",
                 i == 0 ? "" : ",", i < 3 ? "cuda_runtime" : "kernel", i, ids[i],
                 i == 5 ? "]}" : "");
    }
    struct format_bundle bundle = read_text(text);
    assert_true(index_build(&index, bundle.items[0].model));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(index.launch[3 + i], launches[i]);
    }
    index_free(&index);
    format_bundle_free(&bundle);
}

/* An operator that starts with a call has it, however short it is; one that has ended has not. */
static void test_calls_at_the_edge_of_operators(void **state)
{
    struct made made;
    make_begin(&made);
    build_op(&made.build, "ended", 1, 0, 10, TRACE_NO_ID);  /* 0 */
    build_op(&made.build, "empty", 1, 10, 10, TRACE_NO_ID); /* 1 */
    build_runtime(&made.build, 1, 10, 15, 1, TRACE_NO_ID);  /* 2 */
    build_op(&made.build, "short", 1, 20, 22, TRACE_NO_ID); /* 3 */
    build_runtime(&made.build, 1, 20, 30, 2, TRACE_NO_ID);  /* 4: longer than its operator */
    build_runtime(&made.build, 1, 40, 41, 3, TRACE_NO_ID);  /* 5 */
    make_index(&made);
    assert_int_equal(made.index.op[2], 1);
    assert_int_equal(made.index.op[4], 3);
    assert_int_equal(made.index.op[5], INDEX_NONE);
    make_end(&made);
}

static void test_streams_stand_in_order(void **state)
{
    struct made made;
    make_begin(&made);
    build_device_event(&made.build, EVENT_KERNEL, "b", 1, 50, 60, 1, TRACE_NO_ID, 0, 0); /* 0 */
    build_device_event(&made.build, EVENT_KERNEL, "a", 0, 30, 40, 2, TRACE_NO_ID, 0, 0); /* 1 */
    build_device_event(&made.build, EVENT_MEMCPY, "c", 1, 10, 20, 3, TRACE_NO_ID, 0, 0); /* 2 */
    make_index(&made);
    const uint32_t work[] = {2, 0, 1};
    assert_int_equal(made.index.stream_count, 2);
    assert_int_equal(made.index.streams[0].device, 1);
    assert_int_equal(made.index.streams[0].stream, 7);
    assert_int_equal(made.index.streams[0].work.end, 2);
    assert_int_equal(made.index.streams[1].device, 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(made.index.device_work[i], work[i]);
    }
    make_end(&made);
}

/* ---- steps ---- */

static void test_steps_are_host_annotations(void **state)
{
    struct made made;
    make_begin(&made);
    build_step(&made.build, "ProfilerStep#4", 100, 200);                /* 0 */
    build_step(&made.build, "ProfilerStep#5", 200, 300);                /* 1 */
    host(&made, EVENT_GPU_USER_ANNOTATION, "ProfilerStep#4", 150, 400); /* 2: of the device */
    build_step(&made.build, "ProfilerStep#6", 300, 300);                /* 3: takes no time */
    build_step(&made.build, "ProfilerStep#", 400, 500);                 /* 4: no number */
    build_host(&made.build, EVENT_OPERATOR, "ProfilerStep#9", 2, 0, 1000,
               TRACE_NO_ID);                                 /* 5: fewer there */
    build_runtime(&made.build, 3, 199, 210, 1, TRACE_NO_ID); /* 6: another thread */
    build_kernel(&made.build, "k", 350, 360, 1);             /* 7 */
    build_runtime(&made.build, 3, 200, 205, 2, TRACE_NO_ID); /* 8 */
    build_runtime(&made.build, 3, 300, 305, 3, TRACE_NO_ID); /* 9 */
    build_step(&made.build, "ProfilerStep#5", 250, 260);     /* 10: inside its namesake */
    make_index(&made);
    const struct trace_index *index = &made.index;
    assert_int_equal(index->step_count, 2);
    assert_int_equal(index->steps[0].event, 0);
    assert_int_equal(index->steps[1].event, 1);
    assert_int_equal(index->steps[1].start_ns, 200000);
    assert_int_equal(index->steps[1].end_ns, 300000);
    assert_int_equal(index->step[6], 0);
    assert_int_equal(index->step[7], 0);
    assert_int_equal(index->step[8], 1);
    assert_int_equal(index->step[9], INDEX_NONE);
    assert_int_equal(index_class(index, 0), INDEX_STEP);
    assert_int_equal(index_class(index, 2), INDEX_DEVICE_ANNOTATION);
    assert_int_equal(index_class(index, 5), INDEX_ANNOTATION);
    assert_int_equal(index_class(index, 10), INDEX_ANNOTATION);
    assert_int_equal(index->class_count[INDEX_STEP], 2);
    make_end(&made);
}

/* Records of memory are not indexed; marks of Lightning have classes of their own. */
static void test_classes(void **state)
{
    struct made made;
    make_begin(&made);
    made.build.trace->framework = "pytorch-lightning";
    host(&made, EVENT_PYTHON, "call", 0, 90);
    host(&made, EVENT_OPERATOR, "[pl][module]torch.nn.Linear: fc", 1, 80);
    host(&made, EVENT_OPERATOR, "[pl][profile]run_training_batch", 2, 70);
    host(&made, EVENT_OPERATOR, "aten::linear", 3, 60);
    host(&made, EVENT_MEMORY, "[memory]", 4, 50);
    make_index(&made);
    const struct trace_index *index = &made.index;
    static const enum index_class CLASSES[] = {INDEX_PYTHON, INDEX_MODULE, INDEX_PROFILE,
                                               INDEX_OPERATOR, INDEX_MEMORY};
    for (uint32_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++) {
        assert_int_equal(index_class(index, i), CLASSES[i]);
    }
    assert_int_equal(index->count, 4);
    assert_int_equal(index->op[3], INDEX_NONE);
    make_end(&made);
}

/* What a walk over all steps for each thread would not get through. */
static void test_many_threads_and_steps(void **state)
{
    const int64_t count = 30000;
    struct made made;
    make_begin(&made);
    for (int64_t i = 0; i < count; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)i);
        build_step(&made.build, name, i, i + 1);
    }
    for (int64_t i = 0; i < count; i++) {
        build_op(&made.build, "op", 2 + i, count - 1, count, TRACE_NO_ID);
    }
    make_index(&made);
    assert_int_equal(made.index.step_count, count);
    assert_int_equal(made.index.step[count], count - 1);
    assert_int_equal(made.index.step[2 * count - 1], count - 1);
    make_end(&made);
}

static void test_empty_trace(void **state)
{
    struct made made;
    make_begin(&made);
    make_index(&made);
    assert_int_equal(made.index.count, 0);
    assert_int_equal(made.index.step_count, 0);
    make_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nests_by_containment),
        cmocka_unit_test(test_keeps_what_overlaps),
        cmocka_unit_test(test_threads_are_apart),
        cmocka_unit_test(test_work_belongs_to_the_operator_around_any_call),
        cmocka_unit_test(test_correlations_as_texts),
        cmocka_unit_test(test_calls_at_the_edge_of_operators),
        cmocka_unit_test(test_streams_stand_in_order),
        cmocka_unit_test(test_steps_are_host_annotations),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_many_threads_and_steps),
        cmocka_unit_test(test_empty_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
