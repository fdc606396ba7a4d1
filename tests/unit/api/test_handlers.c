/* The resources of /api/v1 on a trace made by hand. */
#include "tests/unit/api/api_fixture.h"

static void lists_runs(void **state)
{
    struct fixture *f = *state;
    struct trace_results empty = {.device_type = "CPU", .views = 1};
    (void)publish(f, "b", "w.pt.trace.json", "w", "", "other bytes", &empty);
    assert_status(f, get(f, "/api/v1/runs"), 200);
    assert_body_has(f, "\"total\": 2");
    assert_body_has(f, "\"name\": \"r/1\", \"project\": \"\", \"pinned\": false, \"note\": \"\", "
                       "\"tags\": [], \"uploaded_at\": \"20");
    assert_body_has(
        f, "\"traces\": 1, \"workers\": 1, \"size_bytes\": 9, \"device_types\": [\"GPU\"]");
    assert_body_has(f, "\"views\": [\"overview\", \"operators\", \"kernels\", \"trace\"]");
    assert_body_has(f, "\"url\": \"http://traces.example:8080/prefix/#/runs/r%2F1\"");

    assert_status(f, get(f, "/api/v1/runs?sort=name&limit=1"), 200);
    assert_body_has(f, "\"name\": \"b\"");
    assert_false(body_has(f, "\"name\": \"r/1\""));
    assert_body_has(f, "\"total\": 2");
    assert_status(f, get(f, "/api/v1/runs?sort=name&order=desc&limit=1"), 200);
    assert_body_has(f, "\"name\": \"r/1\"");
    assert_status(f, get(f, "/api/v1/runs?q=R%2F"), 200);
    assert_body_has(f, "\"total\": 1");

    assert_problem(f, get(f, "/api/v1/runs?sort=colour"), 400, "bad_request");
    assert_problem(f, get(f, "/api/v1/runs?order=up"), 400, "bad_request");
    assert_problem(f, get(f, "/api/v1/runs?limit=-1"), 400, "bad_request");
    assert_problem(f, get(f, "/api/v1/runs?offset=x"), 400, "bad_request");
}

