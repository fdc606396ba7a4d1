/* Archives and ranks, as uploads answer for them. */
#include "tests/unit/api/api_fixture.h"
#include "tests/unit/ingest/input/tar_builder.h"

#define TRACES "/api/v1/runs/r/traces"
#define ARCHIVE_MAX_BYTES ((size_t)1 << 20)

static const char no_rank[] =
    "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", "
    "\"name\": \"aten::add\", \"pid\": 1, \"tid\": 1, \"ts\": 10, \"dur\": 2}]}";

static const char trace[] =
    "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 6}, "
    "\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", "
    "\"name\": \"aten::add\", \"pid\": 1, \"tid\": 1, \"ts\": 10, \"dur\": 2}]}";

static int put(struct fixture *f, const char *target, const struct buf *body, const char *prefer)
{
    struct fake_request fake = {
        .headers = {"Prefer", prefer}, .body = body->ptr, .body_len = body->len};
    fake.request.content_length = (int64_t)body->len;
    return send_request(f, &fake, "PUT", target);
}

static struct buf make_archive(bool with_traces)
{
    struct buf bytes;
    buf_init(&bytes, ARCHIVE_MAX_BYTES);
    tar_text(&bytes, "run/readme.txt", "no trace");
    if (with_traces) {
        tar_text(&bytes, "run/rank_0/t.json", trace);
        tar_text(&bytes, "run/rank_1/t.json", trace);
    }
    tar_end(&bytes);
    return bytes;
}

static void an_archive_answers_with_lists(void **state)
{
    struct fixture *f = *state;
    struct buf bytes = make_archive(true);
    for (int status = 201; status >= 200; status--) { /* made, then there already */
        assert_status(f, put(f, TRACES "/run.tar", &bytes, ""), status);
        assert_body_has(f, "{\"traces\": [{\"id\": 1, \"run\": \"r\", \"worker\": \"rank_0/t\"");
        assert_body_has(f, "{\"id\": 2, \"run\": \"r\", \"worker\": \"rank_1/t\"");
        assert_body_has(f, "\"errors\": [{\"file_name\": \"run.tar\", \"member\": "
                           "\"run/readme.txt\", \"type\": \"about:blank\", \"title\": ");
        assert_string_equal(response_header(f, "Location"), "/prefix/api/v1/runs/r");
    }
    assert_status(f, get(f, "/api/v1/jobs/1"), 200);
    assert_body_has(f, "\"trace_ids\": [1, 2]");
    assert_body_has(f, "\"errors\": [{\"file_name\": \"run.tar\", \"member\": \"run/readme.txt\"");
    buf_free(&bytes);
    /* one trace is a list, too: nobody has to look into an archive to read the answer */
    buf_init(&bytes, ARCHIVE_MAX_BYTES);
    tar_text(&bytes, "t.json", trace);
    tar_end(&bytes);
    assert_status(f, put(f, TRACES "/one.tar", &bytes, ""), 201);
    assert_body_has(f, "{\"traces\": [{\"id\": 3, ");
    assert_body_has(f, "\"errors\": []}");
    assert_problem(f, put(f, TRACES "/run.tar", &bytes, ""), 409, "conflict");
    buf_free(&bytes);
}

static void an_archive_without_traces_is_a_problem(void **state)
{
    struct fixture *f = *state;
    struct buf bytes = make_archive(false);
    assert_problem(f, put(f, TRACES "/run.tar", &bytes, ""), 415, "unsupported_format");
    assert_body_has(f, "run/readme.txt");
    buf_free(&bytes);
}

static void parts_of_an_archive_go_one_by_one(void **state)
{
    struct fixture *f = *state;
    struct buf bytes = make_archive(true);
    assert_status(f, put(f, TRACES "/run.tar", &bytes, ""), 201);
    assert_status(f, send_body(f, "DELETE", "/api/v1/traces/1", ""), 204);
    assert_status(f, get(f, "/api/v1/traces/2/raw"), 200);
    assert_status(f, get(f, "/api/v1/traces/1"), 404);
    assert_status(f, put(f, TRACES "/run.tar", &bytes, ""), 200);
    assert_body_has(f, "{\"traces\": [{\"id\": 2, ");
    buf_free(&bytes);
}

static void ranks_are_given_and_shown(void **state)
{
    struct fixture *f = *state;
    assert_status(f, send_body(f, "PUT", TRACES "/a.json?rank=3", no_rank), 201);
    assert_body_has(f, "\"rank\": 3, ");
    assert_status(f, send_body(f, "PUT", TRACES "/b.json", no_rank), 201);
    assert_body_has(f, "\"rank\": null, ");
    assert_status(f, send_body(f, "PUT", TRACES "/c.json?rank=", no_rank), 201);
    assert_body_has(f, "\"rank\": null, ");
    assert_status(f, send_body(f, "PUT", TRACES "/told.json?rank=3", trace), 201);
    assert_body_has(f, "\"rank\": 6, "); /* the file's own goes first */
    assert_problem(f, send_body(f, "PUT", TRACES "/a.json?rank=4", no_rank), 409, "conflict");
    assert_body_has(f, "rank 4");
    static const char *const bad[] = {"-1", "2147483648", "x", "3x", "99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char target[100];
        (void)snprintf(target, sizeof target, TRACES "/d.json?rank=%s", bad[i]);
        assert_problem(f, send_body(f, "PUT", target, trace), 400, "bad_request");
    }
    assert_status(f, send_body(f, "PUT", TRACES "/e.json?rank=2147483647", no_rank), 201);
    assert_body_has(f, "\"rank\": 2147483647, ");
}

static void an_archive_takes_no_rank(void **state)
{
    struct fixture *f = *state;
    struct buf bytes = make_archive(true);
    assert_problem(f, put(f, TRACES "/run.tar?rank=3", &bytes, ""), 400, "bad_request");
    assert_body_has(f, "names");
    assert_status(f, put(f, TRACES "/run.tar", &bytes, "respond-async"), 202);
    buf_free(&bytes);
}

#define WITH_API(test) cmocka_unit_test_setup_teardown(test, set_up_api, tear_down_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_API(an_archive_answers_with_lists),
        WITH_API(an_archive_without_traces_is_a_problem),
        WITH_API(parts_of_an_archive_go_one_by_one),
        WITH_API(ranks_are_given_and_shown),
        WITH_API(an_archive_takes_no_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
