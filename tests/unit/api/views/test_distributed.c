/* The workers of a run laid beside each other. */
#include "tests/unit/api/view_traces.h"

#define URL "/api/v1/runs/d/distributed"

static void upload_ranks(struct fixture *f)
{
    (void)upload(f, "d", "node0_0.1.pt.trace.json", VIEW_RANK(0, 1210, 100));
    (void)upload(f, "d", "node1_8.1.pt.trace.json", VIEW_RANK(1, 1280, 30));
}

/* Computation [1100, 1250], communication [1210, 1310] of the first worker. */
static void two_workers(void **state)
{
    struct fixture *f = *state;
    upload_ranks(f);
    assert_status(f, get(f, URL), 200);
    assert_body_has(
        f, "{\"run\": \"d\", \"span\": 1, \"spans\": [1], \"agrees\": true, "
           "\"workers\": [{\"worker\": \"node0_0\", \"trace\": 1, \"rank\": 0, \"node\": "
           "\"node0\", \"process\": \"0\", \"backend\": \"nccl\", \"collectives\": 1, "
           "\"matched\": 1, \"device_names\": [\"Tesla V100\"]}, {\"worker\": \"node1_8\", "
           "\"trace\": 2, \"rank\": 1, \"node\": \"node1\", \"process\": \"8\", ");
    assert_body_has(
        f, "\"overlap\": {\"steps\": [\"1\"], \"rows\": [{\"worker\": \"node0_0\", \"step\": "
           "\"1\", \"computation_ns\": 110000, \"overlap_ns\": 40000, "
           "\"communication_ns\": 60000, \"other_ns\": 790000}, {\"worker\": \"node1_8\", "
           "\"step\": \"1\", \"computation_ns\": 150000, \"overlap_ns\": 0, "
           "\"communication_ns\": 30000, \"other_ns\": 820000}]}");
    assert_body_has(f, "\"wait\": {\"rows\": [{\"worker\": \"node0_0\", \"step\": \"1\", "
                       "\"transfer_ns\": 30000, \"wait_ns\": 70000}, {\"worker\": \"node1_8\", "
                       "\"step\": \"1\", \"transfer_ns\": 30000, \"wait_ns\": 0}]}");
    assert_body_has(
        f, "\"devices\": [{\"node\": \"node0\", \"process\": \"0\", \"worker\": \"node0_0\", "
           "\"device\": 0, \"name\": \"Tesla V100\", \"memory_bytes\": 17179869184, "
           "\"compute_capability\": \"7.0\"}, ");
}

static void one_worker(void **state)
{
    struct fixture *f = *state;
    (void)upload(f, "d", "node0_0.1.pt.trace.json", VIEW_RANK(0, 1210, 100));
    assert_status(f, get(f, URL), 200);
    assert_body_has(f, "\"agrees\": true, ");
    assert_body_has(f, "\"wait_ns\": 0}]}");
}

/* A worker without collectives stands in the list; the others are matched without it. */
static void a_worker_without_collectives(void **state)
{
    struct fixture *f = *state;
    upload_ranks(f);
    (void)upload(f, "d", "quiet.1.pt.trace.json", VIEW_CHANGED);
    assert_status(f, get(f, URL), 200);
    assert_body_has(f, "\"agrees\": false, ");
    assert_body_has(f,
                    "\"worker\": \"quiet\", \"trace\": 3, \"rank\": null, \"node\": \"quiet\", "
                    "\"process\": \"2\", \"backend\": null, \"collectives\": 0, \"matched\": 0, ");
    assert_body_has(
        f, "\"worker\": \"node0_0\", \"step\": \"1\", \"transfer_ns\": 30000, \"wait_ns\": 70000}");
}