static void lists_traces(void **state)
{
    struct fixture *f = *state;
    struct trace_results other = {.device_type = "CPU", .views = 1};
    int64_t id = publish(f, "b", "w.pt.trace.json", "w", "", "other bytes", &other);
    struct err err = ERR_INIT;
    assert_true(store_trace_patch(f->api.store, id, "[\"nightly\"]", NULL, &err));
    assert_true(store_run_patch(f->api.store, "r/1", "[\"main\"]", NULL, NULL, &err));
    static const struct {
        const char *query;
        const char *has;
        const char *lacks;
    } cases[] = {
        {"traces", "\"total\": 2", "\"total\": 1"},
        {"traces?run=b", "\"run\": \"b\"", "r/1"},
        {"traces?tag=nightly", "\"run\": \"b\"", "r/1"},
        {"traces?tag=main", "\"run\": \"r/1\"", "\"run\": \"b\""},
        {"traces?tag=none", "\"traces\": [], \"total\": 0", "\"id\""},
        {"traces?device_type=CPU", "\"run\": \"b\"", "r/1"},
        {"traces?project=p", "\"total\": 0", "\"id\""},
        {"traces?q=w0.123", "\"run\": \"r/1\"", "\"run\": \"b\""},
        {"traces?limit=1", "\"run\": \"b\"", "r/1"},
        {"traces?limit=1&offset=1", "\"run\": \"r/1\"", "\"run\": \"b\""},
        {"traces?order=asc&limit=1", "\"total\": 2", "\"total\": 1"},
        {"traces?limit=1&offset=2", "\"traces\": [], \"total\": 2", "\"id\""},
        {"traces?sort=run&limit=1", "\"run\": \"b\"", "r/1"},
        {"traces?sort=run&offset=1", "\"run\": \"r/1\"", "\"run\": \"b\""},
        {"runs/b/traces", "\"total\": 1", "r/1"},
        {"runs/b/traces?tag=main", "\"total\": 0", "\"id\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char path[100];
        (void)snprintf(path, sizeof path, "/api/v1/%s", cases[i].query);
        assert_status(f, get(f, path), 200);
        assert_body_has(f, cases[i].has);
        assert_false(body_has(f, cases[i].lacks));
    }
    assert_problem(f, get(f, "/api/v1/traces?sort=colour"), 400, "bad_request");
    assert_problem(f, get(f, "/api/v1/runs/none/traces"), 404, "not_found");
}

/* The text behind "next": " or "previous": ", escaped for an address as it is; "" for null. */
static void read_cursor(struct fixture *f, const char *member, char out[200])
{
    char key[40];
    (void)snprintf(key, sizeof key, "\"%s\": \"", member);
    const char *at = strstr(f->response.body.ptr, key);
    out[0] = '\0';
    if (at != NULL) {
        at += strlen(key);
        (void)snprintf(out, 200, "%.*s", (int)strcspn(at, "\""), at);
    }
}

/* Appends the ids of a page to a text: "5,3,". */
static void list_page(struct fixture *f, const char *query, char ids[200])
{
    char path[400];
    (void)snprintf(path, sizeof path, "/api/v1/%s", query);
    assert_status(f, get(f, path), 200);
    const char *at = f->response.body.ptr;
    while ((at = strstr(at, "{\"id\": ")) != NULL) {
        at += strlen("{\"id\": ");
        (void)snprintf(ids + strlen(ids), 200 - strlen(ids), "%ld,", strtol(at, NULL, 10));
    }
}

static void fill_list(struct fixture *f)
{
    for (int i = 0; i < 9; i++) {
        struct trace_results cpu = {.device_type = i % 4 == 0 ? "MLU" : "CPU", .views = 1};
        char name[40];
        char bytes[40];
        (void)snprintf(name, sizeof name, "w%d.%d.pt.trace.json", i % 3, i);
        (void)snprintf(bytes, sizeof bytes, "bytes %d", i);
        (void)publish(f, i % 2 == 0 ? "even" : "odd", name, i % 3 == 0 ? "w0" : "w-b", "", bytes,
                      &cpu);
    }
}

/* Every order and filter: page by page, forwards and back, the same rows as at once. */
static void pages_traces_by_cursor(void **state)
{
    struct fixture *f = *state;
    fill_list(f);
    static const char *const lists[] = {"traces?sort=uploaded_at",
                                        "traces?sort=uploaded_at&order=asc",
                                        "traces?sort=id",
                                        "traces?sort=run",
                                        "traces?sort=run&order=desc",
                                        "traces?sort=worker",
                                        "traces?sort=worker&order=desc",
                                        "traces?sort=start_clock_ns",
                                        "traces?sort=duration_ns",
                                        "traces?sort=events",
                                        "traces?sort=steps&order=asc",
                                        "traces?sort=size_bytes",
                                        "traces?q=w-b",
                                        "traces?q=/odd|w1/",
                                        "traces?device_type=MLU",
                                        "traces?tag=none",
                                        "runs/even/traces?sort=worker",
                                        "runs/odd/traces?sort=events"};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        char all[200] = "";
        char pages[200] = "";
        char back[200] = "";
        char query[400];
        char cursor[200];
        list_page(f, lists[i], all);
        (void)snprintf(query, sizeof query, "%s&limit=3&after=", lists[i]);
        for (int page = 0; page < 6; page++) {
            list_page(f, query, pages);
            assert_body_has(f, "\"total\": null");
            read_cursor(f, "next", cursor);
            if (cursor[0] == '\0') {
                break;
            }
            (void)snprintf(query, sizeof query, "%s&limit=3&after=%s", lists[i], cursor);
        }
        assert_string_equal(pages, all);
        read_cursor(f, "previous", cursor);
        while (cursor[0] != '\0') {
            char before[200] = "";
            (void)snprintf(query, sizeof query, "%s&limit=3&before=%s", lists[i], cursor);
            list_page(f, query, before);
            (void)snprintf(back + strlen(back), sizeof back - strlen(back), "%s", before);
            assert_non_null(strstr(all, before));
            read_cursor(f, "previous", cursor);
        }
        assert_true(strlen(back) < strlen(all) + 1);
    }
    static const char *const wrong[] = {"after=x",
                                        "after=id.1.1",
                                        "after=uploaded_at.1.x",
                                        "after=uploaded_at.0.1",
                                        "after=uploaded_at.1.1&offset=2",
                                        "after=uploaded_at.1.1&before=uploaded_at.1.1"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        char path[200];
        (void)snprintf(path, sizeof path, "/api/v1/traces?%s", wrong[i]);
        assert_problem(f, get(f, path), 400, "bad_request");
    }
}

