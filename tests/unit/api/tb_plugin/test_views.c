/* The plugin's routes of memory, modules, trees, collectives and differences. */
#include "tests/unit/api/view_traces.h"

#define PLUGIN "/data/plugin/pytorch_profiler"
#define OF_TRACE "?run=r&worker=w0&span=1"
#define OF_BOTH OF_TRACE "&exp_run=r&exp_worker=w0&exp_span=2"

#define LINEAR_AGGS                                                                                \
    "\"aggs\": [{\"name\": \"aten::empty\", \"calls\": 1, \"host_duration\": 20, "                 \
    "\"device_duration\": 0, \"self_host_duration\": 20, \"self_device_duration\": 0}, "           \
    "{\"name\": \"aten::linear\", \"calls\": 1, \"host_duration\": 200, \"device_duration\": 50, " \
    "\"self_host_duration\": 175, \"self_device_duration\": 50}"
#define NET_SIDE                                                                                 \
    "{\"name\": \"nn.Module: Net\", \"duration\": 500, \"device_duration\": 50, "                \
    "\"total_duration\": 50, " LINEAR_AGGS                                                       \
    ", {\"name\": \"aten::relu\", \"calls\": 1, \"host_duration\": 30, \"device_duration\": 0, " \
    "\"self_host_duration\": 30, \"self_device_duration\": 0}]}"

static void upload_both(struct fixture *f)
{
    (void)upload(f, "r", "w0.1.pt.trace.json", VIEW_TRAINING);
    (void)upload(f, "r", "w0.2.pt.trace.json", VIEW_CHANGED);
}

static void memory(void **state)
{
    struct fixture *f = *state;
    upload_both(f);
    assert_status(f, get(f, PLUGIN "/memory" OF_TRACE), 200);
    assert_body_has(f,
                    "{\"metadata\": {\"title\": \"Memory View\", \"default_device\": \"GPU0\", "
                    "\"search\": \"Operator Name\", \"sort\": \"Self Size Increase (KB)\"}, "
                    "\"columns\": [{\"name\": \"Operator Name\", \"type\": \"string\"}, {\"name\": "
                    "\"Calls\", \"type\": \"number\", \"tooltip\": \"");
    assert_body_has(
        f, "\"rows\": {\"GPU0\": [[\"aten::empty\", 1, 1.5, 1.5, 2, 2, 1.5, 1.5], "
           "[\"aten::linear\", 1, 1.5, 0.0, 2, 0, 1.5, 0.0], [\"aten::relu\", 1, -0.5, -0.5, 0, "
           "0, 0.0, 0.0]], \"CPU\": [[\"aten::relu\", 1, 0.008, 0.008, 1, 1, 0.008, 0.008]]}}");
    /* a window in the file's microseconds, both ends included */
    assert_status(f, get(f, PLUGIN "/memory" OF_TRACE "&memory_metric=B&start_ts=1040&end_ts=1040"),
                  200);
    assert_body_has(f, "Self Size Increase (B)");
    assert_body_has(
        f, "\"rows\": {\"GPU0\": [[\"aten::empty\", 1, 1024.0, 1024.0, 1, 1, 1024.0, 1024.0], "
           "[\"aten::linear\", 1, 1024.0, 0.0, 1, 0, 1024.0, 0.0]]}}");
    assert_status(f, get(f, PLUGIN "/memory" OF_TRACE "&start_ts=null&end_ts=undefined"), 200);
    assert_body_has(f, "\"CPU\": [[");
    assert_status(f, get(f, PLUGIN "/memory" OF_TRACE "&start_ts=9e9"), 200);
    assert_body_has(f, "\"default_device\": \"CPU\", ");
    assert_body_has(f, "\"rows\": {}}");
    assert_problem(f, get(f, PLUGIN "/memory" OF_TRACE "&start_ts=soon"), 400, "bad_request");
    assert_problem(f, get(f, PLUGIN "/memory" OF_TRACE "&memory_metric=PB"), 400, "bad_request");
}

