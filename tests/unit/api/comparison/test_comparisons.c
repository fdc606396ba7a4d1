/* Comparisons from request to answer: over uploaded tables and traces, and of an uploaded report.
 */
#include "tests/unit/api/api_fixture.h"

#include <jansson.h>
#include <math.h>

#define COMPARISONS "/api/v1/comparisons"
#define CYCLES 6

static const char perf_header[] =
    "cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct,"
    "duration,interpolation_status,anchor_name,anchor_dur_us,cycle_start_ts,instances_count,"
    "simple_name\n";

static void add_row(struct buf *out,
                    int cycle,
                    int pid,
                    double beta_pct,
                    const char *function,
                    const char *metric,
                    double mu)
{
    double cycle_us = 1000 + cycle * 3;
    buf_printf(out, "%d,%d,host-a,%.4f,%s,%s,%s,kernel,%.4f,0.1000,%.4f,**,step,%.4f,%.4f,3,%s\n",
               cycle, pid, beta_pct, function, metric, metric[0] == 'g' ? "GPU 0" : "Host", mu,
               cycle_us * beta_pct / 100, cycle_us, 1e9 + cycle * 2000.0, function);
}

/* A process with two functions; one that is slow runs a third. Of "slow" the candidate takes more,
 * and its metric sinks. */
static void add_process(struct buf *out, int pid, double slow_pct, double sm_pct)
{
    for (int cycle = 1; cycle <= CYCLES; cycle++) {
        double shake = (cycle % 3) * 0.01;
        add_row(out, cycle, pid, slow_pct + shake, "slow", "gpu_sm", sm_pct + shake);
        add_row(out, cycle, pid, 20 + shake, "steady", "cpu", 50 + shake);
        if (slow_pct > 20) {
            add_row(out, cycle, pid, 2 + shake, "fresh", "cpu", 50 + shake);
        }
    }
}

static int64_t id_of_answer(const struct fixture *f)
{
    json_error_t error;
    json_t *answer = json_loadb(body_text(f), f->response.body.len, 0, &error);
    assert_non_null(answer);
    int64_t id = json_integer_value(json_object_get(answer, "id"));
    json_decref(answer);
    return id;
}

static int64_t upload(struct fixture *f, const char *run, const char *name, const char *bytes)
{
    char target[200];
    (void)snprintf(target, sizeof target, "/api/v1/runs/%s/traces/%s", run, name);
    assert_status(f, send_body(f, "PUT", target, bytes), 201);
    return id_of_answer(f);
}

static int64_t upload_table(
    struct fixture *f, const char *run, const char *name, int pid, double slow_pct, double sm_pct)
{
    struct buf table;
    buf_init(&table, 1 << 20);
    buf_puts(&table, perf_header);
    add_process(&table, pid, slow_pct, sm_pct);
    int64_t id = upload(f, run, name, table.ptr);
    buf_free(&table);
    assert_body_has(f, "\"format\": \"perf-data\"");
    assert_body_has(f, "\"views\": [\"cycles\"]");
    return id;
}

/* Answers the status; the comparison of that request is asked for with get_comparison. */
static int compare(struct fixture *f, const char *fmt, ...) KS_PRINTF(2, 3);

static int compare(struct fixture *f, const char *fmt, ...)
{
    char body[1000];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(body, sizeof body, fmt, args);
    va_end(args);
    assert_true(len > 0 && len < (int)sizeof body);
    return send_body(f, "POST", COMPARISONS, body);
}

static int get_comparison(struct fixture *f, int64_t id, const char *rest)
{
    char target[300];
    (void)snprintf(target, sizeof target, COMPARISONS "/%lld%s", (long long)id, rest);
    return get(f, target);
}

/* The base is trace 1, the candidate trace 2. */
static int64_t compare_two_tables(struct fixture *f)
{
    int64_t base = upload_table(f, "before", "a_perf_data.csv", 7, 10, 80);
    int64_t candidate = upload_table(f, "after", "b_perf_data.csv", 7, 30, 40);
    assert_status(f,
                  compare(f, "{\"base\": %lld, \"candidate\": [%lld], \"title\": \"the <title>\"}",
                          (long long)base, (long long)candidate),
                  201);
    return id_of_answer(f);
}