static void shows_a_run_and_its_traces(void **state)
{
    struct fixture *f = *state;
    char expected[200];
    assert_status(f, get(f, "/api/v1/runs/r%2F1"), 200);
    (void)snprintf(
        expected, sizeof expected,
        "\"trace_list\": [{\"id\": %lld, \"run\": \"r/1\", \"worker\": \"w0\", \"span\": 1",
        (long long)f->trace_id);
    assert_body_has(f, expected);
    assert_problem(f, get(f, "/api/v1/runs/none"), 404, "not_found");
    assert_body_has(f, "none");
}

/* By rank, which the worker's name tells here: 10 after 9, and after all a name without one. */
static void pages_the_traces_of_a_run(void **state)
{
    struct fixture *f = *state;
    struct trace_results cpu = {.device_type = "CPU", .views = 1};
    static const char *const workers[] = {"plain", "w10", "w9", "w2"};
    for (size_t i = 0; i < COUNT_OF(workers); i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "%s.%d.pt.trace.json", workers[i], i == 0 ? 5 : 7);
        (void)publish(f, "many", name, workers[i], i == 0 ? "5" : "7", name, &cpu);
    }
    static const struct {
        const char *query;
        const char *pattern[3]; /* in this order, NULL: no more */
        const char *lacks;
    } cases[] = {
        {"", {"\"w2\"", "\"w9\"", "\"w10\""}, "none"},
        {"?limit=2", {"\"w2\"", "\"w9\"", NULL}, "\"w10\""},
        {"?limit=2&offset=2", {"\"w10\"", "\"plain\"", NULL}, "\"w9\""},
        {"?limit=0&offset=3", {"\"plain\"", NULL, NULL}, "\"w10\""},
        {"?limit=2&offset=9", {"\"trace_list\": []", NULL, NULL}, "\"w2\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char path[100];
        (void)snprintf(path, sizeof path, "/api/v1/runs/many%s", cases[i].query);
        assert_status(f, get(f, path), 200);
        assert_body_has(f, "\"traces\": 4");
        assert_body_has(f, "\"spans\": [1], \"formats\": [\"kineto\"], \"trace_list\": [");
        assert_false(body_has(f, cases[i].lacks));
        const char *at = f->response.body.ptr;
        for (size_t k = 0; k < 3 && cases[i].pattern[k] != NULL; k++) {
            at = strstr(at, cases[i].pattern[k]);
            assert_non_null(at);
        }
        const char *last = strstr(f->response.body.ptr, "\"last_trace\": {");
        assert_non_null(last);
        assert_non_null(strstr(last, "\"worker\": \"plain\""));
    }
    assert_problem(f, get(f, "/api/v1/runs/many?limit=-1"), 400, "bad_request");
    assert_problem(f, get(f, "/api/v1/runs/many?offset=x"), 400, "bad_request");
}

static void shows_a_trace(void **state)
{
    struct fixture *f = *state;
    char expected[200];
    assert_status(f, get_of_trace(f, ""), 200);
    assert_body_has(f, "\"span_digits\": \"123\", \"file_name\": \"w0.123.pt.trace.json\"");
    assert_body_has(
        f,
        "\"format\": \"kineto\", \"device_type\": \"GPU\", \"events\": 42, \"has_events\": false, "
        "\"steps\": 2");
    assert_body_has(f, "\"start_clock_ns\": \"1700000000000000123\", \"duration_ns\": 1501000");
    assert_body_has(f, "\"state\": \"ready\"");
    assert_body_has(f, "\"warnings\": [{\"code\": \"truncated\", \"message\": \"");
    assert_body_has(f, "\"count\": 1, \"first_offset\": 77}], \"comparison\": null, \"url\"");
    (void)snprintf(expected, sizeof expected,
                   "\"url\": \"http://traces.example:8080/prefix/#/traces/%lld/overview\"}",
                   (long long)f->trace_id);
    assert_body_has(f, expected);
    assert_problem(f, get(f, "/api/v1/traces/999"), 404, "not_found");
    assert_problem(f, get(f, "/api/v1/traces/x"), 404, "not_found");
    assert_problem(f, get(f, "/api/v1/traces/99999999999999999999"), 404, "not_found");
    assert_problem(f, get(f, "/api/v1/traces/"), 404, "not_found");
}

