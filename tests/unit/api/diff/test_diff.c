/* Two traces by name and by call tree. */
#include "tests/unit/api/view_traces.h"

static int
get_diff(struct fixture *f, const char *path, int64_t base, int64_t candidate, const char *more)
{
    char target[300];
    (void)snprintf(target, sizeof target, "/api/v1/%s?base=%lld&candidate=%lld%s", path,
                   (long long)base, (long long)candidate, more);
    return get(f, target);
}

struct two {
    int64_t base;
    int64_t candidate;
};

static struct two upload_both(struct fixture *f)
{
    int64_t base = upload(f, "r", "w0.1.pt.trace.json", VIEW_TRAINING);
    return (struct two){base, upload(f, "other", "w1.pt.trace.json", VIEW_CHANGED)};
}

static void by_name(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    assert_status(f, get_diff(f, "diff", t.base, t.candidate, "&per=total"), 200);
    assert_body_has(f, "{\"base\": {\"id\": 1, \"run\": \"r\", \"worker\": \"w0\", ");
    assert_body_has(f, "\"candidate\": {\"id\": 2, \"run\": \"other\", \"worker\": \"w1\", ");
    assert_body_has(
        f,
        "\"operators\": [{\"name\": \"aten::linear\", \"presence\": \"both\", \"base_calls\": 1, "
        "\"candidate_calls\": 1, \"delta_calls\": 0, \"base_host_ns\": 200000, "
        "\"candidate_host_ns\": 220000, \"delta_host_ns\": 20000, \"base_host_self_ns\": 175000, "
        "\"candidate_host_self_ns\": 195000, \"delta_host_self_ns\": 20000, \"base_device_ns\": "
        "50000, \"candidate_device_ns\": 60000, \"delta_device_ns\": 10000, "
        "\"base_device_self_ns\": 50000, \"candidate_device_self_ns\": 60000, "
        "\"delta_device_self_ns\": 10000, \"change\": 0.2}, ");
    assert_body_has(f, "{\"name\": \"aten::relu\", \"presence\": \"removed\", \"base_calls\": 1, "
                       "\"candidate_calls\": 0, \"delta_calls\": -1, \"base_host_ns\": 30000, ");
    assert_body_has(f, "{\"name\": \"aten::gelu\", \"presence\": \"added\", \"base_calls\": 0, "
                       "\"candidate_calls\": 1, \"delta_calls\": 1, \"base_host_ns\": 0, ");
    assert_body_has(f,
                    "\"kernels\": [{\"name\": \"gemm\", \"presence\": \"both\", \"base_calls\": 1, "
                    "\"candidate_calls\": 1, \"delta_calls\": 0, \"base_total_ns\": 50000, "
                    "\"candidate_total_ns\": 60000, \"delta_ns\": 10000, \"change\": 0.2}], ");
    assert_body_has(f, "\"sums\": {\"operators\": {\"names\": 5, \"both\": 2, \"added\": 1, "
                       "\"removed\": 2, \"base_calls\": 4, \"candidate_calls\": 3, ");
    assert_body_has(f, "\"kernels\": {\"names\": 1, \"both\": 1, \"added\": 0, \"removed\": 0, ");
}

/* The same trace on both sides: nothing changed. */
static void with_itself(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    assert_status(f, get_diff(f, "diff", t.base, t.base, "&per=total"), 200);
    assert_body_has(f, "\"both\": 4, \"added\": 0, \"removed\": 0, ");
    assert_body_has(f,
                    "\"delta_calls\": 0, \"base_host_ns\": 350000, \"candidate_host_ns\": 350000, "
                    "\"delta_host_ns\": 0, ");
}

