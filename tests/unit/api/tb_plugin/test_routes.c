/* The plugin's routes on a trace made by hand: keys, order and numbers as Python's json.dumps
 * writes them. */
#include "tests/unit/api/api_fixture.h"

#define PLUGIN "/data/plugin/pytorch_profiler"
#define OF_TRACE "?run=r%2F1&worker=w0"

static void assert_body(struct fixture *f, const char *expected)
{
    assert_string_equal(f->response.content_type, "application/json");
    assert_string_equal(body_text(f), expected);
}

static void catalogue(void **state)
{
    struct fixture *f = *state;
    struct trace_results empty = {.device_type = "CPU", .views = 1U << VIEW_OVERVIEW};
    (void)publish(f, "r/1", "a.pt.trace.json", "a", "", "1", &empty);
    (void)publish(f, "r/1", "w0.124.pt.trace.json", "w0", "124", "2", &empty);
    (void)publish(f, "B", "a.pt.trace.json", "a", "", "3", &empty);
    assert_status(f, get(f, PLUGIN "/runs"), 200);
    assert_body(f, "{\"runs\": [\"B\", \"r/1\"], \"loading\": false}");
    assert_status(f, get(f, PLUGIN "/views?run=r%2F1"), 200);
    assert_body(f, "[\"Overview\", \"Operator\", \"Kernel\", \"Trace\"]");
    assert_status(f, get(f, PLUGIN "/views?run=B"), 200);
    assert_body(f, "[\"Overview\"]");
    assert_status(f, get(f, PLUGIN "/workers?run=r/1&view=Overview"), 200);
    assert_body(f, "[\"a\", \"w0\"]");
    assert_status(f, get(f, PLUGIN "/workers?run=r/1"), 200);
    assert_body(f, "[\"a\", \"w0\"]");
    assert_status(f, get(f, PLUGIN "/workers?run=r/1&view=Kernel"), 200);
    assert_body(f, "[\"w0\"]");
    assert_status(f, get(f, PLUGIN "/workers?run=r/1&view=Distributed"), 200);
    assert_body(f, "[]");
    assert_status(f, get(f, PLUGIN "/spans?run=r/1&worker=w0"), 200);
    assert_body(f, "[\"1\", \"2\"]");
    assert_status(f, get(f, PLUGIN "/spans?run=r/1&worker=a"), 200);
    assert_body(f, "[\"default\"]");
    assert_status(f, get(f, PLUGIN "/spans?run=r/1&worker=All"), 200);
    assert_body(f, "[\"1\", \"2\", \"default\"]");
}

static void selects_traces(void **state)
{
    struct fixture *f = *state;
    struct trace_results empty = {.device_type = "CPU", .views = 1U << VIEW_OVERVIEW};
    (void)publish(f, "r/1", "a.pt.trace.json", "a", "", "1", &empty);
    static const char *const good[] = {
        "?run=r/1&worker=a",       "?run=r/1&worker=a&span=default", "?run=r/1&worker=a&span=1",
        "?run=r/1&worker=a&span=", "?run=r/1&worker=w0&span=1",
    };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        char target[200];
        (void)snprintf(target, sizeof target, PLUGIN "/overview%s", good[i]);
        assert_status(f, get(f, target), 200);
    }
    assert_problem(f, get(f, PLUGIN "/overview"), 400, "bad_request");
    assert_problem(f, get(f, PLUGIN "/overview?run=r/1"), 400, "bad_request");
    assert_problem(f, get(f, PLUGIN "/overview?run=x&worker=a"), 404, "not_found");
    assert_body_has(f, "r/1");
    assert_problem(f, get(f, PLUGIN "/overview?run=r/1&worker=x"), 404, "not_found");
    assert_body_has(f, "a, w0");
    assert_problem(f, get(f, PLUGIN "/overview?run=r/1&worker=w0&span=default"), 404, "not_found");
    assert_problem(f, get(f, PLUGIN "/overview?run=r/1&worker=a&span=2"), 404, "not_found");
    assert_body_has(f, "it has: default");
    assert_problem(f, get(f, PLUGIN "/spans?run=r/1&worker=x"), 404, "not_found");
    assert_problem(f, get(f, PLUGIN "/spans?run=r/1"), 400, "bad_request");
    assert_problem(f, get(f, PLUGIN "/views?run=x"), 404, "not_found");
    assert_problem(f, get(f, PLUGIN "/workers?run=r/1&view=Colour"), 400, "bad_request");
    assert_problem(f, get(f, PLUGIN "/operation?run=r/1&worker=w0&group_by=x"), 400, "bad_request");
    assert_problem(f, get(f, PLUGIN "/module?run=r/1&worker=w0"), 404, "not_found");
    assert_problem(f, get(f, PLUGIN "/distributed/overlap?run=r/1"), 404, "not_found");
    assert_problem(f, get(f, PLUGIN "/memory?run=r/1&worker=w0&start_ts=x"), 400, "bad_request");
}