static int patch_trace(struct fixture *f, const char *body)
{
    char target[100];
    (void)snprintf(target, sizeof target, "/api/v1/traces/%lld", (long long)f->trace_id);
    return send_body(f, "PATCH", target, body);
}

static void sets_tags_and_notes(void **state)
{
    struct fixture *f = *state;
    assert_status(f, patch_trace(f, "{\"tags\": [\"a\", \"\\u00e4 \\\"b\\\"\"], \"note\": \"n\"}"),
                  200);
    assert_body_has(f, "\"tags\": [\"a\", \"\xC3\xA4 \\\"b\\\"\"], \"note\": \"n\"");
    assert_status(f, patch_trace(f, "{\"tags\": []}"), 200);
    assert_body_has(f, "\"tags\": [], \"note\": \"n\"");
    assert_status(f, send_body(f, "PATCH", "/api/v1/runs/r%2F1", "{\"note\":\"of the run\"}"), 200);
    assert_body_has(f, "\"note\": \"of the run\", \"tags\": []");
    assert_false(body_has(f, "trace_list"));
    assert_problem(f, send_body(f, "PATCH", "/api/v1/runs/x", "{\"note\":\"\"}"), 404, "not_found");
}

static void pins_runs(void **state)
{
    struct fixture *f = *state;
    static const char target[] = "/api/v1/runs/r%2F1";
    static const char *const bad[] = {"{\"pinned\": 1}", "{\"pinned\": null}",
                                      "{\"pinned\": \"true\"}"};
    assert_status(f, get(f, target), 200);
    assert_body_has(f, "\"pinned\": false");
    assert_status(f, send_body(f, "PATCH", target, "{\"pinned\": true, \"note\": \"n\"}"), 200);
    assert_body_has(f, "\"pinned\": true");
    assert_status(f, send_body(f, "PATCH", target, "{\"note\": \"\"}"), 200);
    assert_body_has(f, "\"pinned\": true");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_problem(f, send_body(f, "PATCH", target, bad[i]), 400, "bad_request");
    }
    assert_status(f, get(f, "/api/v1/runs"), 200);
    assert_body_has(f, "\"pinned\": true");
    assert_status(f, send_body(f, "PATCH", target, "{\"pinned\": false}"), 200);
    assert_body_has(f, "\"pinned\": false");
    assert_problem(f, patch_trace(f, "{\"pinned\": true}"), 400, "bad_request");
    assert_body_has(f, "only \\\"tags\\\", \\\"note\\\" can");
}

static void refuses_bad_patches(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{}",
        "null",
        "{\"tags\": \"a\"}",
        "{\"tags\": [1]}",
        "{\"tags\": [\"\"]}",
        "{\"note\": null}",
        "{\"note\": 3}",
        "{\"name\": \"x\"}",
        "{\"note\": \"a\", \"note\": \"b\"}",
        "{\"note\": \"\\u0000\"}",
        "{\"note\": \"a\"} x",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_problem(f, patch_trace(f, bad[i]), 400, "bad_request");
    }
    size_t len = 300 << 10;
    char *large = malloc(len + 1);
    assert_non_null(large);
    memset(large, ' ', len);
    large[len] = '\0';
    assert_problem(f, patch_trace(f, large), 413, "too_large");
    free(large);
}

static void deletes(void **state)
{
    struct fixture *f = *state;
    char target[100];
    struct fake_request fake = {.body = ""};
    (void)snprintf(target, sizeof target, "/api/v1/traces/%lld", (long long)f->trace_id);
    assert_status(f, send_request(f, &fake, "DELETE", target), 204);
    assert_int_equal(f->response.body.len, 0);
    assert_problem(f, get(f, target), 404, "not_found");
    assert_problem(f, send_request(f, &fake, "DELETE", target), 404, "not_found");
    assert_problem(f, send_request(f, &fake, "DELETE", "/api/v1/runs/r%2F1"), 404, "not_found");
}

static void deletes_runs(void **state)
{
    struct fixture *f = *state;
    struct fake_request fake = {.body = ""};
    assert_status(f, send_request(f, &fake, "DELETE", "/api/v1/runs/r%2F1"), 204);
    assert_problem(f, get_of_trace(f, ""), 404, "not_found");
}

