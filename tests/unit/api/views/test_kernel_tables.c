/* Kernel utilisation, and the kernels of a trace beside it. */
#include "tests/unit/api/api_fixture.h"

#include <math.h>

#define NONE ((double)NAN)

static struct kernel_utilisation_row table_kernels[] = {
    {.name = "gemm",
     .full_name = "void gemm<float>(int)",
     .launches = 2,
     .total_ns = 400,
     .mean_ns = 200,
     .min_ns = 100,
     .max_ns = 300,
     .p50_ns = 200,
     .p95_ns = 290,
     .p99_ns = 298,
     .tensor = 0.8,
     .dram = 0.25,
     .sm = NONE,
     .headroom_ns = 80,
     .use = USE_LOW_DRAM},
    {.name = "=odd",
     .full_name = "=odd",
     .launches = 1,
     .total_ns = 100,
     .mean_ns = 100,
     .min_ns = INT64_MIN,
     .max_ns = INT64_MIN,
     .p50_ns = NONE,
     .p95_ns = NONE,
     .p99_ns = NONE,
     .tensor = NONE,
     .dram = NONE,
     .sm = NONE,
     .headroom_ns = NONE,
     .use = USE_UNKNOWN},
};

static struct kernel_utilisation_launch_row table_launches[] = {
    {.name = "gemm",
     .full_name = "void gemm<float>(int)",
     .grid = "[1, 2, 3]",
     .block = "[4, 5, 6]",
     .start_ns = 0,
     .dur_ns = 100,
     .device = 0,
     .stream = 7,
     .tensor = 0.5,
     .dram = 0.1,
     .sm = NONE,
     .use = USE_LOW_DRAM},
    {.name = "=odd",
     .full_name = "=odd",
     .start_ns = INT64_MIN,
     .dur_ns = 100,
     .device = INT64_MIN,
     .stream = INT64_MIN,
     .tensor = NONE,
     .dram = NONE,
     .sm = NONE,
     .use = USE_UNKNOWN},
    {.name = "gemm",
     .full_name = "void gemm<float>(int)",
     .grid = "[8, 8, 8]",
     .block = "[4, 5, 6]",
     .start_ns = 500,
     .dur_ns = 300,
     .device = 0,
     .stream = 7,
     .tensor = 0.9,
     .dram = 0.3,
     .sm = NONE,
     .use = USE_LOW_DRAM},
};

static struct kernel_utilisation_metric_row table_metrics[] = {
    {.kernel = 0,
     .metric = "lts__t_sector_hit_rate.pct",
     .unit = "%",
     .launches = 2,
     .mean = 70.5,
     .min = 60,
     .max = 74},
    {.kernel = 0, .metric = "a.sum", .unit = "", .launches = 1, .mean = 3, .min = 3, .max = 3},
};

static struct kernel_utilisation_value_row table_values[] = {
    {.launch = 0, .metric = "lts__t_sector_hit_rate.pct", .unit = "%", .value = 60},
    {.launch = 0, .metric = "a.sum", .unit = "", .value = 3},
    {.launch = 2, .metric = "lts__t_sector_hit_rate.pct", .unit = "%", .value = 74},
};

static struct transfer_row table_transfers[] = {
    {.name = "[CUDA memcpy Host-to-Device]",
     .kind = "memcpy",
     .operations = 2,
     .total_ns = 30,
     .min_ns = 10,
     .max_ns = 20,
     .size_bytes = INT64_MIN},
};

static const char *table_bad_rows[] = {"line 17: the latency \"abc\" is no number"};