static void mixed_digits_number_from_one(void **state)
{
    struct fixture *f = *state;
    struct trace_results empty = {.device_type = "CPU", .views = 1U << VIEW_OVERVIEW};
    (void)publish(f, "m", "w.pt.trace.json", "w", "", "1", &empty);
    (void)publish(f, "m", "w.5.pt.trace.json", "w", "5", "2", &empty);
    (void)publish(f, "m", "w.6.pt.trace.json", "w", "6", "3", &empty);
    assert_status(f, get(f, PLUGIN "/spans?run=m&worker=w"), 200);
    assert_body(f, "[\"1\", \"2\", \"default\"]");
}

static void overview(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get(f, PLUGIN "/overview" OF_TRACE), 200);
    assert_body_has(
        f, "{\"steps\": {\"columns\": [{\"type\": \"string\", \"name\": \"Step\"}, {\"type\": "
           "\"number\", \"name\": \"Kernel\"}, {\"type\": \"string\", \"role\": \"tooltip\", "
           "\"p\": {\"html\": \"true\"}}, {\"type\": \"number\", \"name\": \"Memcpy\"}");
    assert_body_has(f, "\"rows\": [[\"9\", 100, \"<div class=\\\"visualization-tooltip\\\" "
                       "style=\\\"white-space: nowrap;\\\">Step 9<br>Total: 1000us<br><b>Kernel: "
                       "100us</b><br>Percentage: 10.0%</div>\", 0, ");
    assert_body_has(f, "\"performance\": [{\"name\": \"Average Step Time\", \"description\": \"\", "
                       "\"value\": 750, \"extra\": 100, \"children\": [{\"name\": \"Kernel\", "
                       "\"description\": \"\", \"value\": 200, \"extra\": 26.65}, ");
    assert_body_has(
        f, "{\"name\": \"CPU Exec\", \"description\": \"\", \"value\": 275, \"extra\": 36.64}");
    assert_body_has(
        f, "\"recommendations\": \"<ul><li>GPU 0 has low utilisation: &lt; 50% &amp; "
           "idle</li></ul>\", \"environments\": [{\"title\": \"Number of Worker(s)\", "
           "\"value\": \"1\"}, {\"title\": \"Device Type\", \"value\": \"GPU\"}], "
           "\"gpu_metrics\": {\"title\": \"GPU Summary\", \"data\": [{\"title\": \"GPU 0:\", "
           "\"value\": \"\"}, {\"title\": \"Name\", \"value\": \"Tesla V100\"}, {\"title\": "
           "\"Memory\", \"value\": \"16.0 GB\"}, {\"title\": \"Compute Capability\", "
           "\"value\": \"7.0\"}, {\"title\": \"GPU Utilization\", \"value\": \"25.0 %\"}, "
           "{\"title\": \"Est. Achieved Occupancy\", \"value\": \"33.3 %\"}, {\"title\": "
           "\"Kernel Time using Tensor Cores\", \"value\": \"75.0 %\"}], \"tooltip\": \"");
    assert_false(body_has(f, "Communication"));
}