static void compares_two_tables(void **state)
{
    struct fixture *f = *state;
    char expected[200];
    int64_t id = compare_two_tables(f);
    (void)snprintf(expected, sizeof expected, "/prefix" COMPARISONS "/%lld", (long long)id);
    assert_string_equal(response_header(f, "Location"), expected);
    (void)snprintf(
        expected, sizeof expected,
        "{\"id\": %lld, \"url\": \"http://traces.example:8080/prefix/#/comparisons/%lld\", "
        "\"created_at\": \"20",
        (long long)id, (long long)id);
    assert_body_has(f, expected);
    assert_body_has(f, "\"trace_id\": null, \"traces\": {\"base\": [1], \"candidate\": [2]}, "
                       "\"title\": \"the <title>\", \"kind\": \"step\", \"strict\": true, "
                       "\"verdict\": \"different\", \"comparable\": null, \"environment\": [], "
                       "\"summary\": {\"labels\": [\"base\", "
                       "\"candidate\"], \"base\": {\"label\": \"base\", ");
    assert_body_has(f, "\"rows\": [{\"function\": \"slow\", \"metric\": \"gpu_sm\", \"device\": "
                       "\"GPU 0\", \"score\": ");
    assert_body_has(f, "\"total\": 3, \"sort\": \"score\", \"order\": \"desc\", \"q\": null, "
                       "\"limit\": 0, \"offset\": 0, \"devices\": [\"GPU 0\", \"Host\"], "
                       "\"metrics\": [\"cpu\", \"gpu_sm\"]");
    assert_body_has(f, "\"counters\": [], \"pairs\": [{\"id\": ");
    size_t len = f->response.body.len;
    assert_status(f, get_comparison(f, id, ""), 200);
    assert_int_equal(f->response.body.len, len);
}

static void picks_rows(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *query;
        const char *first; /* function of the first row, NULL: none */
        int total;
    } cases[] = {
        {"?q=STEADY", "steady", 1},
        {"?q=/^s.*y$/", "steady", 1},
        {"?q=nowhere", NULL, 0},
        {"?device=GPU+0", "slow", 1},
        {"?device=GPU", NULL, 0},
        {"?metric=gpu_sm", "slow", 1},
        {"?metric=", "slow", 3},
        {"?device=Host&metric=cpu&q=e", "fresh", 2},
        {"?significant=1", "slow", 2},
        {"?significant=0", "slow", 3},
        {"?sort=function&order=desc", "steady", 3},
        {"?sort=function", "fresh", 3},
        {"?sort=delta_beta", "slow", 3},
        {"?sort=delta_beta&order=asc", "steady", 3},
        {"?sort=presence&order=asc", "fresh", 3},
        {"?order=asc", "fresh", 3},
        {"?limit=1", "slow", 3},
        {"?sort=function&limit=1&offset=2", "steady", 3},
        {"?offset=9223372036854775807", NULL, 3},
    };
    int64_t id = compare_two_tables(f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char expected[100];
        assert_status(f, get_comparison(f, id, cases[i].query), 200);
        (void)snprintf(expected, sizeof expected, "\"rows\": [{\"function\": \"%s\"",
                       cases[i].first == NULL ? "" : cases[i].first);
        const char *rows = cases[i].first == NULL ? "\"rows\": []" : expected;
        if (!body_has(f, rows)) {
            print_message("%s\n", cases[i].query);
        }
        assert_body_has(f, rows);
        (void)snprintf(expected, sizeof expected, "], \"total\": %d, ", cases[i].total);
        assert_body_has(f, expected);
        assert_body_has(f, "\"devices\": [\"GPU 0\", \"Host\"]");
    }
}