static void gives_the_upload_back(void **state)
{
    struct fixture *f = *state;
    char bytes[32] = "";
    assert_status(f, get_of_trace(f, "/raw"), 200);
    assert_string_equal(f->response.content_type, "application/octet-stream");
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"w0.123.pt.trace.json\"");
    assert_non_null(f->response.file_path);
    FILE *file = fopen(f->response.file_path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), strlen("the bytes"));
    assert_string_equal(bytes, "the bytes");
    (void)fclose(file);
    assert_int_equal(unlink(f->response.file_path), 0);
    assert_problem(f, get_of_trace(f, "/raw"), 410, "gone");
    assert_null(f->response.file_path);
    assert_string_equal(response_header(f, "Content-Disposition"), "");
}

static void encodes_odd_file_names(void **state)
{
    struct fixture *f = *state;
    struct trace_results empty = {.device_type = "CPU", .views = 1};
    f->trace_id = publish(f, "b", "a\"\xC3\xA4.json", "a\"\xC3\xA4", "", "odd", &empty);
    assert_status(f, get_of_trace(f, "/raw"), 200);
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"a___.json\"; filename*=UTF-8''a%22%C3%A4.json");
}

static void shows_the_overview(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_of_trace(f, "/overview"), 200);
    assert_body_has(f, "{\"trace\": {\"id\": ");
    assert_body_has(
        f, "\"device_type\": \"GPU\", \"decimal_times\": false, \"steps\": 2, "
           "\"has_steps\": true, \"average_step_ns\": 750500.0, \"roles\": "
           "[{\"role\": \"kernel\", \"label\": \"Kernel\", \"mean_ns\": 200000.0, \"share\": "
           "0.2664890073284477}");
    assert_false(body_has(f, "\"role\": \"communication\""));
    assert_body_has(f, "\"devices\": [{\"id\": 0, \"name\": \"Tesla V100\", \"memory_bytes\": "
                       "17179869184.0, \"compute_capability\": \"7.0\", \"utilisation\": 0.25, "
                       "\"utilisation_of\": \"steps\", \"sm_efficiency\": null, \"occupancy_pct\": "
                       "33.3, \"tensor_core_share\": 0.75}]");
    assert_body_has(f, "\"environment\": [{\"name\": \"pytorch\", \"value\": \"2.1\"}]");
    assert_body_has(f, "\"recommendations\": [{\"code\": \"utilisation\", \"text\": \"GPU 0 has");
    assert_body_has(f, "\"health\": {\"warnings\": [{\"code\": \"truncated\"");
    assert_body_has(f, "\"missing\": [{\"view\": \"memory\", \"reason\": \"No memory records.\"");
    assert_body_has(f, "\"tensor_core\": {\"name\": \"Tensor Cores\", \"used_share\": 0.8}");
    assert_body_has(f, "\"top_operator\": {\"name\": \"aten::mm\", \"device_self_ns\": 120000, "
                       "\"host_self_ns\": 60000, \"calls\": 1}");
    assert_body_has(f, "\"top_kernel\": {\"name\": \"gemm\", \"total_ns\": 301000, \"calls\": 2, "
                       "\"share\": 0.7525}");
    assert_body_has(f, "\"idle\": {\"of\": \"steps\", \"idle_ns\": 550500.0, ");
    assert_body_has(f, "\"cause\": \"cpu_exec\", \"cause_ns\": 275000.0}}");
    assert_problem(f, get(f, "/api/v1/traces/999/overview"), 404, "not_found");
}

static void overviews_of_little_have_nulls(void **state)
{
    struct fixture *f = *state;
    struct step_row step = {.name = "0", .start_ns = INT64_MAX, .end_ns = INT64_MIN};
    struct trace_results r = {
        .device_type = "CPU", .views = 1, .steps_undefined = true, .steps = &step, .step_count = 1};
    struct device_row device = device_row_unknown(1);
    device.utilisation = -0.0;
    r.devices = &device;
    r.device_count = 1;
    f->trace_id = publish(f, "b", "w", "w", "", "little", &r);
    assert_status(f, get_of_trace(f, "/overview"), 200);
    assert_body_has(f, "\"average_step_ns\": null");
    assert_body_has(f, "\"tensor_core\": null, \"top_operator\": null, \"top_kernel\": null");
    assert_body_has(f, "\"step_rows\": []");
    assert_body_has(f, "\"idle\": null");
    assert_body_has(f, "\"utilisation\": 0.0, ");
    assert_body_has(f, "\"roles\": [{\"role\": \"dataloader\"");
    assert_status(f, get_of_trace(f, "/steps?sort=duration_ns"), 200);
}