static void memory_curve(void **state)
{
    struct fixture *f = *state;
    upload_both(f);
    assert_status(f, get(f, PLUGIN "/memory_curve" OF_TRACE "&time_metric=us&memory_metric=B"),
                  200);
    assert_body_has(
        f, "{\"metadata\": {\"default_device\": \"GPU0\", \"devices\": [\"CPU\", \"GPU0\"], "
           "\"peaks\": {\"GPU0\": \"Peak Memory Usage: 1536.0B\", \"CPU\": \"Peak Memory "
           "Usage: 8.0B\"}, \"totals\": {}, \"first_ts\": 1000, \"time_metric\": \"us\", "
           "\"memory_metric\": \"B\", \"time_factor\": 1.0, \"memory_factor\": 1.0}, ");
    /* a step before each point but the first */
    assert_body_has(
        f, "\"rows\": {\"GPU0\": [[35.0, 512.0, 2048.0], [40.0, 512.0, 2048.0], [40.0, 1536.0, "
           "2048.0], [410.0, 1536.0, 2048.0], [410.0, 1024.0, 2048.0]], \"CPU\": [[415.0, "
           "8.0, 0.0]]}}");
    assert_status(f, get(f, PLUGIN "/memory_curve" OF_TRACE "&patch_for_step_plot=False"), 200);
    assert_body_has(f,
                    "\"time_metric\": \"ms\", \"memory_metric\": \"MB\", \"time_factor\": 0.001, "
                    "\"memory_factor\": 9.5367431640625e-07}");
    assert_body_has(
        f, "\"rows\": {\"GPU0\": [[0.035, 0.00048828125, 0.001953125], [0.04, 0.00146484375, "
           "0.001953125], ");
    /* a trace without records */
    assert_status(f, get(f, PLUGIN "/memory_curve?run=r&worker=w0&span=2"), 200);
    assert_body_has(
        f, "{\"metadata\": {\"default_device\": \"CPU\", \"devices\": [], \"peaks\": {}, ");
}

static void memory_events(void **state)
{
    struct fixture *f = *state;
    upload_both(f);
    assert_status(f, get(f, PLUGIN "/memory_events" OF_TRACE "&time_metric=us&memory_metric=B"),
                  200);
    assert_body_has(
        f, "{\"metadata\": {\"title\": \"Memory Events\", \"default_device\": \"GPU0\"}, "
           "\"columns\": [{\"name\": \"Operator\", \"type\": \"string\", \"tooltip\": \"\"}, "
           "{\"name\": \"Size (B)\", \"type\": \"number\", \"tooltip\": \"\"}, ");
    assert_body_has(
        f, "\"rows\": {\"GPU0\": [[\"aten::linear (aten::empty)\", 512.0, 35.0, 410.0, 375.0], "
           "[\"aten::linear (aten::empty)\", 1024.0, 40.0, null, null]], \"CPU\": "
           "[[\"aten::relu\", 8.0, 415.0, null, null]]}}");
    /* two decimals, more where the number is small */
    assert_status(f, get(f, PLUGIN "/memory_events" OF_TRACE "&end_ts=1040"), 200);
    assert_body_has(
        f, "\"rows\": {\"GPU0\": [[\"aten::linear (aten::empty)\", 0.5, 0.04, null, null], ");
}

static void module(void **state)
{
    struct fixture *f = *state;
    upload_both(f);
    assert_status(f, get(f, PLUGIN "/module" OF_TRACE), 200);
    assert_body_has(
        f, "{\"columns\": [{\"name\": \"Module Name\", \"type\": \"string\", \"key\": \"name\"}, "
           "{\"name\": \"Occurences\", \"type\": \"number\", \"key\": \"occurences\"}, ");
    assert_body_has(
        f, "\"data\": [{\"name\": \"Net\", \"id\": 3, \"occurences\": 1, \"operators\": 1, "
           "\"host_duration\": 500, \"self_host_duration\": 170, \"device_duration\": 50, "
           "\"self_device_duration\": 0, \"avg_duration\": 50.0, \"children\": [{\"name\": "
           "\"Linear\", \"id\": 4, ");
    assert_body_has(f, "\"children\": []}]}]}");
    assert_problem(f, get(f, PLUGIN "/module?run=r&worker=w0&span=2"), 404, "not_found");
}