static void every_row_field_sorts(void **state)
{
    struct fixture *f = *state;
    int64_t id = compare_two_tables(f);
    json_error_t error;
    json_t *answer = json_loadb(body_text(f), f->response.body.len, 0, &error);
    const char *key = NULL;
    json_t *value = NULL;
    assert_non_null(answer);
    json_t *row = json_array_get(json_object_get(answer, "rows"), 0);
    assert_int_equal(json_object_size(row), 24);
    json_object_foreach(row, key, value)
    {
        char rest[100];
        (void)snprintf(rest, sizeof rest, "?sort=%s", key);
        assert_status(f, get_comparison(f, id, rest), 200);
    }
    json_decref(answer);
}

#define UNKNOWN ((double)NAN)

/* What a report of another program may leave open. */
static void unknown_figures_are_null_and_come_last(void **state)
{
    struct fixture *f = *state;
    struct comparison_row rows[] = {
        {.function = "open",
         .metric = "N/A",
         .device = "",
         .score = UNKNOWN,
         .beta_pct = {UNKNOWN, UNKNOWN},
         .delta_beta = UNKNOWN,
         .z_beta = UNKNOWN,
         .p_beta = UNKNOWN,
         .u_beta = UNKNOWN,
         .mu = {UNKNOWN, UNKNOWN},
         .delta_mu = UNKNOWN,
         .z_mu = UNKNOWN,
         .z_log_mu = UNKNOWN,
         .p_mu = UNKNOWN,
         .u_mu = UNKNOWN,
         .q_beta = UNKNOWN,
         .q_mu = UNKNOWN,
         .p_presence = UNKNOWN,
         .q_presence = UNKNOWN,
         .cycles = {COMPARISON_UNKNOWN, COMPARISON_UNKNOWN}},
        {.function = "known",
         .metric = "cpu",
         .device = "Host",
         .p_beta = 0.01,
         .q_beta = UNKNOWN,
         .p_presence = UNKNOWN,
         .q_presence = UNKNOWN},
    };
    struct comparison comparison = {
        .title = "by hand",
        .roles = {{.label = "a", .host = "", .pid = COMPARISON_NO_PID, .mean_cycle_us = UNKNOWN},
                  {.label = "b", .host = "", .pid = COMPARISON_NO_PID, .mean_cycle_us = UNKNOWN}},
        .cycle_p = UNKNOWN,
        .cycle_u = UNKNOWN,
        .rows = rows,
        .row_count = COUNT_OF(rows),
        .verdict = VERDICT_UNDECIDED,
        .kernel_us = {UNKNOWN, UNKNOWN},
        .operator_us = {UNKNOWN, UNKNOWN},
    };
    struct comparison *items[] = {&comparison};
    const struct comparison_list list = {.items = items, .count = 1};
    const int64_t *const no_ids[SIDE_COUNT] = {NULL, NULL};
    const size_t counts[SIDE_COUNT] = {0, 0};
    int64_t id = 0;
    struct err err = ERR_INIT;
    assert_true(store_comparisons_add(f->api.store, &list, no_ids, counts, &id, &err));
    assert_status(f, get_comparison(f, id, ""), 200);
    assert_body_has(f, "\"device\": \"\", \"score\": null, \"base_beta_pct\": null");
    assert_body_has(f, "\"base_cycles\": null, \"candidate_cycles\": null}");
    assert_body_has(f, "\"pid\": null");
    assert_body_has(f, "\"base_pid\": null");
    static const char *const queries[] = {"?sort=z_mu", "?sort=z_mu&order=asc",
                                          "?sort=base_cycles&order=asc", "?significant=1"};
    for (size_t i = 0; i < COUNT_OF(queries); i++) {
        assert_status(f, get_comparison(f, id, queries[i]), 200);
        assert_body_has(f, "\"rows\": [{\"function\": \"known\"");
    }
    assert_status(f, get(f, COMPARISONS), 200);
    assert_body_has(f, "\"base_pid\": null, \"candidate_pid\": null");
}