static void shows_steps(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_of_trace(f, "/steps"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"9\", \"start_ns\": 0, \"duration_ns\": 1000000, "
                       "\"host_gap_ns\": null, \"kernel_ns\": 100000, \"memcpy_ns\": 0, "
                       "\"memset_ns\": 0, \"communication_ns\": "
                       "0, \"runtime_ns\": 50000, \"dataloader_ns\": 0, \"cpu_exec_ns\": 350000, "
                       "\"other_ns\": 500000, \"idle_ns\": 900000, \"computation_ns\": 100000, "
                       "\"overlap_ns\": 0, \"launches\": 3, \"device_activities\": 2, "
                       "\"device_start_ns\": 0, \"device_end_ns\": 0, \"device_busy_ns\": 0, "
                       "\"device_ns\": 0}, {\"name\": \"10\", \"start_ns\": 1000000, "
                       "\"duration_ns\": 501000, \"host_gap_ns\": 0, ");
    assert_body_has(f, "\"total\": 2, \"roles\": [{\"role\": \"kernel\"");
    assert_status(f, get_of_trace(f, "/steps?sort=kernel_ns&limit=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"10\"");
    assert_false(body_has(f, "\"name\": \"9\""));
    assert_status(f, get_of_trace(f, "/steps?sort=name"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"9\"");
    assert_status(f, get_of_trace(f, "/steps?sort=launches&order=asc&offset=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"9\"");
    assert_status(f, get_of_trace(f, "/steps?offset=9223372036854775807"), 200);
    assert_body_has(f, "{\"rows\": [], \"total\": 2");
    assert_problem(f, get_of_trace(f, "/steps?sort=colour"), 400, "bad_request");
    assert_body_has(f, "start_ns");

    assert_status(f, get_of_trace(f, "/steps?format=csv&sort=duration_ns&order=asc"), 200);
    assert_string_equal(f->response.content_type, "text/csv; charset=utf-8");
    assert_string_equal(response_header(f, "Content-Disposition"),
                        "attachment; filename=\"steps.csv\"");
    assert_string_equal(
        body_text(f),
        "name,start_ns,duration_ns,host_gap_ns,kernel_ns,memcpy_ns,memset_ns,communication_ns,"
        "runtime_ns,dataloader_ns,cpu_exec_ns,other_ns,idle_ns,computation_ns,overlap_ns,launches,"
        "device_activities,device_start_ns,device_end_ns,device_busy_ns,device_ns\r\n"
        "10,1000000,501000,0,300000,0,0,0,1000,0,200000,0,201000,300000,0,1,1,0,0,0,0\r\n"
        "9,0,1000000,,100000,0,0,0,50000,0,350000,500000,900000,100000,0,3,2,0,0,0,0\r\n");
}

static void shows_operators(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_of_trace(f, "/operators"), 200);
    assert_body_has(f,
                    "{\"rows\": [{\"name\": \"aten::mm\", \"calls\": 1, \"host_total_ns\": 70000, "
                    "\"host_self_ns\": 60000, \"host_mean_ns\": 70000.0, ");
    assert_body_has(
        f, "\"share\": 0.75, \"tensor_core_eligible\": true, \"tensor_core_self_share\": 0.5, "
           "\"tensor_core_total_share\": 0.5, \"has_call_stack\": true}, {\"name\": "
           "\"aten::add\"");
    assert_body_has(
        f, "\"total\": 3, \"group_by\": \"name\", \"sort\": \"device_self_ns\", \"order\": "
           "\"desc\", \"q\": null, \"limit\": 1000, \"offset\": 0, \"has_device\": true, \"sums\": "
           "{\"calls\": 5, \"host_self_ns\": 81000, "
           "\"device_self_ns\": 160000, \"device_ns\": 170000, "
           "\"unattributed_device_ns\": 10000}}");
    assert_status(f, get_of_trace(f, "/operators?sort=name&q=ATEN&limit=1"), 200);
    assert_body_has(f, "{\"rows\": [{\"name\": \"aten::add\"");
    assert_body_has(f, "\"total\": 2");
    assert_body_has(f, "\"order\": \"asc\"");
    assert_body_has(f, "\"calls\": 5");
    assert_status(
        f, get_of_trace(f, "/operators?group_by=name_shape&name=aten::mm&shape=[[2,+8],+[]]"), 200);
    assert_body_has(f, "\"input_shape\": \"[[2, 8], []]\"");
    assert_body_has(f, "\"total\": 1");
    assert_status(f, get_of_trace(f, "/operators?group_by=name_stack&name=aten::mm"), 200);
    assert_body_has(f, "\"call_stack\": \"a.py(1): f\"");
    assert_status(f, get_of_trace(f, "/operators?name=other"), 200);
    assert_body_has(f, "{\"rows\": [], \"total\": 0");
    assert_problem(f, get_of_trace(f, "/operators?group_by=colour"), 400, "bad_request");
    assert_body_has(f, "name, name_shape, name_stack, name_shape_stack");
    assert_problem(f, get_of_trace(f, "/operators?sort=colour"), 400, "bad_request");
    assert_problem(f, get_of_trace(f, "/operators?format=xml"), 400, "bad_request");
}

static void every_operator_field_sorts(void **state)
{
    struct fixture *f = *state;
    static const char *const fields[] = {
        "name",
        "input_shape",
        "call_stack",
        "calls",
        "host_total_ns",
        "host_self_ns",
        "host_mean_ns",
        "host_min_ns",
        "host_max_ns",
        "host_p50_ns",
        "host_p95_ns",
        "host_p99_ns",
        "device_total_ns",
        "device_self_ns",
        "device_p50_ns",
        "device_p95_ns",
        "device_p99_ns",
        "share",
        "tensor_core_eligible",
        "tensor_core_self_share",
        "tensor_core_total_share",
        "has_call_stack",
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        char rest[100];
        (void)snprintf(rest, sizeof rest, "/operators?sort=%s", fields[i]);
        assert_status(f, get_of_trace(f, rest), 200);
    }
}

static void operators_as_csv(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_of_trace(f, "/operators?format=csv&sort=calls&q=evil"), 200);
    assert_body_has(f, "name,calls,host_total_ns,");
    assert_body_has(f, "\r\n\"'=evil\"\"<b>\xC3\xA4\",1,1000,1000,1000.0,");
    assert_status(f, get_of_trace(f, "/operators?format=csv&group_by=name_shape"), 200);
    assert_body_has(f, "name,input_shape,calls,");
    assert_body_has(f, "aten::mm,\"[[2, 8], []]\",1,");
    assert_status(f, get_of_trace(f, "/operators?format=csv&group_by=name_stack&limit=1"), 200);
    assert_body_has(f, "name,call_stack,calls,");
}

static void shows_kernels(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get_of_trace(f, "/kernels"), 200);
    assert_body_has(
        f, "{\"rows\": [{\"name\": \"gemm\", \"calls\": 2, \"total_ns\": 301000, \"share\": "
           "0.7525, \"mean_ns\": 150500.0, \"min_ns\": 100000, \"max_ns\": 201000, "
           "\"p50_ns\": 150000, \"p95_ns\": 0, \"p99_ns\": 0, \"tensor_cores\": true, "
           "\"blocks_per_sm\": 1.255, \"occupancy_pct\": 33.3, "
           "\"calls_per_step\": 1.0, \"class\": \"gemm\", \"matrix_unit\": true, "
           "\"communication_kind\": null}, {\"name\": \"add\"");
    assert_body_has(f, "\"total\": 2, \"group_by\": \"name\", \"sort\": \"total_ns\", \"order\": "
                       "\"desc\", \"q\": null, \"limit\": 1000, \"offset\": 0, \"sums\": "
                       "{\"calls\": 3, \"total_ns\": 400000}, \"has_blocks_per_sm\": "
                       "true, \"has_occupancy\": true, \"config_labels\": [\"Grid\", \"Block\", "
                       "\"Registers per thread\", \"Shared memory\"], \"tensor_core_share\": 0.8, "
                       "\"matrix_units\": \"Tensor Cores\", \"utilisation\": "
                       "null}");
    assert_status(f, get_of_trace(f, "/kernels?group_by=launch"), 200);
    assert_body_has(
        f, "\"operator\": \"aten::mm\", \"config\": [\"[1, 2, 3]\", \"[4, 5, 6]\", \"32\", "
           "\"0\"], \"calls\": 2");
    assert_body_has(f, "\"operator_tensor_core_eligible\": true, \"class\": \"gemm\", "
                       "\"matrix_unit\": true, \"communication_kind\": null}");
    assert_status(f, get_of_trace(f, "/kernels?group_by=launch&format=csv"), 200);
    assert_body_has(f, "name,operator,config_1,config_2,config_3,config_4,calls,");
    assert_body_has(f, "gemm,aten::mm,\"[1, 2, 3]\",\"[4, 5, 6]\",32,0,2,");
    assert_status(f, get_of_trace(f, "/kernels?format=csv&sort=name"), 200);
    assert_body_has(f, "calls_per_step,class,matrix_unit,communication_kind\r\nadd,1,99000,");
    assert_problem(f, get_of_trace(f, "/kernels?sort=operator"), 400, "bad_request");
    assert_problem(f, get(f, "/api/v1/traces/999/kernels"), 404, "not_found");
}

