#include "ingest/base/text/buf.h"
#include "tests/unit/ingest/analysis/timeline/timeline_fixture.h"

/* ,{"ph": "X", …}: event n is the n-th of these, the fixture's own is event 0. */
#define OP(name, tid, ts, dur)                                                                 \
    ",{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name "\", \"pid\": 1, \"tid\": " #tid \
    ", \"ts\": " #ts ", \"dur\": " #dur "}"
#define WORK(cat, name, tid, ts, dur, correlation)                                              \
    ",{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"pid\": 0, \"tid\": " #tid \
    ", \"ts\": " #ts ", \"dur\": " #dur                                                         \
    ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " #correlation "}}"
#define CALL(cat, name, ts, dur, correlation)                                               \
    ",{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"pid\": 1, \"tid\": 1" \
    ", \"ts\": " #ts ", \"dur\": " #dur ", \"args\": {\"correlation\": " #correlation "}}"
#define EVENT(ph, name, tid, ts)                                                               \
    ",{\"ph\": \"" ph "\", \"name\": \"" name "\", \"cat\": \"c\", \"pid\": 1, \"tid\": " #tid \
    ", \"ts\": " #ts "}"
#define WITH_ID(ph, cat, name, pid, tid, ts, id)                                         \
    ",{\"ph\": \"" ph "\", \"name\": \"" name "\", \"cat\": \"" cat "\", \"pid\": " #pid \
    ", \"tid\": " #tid ", \"ts\": " #ts ", \"id\": " id "}"
#define LABEL(name, pid, tid, args)                                              \
    ",{\"ph\": \"M\", \"name\": \"" name "\", \"pid\": " #pid ", \"tid\": " #tid \
    ", \"args\": {" args "}}"
#define MEMORY(type, id, ts, more)                                                                \
    ",{\"ph\": \"i\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts \
    ", \"args\": {\"Device Type\": " #type ", \"Device Id\": " #id more "}}"

/* ---- lanes ---- */

static void test_nesting_is_depth(void **state)
{
    struct seen seen;
    /* The file has the innermost first, as profilers do. */
    seen_read(&seen, OP("c", 5, 1020, 10) OP("b", 5, 1010, 50) OP("a", 5, 1000, 100)
                         OP("d", 5, 1070, 30) OP("e", 5, 1100, 5));
    seen_expect(&seen, 3, 0, 0, 100000);
    seen_expect(&seen, 2, 1, 10000, 50000);
    seen_expect(&seen, 1, 2, 20000, 10000);
    seen_expect(&seen, 4, 1, 70000, 30000);
    seen_expect(&seen, 5, 0, 100000, 5000);
    const struct timeline_track *track = seen_track(&seen, 1);
    assert_int_equal(track->lane_count, 3);
    assert_int_equal(track->item_count, 5);
    assert_int_equal(track->busy_ns, 105000);
    assert_int_equal(track->first_ns, 0);
    assert_int_equal(track->end_ns, 105000);
    seen_free(&seen);
}

static void test_overlap_gets_a_lane(void **state)
{
    struct seen seen;
    /* b overlaps a; c lies in both; d in b alone, where a's lane is free. */
    seen_read(&seen, OP("a", 5, 1000, 100) OP("b", 5, 1050, 100) OP("c", 5, 1060, 10)
                         OP("d", 5, 1110, 10) OP("e", 5, 1120, 100));
    seen_expect(&seen, 1, 0, 0, 100000);
    seen_expect(&seen, 2, 1, 50000, 100000);
    seen_expect(&seen, 3, 2, 60000, 10000);
    seen_expect(&seen, 4, 2, 110000, 10000);
    seen_expect(&seen, 5, 0, 120000, 100000);
    assert_int_equal(seen_track(&seen, 1)->busy_ns, 220000);
    seen_free(&seen);
}