static void refuses_bad_parameters(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        "?format=xml", "?sort=colour",       "?order=up", "?limit=-1",
        "?offset=x",   "?significant=maybe", "?q=/(/",
    };
    int64_t id = compare_two_tables(f);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_problem(f, get_comparison(f, id, bad[i]), 400, "bad_request");
    }
    assert_problem(f, get(f, COMPARISONS "/999"), 404, "not_found");
    assert_problem(f, get(f, COMPARISONS "/x"), 404, "not_found");
    assert_problem(f, get(f, COMPARISONS "/999/series?function=a&metric=b&device=c"), 404,
                   "not_found");
}

static void gives_files(void **state)
{
    struct fixture *f = *state;
    char expected[100];
    int64_t id = compare_two_tables(f);
    assert_status(f, get_comparison(f, id, "?format=csv&metric=gpu_sm"), 200);
    assert_string_equal(f->response.content_type, "text/csv; charset=utf-8");
    (void)snprintf(expected, sizeof expected, "attachment; filename=\"comparison-%lld.csv\"",
                   (long long)id);
    assert_string_equal(response_header(f, "Content-Disposition"), expected);
    assert_body_has(f, "Function Name,Metric Name,Device,Suspicion Score,");
    assert_body_has(f, "\nslow,gpu_sm,GPU 0,");
    assert_false(body_has(f, "steady"));

    assert_status(f, get_comparison(f, id, "?format=markdown"), 200);
    assert_string_equal(f->response.content_type, "text/markdown; charset=utf-8");
    (void)snprintf(expected, sizeof expected, "attachment; filename=\"comparison-%lld.md\"",
                   (long long)id);
    assert_string_equal(response_header(f, "Content-Disposition"), expected);
    assert_memory_equal(body_text(f), "# Strict Performance Comparison: the ", 37);
}

static void shows_a_row_cycle_by_cycle(void **state)
{
    struct fixture *f = *state;
    int64_t id = compare_two_tables(f);
    assert_status(f, get_comparison(f, id, "/series?function=slow&metric=gpu_sm&device=GPU+0"),
                  200);
    assert_body_has(
        f, "{\"base\": {\"cycle_ns\": [1003000.0, 1006000.0, 1009000.0, 1012000.0, 1015000.0, "
           "1018000.0], \"beta_pct\": [10.01, 10.02, 10.0, 10.01, 10.02, 10.0]}, "
           "\"candidate\": {\"cycle_ns\": [1003000.0, ");
    assert_body_has(f, "\"beta_pct\": [30.01, 30.02, 30.0, 30.01, 30.02, 30.0]}}");
    assert_problem(f, get_comparison(f, id, "/series?function=slow&metric=gpu_sm"), 400,
                   "bad_request");
    assert_body_has(f, "device");
}

static void lists_and_deletes(void **state)
{
    struct fixture *f = *state;
    struct fake_request fake = {.body = ""};
    char target[100];
    int64_t id = compare_two_tables(f);
    assert_status(f, get(f, COMPARISONS), 200);
    assert_body_has(f, "{\"comparisons\": [{\"id\": ");
    assert_body_has(f, "\"title\": \"the <title>\", \"kind\": \"step\", \"strict\": true, "
                       "\"created_at\": \"20");
    assert_body_has(f, "\"trace_id\": null, \"labels\": [\"base\", \"candidate\"], \"base_pid\": "
                       "7, \"candidate_pid\": 7, \"base_cycles\": 6, \"candidate_cycles\": 6, "
                       "\"top_score\": ");
    assert_body_has(f, "\"verdict\": \"different\", \"pairs\": 1, \"url\": "
                       "\"http://traces.example:8080/prefix/#/comparisons/");
    assert_body_has(f, "], \"total\": 1, \"limit\": 100, \"offset\": 0}");
    assert_status(f, get(f, COMPARISONS "?q=nowhere"), 200);
    assert_body_has(f, "{\"comparisons\": [], \"total\": 0");
    assert_status(f, get(f, COMPARISONS "?q=TITLE&limit=5"), 200);
    assert_body_has(f, "\"total\": 1, \"limit\": 5");
    assert_problem(f, get(f, COMPARISONS "?limit=x"), 400, "bad_request");

    /* It stays when a trace goes, but for what only the trace knows. */
    assert_status(f, send_request(f, &fake, "DELETE", "/api/v1/traces/1"), 204);
    assert_status(f, get_comparison(f, id, ""), 200);
    assert_body_has(f, "\"traces\": {\"base\": [1]");

    (void)snprintf(target, sizeof target, COMPARISONS "/%lld", (long long)id);
    assert_status(f, send_request(f, &fake, "DELETE", target), 204);
    assert_int_equal(f->response.body.len, 0);
    assert_problem(f, send_request(f, &fake, "DELETE", target), 404, "not_found");
    assert_problem(f, get(f, target), 404, "not_found");
    assert_status(f, get(f, COMPARISONS), 200);
    assert_body_has(f, "\"total\": 0");
}

