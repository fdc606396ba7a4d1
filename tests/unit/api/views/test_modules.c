/* The hierarchy of modules. */
#include "tests/unit/api/view_traces.h"

static void rows_in_pre_order(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w0.1.pt.trace.json", VIEW_TRAINING);
    assert_status(f, get_view(f, id, "modules"), 200);
    assert_answer(
        f, "{\"rows\": [{\"name\": \"Net\", \"module_id\": 3, \"parent\": null, \"depth\": 0, "
           "\"occurrences\": 1, \"operators\": 1, \"host_total_ns\": 500000, "
           "\"host_self_ns\": 170000, \"device_total_ns\": 50000, \"device_self_ns\": 0}, "
           "{\"name\": \"Linear\", \"module_id\": 4, \"parent\": 0, \"depth\": 1, "
           "\"occurrences\": 1, \"operators\": 1, \"host_total_ns\": 300000, "
           "\"host_self_ns\": 100000, \"device_total_ns\": 50000, \"device_self_ns\": "
           "50000}], \"kind\": \"module\", \"total\": 2}");
    assert_status(f, get_view(f, id, "modules?format=csv"), 200);
    assert_string_equal(body_text(f),
                        "name,module_id,parent,depth,occurrences,operators,host_total_ns,"
                        "host_self_ns,device_total_ns,device_self_ns\r\n"
                        "Net,3,,0,1,1,500000,170000,50000,0\r\n"
                        "Linear,4,0,1,1,1,300000,100000,50000,50000\r\n");
}

static void lightning(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w.pt.trace.json",
                        "{\"Framework\":\"pytorch-lightning\",\"traceEvents\":[" VIEW_EVENT(
                            "cpu_op", "[pl][module]torch.nn.Sequential: net", 1, 1000, 100,
                            "") "," VIEW_EVENT("cpu_op", "[pl][module]torch.nn.Linear: net.0", 1,
                                               1010, 50, "") "]}");
    assert_status(f, get_view(f, id, "modules"), 200);
    assert_body_has(f, "{\"name\": \"net\", \"module_id\": 0, \"parent\": null, \"depth\": 0, ");
    assert_body_has(f, "{\"name\": \"net.0\", \"module_id\": 0, \"parent\": 0, \"depth\": 1, ");
    assert_body_has(f, "\"kind\": \"lightning\", \"total\": 2}");
}

static void problems(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload(f, "r", "w.pt.trace.json", VIEW_CHANGED);
    assert_problem(f, get_view(f, id, "modules"), 404, "not_found");
    assert_body_has(f, "with_modules=True");
    assert_problem(f, get_view(f, id, "modules?format=xml"), 400, "bad_request");
    assert_problem(f, get_view(f, 99, "modules"), 404, "not_found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(rows_in_pre_order),
        API_TEST(lightning),
        API_TEST(problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