/* Rank from the name where the trace does not say. */
static void ranks_from_names(void **state)
{
    static const struct {
        const char *file_name;
        const char *expected;
    } rows[] = {
        {"rank-34_Jul.pt.trace.json", "\"rank\": 34, "},
        {"rank_7.pt.trace.json", "\"rank\": 7, "},
        {"rank12.pt.trace.json", "\"rank\": 12, "},
        {"crank.pt.trace.json", "\"rank\": null, "},
        {"w_3.pt.trace.json", "\"rank\": 3, "},
        {"rank99999999999999999999.pt.trace.json", "\"rank\": null, "},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char run[20];
        char target[60];
        (void)snprintf(run, sizeof run, "run%zu", i);
        (void)upload(f, run, rows[i].file_name,
                     "{\"traceEvents\":[" VIEW_OP("gloo:all_reduce", 1, 1000, 10, 1) "]}");
        (void)snprintf(target, sizeof target, "/api/v1/runs/%s/distributed", run);
        assert_status(f, get(f, target), 200);
        assert_body_has(f, rows[i].expected);
    }
}

/* Before the rank given at upload, and that before the name [RANK-0a]. */
static void what_the_file_tells_counts_most(void **state)
{
    struct fixture *f = *state;
    assert_status(f,
                  send_body(f, "PUT", "/api/v1/runs/g/traces/rank_7.pt.trace.json?rank=2",
                            VIEW_RANK(1, 1280, 30)),
                  201);
    assert_status(f, get(f, "/api/v1/runs/g/distributed"), 200);
    assert_body_has(f, "\"rank\": 1, ");
    assert_status(f,
                  send_body(f, "PUT", "/api/v1/runs/h/traces/rank_7.pt.trace.json?rank=2",
                            "{\"traceEvents\":[" VIEW_OP("gloo:all_reduce", 1, 1000, 10, 1) "]}"),
                  201);
    assert_status(f, get(f, "/api/v1/runs/h/distributed"), 200);
    assert_body_has(f, "\"rank\": 2, ");
}

static void spans(void **state)
{
    struct fixture *f = *state;
    upload_ranks(f);
    (void)upload(f, "d", "node0_0.2.pt.trace.json", VIEW_RANK(0, 1250, 10));
    assert_status(f, get(f, URL "?span=2"), 200);
    assert_body_has(f, "\"span\": 2, \"spans\": [1, 2], ");
    assert_body_has(f, "\"trace\": 3, ");
    assert_false(body_has(f, "node1_8"));
    assert_problem(f, get(f, URL "?span=3"), 404, "not_found");
    assert_problem(f, get(f, URL "?span=0"), 400, "bad_request");
    assert_problem(f, get(f, URL "?span=default"), 400, "bad_request");
}

static void problems(void **state)
{
    struct fixture *f = *state;
    (void)upload(f, "d", "w.pt.trace.json", VIEW_CHANGED);
    assert_problem(f, get(f, URL), 404, "not_found");
    assert_body_has(f, "torch.distributed");
    assert_problem(f, get(f, "/api/v1/runs/none/distributed"), 404, "not_found");
    struct trace_results table = {.device_type = "GPU", .views = 1U << VIEW_UTILISATION};
    (void)publish(f, "tables", "ncu.txt", "ncu", "", "1", &table);
    assert_problem(f, get(f, "/api/v1/runs/tables/distributed"), 404, "not_found");
}

/* The catalogue names the view where the route has something to show. */
static void the_catalogue_agrees(void **state)
{
    struct fixture *f = *state;
    upload_ranks(f);
    (void)upload(f, "plain", "w.pt.trace.json", VIEW_CHANGED);
    assert_status(f, get(f, "/api/v1/runs/d"), 200);
    assert_body_has(f, "\"trace\", \"distributed\"");
    assert_status(f, get(f, "/api/v1/runs/plain"), 200);
    assert_false(body_has(f, "\"distributed\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        API_TEST(two_workers),
        API_TEST(one_worker),
        API_TEST(a_worker_without_collectives),
        API_TEST(ranks_from_names),
        API_TEST(what_the_file_tells_counts_most),
        API_TEST(spans),
        API_TEST(problems),
        API_TEST(the_catalogue_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