static void a_trace_equals_itself(void **state)
{
    struct fixture *f = *state;
    long long id = upload_table(f, "r", "a_perf_data.csv", 7, 10, 80);
    assert_status(f, compare(f, "{\"base\": %lld, \"candidate\": %lld}", id, id), 201);
    assert_body_has(f, "\"verdict\": \"no_difference\"");
    assert_body_has(f, "\"findings\": []");
    assert_body_has(f, "\"appeared\": []");
}

/* Two processes a side: one pair of the same number, and one of those that only one side has. */
static void compares_runs(void **state)
{
    struct fixture *f = *state;
    (void)upload_table(f, "before", "p7_perf_data.csv", 7, 10, 80);
    (void)upload_table(f, "before", "p8_perf_data.csv", 8, 10, 80);
    (void)upload_table(f, "after", "p7_perf_data.csv", 7, 30, 40);
    (void)upload_table(f, "after", "p9_perf_data.csv", 9, 11, 80);
    const struct trace_results nothing = {.device_type = "CPU", .views = 1};
    (void)publish(f, "after", "w", "w", "", "no cycles", &nothing);
    (void)publish(f, "bare", "w", "w", "", "none here", &nothing);

    assert_status(f,
                  compare(f, "{\"base\": {\"run\": \"before\"}, \"candidate\": {\"run\": "
                             "\"after\"}, \"labels\": [\"old\", \"new\"], \"kind\": null}"),
                  201);
    assert_body_has(f, "\"strict\": true, \"verdict\": \"different\", \"comparable\": null, "
                       "\"environment\": [], \"summary\": {\"labels\": [\"old\", \"new\"]");
    assert_body_has(f, "\"pairs\": [{\"id\": 1, \"kind\": \"step\", \"strict\": true, "
                       "\"base_pid\": 7, \"candidate_pid\": 7, ");
    assert_body_has(f, "{\"id\": 2, \"kind\": \"step\", \"strict\": false, \"base_pid\": 8, "
                       "\"candidate_pid\": 9, ");
    assert_status(f, get(f, COMPARISONS), 200);
    assert_body_has(f, "\"pairs\": 2, ");
    assert_body_has(f, "\"total\": 1, ");
    assert_status(f, get(f, COMPARISONS "/2"), 200);
    assert_body_has(f, "\"labels\": [\"old_pid_8\", \"new_pid_9\"]");
    assert_body_has(f, "\"pairs\": [{\"id\": 1, ");

    assert_status(f,
                  compare(f, "{\"base\": {\"run\": \"before\"}, \"candidate\": {\"run\": "
                             "\"after\"}, \"base_pid\": 8, \"candidate_pid\": 7}"),
                  201);
    assert_body_has(f, "\"base_pid\": 8, \"candidate_pid\": 7, ");
    assert_problem(f,
                   compare(f, "{\"base\": {\"run\": \"before\"}, \"candidate\": {\"run\": "
                              "\"after\"}, \"kind\": \"prefill\"}"),
                   400, "bad_request");
    assert_problem(f,
                   compare(f, "{\"base\": {\"run\": \"before\"}, \"candidate\": {\"run\": "
                              "\"after\"}, \"base_pid\": 99}"),
                   400, "bad_request");
    assert_problem(f,
                   compare(f, "{\"base\": {\"run\": \"none\"}, \"candidate\": {\"run\": "
                              "\"after\"}}"),
                   404, "not_found");
    assert_problem(f,
                   compare(f, "{\"base\": {\"run\": \"before\"}, \"candidate\": {\"run\": "
                              "\"bare\"}}"),
                   400, "bad_request");
    assert_body_has(f, "marker");
    assert_problem(f, compare(f, "{\"base\": 1, \"candidate\": 6}"), 400, "bad_request");
    assert_body_has(f, "trace 6");
    assert_problem(f, compare(f, "{\"base\": 1, \"candidate\": [2, 999]}"), 404, "not_found");
}