static void every_kernel_field_sorts(void **state)
{
    struct fixture *f = *state;
    static const char *const fields[] = {
        "name",   "calls",  "total_ns", "share",        "mean_ns",       "min_ns",        "max_ns",
        "p50_ns", "p95_ns", "p99_ns",   "tensor_cores", "blocks_per_sm", "occupancy_pct",
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        char rest[100];
        (void)snprintf(rest, sizeof rest, "/kernels?sort=%s", fields[i]);
        assert_status(f, get_of_trace(f, rest), 200);
        (void)snprintf(rest, sizeof rest, "/kernels?group_by=launch&sort=%s", fields[i]);
        assert_status(f, get_of_trace(f, rest), 200);
    }
    assert_status(f, get_of_trace(f, "/kernels?sort=calls_per_step"), 200);
    assert_status(f, get_of_trace(f, "/kernels?group_by=launch&sort=operator"), 200);
    assert_status(f, get_of_trace(f, "/kernels?group_by=launch&sort=operator_tensor_core_eligible"),
                  200);
}

static void answers_probes(void **state)
{
    struct fixture *f = *state;
    assert_status(f, get(f, "/healthz"), 200);
    assert_string_equal(body_text(f), "ok\n");
    assert_status(f, get(f, "/readyz"), 200);
    assert_status(f, get(f, "/metrics"), 200);
    assert_string_equal(f->response.content_type, "text/plain; version=0.0.4; charset=utf-8");
    assert_body_has(f, "# TYPE kinetoscope_build_info gauge\nkinetoscope_build_info{version=\"");
    assert_body_has(f, "# TYPE kinetoscope_jobs gauge\nkinetoscope_jobs{state=\"queued\"} 0\n");
    assert_body_has(f, "# TYPE kinetoscope_ingested_bytes_total counter\n");
    assert_body_has(f, "kinetoscope_read_ahead_total 0\n");
    assert_body_has(f, "\nkinetoscope_raw_bytes 9\n");
    assert_body_has(f, "\nkinetoscope_runs 1\n");
    assert_body_has(f, "\nkinetoscope_traces 1\n");
}