/* Measured values are doubles, the baseline and the closing zero integers [TB-1.4]. */
static void trace_counters(void **state)
{
    struct fixture *f = *state;
    struct buf text;
    upload_both(f);
    assert_status(f, get(f, PLUGIN "/trace" OF_TRACE), 200);
    assert_true(f->response.stream_may_pack);
    buf_init(&text, MAX_UPLOAD_BYTES);
    while (f->response.stream(&f->response, &text)) {
        assert_false(text.failed);
    }
    assert_non_null(strstr(text.ptr, "\"name\": \"GPU 0 Utilization\", \"pid\": 0, \"ts\": 1000, "
                                     "\"args\": {\"GPU Utilization\": 1}}, "));
    assert_non_null(strstr(text.ptr, "\"ts\": 1000, \"args\": {\"GPU Utilization\": 0}}, "));
    assert_non_null(strstr(text.ptr, "\"ts\": 1150, \"args\": {\"GPU Utilization\": 1.0}}, "));
    assert_non_null(strstr(text.ptr, "\"ts\": 1200, \"args\": {\"GPU Utilization\": 0.0}}, "));
    assert_non_null(strstr(text.ptr, "\"ts\": 2000, \"args\": {\"GPU Utilization\": 0}}, "));
    buf_free(&text);
}

static void tree(void **state)
{
    struct fixture *f = *state;
    upload_both(f);
    assert_status(f, get(f, PLUGIN "/tree?run=r&worker=w0&span=2"), 200);
    assert_answer(
        f, "{\"name\": \"CallTreeRoot\", \"start_time\": 1000, \"end_time\": 2000, \"type\": "
           "\"Python\", \"tid\": 1, \"children\": [{\"name\": \"ProfilerStep#1\", "
           "\"start_time\": 1000, \"end_time\": 2000, \"type\": \"ProfilerStep\", \"tid\": 1, "
           "\"children\": [{\"name\": \"aten::linear\", \"start_time\": 1020, \"end_time\": "
           "1240, \"type\": \"Operator\", \"tid\": 1, \"children\": [{\"name\": "
           "\"aten::empty\", \"start_time\": 1030, \"end_time\": 1050, \"type\": \"Operator\", "
           "\"tid\": 1, \"children\": []}]}, {\"name\": \"aten::gelu\", \"start_time\": 1400, "
           "\"end_time\": 1440, \"type\": \"Operator\", \"tid\": 1, \"children\": []}]}]}");
}

#define NESTED 3000

/* Deeper than a writer of JSON with a stack would nest. */
static void deep_trees(void **state)
{
    struct fixture *f = *state;
    struct buf text;
    buf_init(&text, MAX_UPLOAD_BYTES);
    buf_puts(&text, "{\"traceEvents\":[");
    for (int i = 0; i < NESTED; i++) {
        buf_printf(
            &text,
            "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":%d,"
            "\"dur\":%d,\"args\":{\"External id\":%d}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
            "\"po\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d}",
            i == 0 ? "" : ",", 1000 + 2 * i, 6 * NESTED - 4 * i, i + 1, 1001 + 2 * i,
            6 * NESTED - 4 * i - 2);
    }
    buf_puts(&text, "]}");
    (void)upload(f, "deep", "w.pt.trace.json", text.ptr);
    buf_free(&text);
    assert_status(f, get(f, PLUGIN "/tree?run=deep&worker=w"), 200);
    size_t open = 0;
    size_t closed = 0;
    for (const char *at = body_text(f); *at != '\0'; at++) {
        open += *at == '{';
        closed += *at == '}';
    }
    assert_int_equal(open, 2 * NESTED + 1);
    assert_int_equal(closed, open);
}

static void diff(void **state)
{
    struct fixture *f = *state;
    upload_both(f);
    assert_status(f, get(f, PLUGIN "/diff" OF_BOTH), 200);
    assert_answer(
        f, "{\"left\": " NET_SIDE ", \"right\": {\"name\": \"CompositeNodes\", \"duration\": 260, "
           "\"device_duration\": 60, \"total_duration\": 100, \"aggs\": [{\"name\": "
           "\"aten::empty\", \"calls\": 1, \"host_duration\": 20, \"device_duration\": 0, "
           "\"self_host_duration\": 20, \"self_device_duration\": 0}, {\"name\": "
           "\"aten::linear\", \"calls\": 1, \"host_duration\": 220, \"device_duration\": 60, "
           "\"self_host_duration\": 195, \"self_device_duration\": 60}, {\"name\": "
           "\"aten::gelu\", \"calls\": 1, \"host_duration\": 40, \"device_duration\": 0, "
           "\"self_host_duration\": 40, \"self_device_duration\": 0}]}, \"children\": []}");
    assert_problem(f, get(f, PLUGIN "/diff" OF_TRACE), 400, "bad_request");
    assert_problem(f, get(f, PLUGIN "/diff" OF_TRACE "&exp_run=x&exp_worker=w0"), 404, "not_found");
}