static void refuses_bad_bodies(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        "{\"base\": 1}",
        "{\"candidate\": 1}",
        "{\"base\": null, \"candidate\": 1}",
        "{\"base\": \"1\", \"candidate\": 1}",
        "{\"base\": 1.5, \"candidate\": 1}",
        "{\"base\": true, \"candidate\": 1}",
        "{\"base\": 99999999999999999999, \"candidate\": 1}",
        "{\"base\": [], \"candidate\": 1}",
        "{\"base\": [1, \"2\"], \"candidate\": 1}",
        "{\"base\": [[1]], \"candidate\": 1}",
        "{\"base\": {}, \"candidate\": 1}",
        "{\"base\": {\"run\": 1}, \"candidate\": 1}",
        "{\"base\": {\"run\": \"\"}, \"candidate\": 1}",
        "{\"base\": {\"run\": \"before\", \"x\": 1}, \"candidate\": 1}",
        "{\"base\": 1, \"base\": 2, \"candidate\": 1}",
        "{\"base\": 1, \"candidate\": 1, \"colour\": null}",
        "{\"base\": 1, \"candidate\": 1, \"base_pid\": \"7\"}",
        "{\"base\": 1, \"candidate\": 1, \"candidate_pid\": 7.5}",
        "{\"base\": 1, \"candidate\": 1, \"base_pid\": -9223372036854775808}",
        "{\"base\": 1, \"candidate\": 1, \"kind\": \"week\"}",
        "{\"base\": 1, \"candidate\": 1, \"kind\": 0}",
        "{\"base\": 1, \"candidate\": 1, \"labels\": \"a\"}",
        "{\"base\": 1, \"candidate\": 1, \"labels\": [\"a\"]}",
        "{\"base\": 1, \"candidate\": 1, \"labels\": [\"a\", \"a\"]}",
        "{\"base\": 1, \"candidate\": 1, \"labels\": [\"a\", \"\"]}",
        "{\"base\": 1, \"candidate\": 1, \"labels\": [\"a\", \"b\\nc\"]}",
        "{\"base\": 1, \"candidate\": 1, \"title\": 3}",
        "{\"base\": 1, \"candidate\": 1, \"title\": \"\"}",
        "{\"base\": 1, \"candidate\": 1, \"title\": \"\\u0000\"}",
        "{\"base\": 1, \"candidate\": 1, \"title\": \"\xFF\"}",
        "{\"base\": 1, \"candidate\": 1} {}",
    };
    (void)upload_table(f, "before", "p7_perf_data.csv", 7, 10, 80);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_problem(f, send_body(f, "POST", COMPARISONS, bad[i]), 400, "bad_request");
    }
    struct buf large;
    buf_init(&large, 1 << 20);
    buf_puts(&large, "{\"base\": [1");
    for (int i = 0; i < 1000; i++) {
        buf_puts(&large, ",1");
    }
    buf_puts(&large, "], \"candidate\": 1}");
    assert_problem(f, send_body(f, "POST", COMPARISONS, large.ptr), 400, "bad_request");
    while (large.len < (300 << 10)) {
        buf_puts(&large, "          ");
    }
    assert_problem(f, send_body(f, "POST", COMPARISONS, large.ptr), 413, "too_large");
    buf_free(&large);
    buf_init(&large, 1 << 20);
    for (int i = 0; i < 100000; i++) {
        buf_putc(&large, '[');
    }
    assert_problem(f, send_body(f, "POST", COMPARISONS, large.ptr), 400, "bad_request");
    buf_free(&large);
    struct fake_request gone = {.body = "{\"base\":", .body_len = 8, .gone_at_the_end = true};
    assert_problem(f, send_request(f, &gone, "POST", COMPARISONS), 499, "client_closed_request");
    assert_status(f, get(f, COMPARISONS), 200);
    assert_body_has(f, "\"total\": 0");
}

