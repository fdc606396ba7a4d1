/* Uploads through the whole way: request, store, jobs, answer. */
#include "tests/unit/api/api_fixture.h"

#define TRACES "/api/v1/runs/r%2F1/traces"

static const char trace_a[] =
    "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", "
    "\"name\": \"aten::add\", \"pid\": 1, \"tid\": 1, \"ts\": 10, \"dur\": 2}]}";
static const char trace_b[] =
    "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", "
    "\"name\": \"aten::mul\", \"pid\": 1, \"tid\": 1, \"ts\": 10, \"dur\": 3}]}";

static int put(struct fixture *f, const char *target, const char *body)
{
    return send_body(f, "PUT", target, body);
}

static size_t incoming_files(const struct fixture *f)
{
    char path[100];
    size_t count = 0;
    (void)snprintf(path, sizeof path, "%s/incoming", f->dir);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(dir);
    return count;
}

static void assert_nothing_kept(struct fixture *f)
{
    uint64_t database_bytes = 0;
    uint64_t raw_bytes = 0;
    struct err err = ERR_INIT;
    assert_int_equal(incoming_files(f), 0);
    assert_true(store_size(f->api.store, &database_bytes, &raw_bytes, &err));
    assert_int_equal(raw_bytes, 0);
    assert_status(f, get(f, "/api/v1/runs"), 200);
    assert_body_has(f, "\"total\": 0");
}

static void puts_a_file(void **state)
{
    struct fixture *f = *state;
    assert_status(f, put(f, TRACES "/w0.17.pt.trace.json", trace_a), 201);
    assert_string_equal(f->response.content_type, "application/json");
    assert_body_has(f,
                    "\"run\": \"r/1\", \"worker\": \"w0\", \"span\": 1, \"span_digits\": \"17\"");
    char first[64];
    (void)snprintf(first, sizeof first, "%s", response_header(f, "Location"));
    assert_memory_equal(first, "/prefix/api/v1/traces/", strlen("/prefix/api/v1/traces/"));

    /* the same again, in pieces and without a length */
    struct fake_request fake = {.body = trace_a, .body_len = strlen(trace_a), .chunk_len = 1};
    fake.request.content_length = -1;
    assert_status(f, send_request(f, &fake, "PUT", TRACES "/w0.17.pt.trace.json"), 200);
    assert_string_equal(response_header(f, "Location"), first);

    assert_problem(f, put(f, TRACES "/w0.17.pt.trace.json", trace_b), 409, "conflict");
    assert_status(f, put(f, TRACES "/w0.17.pt.trace.json?replace=1", trace_b), 201);
    assert_problem(f, get(f, first + strlen("/prefix")), 404, "not_found");

    /* the same bytes under another name are a trace of their own */
    assert_status(f, put(f, TRACES "/w1.pt.trace.json", trace_b), 201);
    assert_status(f, get(f, "/api/v1/runs/r%2F1"), 200);
    assert_body_has(f, "\"traces\": 2, \"workers\": 2");
}