static void test_equal_and_empty_slices_nest(void **state)
{
    struct seen seen;
    seen_read(&seen, OP("a", 5, 1000, 10) OP("b", 5, 1000, 10) OP("zero", 5, 1000, 0)
                         OP("zero too", 5, 1000, 0) EVENT("i", "now", 5, 1000)
                             OP("behind", 5, 1010, 0) EVENT("i", "then", 5, 1012));
    seen_expect(&seen, 1, 0, 0, 10000);
    seen_expect(&seen, 2, 1, 0, 10000);
    seen_expect(&seen, 3, 2, 0, 0);
    seen_expect(&seen, 4, 3, 0, 0);
    seen_expect(&seen, 5, 4, 0, TIMELINE_INSTANT);
    seen_expect(&seen, 6, 0, 10000, 0);
    seen_expect(&seen, 7, 0, 12000, TIMELINE_INSTANT);
    seen_free(&seen);
}

static void test_deepest_lane_takes_the_rest(void **state)
{
    const uint32_t depth = TIMELINE_LANES_MAX + 20;
    struct seen seen;
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    buf_puts(&text, SEEN_START);
    for (uint32_t i = 0; i < depth; i++) {
        buf_printf(&text,
                   ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n\",\"pid\":1,\"tid\":9,"
                   "\"ts\":%u,\"dur\":%u}",
                   2000 + i, 5000 - 2 * i);
    }
    buf_puts(&text, SEEN_END);
    seen_read_text(&seen, text.ptr);
    seen_expect(&seen, TIMELINE_LANES_MAX, TIMELINE_LANES_MAX - 1,
                (1000 + TIMELINE_LANES_MAX - 1) * 1000,
                (5000 - 2 * (TIMELINE_LANES_MAX - 1)) * 1000);
    const struct seen_item *last = seen_event(&seen, depth);
    assert_int_equal(last->lane, TIMELINE_LANES_MAX - 1);
    assert_int_equal(last->busy_ns, 0);
    buf_free(&text);
    seen_free(&seen);
}

/* ---- begins, ends ---- */

static void test_begin_and_end(void **state)
{
    struct seen seen;
    seen_read(&seen, EVENT("B", "outer", 5, 1010) EVENT("B", "inner", 5, 1020)
                         EVENT("E", "", 5, 1030) EVENT("E", "", 5, 1040) EVENT("E", "lone", 5, 1050)
                             EVENT("B", "open", 5, 1060) OP("last", 6, 1000, 90));
    seen_expect(&seen, 1, 0, 10000, 30000);
    seen_expect(&seen, 2, 1, 20000, 10000);
    assert_null(seen_event(&seen, 3));
    assert_null(seen_event(&seen, 4));
    seen_expect(&seen, 5, 0, 50000, TIMELINE_INSTANT);
    seen_expect(&seen, 6, 0, 60000, 30000);
    assert_string_equal(seen_name(&seen, 5), "lone");
    assert_int_equal(seen_warnings(&seen, WARN_BEGIN_WITHOUT_END), 1);
    assert_int_equal(seen_warnings(&seen, WARN_END_WITHOUT_BEGIN), 1);
    seen_free(&seen);
}

static void test_ends_match_in_order_of_time(void **state)
{
    struct seen seen;
    seen_read(&seen, EVENT("E", "", 5, 1040) EVENT("B", "a", 5, 1010) EVENT("E", "", 5, 1020)
                         EVENT("B", "b", 5, 1020) EVENT("B", "other thread", 6, 1015));
    seen_expect(&seen, 2, 0, 10000, 10000);
    seen_expect(&seen, 4, 0, 20000, 20000);
    assert_int_equal(seen_warnings(&seen, WARN_BEGIN_WITHOUT_END), 1);
    seen_free(&seen);
}