/* ---- traces by their steps ---- */

static void add_event(struct buf *out, const char *cat, const char *name, int tid, int ts, int dur)
{
    buf_printf(out,
               ", {\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 5, \"tid\": %d, "
               "\"ts\": %d, \"dur\": %d}",
               cat, name, tid, ts, dur);
}

static void add_counter(struct buf *out, int ts, int value)
{
    buf_printf(out,
               ", {\"ph\": \"C\", \"name\": \"host_cpu_usage\", \"pid\": 5, \"tid\": 5, \"ts\": "
               "%d, \"args\": {\"value\": %d}}",
               ts, value);
}

/* Six steps with two operators; the length of one of them differs from trace to trace. */
static int64_t upload_steps(struct fixture *f, const char *name, int slow_us)
{
    struct buf trace;
    buf_init(&trace, 1 << 20);
    buf_puts(&trace, "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"M\", \"name\": "
                     "\"process_name\", \"pid\": 5, \"tid\": 0, \"ts\": 0, \"args\": {\"name\": "
                     "\"python\"}}");
    for (int step = 0; step < CYCLES; step++) {
        char mark[32];
        int start = 10000 + step * 2000;
        (void)snprintf(mark, sizeof mark, "ProfilerStep#%d", step);
        add_event(&trace, "user_annotation", mark, 5, start, 1000 + slow_us);
        add_event(&trace, "cpu_op", "aten::slow", 5, start + 10, slow_us + step);
        add_event(&trace, "cpu_op", "aten::steady", 5, start + slow_us + 100, 200 + step);
        add_counter(&trace, start + 5, slow_us);
        add_counter(&trace, start + 50, slow_us + 20);
    }
    buf_puts(&trace, "]}");
    int64_t id = upload(f, "steps", name, trace.ptr);
    buf_free(&trace);
    assert_body_has(f, "\"format\": \"chrome-trace\"");
    assert_body_has(f, "\"cycles\"");
    return id;
}

static void compares_steps_of_traces(void **state)
{
    struct fixture *f = *state;
    long long base = upload_steps(f, "w.1.pt.trace.json", 100);
    long long candidate = upload_steps(f, "w.2.pt.trace.json", 400);
    assert_status(f, compare(f, "{\"base\": %lld, \"candidate\": %lld}", base, candidate), 201);
    assert_body_has(f, "\"kind\": \"step\", \"strict\": true, \"verdict\": \"different\"");
    assert_body_has(f, "\"rows\": [{\"function\": \"aten::slow\", \"metric\": \"N/A\", "
                       "\"device\": \"Host\", \"score\": ");
    assert_body_has(f, "\"function\": \"aten::steady\"");
    assert_body_has(f, "\"counters\": [{\"name\": \"host_cpu_usage\", \"hostname\": \"\", "
                       "\"base_mean\": 110.0, \"candidate_mean\": 410.0, \"base_samples\": 12, "
                       "\"candidate_samples\": 12}]");
    f->trace_id = base;
    assert_status(f, get_of_trace(f, "/cycles"), 200);
    assert_body_has(f, "\"source\": \"profiler_steps\"");
    assert_body_has(f, "\"kind\": \"step\"");
    assert_status(f, get_of_trace(f, "/cycles?format=csv"), 200);
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"cycles.csv\"");
    assert_memory_equal(body_text(f), perf_header, strlen("cycle,pid,hostname,beta_pct,"));
    assert_problem(f, get_of_trace(f, "/cycles?format=xml"), 400, "bad_request");
    assert_problem(f, get(f, "/api/v1/traces/999/cycles"), 404, "not_found");
}