static void diffnode(void **state)
{
    struct fixture *f = *state;
    upload_both(f);
#define OF_ITSELF OF_TRACE "&exp_run=r&exp_worker=w0&exp_span=1"
    assert_status(f, get(f, PLUGIN "/diffnode" OF_ITSELF), 200);
    assert_answer(f, "{\"left\": " NET_SIDE ", \"right\": " NET_SIDE
                     ", \"path\": \"0\", \"children\": "
                     "[{\"left\": " NET_SIDE ", \"right\": " NET_SIDE ", \"path\": \"0-0\"}]}");
    assert_status(f, get(f, PLUGIN "/diffnode" OF_ITSELF "&path=0-0"), 200);
    assert_body_has(f,
                    "{\"name\": \"nn.Module: Linear\", \"duration\": 300, \"device_duration\": 50, "
                    "\"total_duration\": 50, " LINEAR_AGGS "]}, \"path\": \"0-0-0\"}");
    assert_problem(f, get(f, PLUGIN "/diffnode" OF_ITSELF "&path=0-7"), 404, "not_found");
    assert_problem(f, get(f, PLUGIN "/diffnode" OF_ITSELF "&path=-0"), 404, "not_found");
    assert_problem(f, get(f, PLUGIN "/diffnode" OF_ITSELF "&path=0-x"), 404, "not_found");
}

/* ---- collectives ---- */

static void upload_ranks(struct fixture *f)
{
    (void)upload(f, "d", "node0_100.1.pt.trace.json", VIEW_RANK(0, 1210, 100));
    (void)upload(f, "d", "w1.1.pt.trace.json", VIEW_RANK(1, 1280, 30));
}

static void distributed(void **state)
{
    struct fixture *f = *state;
    upload_ranks(f);
    assert_status(f, get(f, PLUGIN "/views?run=d"), 200);
    assert_body_has(f, "\"Distributed\"");
    assert_status(f, get(f, PLUGIN "/workers?run=d&view=Distributed"), 200);
    assert_answer(f, "[\"All\"]");
    assert_status(f, get(f, PLUGIN "/distributed/gpuinfo?run=d&worker=All&span=1"), 200);
    assert_answer(
        f, "{\"metadata\": {\"title\": \"Device Information\"}, \"data\": {\"node0\": {\"Process "
           "100\": {\"GPU0\": {\"Name\": \"Tesla V100\", \"Memory\": \"16.0 GB\", \"Memory "
           "Raw\": 17179869184, \"Compute Capability\": \"7.0\"}}}, \"w1\": {\"Process 1\": "
           "{\"GPU0\": {\"Name\": \"Tesla V100\", \"Memory\": \"16.0 GB\", \"Memory Raw\": "
           "17179869184, \"Compute Capability\": \"7.0\"}}}}}");
    assert_status(f, get(f, PLUGIN "/distributed/overlap?run=d&worker=All"), 200);
    assert_answer(
        f, "{\"metadata\": {\"title\": \"Computation/Communication Overview\", \"legends\": "
           "[\"Computation\", \"Overlapping\", \"Communication\", \"Other\"], \"units\": "
           "\"us\"}, \"data\": {\"all\": {\"node0_100\": [100, 50, 60, 790], \"w1\": [140, 10, "
           "30, 820]}, \"1\": {\"node0_100\": [100, 50, 60, 790], \"w1\": [140, 10, 30, "
           "820]}}}");
    assert_status(f, get(f, PLUGIN "/distributed/waittime?run=d&span=1"), 200);
    assert_body_has(
        f, "\"legends\": [\"Data Transfer Time\", \"Synchronizing Time\"], \"units\": \"us\"}, "
           "\"data\": {\"all\": {\"node0_100\": [40, 70], \"w1\": [40, 0]}, \"1\": "
           "{\"node0_100\": [40, 70], \"w1\": [40, 0]}}}");
    assert_status(f, get(f, PLUGIN "/distributed/commops?run=d&span=1"), 200);
    assert_body_has(
        f, "\"rows\": [[\"nccl:all_reduce\", 1, 1024, 1024, 110, 110, 40, 40]]}, \"w1\": ");
}