static void answers_at_once(void **state)
{
    struct fixture *f = *state;
    struct fake_request fake = {.headers = {"prefer", "wait=1, Respond-Async"},
                                .body = trace_a,
                                .body_len = strlen(trace_a)};
    fake.request.content_length = (int64_t)strlen(trace_a);
    assert_status(f, send_request(f, &fake, "PUT", TRACES "/w0.pt.trace.json"), 202);
    assert_body_has(f, "{\"id\": ");
    assert_body_has(f, "\"state\": \"");
    assert_string_equal(response_header(f, "Preference-Applied"), "respond-async");
    char job[64];
    (void)snprintf(job, sizeof job, "%s", response_header(f, "Location") + strlen("/prefix"));
    assert_memory_equal(job, "/api/v1/jobs/", strlen("/api/v1/jobs/"));

    /* as events until it is over */
    struct fake_request events = {.headers = {"Accept", "text/event-stream"}, .body = ""};
    assert_status(f, send_request(f, &events, "GET", job), 200);
    assert_string_equal(f->response.content_type, "text/event-stream");
    struct buf text;
    buf_init(&text, 1 << 20);
    while (f->response.stream(&f->response, &text)) {
    }
    assert_false(text.failed);
    const char *last = strstr(text.ptr, "event: done\ndata: {\"id\": ");
    assert_non_null(last);
    assert_non_null(strstr(last, "\"state\": \"done\", \"stage\": \"done\""));
    assert_non_null(strstr(last, "\"trace_id\": "));
    assert_string_equal(text.ptr + text.len - 3, "}\n\n");
    assert_false(f->response.stream(&f->response, &text));
    buf_free(&text);

    assert_status(f, get(f, job), 200);
    assert_body_has(f, "\"state\": \"done\"");
    assert_body_has(f, "\"url\": \"http://traces.example:8080/prefix/#/traces/");
    assert_problem(f, get(f, "/api/v1/jobs/9999"), 404, "not_found");
    assert_problem(f, get(f, "/api/v1/jobs/x"), 404, "not_found");
}

/* What can be refused without the body is refused before the body is asked for. */
static void refuses_before_the_body(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *method;
        const char *target;
        const char *type;
        int64_t content_length;
        int status;
    } cases[] = {
        {"PUT", TRACES "/", NULL, 5, 400},
        {"PUT", TRACES "/a%2Fb", NULL, 5, 400},
        {"PUT", TRACES "/a%0Ab", NULL, 5, 400},
        {"PUT", TRACES "/%FF", NULL, 5, 400},
        {"PUT", "/api/v1/runs//traces/a", NULL, 5, 400},
        {"PUT", "/api/v1/runs/./traces/a", NULL, 5, 400},
        {"PUT", "/api/v1/runs/%2E%2e/traces/a", NULL, 5, 400},
        {"PUT", TRACES "/a", NULL, (int64_t)MAX_UPLOAD_BYTES + 1, 413},
        {"PUT", TRACES "/a", NULL, 0, 400},
        {"PUT", TRACES "/a", "multipart/form-data; boundary=x", 5, 400},
        {"POST", TRACES, "application/json", 5, 400},
        {"POST", TRACES, NULL, 5, 400},
        {"POST", TRACES, "multipart/form-data; boundary=x", (int64_t)MAX_UPLOAD_BYTES + 1, 413},
        {"POST", "/api/v1/runs//traces", "multipart/form-data; boundary=x", 5, 400},
        {"POST", TRACES "/a", NULL, 5, 405},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t reads = 0;
        struct fake_request fake = {.body = "12345", .body_len = 5, .reads = &reads};
        if (cases[i].type != NULL) {
            fake.headers[0] = "Content-Type";
            fake.headers[1] = cases[i].type;
        }
        fake.request.content_length = cases[i].content_length;
        assert_status(f, send_request(f, &fake, cases[i].method, cases[i].target), cases[i].status);
        assert_string_equal(f->response.content_type, "application/problem+json");
        assert_int_equal(reads, 0);
    }
    assert_problem(f, put(f, TRACES "/", "x"), 400, "bad_request");
    assert_body_has(f, "curl -T FILE");
    assert_nothing_kept(f);
}

static void keeps_nothing_of_what_is_cut(void **state)
{
    struct fixture *f = *state;
    struct fake_request shorter = {.body = trace_a, .body_len = 20};
    shorter.request.content_length = (int64_t)strlen(trace_a);
    assert_problem(f, send_request(f, &shorter, "PUT", TRACES "/a"), 499, "client_closed_request");
    struct fake_request gone = {.body = trace_a, .body_len = 20, .gone_at_the_end = true};
    gone.request.content_length = -1;
    assert_problem(f, send_request(f, &gone, "PUT", TRACES "/a"), 499, "client_closed_request");
    struct fake_request empty = {.body = "", .body_len = 0};
    empty.request.content_length = -1;
    assert_problem(f, send_request(f, &empty, "PUT", TRACES "/a"), 400, "bad_request");
    assert_nothing_kept(f);
}