/* The table that a trace's cycles are printed as compares as the trace does. */
static void printed_cycles_can_be_uploaded(void **state)
{
    struct fixture *f = *state;
    long long base = upload_steps(f, "w.1.pt.trace.json", 100);
    f->trace_id = upload_steps(f, "w.2.pt.trace.json", 400);
    assert_status(f, get_of_trace(f, "/cycles?format=csv"), 200);
    char *table = strdup(body_text(f));
    assert_non_null(table);
    long long candidate = upload(f, "printed", "w_perf_data.csv", table);
    free(table);
    assert_body_has(f, "\"format\": \"perf-data\"");
    assert_status(
        f, compare(f, "{\"base\": %lld, \"candidate\": %lld}", (long long)f->trace_id, candidate),
        201);
    assert_body_has(f, "\"verdict\": \"no_difference\"");
    assert_status(f, compare(f, "{\"base\": %lld, \"candidate\": %lld}", base, candidate), 201);
    assert_body_has(f, "\"verdict\": \"different\"");
}

/* ---- reports ---- */

static void an_uploaded_report_is_a_comparison(void **state)
{
    struct fixture *f = *state;
    struct fake_request fake = {.body = ""};
    char expected[200];
    int64_t id = compare_two_tables(f);
    assert_status(f, get_comparison(f, id, "?format=markdown"), 200);
    char *report = strdup(body_text(f));
    assert_non_null(report);
    f->trace_id = upload(f, "report", "report.md", report);
    free(report);
    (void)snprintf(expected, sizeof expected,
                   "\"views\": [\"comparison\"], \"warnings\": [], \"comparison\": %lld, ",
                   (long long)id + 1);
    assert_body_has(f, "\"format\": \"comparison-report\"");
    assert_body_has(f, expected);
    assert_status(f, get(f, "/api/v1/runs/report"), 200);
    assert_body_has(f, expected);

    assert_status(f, get_comparison(f, id + 1, ""), 200);
    (void)snprintf(expected, sizeof expected,
                   "\"trace_id\": %lld, \"traces\": {\"base\": [], \"candidate\": []}",
                   (long long)f->trace_id);
    assert_body_has(f, expected);
    assert_body_has(f, "\"rows\": [{\"function\": \"slow\", \"metric\": \"gpu_sm\"");
    assert_body_has(f, "\"total\": 3, ");
    assert_status(f, get_comparison(f, id + 1, "?significant=1"), 200);
    assert_body_has(f, "\"total\": 1, ");
    assert_status(f, get_comparison(f, id + 1, "/series?function=slow&metric=gpu_sm&device=GPU+0"),
                  200);
    assert_body_has(f, "{\"base\": {\"cycle_ns\": [], \"beta_pct\": []}");

    /* It goes with its trace only. */
    (void)snprintf(expected, sizeof expected, COMPARISONS "/%lld", (long long)id + 1);
    assert_problem(f, send_request(f, &fake, "DELETE", expected), 400, "bad_request");
    assert_status(f, get(f, expected), 200);
    assert_status(f, send_request(f, &fake, "DELETE", "/api/v1/runs/report"), 204);
    assert_problem(f, get(f, expected), 404, "not_found");
}

#define WITH_API(test) cmocka_unit_test_setup_teardown(test, set_up_api, tear_down_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_API(compares_two_tables),
        WITH_API(picks_rows),
        WITH_API(every_row_field_sorts),
        WITH_API(unknown_figures_are_null_and_come_last),
        WITH_API(refuses_bad_parameters),
        WITH_API(gives_files),
        WITH_API(shows_a_row_cycle_by_cycle),
        WITH_API(lists_and_deletes),
        WITH_API(a_trace_equals_itself),
        WITH_API(compares_runs),
        WITH_API(refuses_bad_bodies),
        WITH_API(compares_steps_of_traces),
        WITH_API(printed_cycles_can_be_uploaded),
        WITH_API(an_uploaded_report_is_a_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