static struct trace_results table_results(void)
{
    struct trace_results r = {
        .device_type = "GPU",
        .views = 1U << VIEW_UTILISATION | 1U << VIEW_KERNEL,
        .has_kernel_use = true,
        .kernel_utilisation_totals = {.launches = 3,
                                      .kernels = 2,
                                      .total_ns = 500,
                                      .tensor = 0.8,
                                      .dram = 0.25,
                                      .sm = NONE,
                                      .headroom_ns = 80},
        .kernel_utilisation = table_kernels,
        .kernel_utilisation_count = COUNT_OF(table_kernels),
        .kernel_utilisation_launches = table_launches,
        .kernel_utilisation_launch_count = COUNT_OF(table_launches),
        .kernel_utilisation_metrics = table_metrics,
        .kernel_utilisation_metric_count = COUNT_OF(table_metrics),
        .kernel_utilisation_values = table_values,
        .kernel_utilisation_value_count = COUNT_OF(table_values),
        .transfers = table_transfers,
        .transfer_count = COUNT_OF(table_transfers),
        .bad_rows = table_bad_rows,
        .bad_row_count = COUNT_OF(table_bad_rows),
    };
    r.kernel_utilisation_totals.class_launches[USE_LOW_DRAM] = 2;
    r.kernel_utilisation_totals.class_ns[USE_LOW_DRAM] = 400;
    r.kernel_utilisation_totals.class_launches[USE_UNKNOWN] = 1;
    r.kernel_utilisation_totals.class_ns[USE_UNKNOWN] = 100;
    return r;
}

static int64_t publish_table(struct fixture *f, const char *run)
{
    struct trace_results results = table_results();
    return publish(f, run, "ncu.csv", "ncu", "", "a table", &results);
}

static int set_up_table(void **state)
{
    if (set_up_api(state) != 0) {
        return 1;
    }
    struct fixture *f = *state;
    f->trace_id = publish_table(f, "r/1");
    return 0;
}

static int get_use(struct fixture *f, const char *rest)
{
    char target[300];
    (void)snprintf(target, sizeof target, "/kernel-utilisation%s", rest);
    return get_of_trace(f, target);
}

static void shows_utilisation(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_use(f, ""), 200);
    assert_string_equal(f->response.content_type, "application/json");
    assert_body_has(
        f, "{\"rows\": [{\"name\": \"gemm\", \"full_name\": \"void gemm<float>(int)\", "
           "\"launches\": 2, \"total_ns\": 400, \"share\": 0.8, \"mean_ns\": 200.0, \"min_ns\": "
           "100, \"max_ns\": 300, \"p50_ns\": 200.0, \"p95_ns\": 290.0, \"p99_ns\": 298.0, "
           "\"tensor\": 0.8, \"dram\": 0.25, \"sm\": null, \"class\": \"low_dram\", "
           "\"headroom_ns\": 80.0, \"kernel_class\": \"gemm\", \"metrics\": [{\"metric\": "
           "\"a.sum\", \"unit\": \"\", "
           "\"launches\": 1, \"mean\": 3.0, \"min\": 3.0, \"max\": 3.0}, {\"metric\": "
           "\"lts__t_sector_hit_rate.pct\", \"unit\": \"%\", \"launches\": 2, \"mean\": 70.5, "
           "\"min\": 60.0, \"max\": 74.0}]}, ");
    assert_body_has(
        f, "{\"name\": \"=odd\", \"full_name\": \"=odd\", \"launches\": 1, \"total_ns\": 100, "
           "\"share\": 0.2, \"mean_ns\": 100.0, \"min_ns\": null, \"max_ns\": null, \"p50_ns\": "
           "null, \"p95_ns\": null, \"p99_ns\": null, \"tensor\": null, \"dram\": null, \"sm\": "
           "null, \"class\": null, \"headroom_ns\": null, \"kernel_class\": \"other\", "
           "\"metrics\": []}]");
    assert_body_has(f, "\"total\": 2, \"sort\": \"total_ns\", \"order\": \"desc\", \"q\": null, "
                       "\"limit\": 1000, \"offset\": 0, \"launches\": 3, \"kernels\": 2, "
                       "\"total_ns\": 500, \"tensor\": 0.8, \"dram\": 0.25, \"sm\": null, "
                       "\"headroom_ns\": 80.0, \"classes\": [{\"class\": \"both_low\", "
                       "\"launches\": 0, \"total_ns\": 0, \"share\": 0.0}");
    assert_body_has(
        f, "{\"class\": \"low_dram\", \"launches\": 2, \"total_ns\": 400, \"share\": 0.8}");
    assert_body_has(f, "{\"class\": null, \"launches\": 1, \"total_ns\": 100, \"share\": 0.2}]");
    assert_body_has(
        f, "\"transfers\": [{\"name\": \"[CUDA memcpy Host-to-Device]\", \"kind\": \"memcpy\", "
           "\"operations\": 2, \"total_ns\": 30, \"min_ns\": 10, \"max_ns\": 20, "
           "\"size_bytes\": null}]");
    assert_body_has(f, "\"bad_rows\": [\"line 17: the latency \\\"abc\\\" is no number\"], "
                       "\"has_launches\": true}");
}