static void test_async(void **state)
{
    struct seen seen;
    seen_read(
        &seen,
        WITH_ID("b", "net", "one", 1, 5, 1010, "1") WITH_ID("b", "net", "two", 1, 5, 1015, "2")
            WITH_ID("n", "net", "step", 1, 5, 1018, "2") WITH_ID("e", "net", "one", 1, 6, 1020, "1")
                WITH_ID("e", "net", "two", 1, 6, 1040, "2")
                    WITH_ID("S", "old", "x", 1, 5, 1010, "\"0x1\"")
                        WITH_ID("S", "old", "x", 2, 5, 1012, "\"0x1\"")
                            WITH_ID("F", "old", "x", 1, 5, 1020, "\"0x1\"")
                                WITH_ID("F", "old", "x", 2, 5, 1032, "\"0x1\""));
    seen_expect(&seen, 1, 0, 10000, 10000);
    seen_expect(&seen, 2, 1, 15000, 25000);
    seen_expect(&seen, 3, 2, 18000, TIMELINE_INSTANT);
    seen_expect(&seen, 6, 0, 10000, 10000);
    seen_expect(&seen, 7, 0, 12000, 20000);
    const struct timeline_track *track = seen_track(&seen, 1);
    assert_int_equal(track->kind, TIMELINE_ASYNC);
    assert_string_equal(track->label, "net");
    assert_null(track->tid);
    assert_string_equal(seen_track(&seen, 7)->pid, "2");
    seen_free(&seen);
}

/* ---- times ---- */

static void test_absurd_duration_is_cut(void **state)
{
    struct seen seen;
    seen_read(&seen, OP("absurd", 5, 1010, 9000000000000) OP("long", 5, 2000, 86000000000));
    seen_expect(&seen, 1, 0, 10000, INT64_C(86000000990000));
    seen_expect(&seen, 2, 1, 1000000, INT64_C(86000000000000));
    assert_int_equal(seen_warnings(&seen, WARN_ABSURD_DURATION), 1);
    assert_int_equal(seen.timeline->end_ns, INT64_C(86000001000000));
    seen_free(&seen);
}

static void test_positions_before_the_start(void **state)
{
    struct seen seen;
    seen_read(&seen,
              EVENT("i", "early", 5, 400) EVENT("B", "begun", 5, 300) EVENT("E", "", 5, 1100));
    seen_expect(&seen, 1, 1, -600000, TIMELINE_INSTANT);
    seen_expect(&seen, 2, 0, -700000, 800000);
    assert_int_equal(seen.timeline->start_ns, -700000);
    assert_int_equal(seen.timeline->end_ns, 100000);
    seen_free(&seen);
}

static void test_start_without_kept_events(void **state)
{
    struct seen seen;
    seen_read_text(&seen, "{\"traceEvents\": ["
                          "{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1700000000000},"
                          "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":1700000000005}]}");
    seen_expect(&seen, 0, 0, 0, 5000);
    assert_true(seen.results->start_ns == INT64_C(1700000000000000));
    seen_free(&seen);
}

static void test_extreme_times(void **state)
{
    struct seen seen;
    seen_read(&seen,
              EVENT("i", "far", 5, -4000000000000000) EVENT("i", "far", 5, 4000000000000000)
                  OP("long", 5, 1000, 4000000000000000) EVENT("B", "open", 5, -4611686018427387));
    assert_true(seen_event(&seen, 4)->dur_ns > INT64_C(8000000000000000000));
    seen_free(&seen);
}

static void test_no_events(void **state)
{
    struct seen seen;
    seen_read_text(&seen, "{\"traceEvents\": [{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,"
                          "\"tid\":1,\"args\":{\"name\":\"x\"}}]}");
    assert_int_equal(seen.timeline->track_count, 0);
    assert_int_equal(seen.timeline->label_count, 0);
    assert_int_equal(seen.timeline->level_count, 1);
    assert_int_equal(seen.timeline->levels[0].item_count, 0);
    seen_free(&seen);
}

/* ---- counters ---- */

