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

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(kernels_by_stack),
        API_TEST(operators_by_stack),
        API_TEST(the_stack_of_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