static void picks_and_sorts_kernels(void **state)
{
    struct fixture *f = *state;
    static const char *const fields[] = {
        "name",   "full_name", "launches", "total_ns", "share", "mean_ns", "min_ns", "max_ns",
        "p50_ns", "p95_ns",    "p99_ns",   "tensor",   "dram",  "sm",      "class",  "headroom_ns",
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        char rest[100];
        (void)snprintf(rest, sizeof rest, "?sort=%s", fields[i]);
        assert_status(f, get_use(f, rest), 200);
    }
    assert_status(f, get_use(f, "?sort=total_ns&order=asc&limit=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"=odd\"");
    assert_false(body_has(f, "\"name\": \"gemm\""));
    assert_body_has(f, "\"total\": 2, \"sort\": \"total_ns\", \"order\": \"asc\", \"q\": null, "
                       "\"limit\": 1, \"offset\": 0");
    assert_status(f, get_use(f, "?offset=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"=odd\"");
    assert_body_has(f, "\"metrics\": []}]");
    assert_status(f, get_use(f, "?q=GEMM"), 200);
    assert_body_has(f, "\"total\": 1");
    assert_body_has(f, "\"metric\": \"a.sum\"");
    assert_body_has(f, "\"q\": \"GEMM\"");
    assert_body_has(f, "\"launches\": 3, \"kernels\": 2");
    assert_problem(f, get_use(f, "?sort=colour"), 400, "bad_request");
    assert_problem(f, get_use(f, "?order=up"), 400, "bad_request");
    assert_problem(f, get_use(f, "?limit=-1"), 400, "bad_request");
    assert_problem(f, get_use(f, "?offset=1e3"), 400, "bad_request");
    assert_problem(f, get_use(f, "?format=xml"), 400, "bad_request");
    assert_problem(f, get_use(f, "?q=/(/"), 400, "bad_request");
}

static void utilisation_as_csv(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_use(f, "?format=csv"), 200);
    assert_string_equal(f->response.content_type, "text/csv; charset=utf-8");
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"kernel-utilisation.csv\"");
    assert_string_equal(
        body_text(f),
        "name,full_name,launches,total_ns,share,mean_ns,min_ns,max_ns,p50_ns,p95_ns,p99_ns,tensor,"
        "dram,sm,class,headroom_ns,kernel_class\r\n"
        "gemm,void gemm<float>(int),2,400,0.8,200.0,100,300,200.0,290.0,298.0,0.8,0.25,,low_dram,"
        "80.0,gemm\r\n"
        "'=odd,'=odd,1,100,0.2,100.0,,,,,,,,,,,other\r\n");
}

static void other_traces_have_no_utilisation(void **state)
{
    struct fixture *f = *state;
    assert_problem(f, get_use(f, ""), 404, "not_found");
    assert_body_has(f, "ncu --csv");
    assert_problem(f, get_use(f, "/launches"), 404, "not_found");
    assert_problem(f, get(f, "/api/v1/traces/999/kernel-utilisation"), 404, "not_found");
    assert_problem(f, get(f, "/api/v1/traces/x/kernel-utilisation/launches"), 404, "not_found");
}