static void bounds_what_has_no_length(void **state)
{
    struct fixture *f = *state;
    size_t len = MAX_UPLOAD_BYTES + 1;
    char *bytes = calloc(1, len);
    assert_non_null(bytes);
    struct fake_request fake = {.body = bytes, .body_len = len};
    fake.request.content_length = -1;
    assert_problem(f, send_request(f, &fake, "PUT", TRACES "/a"), 413, "too_large");
    assert_nothing_kept(f);
    free(bytes);
}

static void refuses_what_is_no_trace(void **state)
{
    struct fixture *f = *state;
    int status = put(f, TRACES "/a.json", "this is no trace");
    assert_true(status == 415 || status == 422);
    assert_string_equal(f->response.content_type, "application/problem+json");
    assert_nothing_kept(f);
}

/* The marker that a job was handed in with, "" when none. */
static void assert_marker(struct fixture *f, int64_t job_id, const char *expected)
{
    struct arena arena;
    struct store_job *job = NULL;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    assert_true(READ(f->api.store, store_job_get, &arena, job_id, &job, &err));
    assert_string_equal(job->marker == NULL ? "" : job->marker, expected);
    arena_free(&arena);
}

static void puts_with_a_marker(void **state)
{
    struct fixture *f = *state;
    assert_status(f, put(f, TRACES "/w0.json?marker=aten%3A%3Aadd", trace_a), 201);
    assert_marker(f, 1, "aten::add");
    assert_status(f, put(f, TRACES "/w1.json?marker=", trace_a), 201);
    assert_marker(f, 2, "");
    assert_problem(f, put(f, TRACES "/w2.json?marker=nowhere", trace_a), 400, "bad_request");
    assert_body_has(f, "nowhere");
    assert_problem(f, put(f, TRACES "/w0.json?marker=aten%3A%3Amul", trace_a), 409, "conflict");
}

static void refuses_bad_markers(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {
        TRACES "/a?marker=a%0Ab",
        TRACES "/a?marker=%FF",
        TRACES "/a?marker=%00",
    };
    char target[2000] = TRACES "/a?marker=";
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_problem(f, put(f, bad[i], trace_a), 400, "bad_request");
    }
    size_t len = strlen(target);
    memset(target + len, 'x', 1001);
    assert_problem(f, put(f, target, trace_a), 400, "bad_request");
    assert_body_has(f, "1000");
    assert_nothing_kept(f);
}

/* ---- forms ---- */

#define BOUNDARY "xYzZY"

static void add_part(struct buf *form, const char *disposition, const char *bytes)
{
    buf_puts(form, "--" BOUNDARY "\r\nContent-Disposition: form-data; ");
    buf_puts(form, disposition);
    buf_puts(form, "\r\n\r\n");
    buf_puts(form, bytes);
    buf_puts(form, "\r\n");
}

static int post_to(struct fixture *f, const char *target, struct buf *form, const char *prefer)
{
    buf_puts(form, "--" BOUNDARY "--\r\n");
    struct fake_request fake = {
        .headers = {"content-type", "multipart/form-data; boundary=" BOUNDARY, "Prefer", prefer},
        .body = form->ptr,
        .body_len = form->len,
        .chunk_len = 7};
    fake.request.content_length = (int64_t)form->len;
    int status = send_request(f, &fake, "POST", target);
    buf_free(form);
    return status;
}

static int post(struct fixture *f, struct buf *form, const char *prefer)
{
    return post_to(f, TRACES, form, prefer);
}