static void
expect_point(const struct seen *seen, size_t i, const char *series, int64_t start_ns, double value)
{
    assert_true(i < seen->point_count);
    const struct seen_point *point = &seen->points[i];
    const struct timeline_track *track = &seen->timeline->tracks[point->track];
    assert_int_equal(track->kind, TIMELINE_COUNTER);
    assert_string_equal(track->series[point->lane], series);
    assert_int_equal(point->start_ns, start_ns);
    assert_true(point->last == value && point->min == value && point->max == value);
}

static void test_memory_is_a_counter(void **state)
{
    struct seen seen;
    seen_read(&seen,
              MEMORY(1, 0, 1020, ", \"Total Allocated\": 30, \"Total Reserved\": 100")
                  MEMORY(1, 0, 1010, ", \"Total Allocated\": 10, \"Total Reserved\": 90")
                      MEMORY(0, -1, 1010, ", \"Bytes\": 8") MEMORY(0, -1, 1015, ", \"Bytes\": -3"));
    const struct timeline *timeline = seen.timeline;
    assert_int_equal(timeline->track_count, 3);
    assert_string_equal(timeline->tracks[1].label, "Memory of GPU 0");
    assert_string_equal(timeline->tracks[2].label, "Memory of CPU");
    assert_int_equal(timeline->tracks[1].lane_count, 2);
    assert_int_equal(timeline->tracks[1].item_count, 4);
    assert_null(seen_event(&seen, 1));
    expect_point(&seen, 0, "Allocated", 10000, 10);
    expect_point(&seen, 1, "Reserved", 10000, 90);
    expect_point(&seen, 2, "Allocated", 20000, 30);
    expect_point(&seen, 3, "Reserved", 20000, 100);
    expect_point(&seen, 4, "Allocated since the start", 10000, 8);
    expect_point(&seen, 5, "Allocated since the start", 15000, 5);
    assert_int_equal(seen.point_count, 6);
    seen_free(&seen);
}

#define COUNTER(name, pid, ts, more) \
    ",{\"ph\": \"C\", \"name\": \"" name "\", \"pid\": " #pid ", \"tid\": 1, \"ts\": " #ts more "}"

static void test_counters(void **state)
{
    struct seen seen;
    seen_read(&seen, COUNTER("power", 1, 1010, ", \"args\": {\"a\": 1, \"b\": 2.5}")
                         COUNTER("power", 1, 1020, ", \"args\": {\"b\": 3, \"a\": 4}")
                             COUNTER("power", 2, 1010, ", \"args\": {\"a\": 9}")
                                 COUNTER("power", 1, 1010, ", \"id\": 3, \"args\": {\"a\": 7}")
                                     COUNTER("empty", 1, 1010, ", \"args\": {\"a\": \"text\"}"));
    assert_int_equal(seen.timeline->track_count, 4);
    expect_point(&seen, 0, "a", 10000, 1);
    expect_point(&seen, 1, "b", 10000, 2.5);
    expect_point(&seen, 2, "a", 20000, 4);
    expect_point(&seen, 3, "b", 20000, 3);
    expect_point(&seen, 4, "a", 10000, 7);
    expect_point(&seen, 5, "a", 10000, 9);
    assert_string_equal(seen.timeline->tracks[seen.points[0].track].label, "power");
    assert_string_equal(seen.timeline->tracks[seen.points[4].track].label, "power (3)");
    assert_string_equal(seen.timeline->tracks[seen.points[5].track].pid, "2");
    seen_free(&seen);
}

/* ---- flows ---- */

static void expect_flow(
    const struct seen *seen, size_t i, uint32_t from, uint32_t to, enum timeline_flow_kind kind)
{
    assert_true(i < seen->flow_count);
    assert_int_equal(seen->flows[i].from, from);
    assert_int_equal(seen->flows[i].to, to);
    assert_int_equal(seen->flows[i].kind, kind);
}