static void overview_of_undefined_steps(void **state)
{
    struct fixture *f = *state;
    struct step_row step = {.name = "0", .start_ns = INT64_MAX, .end_ns = INT64_MIN};
    struct device_row device = device_row_unknown(3);
    device.utilisation = -0.0;
    struct trace_results r = {
        .device_type = "MLU",
        .mlu = true,
        .has_kernel = true,
        .steps_undefined = true,
        .steps = &step,
        .step_count = 1,
        .devices = &device,
        .device_count = 1,
    };
    (void)publish(f, "u", "w.pt.trace.json", "w", "", "u", &r);
    assert_status(f, get(f, PLUGIN "/overview?run=u&worker=w"), 200);
    assert_body_has(
        f, "Total: -18446744073709551615us<br><b>Kernel: 0us</b><br>Percentage: -0.0%</div>");
    assert_body_has(f, "\"value\": -18446744073709551616, \"extra\": 100, ");
    assert_body_has(f, "\"value\": 0, \"extra\": -0.0}");
    assert_body_has(f, "\"recommendations\": \"<ul><li>N/A</li></ul>\"");
    assert_body_has(f, "{\"title\": \"Device Type\", \"value\": \"MLU\"}");
    assert_body_has(
        f, "{\"title\": \"MLU Summary\", \"data\": [{\"title\": \"MLU 3:\", \"value\": \"\"}, "
           "{\"title\": \"MLU Utilization\", \"value\": \"-0.0 %\"}], \"tooltip\": \"");
}

static void overview_without_devices(void **state)
{
    struct fixture *f = *state;
    struct step_row step = {.name = "0", .end_ns = 1500, .cost_ns = {[TIME_CPU_EXEC] = 1500}};
    struct trace_results r = {.device_type = "CPU",
                              .decimal_times = true,
                              .has_communication = true,
                              .steps = &step,
                              .step_count = 1};
    (void)publish(f, "u", "w.pt.trace.json", "w", "", "u", &r);
    assert_status(f, get(f, PLUGIN "/overview?run=u&worker=w"), 200);
    assert_body_has(f, "[\"0\", 0, \"<div ");
    assert_body_has(f, "Total: 1.5us<br><b>Communication: 0us</b><br>Percentage: 0.0%");
    assert_body_has(f, ", 1.5, \"<div ");
    assert_body_has(f, "\"value\": 2, \"extra\": 100, \"children\": [{\"name\": \"Communication\"");
    assert_body_has(f, "{\"title\": \"Device Type\", \"value\": \"CPU\"}");
    assert_false(body_has(f, "gpu_metrics"));
    assert_false(body_has(f, "Kernel"));
}

static void operation_pies(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get(f, PLUGIN "/operation" OF_TRACE), 200);
    assert_body_has(f,
                    "{\"device_total_time\": {\"title\": \"Device Total Time (us)\", \"columns\": "
                    "[{\"type\": \"string\", \"name\": \"name\"}, {\"type\": \"number\", \"name\": "
                    "\"value\"}], \"rows\": [[\"aten::mm\", 120], [\"aten::add\", 40]]}, "
                    "\"device_self_time\": {");
    assert_body_has(f,
                    "\"rows\": [[\"aten::mm\", 60], [\"aten::add\", 20], [\"=evil\\\"<b>\\u00e4\", "
                    "1]]}}");
    assert_status(f, get(f, PLUGIN "/operation" OF_TRACE "&group_by=OperationAndInputShape"), 200);
    assert_body_has(f, "\"rows\": [[\"aten::mm\", 120]]}");
}

static void empty_pies_are_null(void **state)
{
    struct fixture *f = *state;
    struct operator_row op = {.name = "a", .calls = 1, .host_total_ns = 1500};
    struct trace_results r = {.device_type = "CPU", .decimal_times = true};
    r.operators[OPERATOR_BY_NAME] = &op;
    r.operator_count[OPERATOR_BY_NAME] = 1;
    (void)publish(f, "u", "w.pt.trace.json", "w", "", "u", &r);
    assert_status(f, get(f, PLUGIN "/operation?run=u&worker=w"), 200);
    assert_body(
        f, "{\"device_total_time\": null, \"device_self_time\": null, \"host_total_time\": "
           "{\"title\": \"Host Total Time (us)\", \"columns\": [{\"type\": \"string\", \"name\": "
           "\"name\"}, {\"type\": \"number\", \"name\": \"value\"}], \"rows\": [[\"a\", 1.5]]}, "
           "\"host_self_time\": null}");
    assert_status(f, get(f, PLUGIN "/operation/table?run=u&worker=w"), 200);
    assert_body_has(f, "{\"metadata\": {\"sort\": \"host_self_duration\", \"tooltips\": {");
    assert_body_has(f, "\"data\": [{\"name\": \"a\", \"calls\": 1, \"host_self_duration\": 0, "
                       "\"host_total_duration\": 2, \"tc_eligible\": \"No\", \"tc_self_ratio\": 0, "
                       "\"tc_total_ratio\": 0, \"has_call_stack\": false}]}");
}

