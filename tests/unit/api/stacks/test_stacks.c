/* Kernels and operators by the Python frames around their launch, and the stack of an event. */
#include "tests/unit/api/view_traces.h"

#define FRAME(name, tid, ts, dur) VIEW_EVENT("python_function", name, tid, ts, dur, "")
#define FLOW(phase, tid, ts)                                                                    \
    "{\"ph\":\"" phase                                                                          \
    "\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":1,\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts \
    ",\"bp\":\"e\"}"

/* train.py calls net.py, which calls a linear layer; its backward runs on another thread. */
static const char trace[] = VIEW_HEAD FRAME("train.py(9): main", 1, 1000, 900) "," /* event 0 */
    FRAME("net.py(4): forward", 1, 1010, 300) ","                                  /* event 1 */
    VIEW_OP("aten::linear", 1, 1020, 220, 1) ","                                   /* event 2 */
    VIEW_LAUNCH(1100, 7, 1) ","                                                    /* event 3 */
    VIEW_KERNEL("gemm", 1150, 60, 7, 1) ","                                        /* event 4 */
    VIEW_EVENT("cpu_op", "AddmmBackward0", 2, 2000, 100, "\"External id\":2") ","  /* event 5 */
    VIEW_EVENT("cuda_runtime",
               "cudaLaunchKernel",
               2,
               2010,
               10,
               "\"correlation\":8,\"External id\":2") "," /* event 6 */
    VIEW_KERNEL("gemm", 2050, 90, 8, 2) ","               /* event 7 */
    FLOW("s", 1, 1020) "," FLOW("f", 2, 2000) "]}";

static int64_t upload_stacks(struct fixture *f)
{
    return upload(f, "stacks", "worker0.pt.trace.json", trace);
}