static void test_launches(void **state)
{
    struct seen seen;
    /* A graph launches two kernels; the driver's call inside has the same id. */
    seen_read(&seen, WORK("kernel", "k", 7, 1200, 10, 5) WORK("kernel", "k", 7, 1220, 10, 5)
                         CALL("cuda_runtime", "cudaGraphLaunch", 1100, 20, 5)
                             CALL("cuda_driver", "cuGraphLaunch", 1101, 10, 5)
                                 CALL("cuda_driver", "cuLaunchKernel", 1130, 5, 6)
                                     WORK("gpu_memcpy", "copy", 7, 1240, 1, 6)
                                         WORK("kernel", "unknown", 7, 1250, 1, 99)
                                             WITH_ID("s", "ac2g", "ac2g", 1, 1, 1100, "5")
                                                 WITH_ID("f", "ac2g", "ac2g", 0, 7, 1200, "5"));
    assert_int_equal(seen.flow_count, 3);
    expect_flow(&seen, 0, 3, 1, TIMELINE_FLOW_LAUNCH);
    expect_flow(&seen, 1, 3, 2, TIMELINE_FLOW_LAUNCH);
    expect_flow(&seen, 2, 5, 6, TIMELINE_FLOW_LAUNCH);
    seen_free(&seen);
}

static void test_drawn_flows(void **state)
{
    struct seen seen;
    seen_read(&seen,
              OP("forward", 5, 1010, 20) OP("inner", 5, 1012, 5) OP("backward", 6, 1100, 20)
                  WITH_ID("s", "fwdbwd", "fwdbwd", 1, 5, 1013, "1")
                      WITH_ID("f", "fwdbwd", "fwdbwd", 1, 6, 1090, "1")
                          WITH_ID("s", "mine", "x", 1, 5, 1020, "1")
                              WITH_ID("t", "mine", "x", 1, 6, 1110, "1")
                                  WITH_ID("f", "mine", "x", 1, 8, 1200, "1") OP("end", 8, 1200, 1)
                                      WITH_ID("s", "mine", "y", 1, 5, 1500, "1")
                                          WITH_ID("f", "mine", "y", 1, 8, 1200, "1"));
    assert_int_equal(seen.flow_count, 3);
    expect_flow(&seen, 0, 1, 3, TIMELINE_FLOW_OTHER);
    expect_flow(&seen, 1, 2, 3, TIMELINE_FLOW_FWDBWD);
    expect_flow(&seen, 2, 3, 9, TIMELINE_FLOW_OTHER);
    seen_free(&seen);
}

/* An s at the very end of its slice, an f in the gap behind one; ends without an id are none. */
static void test_flows_at_the_edge(void **state)
{
    struct seen seen;
    seen_read(&seen, OP("from", 5, 1010, 10) OP("before", 6, 1010, 20) OP("to", 6, 1050, 10)
                         WITH_ID("s", "mine", "x", 1, 5, 1020, "1")
                             WITH_ID("f", "mine", "x", 1, 6, 1030, "1") EVENT("s", "y", 5, 1015)
                                 EVENT("f", "y", 6, 1055));
    assert_int_equal(seen.flow_count, 1);
    expect_flow(&seen, 0, 1, 3, TIMELINE_FLOW_OTHER);
    seen_free(&seen);
}

/* A tid is "7" here and 7 there. */
static void test_flows_bind_by_text(void **state)
{
    struct seen seen;
    seen_read(&seen, OP("host", "5", 1010, 20) WORK("kernel", "k", 7, 1100, 10, 1)
                         WITH_ID("s", "async", "launch", 1, 5, 1010, "3")
                             WITH_ID("f", "async", "launch", 0, 7, 1100, "3"));
    assert_int_equal(seen.flow_count, 1);
    expect_flow(&seen, 0, 1, 2, TIMELINE_FLOW_LAUNCH);
    seen_free(&seen);
}

/* ---- tracks, labels ---- */