/* [TB-1.4]: zeros of a trace with decimals */
static void zeros_of_kernels(void **state)
{
    struct fixture *f = *state;
    struct kernel_row kernel = {.name = "k", .calls = 1};
    struct kernel_launch_row launch = {
        .name = "k", .operator_name = "op", .config = {"None", "None", "0", "0"}, .calls = 1};
    struct trace_results r = {.device_type = "GPU",
                              .decimal_times = true,
                              .has_occupancy = true,
                              .kernels = &kernel,
                              .kernel_count = 1,
                              .kernel_launches = &launch,
                              .kernel_launch_count = 1};
    (void)publish(f, "u", "w.pt.trace.json", "w", "", "u", &r);
    assert_status(f, get(f, PLUGIN "/kernel?run=u&worker=w"), 200);
    assert_body_has(f, "\"rows\": [[\"k\", 0.0]]}");
    assert_status(f, get(f, PLUGIN "/kernel/table?run=u&worker=w"), 200);
    assert_body_has(f, "\"rows\": [[\"k\", \"No\", 1, 0, 0, 0, 0, 0.0]]}");
    assert_status(f, get(f, PLUGIN "/kernel/table?run=u&worker=w&group_by=KernelNameAndOpName"),
                  200);
    assert_body_has(f, "\"No\", \"No\", 1, 0.0, 0, 0, 0.0, 0]]}");
}

static void operation_table(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get(f, PLUGIN "/operation/table" OF_TRACE), 200);
    assert_body_has(
        f, "{\"metadata\": {\"sort\": \"device_self_duration\", \"tooltips\": {\"tc_eligible\":");
    assert_body_has(
        f, "\"data\": [{\"name\": \"aten::mm\", \"calls\": 1, \"device_self_duration\": 120, "
           "\"device_total_duration\": 120, \"host_self_duration\": 60, "
           "\"host_total_duration\": 70, \"tc_eligible\": \"Yes\", \"tc_self_ratio\": 50.0, "
           "\"tc_total_ratio\": 50.0, \"has_call_stack\": true}, {\"name\": \"aten::add\"");
    assert_status(f, get(f, PLUGIN "/operation/table" OF_TRACE "&group_by=OperationAndInputShape"),
                  200);
    assert_body_has(f, "{\"name\": \"aten::mm\", \"input_shape\": \"[[2, 8], []]\", \"calls\": 1");
    assert_status(f, get(f, PLUGIN "/operation/stack" OF_TRACE "&op_name=aten::mm"), 200);
    assert_body_has(f, "\"tc_total_ratio\": 0.0, \"call_stack\": \"a.py(1): f\"}]}");
    assert_status(f, get(f, PLUGIN "/operation/stack" OF_TRACE "&op_name=other"), 200);
    assert_body_has(f, "\"data\": []}");
    assert_problem(f, get(f, PLUGIN "/operation/stack" OF_TRACE), 400, "bad_request");
    assert_problem(
        f, get(f, PLUGIN "/operation/stack" OF_TRACE "&op_name=a&group_by=OperationAndInputShape"),
        400, "bad_request");
}