static void kernels_by_stack(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_stacks(f);
    assert_status(f, get_view(f, id, "kernels/stacks"), 200);
    assert_answer(
        f, "{\"rows\": [{\"name\": \"gemm\", \"operator\": \"AddmmBackward0\", \"module\": null, "
           "\"call_stack\": \"(backward);net.py(4): forward;train.py(9): main\", \"calls\": 1, "
           "\"total_ns\": 90000, \"share\": 0.6, \"mean_ns\": 90000.0, \"min_ns\": 90000, "
           "\"max_ns\": 90000}, {\"name\": \"gemm\", \"operator\": \"aten::linear\", \"module\": "
           "null, \"call_stack\": \"net.py(4): forward;train.py(9): main\", \"calls\": 1, "
           "\"total_ns\": 60000, \"share\": 0.4, \"mean_ns\": 60000.0, \"min_ns\": 60000, "
           "\"max_ns\": 60000}], \"total\": 2, \"sort\": \"total_ns\", \"order\": \"desc\", \"q\": "
           "null, \"limit\": 100, \"offset\": 0, \"device_ns\": 150000}");
    assert_status(f, get_view(f, id, "kernels/stacks?name=other"), 200);
    assert_body_has(f, "{\"rows\": [], \"total\": 0, ");
    assert_status(f, get_view(f, id, "kernels/stacks?sort=call_stack&limit=1&name=gemm"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"gemm\", \"operator\": \"AddmmBackward0\", ");
    assert_body_has(f, "}], \"total\": 2, \"sort\": \"call_stack\", \"order\": \"asc\", ");
    assert_status(f, get_view(f, id, "kernels/stacks?sort=size"), 400);
    assert_status(f, get_view(f, id, "kernels/stacks?format=csv"), 200);
    assert_body_has(f, "name,operator,module,call_stack,calls,total_ns,share,mean_ns,");
    assert_body_has(f, "gemm,aten::linear,,\"net.py(4): forward;train.py(9): main\",1,60000,0.4,");
}

static void operators_by_stack(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_stacks(f);
    assert_status(f, get_view(f, id, "operators?group_by=name_stack&sort=calls&order=asc"), 200);
    assert_body_has(f, "\"call_stack\": \"net.py(4): forward;train.py(9): main\", \"calls\": 1, ");
    assert_body_has(f, "\"total\": 2, \"group_by\": \"name_stack\", \"sort\": \"calls\", ");
    assert_status(f, get_view(f, id, "operators?group_by=name_stack&name=AddmmBackward0"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"AddmmBackward0\", \"call_stack\": \"(backward);");
    assert_body_has(f, "\"share\": 0.6, ");
    assert_body_has(f, "\"total\": 1, ");
    static const char *const sorts[] = {"name",           "call_stack", "host_mean_ns",
                                        "has_call_stack", "share",      "tensor_core_self_share"};
    for (size_t i = 0; i < sizeof sorts / sizeof sorts[0]; i++) {
        char rest[100];
        (void)snprintf(rest, sizeof rest, "operators?group_by=name_shape_stack&sort=%s", sorts[i]);
        assert_status(f, get_view(f, id, rest), 200);
        assert_body_has(f, "\"input_shape\": ");
        assert_body_has(f, "\"total\": 2, ");
    }
    assert_status(f, get_view(f, id, "operators?group_by=name_stack&sort=size"), 400);
    assert_status(f, get_view(f, id, "operators?group_by=name_stack&q=/(/"), 400);
    assert_status(f, get_view(f, id, "operators?name=aten::linear"), 200);
    assert_body_has(f, "\"has_call_stack\": true");
}

static void the_stack_of_an_event(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_stacks(f);
    assert_status(f, get_view(f, id, "events/4"), 200);
    assert_body_has(f, "\"enclosing\": [], \"launch_enclosing\": [{\"event\": 0, \"name\": "
                       "\"train.py(9): main\", ");
    assert_body_has(f, "\"category\": \"cpu_op\"}], \"forward\": []}");
    /* of backward work that of its forward operator, from the kernel and from the operator */
    assert_status(f, get_view(f, id, "events/7"), 200);
    assert_body_has(f, "\"name\": \"AddmmBackward0\", ");
    assert_body_has(f, "\"forward\": [{\"event\": 0, \"name\": \"train.py(9): main\", ");
    assert_body_has(f, "{\"event\": 2, \"name\": \"aten::linear\", ");
    assert_status(f, get_view(f, id, "events/5"), 200);
    assert_body_has(f, "\"forward\": [{\"event\": 0, \"name\": \"train.py(9): main\", ");
}

static void a_flame_graph(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_stacks(f);
    assert_status(f, get_view(f, id, "flame-graph?weight=device"), 200);
    assert_body_has(f, "{\"by\": \"python\", \"weight\": \"device\", \"step\": null, \"steps\": 0, "
                       "\"node_count\": 8, \"nodes\": [{\"id\": \"0000000000000000\", "
                       "\"parent\": null, \"depth\": 0, \"name\": \"\", \"kind\": \"root\", "
                       "\"library\": false, \"total_ns\": 150000, \"self_ns\": 0, ");
    assert_body_has(f, "\"parent\": 0, \"depth\": 1, \"name\": \"train.py(9): main\", ");
    assert_status(f, get_view(f, id, "flame-graph?weight=device&format=folded"), 200);
    assert_string_equal(f->response.content_type, "text/plain; charset=utf-8");
    assert_string_equal(body_text(f),
                        "train.py(9): main;net.py(4): "
                        "forward;(backward);AddmmBackward0;gemm 90000\n"
                        "train.py(9): main;net.py(4): forward;aten::linear;gemm 60000\n");
    char against[80];
    (void)snprintf(against, sizeof against, "flame-graph?by=operator&against=%lld", (long long)id);
    assert_status(f, get_view(f, id, against), 200);
    assert_body_has(f, "\"against_steps\": 0, \"nodes\": [{");
    assert_body_has(f, "\"against_total_ns\": 1000000, ");
    assert_status(f, get_view(f, id, "flame-graph?under=0123456789abcdef"), 404);
    static const char *const bad[] = {"by=line",      "weight=gpu",   "under=12",  "step=0",
                                      "limit=0",      "depth=100000", "against=x", "format=csv",
                                      "modules=none", "libraries=no"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char rest[80];
        (void)snprintf(rest, sizeof rest, "flame-graph?%s", bad[i]);
        assert_status(f, get_view(f, id, rest), 400);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(kernels_by_stack),
        API_TEST(operators_by_stack),
        API_TEST(the_stack_of_an_event),
        API_TEST(a_flame_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