static void test_order_and_names(void **state)
{
    struct seen seen;
    seen_read(&seen,
              WORK("kernel", "k", 7, 1100, 10, 1) WORK("kernel", "k", 20, 1100, 10,
                                                       2) OP("a", 30, 1000, 5) OP("a", 4, 1000, 5)
                  LABEL("process_name", 1, 0, "\"name\": \"python\"") LABEL("process_labels", 1, 0,
                                                                            "\"labels\": \"CPU\"")
                      LABEL("process_labels", 0, 0, "\"labels\": \"GPU 0\"")
                          LABEL("thread_name", 1, 30, "\"name\": \"thread 30 (python)\"")
                              LABEL("thread_name", 1, 4, "\"name\": \"worker\"")
                                  LABEL("thread_sort_index", 1, 30, "\"sort_index\": -1")
                                      LABEL("process_sort_index", 0, 0, "\"sort_index\": 5000000"));
    const struct timeline_track *tracks = seen.timeline->tracks;
    static const char *const LABELS[] = {"thread 30 (python)", "thread 1", "worker (4)", "stream 7",
                                         "stream 20"};
    assert_int_equal(seen.timeline->track_count, COUNT_OF(LABELS));
    for (size_t i = 0; i < COUNT_OF(LABELS); i++) {
        bool is_host = i < 3;
        assert_string_equal(tracks[i].label, LABELS[i]);
        assert_string_equal(tracks[i].process, is_host ? "CPU: python (1)" : "GPU 0");
        assert_int_equal(tracks[i].kind, is_host ? TIMELINE_THREAD : TIMELINE_STREAM);
        assert_int_equal(tracks[i].member_count, 1);
    }
    assert_string_equal(tracks[0].pid, "1");
    assert_string_equal(tracks[0].tid, "30");
    seen_free(&seen);
}

/* Stray frames of Python on the number of a device do not take its name away. */
static void test_labels_name_a_device_with_threads(void **state)
{
    struct seen seen;
    seen_read(&seen, WORK("kernel", "k", 7, 1100, 10,
                          1) ",{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"p\", "
                             "\"pid\": 0, \"tid\": 0, \"ts\": 1000, \"dur\": 9}" LABEL(
                                 "process_name", 0, 0, "\"name\": \"python3\"")
                                 LABEL("process_labels", 0, 0, "\"labels\": \"GPU 0\""));
    assert_int_equal(seen.timeline->track_count, 3);
    for (uint32_t i = 0; i < seen.timeline->track_count; i++) {
        const struct timeline_track *track = &seen.timeline->tracks[i];
        bool is_host = strcmp(track->pid, "1") == 0;
        assert_string_equal(track->process, is_host ? "process 1" : "GPU 0");
    }
    seen_free(&seen);
}

/* A recording span without a sort index stands behind the processes that have one. */
static void test_recording_stands_last(void **state)
{
    struct seen seen;
    seen_read(&seen,
              ",{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"p\", \"pid\": \"Spans\", \"tid\": "
              "\"x\", \"ts\": 1000, \"dur\": 9}" OP("a", 4, 1000, 5)
                  LABEL("process_sort_index", 1, 0, "\"sort_index\": 5"));
    assert_string_equal(seen.timeline->tracks[0].pid, "1");
    assert_string_equal(seen.timeline->tracks[seen.timeline->track_count - 1].pid, "Spans");
    seen_free(&seen);
}

/* Without sort indices: the host, its devices, what tells of the recording only; streams by number.
 */
static void test_order_without_indices(void **state)
{
    struct seen seen;
    seen_read(&seen,
              ",{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"p\", \"pid\": \"Spans\", \"tid\": "
              "\"x\", \"ts\": 1000, \"dur\": 9}" WORK("kernel", "k", "stream 20", 1100, 10, 1)
                  WORK("kernel", "k", "stream 7", 1100, 10, 2));
    static const char *const LABELS[] = {"thread 1", "stream 7", "stream 20", "x"};
    assert_int_equal(seen.timeline->track_count, COUNT_OF(LABELS));
    for (size_t i = 0; i < COUNT_OF(LABELS); i++) {
        assert_string_equal(seen.timeline->tracks[i].label, LABELS[i]);
    }
    assert_string_equal(seen.timeline->tracks[1].process, "GPU 0");
    seen_free(&seen);
}