static void shows_launches(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_use(f, "/launches"), 200);
    assert_body_has(
        f, "{\"rows\": [{\"position\": 0, \"name\": \"gemm\", \"full_name\": \"void "
           "gemm<float>(int)\", \"grid\": \"[1, 2, 3]\", \"block\": \"[4, 5, 6]\", \"start_ns\": "
           "0, \"duration_ns\": 100, \"device\": 0, \"stream\": 7, \"tensor\": 0.5, \"dram\": "
           "0.1, \"sm\": null, \"class\": \"low_dram\", \"metrics\": "
           "{\"lts__t_sector_hit_rate.pct\": 60.0, \"a.sum\": 3.0}}, {\"position\": 1, \"name\": "
           "\"=odd\", \"full_name\": \"=odd\", \"grid\": null, \"block\": null, \"start_ns\": "
           "null, \"duration_ns\": 100, \"device\": null, \"stream\": null, \"tensor\": null, "
           "\"dram\": null, \"sm\": null, \"class\": null, \"metrics\": {}}, {\"position\": 2, ");
    assert_body_has(f, "\"metrics\": {\"lts__t_sector_hit_rate.pct\": 74.0}}], \"total\": 3, "
                       "\"sort\": \"position\", \"order\": \"asc\"");

    assert_status(f, get_use(f, "/launches?sort=duration_ns&limit=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"position\": 2, ");
    assert_body_has(f, "74.0}}], \"total\": 3");
    assert_status(f, get_use(f, "/launches?name=gemm&offset=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"position\": 2, ");
    assert_body_has(f, "\"total\": 2");
    assert_status(f, get_use(f, "/launches?name=gem"), 200);
    assert_body_has(f, "{\"rows\": [], \"total\": 0");
    assert_status(f, get_use(f, "/launches?name=&q=odd"), 200);
    assert_body_has(f, "{\"rows\": [{\"position\": 1, ");
    static const char *const fields[] = {
        "position", "name",   "full_name", "grid", "block", "start_ns", "duration_ns",
        "device",   "stream", "tensor",    "dram", "sm",    "class",
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        char rest[100];
        (void)snprintf(rest, sizeof rest, "/launches?sort=%s", fields[i]);
        assert_status(f, get_use(f, rest), 200);
    }
    assert_problem(f, get_use(f, "/launches?sort=colour"), 400, "bad_request");
    assert_problem(f, get_use(f, "/launches?limit=x"), 400, "bad_request");

    assert_status(f, get_use(f, "/launches?format=csv&order=desc&limit=1"), 200);
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"kernel-launches.csv\"");
    assert_string_equal(
        body_text(f),
        "position,name,full_name,grid,block,start_ns,duration_ns,device,stream,tensor,dram,sm,"
        "class\r\n"
        "2,gemm,void gemm<float>(int),\"[8, 8, 8]\",\"[4, 5, 6]\",500,300,0,7,0.9,0.3,,"
        "low_dram\r\n");
}

/* ---- kernels of a trace beside a table of its run ---- */

static void kernels_without_a_table_say_so(void **state)
{
    struct fixture *f = *state;
    (void)publish_table(f, "another run");
    assert_status(f, get_of_trace(f, "/kernels"), 200);
    assert_body_has(f, "\"utilisation\": null}");
    assert_false(body_has(f, "headroom_ns"));
    assert_problem(f, get_of_trace(f, "/kernels?sort=tensor"), 400, "bad_request");
    assert_status(f, get_of_trace(f, "/kernels?format=csv"), 200);
    assert_false(body_has(f, "tensor,dram"));
}