static void posts_several_files(void **state)
{
    struct fixture *f = *state;
    struct buf form;
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"note\"", "a plain field");
    add_part(&form, "name=\"file\"; filename=\"w0.pt.trace.json\"", trace_a);
    add_part(&form, "name=\"file\"; filename=\"dropped/w1.pt.trace.json\"", trace_b);
    add_part(&form, "name=\"file\"; filename=\"\"", "");
    assert_status(f, post(f, &form, ""), 201);
    assert_body_has(f, "{\"traces\": [{\"id\": ");
    assert_body_has(f, "\"worker\": \"w0\"");
    assert_body_has(f, "\"worker\": \"w1\"");
    assert_body_has(f, "\"errors\": []}");
    assert_string_equal(response_header(f, "Location"), "/prefix/api/v1/runs/r%2F1");

    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"; filename=\"w0.pt.trace.json\"", trace_a);
    assert_status(f, post(f, &form, ""), 200);
    assert_body_has(f, "\"worker\": \"w0\"");
}

static void one_bad_file_leaves_the_others(void **state)
{
    struct fixture *f = *state;
    struct buf form;
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"; filename=\"bad\"", "this is no trace");
    add_part(&form, "name=\"file\"; filename=\"empty\"", "");
    add_part(&form, "name=\"file\"; filename=\"a%0Ab\"", "x");
    add_part(&form, "name=\"file\"; filename=\"w0.pt.trace.json\"", trace_a);
    assert_status(f, post(f, &form, ""), 201);
    assert_body_has(f, "{\"traces\": [{\"id\": ");
    assert_body_has(
        f, "\"errors\": [{\"file_name\": \"bad\", \"type\": \"about:blank\", \"title\": \"");
    assert_body_has(f, "{\"file_name\": \"empty\", ");
    assert_body_has(f, "{\"file_name\": \"a\\nb\", ");

    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"; filename=\"w0.pt.trace.json\"", trace_b);
    assert_status(f, post(f, &form, ""), 409);
    assert_string_equal(f->response.content_type, "application/problem+json");
    assert_body_has(f,
                    "\"code\": \"conflict\", \"traces\": [], \"errors\": [{\"file_name\": \"w0.pt");
}

static void fields_mark_the_files_behind_them(void **state)
{
    struct fixture *f = *state;
    struct buf form;
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"; filename=\"w0.json\"", trace_a);
    add_part(&form, "name=\"marker\"", "aten::add");
    add_part(&form, "name=\"file\"; filename=\"w1.json\"", trace_a);
    add_part(&form, "name=\"marker\"", "");
    add_part(&form, "name=\"file\"; filename=\"w2.json\"", trace_a);
    assert_status(f, post(f, &form, ""), 201);
    assert_body_has(f, "\"errors\": []}");
    assert_marker(f, 1, "");
    assert_marker(f, 2, "aten::add");
    assert_marker(f, 3, "");
}

static void refuses_bad_marker_fields(void **state)
{
    struct fixture *f = *state;
    char large[1002];
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    const char *const bad[] = {large, "a\nb", "\xFF"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct buf form;
        buf_init(&form, 1 << 20);
        add_part(&form, "name=\"marker\"", bad[i]);
        add_part(&form, "name=\"file\"; filename=\"w0.json\"", trace_a);
        assert_problem(f, post(f, &form, ""), 400, "bad_request");
    }
    assert_nothing_kept(f);
}

static void each_file_has_its_rank(void **state)
{
    struct fixture *f = *state;
    struct buf form;
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"rank\"", "5");
    add_part(&form, "name=\"file\"; filename=\"w0.json\"", trace_a);
    add_part(&form, "name=\"file\"; filename=\"w1.json\"", trace_a);
    add_part(&form, "name=\"rank\"", "0");
    add_part(&form, "name=\"file\"; filename=\"w2.json\"", trace_a);
    add_part(&form, "name=\"rank\"", "9");
    add_part(&form, "name=\"rank\"", "");
    add_part(&form, "name=\"file\"; filename=\"w3.json\"", trace_a);
    assert_status(f, post(f, &form, ""), 201);
    assert_body_has(f, "\"file_name\": \"w0.json\", \"rank\": 5, ");
    assert_body_has(f, "\"file_name\": \"w1.json\", \"rank\": null, ");
    assert_body_has(f, "\"file_name\": \"w2.json\", \"rank\": 0, ");
    assert_body_has(f, "\"file_name\": \"w3.json\", \"rank\": null, ");
}