static void kernels(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get(f, PLUGIN "/kernel" OF_TRACE "&group_by=Kernel"), 200);
    assert_body(f,
                "{\"total\": {\"columns\": [{\"type\": \"string\", \"name\": \"name\"}, {\"type\": "
                "\"number\", \"name\": \"value\"}], \"rows\": [[\"gemm\", 301], [\"add\", 99]]}}");
    assert_status(f, get(f, PLUGIN "/kernel/tc_pie" OF_TRACE), 200);
    assert_body(
        f, "{\"total\": {\"columns\": [{\"type\": \"string\", \"name\": \"name\"}, {\"type\": "
           "\"number\", \"name\": \"value\"}], \"rows\": [[\"Using Tensor Cores\", 0.8], [\"Not "
           "Using Tensor Cores\", 0.19999999999999996]]}}");
    assert_status(f, get(f, PLUGIN "/kernel/table" OF_TRACE), 200);
    assert_body_has(f,
                    "{\"metadata\": {\"sort\": \"Total Duration (us)\"}, \"data\": {\"columns\": "
                    "[{\"type\": \"string\", \"name\": \"Name\"}, {\"type\": \"string\", \"name\": "
                    "\"Tensor Cores Used\", \"tooltip\": \"");
    assert_body_has(
        f, "\"rows\": [[\"gemm\", \"Yes\", 2, 301, 150, 201, 100, 1.25, 33.3], [\"add\", \"No\"");
    assert_status(f, get(f, PLUGIN "/kernel/table" OF_TRACE "&group_by=KernelNameAndOpName"), 200);
    assert_body_has(f, "\"name\": \"Register Per Thread\"");
    assert_body_has(
        f, "\"rows\": [[\"gemm\", \"aten::mm\", \"[1, 2, 3]\", \"[4, 5, 6]\", \"32\", \"0\", "
           "\"Yes\", \"Yes\", 2, 301, 150, 201, 100, 1.25, 33.3]]}}");
}

static void kernels_of_the_fork(void **state)
{
    struct fixture *f = *state;
    struct kernel_launch_row row = hand_launches[0];
    row.total_ns = 1500;
    struct trace_results r = {
        .device_type = "MLU",
        .mlu = true,
        .decimal_times = true,
        .kernel_launches = &row,
        .kernel_launch_count = 1,
    };
    (void)publish(f, "u", "w.pt.trace.json", "w", "", "u", &r);
    assert_status(f, get(f, PLUGIN "/kernel/table?run=u&worker=w&group_by=KernelNameAndOpName"),
                  200);
    assert_body_has(
        f, "{\"type\": \"string\", \"name\": \"Kernel Type\"}, {\"type\": \"string\", "
           "\"name\": \"Dim\"}, {\"type\": \"number\", \"name\": \"Tasktopo\"}, {\"type\": "
           "\"number\", \"name\": \"Tasktopo_node\"}");
    assert_false(body_has(f, "Mean Blocks Per SM"));
    assert_body_has(f, "\"Yes\", \"Yes\", 2, 1.5, 1, 201.0, 100.0]]}}");
}

static void kept_answers_word_for_word(void **state)
{
    struct fixture *f = *state;
    struct uploaded_answer_row answers[] = {
        {.route = "operation/table", .group_by = "Operation", .json = "{\"kept\":1}"},
        {.route = "kernel", .group_by = "", .json = "{\"kept\":  2}"},
    };
    struct trace_results r = {.device_type = "MLU",
                              .uploaded_answers = answers,
                              .uploaded_answer_count = COUNT_OF(answers)};
    (void)publish(f, "u", "w.pt.trace.json", "w", "", "u", &r);
    assert_status(f, get(f, PLUGIN "/operation/table?run=u&worker=w"), 200);
    assert_body(f, "{\"kept\":1}");
    assert_status(
        f, get(f, PLUGIN "/operation/table?run=u&worker=w&group_by=OperationAndInputShape"), 200);
    assert_false(body_has(f, "kept"));
    assert_status(f, get(f, PLUGIN "/kernel?run=u&worker=w"), 200);
    assert_body(f, "{\"kept\":  2}");
}

#define WITH_TRACE(test) cmocka_unit_test_setup_teardown(test, set_up_hand_made, tear_down_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TRACE(catalogue),
        WITH_TRACE(selects_traces),
        WITH_TRACE(mixed_digits_number_from_one),
        WITH_TRACE(overview),
        WITH_TRACE(overview_of_undefined_steps),
        WITH_TRACE(overview_without_devices),
        WITH_TRACE(operation_pies),
        WITH_TRACE(empty_pies_are_null),
        WITH_TRACE(zeros_of_kernels),
        WITH_TRACE(operation_table),
        WITH_TRACE(kernels),
        WITH_TRACE(kernels_of_the_fork),
        WITH_TRACE(kept_answers_word_for_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