static void expect_role(const struct seen *seen, uint32_t event, enum time_category role)
{
    assert_int_equal(seen->timeline->labels[seen_event(seen, event)->label].role, role);
}

static void test_labels_and_roles(void **state)
{
    struct seen seen;
    seen_read(&seen,
              OP("a", 5, 1000, 3) OP("b", 5, 1010, 4) OP("b", 5, 1020, 5)
                  OP("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 5, 1030,
                     5) OP("ProfilerStep#1", 5, 1000, 100) OP("nccl:all_reduce", 5, 1040, 5)
                      CALL("cuda_runtime", "cudaLaunchKernel", 1100, 5, 1)
                          WORK("kernel", "k", 7, 1110, 5, 1) WORK("gpu_memset", "m", 7, 1120, 5, 2)
                              WORK("kernel", "ncclDevKernel_AllReduce_Sum", 7, 1130, 5, 3)
                                  WORK("gpu_user_annotation", "x", 7, 1100, 50, 4)
                                      EVENT("i", "b", 5, 1080)
                                          CALL("cuda_driver", "cuLaunchKernel", 1101, 2, 9));
    assert_string_equal(seen.timeline->labels[0].name, "b");
    assert_string_equal(seen.timeline->labels[0].category, "cpu_op");
    assert_int_equal(seen.timeline->labels[0].count, 2);
    assert_int_equal(seen.timeline->labels[0].total_ns, 9000);
    expect_role(&seen, 1, TIME_CPU_EXEC);
    expect_role(&seen, 4, TIME_DATALOADER);
    expect_role(&seen, 5, TIME_OTHER);
    expect_role(&seen, 6, TIME_COMMUNICATION);
    expect_role(&seen, 7, TIME_RUNTIME);
    expect_role(&seen, 8, TIME_KERNEL);
    expect_role(&seen, 9, TIME_MEMSET);
    expect_role(&seen, 10, TIME_COMMUNICATION);
    expect_role(&seen, 11, TIME_OTHER);
    expect_role(&seen, 12, TIME_OTHER);
    expect_role(&seen, 13, TIME_RUNTIME);
    seen_free(&seen);
}

/* ---- many tracks ---- */

#define MANY 5000u

static void add_many(struct buf *text, bool a_process_each)
{
    for (uint32_t i = 0; i < MANY; i++) {
        buf_printf(text,
                   ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n\",\"pid\":%u,\"tid\":%u,"
                   "\"ts\":%u,\"dur\":%u}",
                   a_process_each ? 100 + i : 2 + i % 2, 100 + i, 2000 + i, 1 + i % 100);
        buf_printf(text,
                   ",{\"ph\":\"C\",\"name\":\"count %u\",\"pid\":%u,\"tid\":%u,\"ts\":%u,"
                   "\"args\":{\"v\":%u}}",
                   i, a_process_each ? 100 + i : 2 + i % 2, 100 + i, 2000 + i, i);
    }
}

static void read_many(struct seen *seen, bool a_process_each)
{
    struct buf text;
    buf_init(&text, (size_t)8 << 20);
    buf_puts(&text, SEEN_START);
    add_many(&text, a_process_each);
    buf_puts(&text, SEEN_END);
    seen_read_text(seen, text.ptr);
    buf_free(&text);
}