/* The view exists where all workers of the span hold the same. */
static void distributed_needs_agreement(void **state)
{
    struct fixture *f = *state;
    upload_ranks(f);
    (void)upload(f, "d", "w2.1.pt.trace.json", VIEW_CHANGED);
    static const char *const routes[] = {"gpuinfo", "overlap", "waittime", "commops"};
    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        char target[100];
        (void)snprintf(target, sizeof target, PLUGIN "/distributed/%s?run=d", routes[i]);
        assert_problem(f, get(f, target), 404, "not_found");
        (void)snprintf(target, sizeof target, PLUGIN "/distributed/%s", routes[i]);
        assert_problem(f, get(f, target), 400, "bad_request");
        (void)snprintf(target, sizeof target, PLUGIN "/distributed/%s?run=x", routes[i]);
        assert_problem(f, get(f, target), 404, "not_found");
    }
    assert_status(f, get(f, PLUGIN "/workers?run=d&view=Distributed"), 200);
    assert_answer(f, "[]");
}

static void no_device_properties(void **state)
{
    struct fixture *f = *state;
    (void)upload(f, "d", "w.pt.trace.json",
                 "{\"traceEvents\":[" VIEW_OP("gloo:all_reduce", 1, 1000, 10, 1) "]}");
    assert_status(f, get(f, PLUGIN "/distributed/gpuinfo?run=d"), 200);
    assert_answer(f, "null");
}

/* [TB-15a]: a collective is of the step of a name, whichever of two has that name. */
static void steps_of_one_name_are_one(void **state)
{
    struct fixture *f = *state;
    (void)upload(f, "d", "w.pt.trace.json",
                 "{\"traceEvents\":[" VIEW_EVENT("user_annotation", "ProfilerStep#1", 1, 1000, 1000,
                                                 "") ","                               //
                 VIEW_OP("gloo:all_reduce", 1, 1100, 10, 1) ","                        //
                 VIEW_EVENT("user_annotation", "ProfilerStep#1", 1, 3000, 500, "") "," //
                 VIEW_OP("gloo:all_reduce", 1, 3100, 30, 2) "]}");
    assert_status(f, get(f, PLUGIN "/distributed/waittime?run=d"), 200);
    assert_body_has(f, "\"data\": {\"all\": {\"w\": [40, 0]}, \"1\": {\"w\": [40, 0]}}");
    assert_status(f, get(f, PLUGIN "/distributed/overlap?run=d"), 200);
    assert_body_has(f, "\"1\": {\"w\": [0, 0, 30, 470]}}");
}

/* [TB-1.1]: without host events the one step has no bounds, and all of its length is left over. */
static void collectives_without_host_events(void **state)
{
    struct fixture *f = *state;
    (void)upload(f, "d", "w.pt.trace.json",
                 "{\"traceEvents\":[" VIEW_EVENT("user_annotation", "gloo:all_reduce", 1, 1100, 10,
                                                 "\"External id\":1") "]}");
    assert_status(f, get(f, PLUGIN "/distributed/overlap?run=d"), 200);
    assert_body_has(f, "{\"all\": {\"w\": [0, 0, 0, -18446744073709551616]}, "
                       "\"0\": {\"w\": [0, 0, 0, -18446744073709551615]}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(memory),
        API_TEST(memory_curve),
        API_TEST(memory_events),
        API_TEST(module),
        API_TEST(trace_counters),
        API_TEST(tree),
        API_TEST(deep_trees),
        API_TEST(diff),
        API_TEST(diffnode),
        API_TEST(distributed),
        API_TEST(distributed_needs_agreement),
        API_TEST(no_device_properties),
        API_TEST(steps_of_one_name_are_one),
        API_TEST(collectives_without_host_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