static void kernels_stand_beside_their_table(void **state)
{
    struct fixture *f = *state;
    char expected[300];
    int64_t table = publish_table(f, "r/1");
    assert_status(f, get_of_trace(f, "/kernels"), 200);
    assert_body_has(f,
                    "\"calls_per_step\": 1.0, \"class\": \"gemm\", \"matrix_unit\": true, "
                    "\"communication_kind\": null, \"tensor\": 0.8, \"dram\": 0.25, \"sm\": null, "
                    "\"utilisation_class\": \"low_dram\", \"headroom_ns\": 60");
    assert_body_has(f, "\"utilisation_match\": \"name\"}, {\"name\": \"add\"");
    assert_body_has(f,
                    "\"tensor\": null, \"dram\": null, \"sm\": null, \"utilisation_class\": null, "
                    "\"headroom_ns\": null, \"utilisation_match\": null}]");
    (void)snprintf(expected, sizeof expected,
                   "\"utilisation\": {\"tables\": [%lld], \"matched_kernels\": 1, "
                   "\"unmatched_kernels\": 1, \"unmatched_in_table_kernels\": 1, \"unmatched\": "
                   "[\"add\"], \"unmatched_in_table\": "
                   "[\"=odd\"]}}",
                   (long long)table);
    assert_body_has(f, expected);

    assert_status(f, get_of_trace(f, "/kernels?class=gemm"), 200);
    assert_body_has(f, "\"total\": 1, ");
    assert_false(body_has(f, "\"name\": \"add\""));
    assert_status(f, get_of_trace(f, "/kernels?class=other&sort=headroom_ns"), 200);
    assert_body_has(f, "\"total\": 1, ");
    assert_body_has(f, "\"name\": \"add\"");
    assert_status(f, get_of_trace(f, "/kernels?class=gemm&group_by=launch&format=csv"), 200);
    assert_false(body_has(f, "add"));
    assert_status(f, get_of_trace(f, "/kernels?class=nothing&limit=1"), 200);
    assert_body_has(f, "\"rows\": []");

    assert_status(f, get_of_trace(f, "/kernels?group_by=launch"), 200);
    assert_body_has(
        f, "\"tensor\": 0.5, \"dram\": 0.1, \"sm\": null, \"utilisation_class\": \"low_dram\", "
           "\"headroom_ns\": 150500.0, \"utilisation_match\": \"launch\"}]");
    assert_status(f, get_of_trace(f, "/kernels?group_by=launch&format=csv"), 200);
    assert_body_has(f, "operator_tensor_core_eligible,class,matrix_unit,communication_kind,tensor,"
                       "dram,sm,utilisation_class,headroom_ns,"
                       "utilisation_match\r\n");
    assert_body_has(f, ",true,gemm,true,,0.5,0.1,,low_dram,150500.0,launch\r\n");
    assert_status(f, get_of_trace(f, "/kernels?format=csv&sort=name"), 200);
    assert_body_has(f, "calls_per_step,class,matrix_unit,communication_kind,tensor,dram,sm,"
                       "utilisation_class,headroom_ns,utilisation_match\r\nadd,");

    f->trace_id = table;
    assert_status(f, get_of_trace(f, "/kernels"), 200);
    assert_body_has(f, "\"utilisation\": null}");
}

static void kernels_sort_by_their_table(void **state)
{
    struct fixture *f = *state;
    static const char *const fields[] = {
        "tensor", "dram", "sm", "utilisation_class", "headroom_ns", "utilisation_match"};
    (void)publish_table(f, "r/1");
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        char rest[100];
        (void)snprintf(rest, sizeof rest, "/kernels?sort=%s&order=asc", fields[i]);
        assert_status(f, get_of_trace(f, rest), 200);
        assert_body_has(f, "{\"rows\": [{\"name\": \"gemm\"");
        (void)snprintf(rest, sizeof rest, "/kernels?group_by=launch&sort=%s", fields[i]);
        assert_status(f, get_of_trace(f, rest), 200);
    }
    assert_status(f, get_of_trace(f, "/kernels?sort=tensor&offset=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"add\"");
    assert_body_has(f, "\"total\": 2");
    assert_status(f, get_of_trace(f, "/kernels?sort=tensor&limit=1"), 200);
    assert_false(body_has(f, "{\"name\": \"add\""));
    assert_body_has(f, "\"total\": 2");
    assert_status(f, get_of_trace(f, "/kernels?sort=tensor&q=add"), 200);
    assert_body_has(f, "\"total\": 1");
    assert_body_has(f, "\"sort\": \"tensor\", \"order\": \"desc\"");
}

static void launches_are_picked_by_operator(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_of_trace(f, "/kernels?group_by=launch&operator=aten::mm"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"gemm\"");
    assert_body_has(f, "\"total\": 1");
    assert_status(f, get_of_trace(f, "/kernels?group_by=launch&operator=aten::m"), 200);
    assert_body_has(f, "{\"rows\": [], \"total\": 0");
    assert_problem(f, get_of_trace(f, "/kernels?operator=aten::mm"), 400, "bad_request");
    assert_body_has(f, "group_by=launch");
}

#define WITH_TABLE(test) cmocka_unit_test_setup_teardown(test, set_up_table, tear_down_api)
#define WITH_TRACE(test) cmocka_unit_test_setup_teardown(test, set_up_hand_made, tear_down_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TABLE(shows_utilisation),
        WITH_TABLE(picks_and_sorts_kernels),
        WITH_TABLE(utilisation_as_csv),
        WITH_TRACE(other_traces_have_no_utilisation),
        WITH_TABLE(shows_launches),
        WITH_TRACE(kernels_without_a_table_say_so),
        WITH_TRACE(kernels_stand_beside_their_table),
        WITH_TRACE(kernels_sort_by_their_table),
        WITH_TRACE(launches_are_picked_by_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