static void one_table(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    assert_status(
        f, get_diff(f, "diff", t.base, t.candidate, "&table=operators&sort=delta_host_ns&limit=1"),
        200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"aten::gelu\", ");
    assert_body_has(f,
                    "\"total\": 5, \"sort\": \"delta_host_ns\", \"order\": \"desc\", \"q\": null, "
                    "\"limit\": 1, \"offset\": 0, \"sums\": {\"names\": 5, ");
    assert_status(f, get_diff(f, "diff", t.base, t.candidate, "&table=operators&sort=change"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"aten::linear\", ");
    assert_status(
        f, get_diff(f, "diff", t.base, t.candidate, "&table=operators&sort=presence&q=relu"), 200);
    assert_body_has(f, "\"total\": 1, ");
    assert_status(f, get_diff(f, "diff", t.base, t.candidate, "&table=kernels&sort=delta_ns"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"gemm\", ");
}

/* Per step unless something else is asked for: both have one. */
static void per_step_and_per_call(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    assert_status(f, get_diff(f, "diff", t.base, t.candidate, "&table=kernels"), 200);
    assert_body_has(f, "\"base_total_ns\": 50000, \"candidate_total_ns\": 60000, "
                       "\"delta_ns\": 10000, \"change\": 0.2}]");
    assert_body_has(f, "\"per\": \"step\", \"steps\": {\"base\": 1, \"candidate\": 1}");
    assert_status(f, get_diff(f, "diff", t.base, t.candidate, "&table=kernels&per=call"), 200);
    assert_body_has(f, "\"delta_calls\": 0, \"base_total_ns\": 50000, ");
    assert_problem(f, get_diff(f, "diff", t.base, t.candidate, "&per=week"), 400, "bad_request");
}

static void in_a_sentence(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    assert_status(f, get_diff(f, "diff/summary", t.base, t.candidate, ""), 200);
    assert_body_has(f, "\"comparable\": true, \"environment\": [");
    assert_body_has(f, "\"sentence\": \"The step takes ");
    assert_body_has(f, "; not enough steps to test)");
    assert_body_has(f,
                    "the operator that changed most is aten::linear (+10.0 µs); the kernel, gemm "
                    "(+10.0 µs).\"");
    assert_body_has(f, "\"waterfall\": [{\"category\": \"kernel\", \"label\": \"Kernel\", ");
}

static void as_csv(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    assert_status(
        f, get_diff(f, "diff", t.base, t.candidate, "&format=csv&table=kernels&per=total"), 200);
    assert_string_equal(body_text(f), "name,presence,base_calls,candidate_calls,delta_calls,"
                                      "base_total_ns,candidate_total_ns,delta_ns,change\r\n"
                                      "gemm,both,1,1,0,50000,60000,10000,0.2\r\n");
    assert_status(f, get_diff(f, "diff", t.base, t.candidate, "&format=csv&q=gelu&per=total"), 200);
    assert_body_has(f, "aten::gelu,added,0,1,1,0,40000,40000,0,40000,40000,0,0,0,0,0,0,\r\n");
}

static void by_tree(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    assert_status(f, get_diff(f, "diff/tree", t.base, t.candidate, ""), 200);
    assert_answer(
        f,
        "{\"base_trace\": 1, \"candidate_trace\": 2, \"path\": \"0\", \"name\": \"nn.Module: "
        "Net\", "
        "\"base\": {\"name\": \"nn.Module: Net\", \"nodes\": 1, \"first_step\": "
        "\"ProfilerStep#1\", \"last_step\": \"ProfilerStep#1\", \"host_ns\": 500000, "
        "\"device_ns\": "
        "50000, \"total_ns\": 50000, \"operators\": [{\"name\": \"aten::empty\", \"calls\": 1, "
        "\"host_ns\": 20000, \"host_self_ns\": 20000, \"device_ns\": 0, \"device_self_ns\": 0}, "
        "{\"name\": \"aten::linear\", \"calls\": 1, \"host_ns\": 200000, \"host_self_ns\": 175000, "
        "\"device_ns\": 50000, \"device_self_ns\": 50000}, {\"name\": \"aten::relu\", \"calls\": "
        "1, "
        "\"host_ns\": 30000, \"host_self_ns\": 30000, \"device_ns\": 0, \"device_self_ns\": 0}]}, "
        "\"candidate\": {\"name\": \"CompositeNodes\", \"nodes\": 2, \"first_step\": "
        "\"ProfilerStep#1\", \"last_step\": \"ProfilerStep#1\", \"host_ns\": 260000, "
        "\"device_ns\": 60000, \"total_ns\": 100000, \"operators\": [{\"name\": \"aten::empty\", "
        "\"calls\": 1, \"host_ns\": 20000, \"host_self_ns\": 20000, \"device_ns\": 0, "
        "\"device_self_ns\": 0}, {\"name\": \"aten::linear\", \"calls\": 1, \"host_ns\": 220000, "
        "\"host_self_ns\": 195000, \"device_ns\": 60000, \"device_self_ns\": 60000}, {\"name\": "
        "\"aten::gelu\", \"calls\": 1, \"host_ns\": 40000, \"host_self_ns\": 40000, \"device_ns\": "
        "0, \"device_self_ns\": 0}]}, \"children\": []}");
}

static void paths(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    assert_status(f, get_diff(f, "diff/tree", t.base, t.base, ""), 200);
    assert_body_has(f, "\"children\": [{\"path\": \"0-0\", \"name\": \"nn.Module: Net\", \"base\": "
                       "{\"name\": \"nn.Module: Net\", \"nodes\": 1, \"first_step\": "
                       "\"ProfilerStep#1\", \"last_step\": \"ProfilerStep#1\", "
                       "\"host_ns\": 500000, "
                       "\"device_ns\": 50000, \"total_ns\": 50000}, ");
    assert_body_has(f, "\"children\": 2}]}"); /* Linear, and relu behind it */
    assert_status(f, get_diff(f, "diff/tree", t.base, t.base, "&path=0-0-0"), 200);
    assert_body_has(f, "\"path\": \"0-0-0\", \"name\": \"nn.Module: Linear\", ");
    static const char *const missing[] = {"&path=1",
                                          "&path=0-1",
                                          "&path=0-",
                                          "&path=-0",
                                          "&path=0--1",
                                          "&path=x",
                                          "&path=0-0x",
                                          "&path=0%200",
                                          "&path=0-4294967296",
                                          "&path=0-99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(missing); i++) {
        assert_problem(f, get_diff(f, "diff/tree", t.base, t.base, missing[i]), 404, "not_found");
    }
}

static void problems(void **state)
{
    struct fixture *f = *state;
    struct two t = upload_both(f);
    static const char *const paths[] = {"diff", "diff/summary", "diff/tree"};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        char target[100];
        assert_problem(f, get_diff(f, paths[i], t.base, 99, ""), 404, "not_found");
        assert_problem(f, get_diff(f, paths[i], 99, t.base, ""), 404, "not_found");
        (void)snprintf(target, sizeof target, "/api/v1/%s?base=1", paths[i]);
        assert_problem(f, get(f, target), 400, "bad_request");
        assert_body_has(f, "candidate=");
        (void)snprintf(target, sizeof target, "/api/v1/%s?base=a&candidate=1", paths[i]);
        assert_problem(f, get(f, target), 400, "bad_request");
    }
    assert_problem(f, get_diff(f, "diff", t.base, t.candidate, "&table=colours"), 400,
                   "bad_request");
    assert_problem(f, get_diff(f, "diff", t.base, t.candidate, "&table=kernels&sort=delta_host_ns"),
                   400, "bad_request");
    assert_problem(f, get_diff(f, "diff", t.base, t.candidate, "&sort=colour"), 400, "bad_request");
    struct trace_results table = {.device_type = "GPU", .views = 1U << VIEW_UTILISATION};
    int64_t id = publish(f, "r", "ncu.txt", "ncu", "", "1", &table);
    assert_problem(f, get_diff(f, "diff", t.base, id, ""), 404, "not_found");
    struct trace_results no_tree = hand_results();
    id = publish(f, "r", "answers.json", "answers", "", "2", &no_tree);
    assert_status(f, get_diff(f, "diff", t.base, id, ""), 200);
    assert_problem(f, get_diff(f, "diff/tree", t.base, id, ""), 404, "not_found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(by_name),       API_TEST(with_itself),
        API_TEST(one_table),     API_TEST(per_step_and_per_call),
        API_TEST(in_a_sentence), API_TEST(as_csv),
        API_TEST(by_tree),       API_TEST(paths),
        API_TEST(problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
