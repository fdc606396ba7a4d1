/* The call tree in parts. */
#include "tests/unit/api/view_traces.h"

static int64_t upload_training(struct fixture *f)
{
    return upload(f, "r", "w0.1.pt.trace.json", VIEW_TRAINING);
}

static void threads(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "tree"), 200);
    assert_answer(f,
                  "{\"threads\": [{\"thread\": 0, \"tid\": 1, \"label\": null, "
                  "\"lightning_profile\": false, \"nodes\": 7, \"start_ns\": 0, \"end_ns\": "
                  "1000000}, {\"thread\": 1, \"tid\": 2, \"label\": null, \"lightning_profile\": "
                  "false, \"nodes\": 2, \"start_ns\": 600000, \"end_ns\": 700000}]}");
}

static void a_part_below_the_root(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "tree/0"), 200);
    assert_body_has(f, "{\"thread\": 0, \"node\": 0, \"children\": 1, \"path\": [{\"node\": 0, "
                       "\"name\": \"CallTreeRoot\"}], \"rows\": [{\"node\": 1, \"parent\": 0, "
                       "\"depth\": 1, \"name\": \"ProfilerStep#1\", \"class\": \"step\", \"type\": "
                       "\"ProfilerStep\", \"start_ns\": 0, \"end_ns\": 1000000, \"duration_ns\": "
                       "1000000, \"host_self_ns\": 500000, \"device_total_ns\": 50000, "
                       "\"device_self_ns\": 0, \"children\": 1, \"call_stack\": null, \"partner\": "
                       "null}, {\"node\": 2, \"parent\": 1, \"depth\": 2, \"name\": \"nn.Module: "
                       "Net\", \"class\": \"module\", ");
    assert_body_has(f, "\"truncated\": false}");
    assert_false(body_has(f, "aten::relu")); /* on the third level */
}

static void a_part_below_a_node(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "tree/0?node=3&depth=1"), 200);
    assert_body_has(f, "\"children\": 1, \"path\": [{\"node\": 0, \"name\": \"CallTreeRoot\"}, "
                       "{\"node\": 1, \"name\": \"ProfilerStep#1\"}, {\"node\": 2, \"name\": "
                       "\"nn.Module: Net\"}, {\"node\": 3, \"name\": \"nn.Module: Linear\"}], "
                       "\"rows\": [{\"node\": 4, \"parent\": 3, \"depth\": 1, ");
    assert_body_has(f, "\"children\": 1, \"call_stack\": \"net.py(3): forward\", \"partner\": "
                       "{\"thread\": 1, \"node\": 8, \"name\": \"LinearBackward0\"}}], "
                       "\"truncated\": false}");
    assert_status(f, get_view(f, id, "tree/1"), 200);
    assert_body_has(f, "\"partner\": {\"thread\": 0, \"node\": 4, \"name\": \"aten::linear\"}}");
    assert_status(f, get_view(f, id, "tree/0?node=5"), 200); /* a leaf */
    assert_body_has(f, "\"rows\": [], \"truncated\": false}");
}

/* Of each node's children `limit`; of the node's own the first `offset` are left out. */
static void siblings_are_cut(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "tree/0?node=2&depth=1&limit=1"), 200);
    assert_body_has(f, "\"name\": \"nn.Module: Linear\", ");
    assert_false(body_has(f, "aten::relu"));
    assert_body_has(f, "\"truncated\": true}");
    assert_status(f, get_view(f, id, "tree/0?node=2&depth=9&limit=1&offset=1"), 200);
    assert_body_has(
        f, "\"rows\": [{\"node\": 6, \"parent\": 2, \"depth\": 1, \"name\": \"aten::relu\", ");
    assert_body_has(f, "\"truncated\": false}");
    assert_status(f, get_view(f, id, "tree/0?node=2&offset=99"), 200);
    assert_body_has(f, "\"rows\": [], \"truncated\": false}");
}

static void search(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    assert_status(f, get_view(f, id, "tree/0?q=LINEAR"), 200);
    assert_answer(
        f, "{\"thread\": 0, \"q\": \"LINEAR\", \"total\": 2, \"rows\": [{\"node\": 3, \"name\": "
           "\"nn.Module: Linear\", \"start_ns\": 15000, \"duration_ns\": 300000, \"path\": "
           "[{\"node\": 0, \"name\": \"CallTreeRoot\"}, {\"node\": 1, \"name\": "
           "\"ProfilerStep#1\"}, {\"node\": 2, \"name\": \"nn.Module: Net\"}]}, {\"node\": 4, "
           "\"name\": \"aten::linear\", \"start_ns\": 20000, \"duration_ns\": 200000, "
           "\"path\": [{\"node\": 0, \"name\": \"CallTreeRoot\"}, {\"node\": 1, \"name\": "
           "\"ProfilerStep#1\"}, {\"node\": 2, \"name\": \"nn.Module: Net\"}, {\"node\": 3, "
           "\"name\": \"nn.Module: Linear\"}]}]}");
    assert_status(f, get_view(f, id, "tree/0?q=/^aten::(relu|gelu)$/"), 200);
    assert_body_has(f, "\"total\": 1, \"rows\": [{\"node\": 6, ");
    assert_status(f, get_view(f, id, "tree/1?q=relu"), 200); /* the other thread */
    assert_body_has(f, "\"total\": 0, \"rows\": []}");
    assert_problem(f, get_view(f, id, "tree/0?q=/(/"), 400, "bad_request");
}