static void refuses_bad_rank_fields(void **state)
{
    struct fixture *f = *state;
    const char *const bad[] = {"-1", "x", "2147483648", "1 2",
                               "00000000000000000000000000000000001"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct buf form;
        buf_init(&form, 1 << 20);
        add_part(&form, "name=\"rank\"", bad[i]);
        add_part(&form, "name=\"file\"; filename=\"w0.json\"", trace_a);
        assert_problem(f, post(f, &form, ""), 400, "bad_request");
    }
    assert_nothing_kept(f);
}

static void a_rank_as_parameter_is_of_one_file(void **state)
{
    struct fixture *f = *state;
    struct buf form;
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"; filename=\"w0.json\"", trace_a);
    add_part(&form, "name=\"file\"; filename=\"w1.json\"", trace_b);
    assert_problem(f, post_to(f, TRACES "?rank=3", &form, ""), 400, "bad_request");
    assert_nothing_kept(f);
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"; filename=\"w0.json\"", trace_a);
    assert_status(f, post_to(f, TRACES "?rank=3", &form, ""), 201);
    assert_body_has(f, "\"rank\": 3, ");
}

static void posts_without_waiting(void **state)
{
    struct fixture *f = *state;
    struct buf form;
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"; filename=\"w0.pt.trace.json\"", trace_a);
    assert_status(f, post(f, &form, "respond-async"), 202);
    assert_body_has(f, "{\"jobs\": [{\"id\": ");
    assert_body_has(f, "\"errors\": []}");
}

static void refuses_forms_without_files(void **state)
{
    struct fixture *f = *state;
    struct buf form;
    buf_init(&form, 1 << 20);
    assert_problem(f, post(f, &form, ""), 400, "bad_request");
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"", trace_a);
    assert_problem(f, post(f, &form, ""), 400, "bad_request");
    assert_body_has(f, "curl -F");
    assert_nothing_kept(f);
}

static void keeps_nothing_of_a_cut_part(void **state)
{
    struct fixture *f = *state;
    struct buf form;
    buf_init(&form, 1 << 20);
    add_part(&form, "name=\"file\"; filename=\"w0.pt.trace.json\"", trace_a);
    struct fake_request fake = {
        .headers = {"content-type", "multipart/form-data; boundary=" BOUNDARY},
        .body = form.ptr,
        .body_len = form.len - 10,
    };
    fake.request.content_length = (int64_t)form.len;
    assert_problem(f, send_request(f, &fake, "POST", TRACES), 499, "client_closed_request");
    fake.at = 0;
    fake.request.content_length = -1;
    assert_problem(f, send_request(f, &fake, "POST", TRACES), 400, "bad_request");
    buf_free(&form);
    assert_nothing_kept(f);
}

#define WITH_API(test) cmocka_unit_test_setup_teardown(test, set_up_api, tear_down_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_API(puts_a_file),
        WITH_API(answers_at_once),
        WITH_API(refuses_before_the_body),
        WITH_API(keeps_nothing_of_what_is_cut),
        WITH_API(bounds_what_has_no_length),
        WITH_API(refuses_what_is_no_trace),
        WITH_API(puts_with_a_marker),
        WITH_API(refuses_bad_markers),
        WITH_API(posts_several_files),
        WITH_API(fields_mark_the_files_behind_them),
        WITH_API(refuses_bad_marker_fields),
        WITH_API(each_file_has_its_rank),
        WITH_API(refuses_bad_rank_fields),
        WITH_API(a_rank_as_parameter_is_of_one_file),
        WITH_API(one_bad_file_leaves_the_others),
        WITH_API(posts_without_waiting),
        WITH_API(refuses_forms_without_files),
        WITH_API(keeps_nothing_of_a_cut_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