static void test_many_threads_are_joined(void **state)
{
    struct seen seen;
    read_many(&seen, false);
    const struct timeline *timeline = seen.timeline;
    uint32_t members = 0;
    uint32_t groups = 0;
    uint64_t items = 0;
    int64_t least_kept_ns = INT64_MAX;
    for (uint32_t t = 0; t < timeline->track_count; t++) {
        const struct timeline_track *track = &timeline->tracks[t];
        members += track->member_count;
        items += track->item_count;
        groups += track->member_count > 1;
        /* The first process has one thread, which stays alone however short it is. */
        bool is_kept = track->member_count == 1 && track->kind == TIMELINE_THREAD &&
                       strcmp(track->pid, "1") != 0;
        least_kept_ns = is_kept && track->busy_ns < least_kept_ns ? track->busy_ns : least_kept_ns;
    }
    assert_int_equal(members, 2 * MANY + 1);
    assert_int_equal(items, 2 * MANY + 1);
    assert_int_equal(groups, 4); /* threads and counters of two processes */
    assert_true(least_kept_ns >= 70000);
    const struct timeline_track *last = &timeline->tracks[timeline->track_count - 1];
    assert_int_equal(last->kind, TIMELINE_GROUP);
    assert_non_null(strstr(last->label, " more threads"));
    assert_non_null(strchr(last->label, ','));
    assert_string_equal(last->process, "process 3");
    assert_null(last->tid);
    size_t points = 0;
    while (points < seen.point_count && seen.points[points].level == 0) {
        points++;
    }
    assert_int_equal(points, MANY);
    seen_free(&seen);
}

static void test_many_processes_are_joined(void **state)
{
    struct seen seen;
    read_many(&seen, true);
    const struct timeline *timeline = seen.timeline;
    uint64_t items = 0;
    for (uint32_t t = 0; t < timeline->track_count; t++) {
        items += timeline->tracks[t].item_count;
    }
    assert_int_equal(items, 2 * MANY + 1);
    assert_null(timeline->tracks[timeline->track_count - 1].pid);
    assert_true(timeline->tracks[timeline->track_count - 1].member_count > 1);
    seen_free(&seen);
}

/* ---- who gives up ---- */

static void test_sink_gives_up(void **state)
{
    struct seen seen;
    struct err err = ERR_INIT;
    read_many(&seen, false);
    struct trace *trace = seen.bundle.items[0].model;
    for (uint32_t level = 0; level <= seen.timeline->level_count; level++) {
        bool is_level = level < seen.timeline->level_count;
        struct seen refusing = {.refuse_level = level, .refuse_flows = true};
        bool ok = seen_build(&refusing, trace, &seen.frame, &err);
        /* This trace has no flows. */
        assert_int_equal(ok, !is_level);
        assert_int_equal(err.code, ERR_STORE);
        assert_true(ok == (refusing.timeline != NULL));
        seen_free(&refusing);
    }
    seen_free(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting_is_depth),
        cmocka_unit_test(test_overlap_gets_a_lane),
        cmocka_unit_test(test_equal_and_empty_slices_nest),
        cmocka_unit_test(test_deepest_lane_takes_the_rest),
        cmocka_unit_test(test_begin_and_end),
        cmocka_unit_test(test_ends_match_in_order_of_time),
        cmocka_unit_test(test_async),
        cmocka_unit_test(test_absurd_duration_is_cut),
        cmocka_unit_test(test_positions_before_the_start),
        cmocka_unit_test(test_start_without_kept_events),
        cmocka_unit_test(test_extreme_times),
        cmocka_unit_test(test_no_events),
        cmocka_unit_test(test_memory_is_a_counter),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_drawn_flows),
        cmocka_unit_test(test_flows_at_the_edge),
        cmocka_unit_test(test_flows_bind_by_text),
        cmocka_unit_test(test_order_and_names),
        cmocka_unit_test(test_labels_name_a_device_with_threads),
        cmocka_unit_test(test_recording_stands_last),
        cmocka_unit_test(test_order_without_indices),
        cmocka_unit_test(test_labels_and_roles),
        cmocka_unit_test(test_many_threads_are_joined),
        cmocka_unit_test(test_many_processes_are_joined),
        cmocka_unit_test(test_sink_gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