#define SIBLINGS 6000

/* A part is bounded whatever is asked for, a search too. */
static void parts_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct buf text;
    buf_init(&text, MAX_UPLOAD_BYTES);
    buf_puts(&text, "{\"traceEvents\":[" VIEW_OP("aten::all", 1, 1000, 90000, 1));
    for (int i = 0; i < SIBLINGS; i++) {
        buf_printf(&text,
                   ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::one\",\"pid\":1,\"tid\":1,"
                   "\"ts\":%d,\"dur\":5}",
                   1010 + i * 10);
    }
    buf_puts(&text, "]}");
    int64_t id = upload(f, "r", "w.pt.trace.json", text.ptr);
    buf_free(&text);
    assert_status(f, get_view(f, id, "tree/0?depth=1000&limit=5000"), 200);
    assert_body_has(f, "\"node\": 5000, ");
    assert_false(body_has(f, "\"node\": 5001, "));
    assert_body_has(f, "\"truncated\": true}");
    assert_status(f, get_view(f, id, "tree/0"), 200);
    assert_body_has(f, "\"node\": 501, ");
    assert_false(body_has(f, "\"node\": 502, "));
    assert_body_has(f, "\"children\": 6000, ");
    assert_status(f, get_view(f, id, "tree/0?q=one"), 200);
    assert_body_has(f, "\"total\": 6000, ");
    assert_body_has(f, "\"node\": 201, ");
    assert_false(body_has(f, "\"node\": 202, "));
}

#define NESTED 3000

static void deep_trees(void **state)
{
    struct fixture *f = *state;
    struct buf text;
    buf_init(&text, MAX_UPLOAD_BYTES);
    buf_puts(&text, "{\"traceEvents\":[");
    for (int i = 0; i < NESTED; i++) {
        buf_printf(
            &text,
            "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,\"tid\":1,\"ts\":%d,"
            "\"dur\":%d}",
            i == 0 ? "" : ",", i, 1000 + i, 3 * NESTED - 2 * i);
    }
    buf_puts(&text, "]}");
    int64_t id = upload(f, "r", "w.pt.trace.json", text.ptr);
    buf_free(&text);
    assert_status(f, get_view(f, id, "tree/0?depth=1000"), 200);
    assert_body_has(f, "{\"node\": 1000, \"parent\": 999, \"depth\": 1000, ");
    assert_status(f, get_view(f, id, "tree/0?node=3000"), 200);
    assert_body_has(
        f, "{\"node\": 2999, \"name\": \"op2998\"}, {\"node\": 3000, \"name\": \"op2999\"}], "
           "\"rows\": []");
    /* of a match the nearest 64 */
    assert_status(f, get_view(f, id, "tree/0?q=op2999"), 200);
    assert_body_has(f, "\"path\": [{\"node\": 2936, ");
    assert_body_has(f, "{\"node\": 2999, \"name\": \"op2998\"}]}]}");
}

static void problems(void **state)
{
    struct fixture *f = *state;
    int64_t id = upload_training(f);
    static const char *const missing[] = {
        "tree/2",        "tree/x",          "tree/",
        "tree/-1",       "tree/4294967296", "tree/99999999999999999999",
        "tree/0?node=7", "tree/1?node=0",
    };
    for (size_t i = 0; i < COUNT_OF(missing); i++) {
        assert_problem(f, get_view(f, id, missing[i]), 404, "not_found");
    }
    static const char *const bad[] = {
        "tree/0?node=x",  "tree/0?node=-1",    "tree/0?depth=0",   "tree/0?depth=1001",
        "tree/0?limit=0", "tree/0?limit=5001", "tree/0?offset=-1", "tree/0?node=99999999999",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_problem(f, get_view(f, id, bad[i]), 400, "bad_request");
    }
    assert_problem(f, get_view(f, 99, "tree"), 404, "not_found");
    assert_problem(f, get_view(f, 99, "tree/0"), 404, "not_found");
}

/* A trace that holds results but no events. */
static void without_a_tree(void **state)
{
    struct fixture *f = *state;
    struct trace_results empty = {.device_type = "CPU", .views = 1U << VIEW_OVERVIEW};
    int64_t id = publish(f, "r", "a.pt.trace.json", "a", "", "1", &empty);
    assert_problem(f, get_view(f, id, "tree"), 404, "not_found");
    assert_problem(f, get_view(f, id, "tree/0"), 404, "not_found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(threads),
        API_TEST(a_part_below_the_root),
        API_TEST(a_part_below_a_node),
        API_TEST(siblings_are_cut),
        API_TEST(search),
        API_TEST(parts_are_bounded),
        API_TEST(deep_trees),
        API_TEST(problems),
        API_TEST(without_a_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