static void heads_are_gets(void **state)
{
    struct fixture *f = *state;
    struct fake_request fake = {.body = ""};
    assert_status(f, send_request(f, &fake, "HEAD", "/api/v1/runs/r%2F1"), 200);
    assert_string_equal(f->response.content_type, "application/json");
    assert_true(f->response.body.len > 0);
}

#define WITH_TRACE(test) cmocka_unit_test_setup_teardown(test, set_up_hand_made, tear_down_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TRACE(lists_runs),
        WITH_TRACE(lists_traces),
        WITH_TRACE(pages_traces_by_cursor),
        WITH_TRACE(shows_a_run_and_its_traces),
        WITH_TRACE(pages_the_traces_of_a_run),
        WITH_TRACE(shows_a_trace),
        WITH_TRACE(sets_tags_and_notes),
        WITH_TRACE(pins_runs),
        WITH_TRACE(refuses_bad_patches),
        WITH_TRACE(deletes),
        WITH_TRACE(deletes_runs),
        WITH_TRACE(gives_the_upload_back),
        WITH_TRACE(encodes_odd_file_names),
        WITH_TRACE(shows_the_overview),
        WITH_TRACE(overviews_of_little_have_nulls),
        WITH_TRACE(shows_steps),
        WITH_TRACE(shows_operators),
        WITH_TRACE(every_operator_field_sorts),
        WITH_TRACE(operators_as_csv),
        WITH_TRACE(shows_kernels),
        WITH_TRACE(every_kernel_field_sorts),
        WITH_TRACE(answers_probes),
        WITH_TRACE(heads_are_gets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
