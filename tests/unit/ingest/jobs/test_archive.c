/* Archives through the pipeline and the queue. */
#include "ingest/base/text/buf.h"
#include "ingest/jobs/queue/jobs.h"
#include "ingest/jobs/queue/store_sink.h"
#include "ingest/store/store_events.h"
#include "tests/unit/ingest/input/tar_builder.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <zstd.h>

#define TRACE_OF(name)                                                          \
    "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name \
    "\", \"pid\": 1, \"tid\": 1, \"ts\": 10, \"dur\": 5, \"args\": {\"External id\": 1}}]}"
#define ARCHIVE_MAX_BYTES ((size_t)64 << 20)

static struct jobs *create(struct fixture *f)
{
    struct jobs *jobs;
    const struct jobs_options options = {.workers = 1, .retain_raw = true};
    assert_ok(f, jobs_create(&jobs, f->store, &options, &f->err));
    return jobs;
}

static void commit_archive(struct fixture *f, const struct buf *bytes, char hash[SHA256_HEX_BYTES])
{
    struct store_blob *blob;
    uint64_t size_bytes;
    assert_ok(f, store_blob_create(f->store, &blob, &f->err));
    assert_ok(f, store_blob_write(blob, bytes->ptr, bytes->len, &f->err));
    assert_ok(f, store_blob_commit(blob, hash, &size_bytes, &f->err));
}

static struct jobs_submission
submit(struct fixture *f, struct jobs *jobs, const char *name, const struct buf *bytes)
{
    struct jobs_submission submission;
    char hash[SHA256_HEX_BYTES];
    commit_archive(f, bytes, hash);
    assert_ok(f, jobs_submit(jobs, &f->arena, "r", name, hash, bytes->len, false, NULL, &submission,
                             &f->err));
    assert_true(submission.is_archive);
    return submission;
}

static struct jobs_status wait_for(struct fixture *f, struct jobs *jobs, int64_t id)
{
    struct jobs_status status;
    assert_ok(f, jobs_wait(jobs, &f->arena, id, 0, -1, &status, &f->err));
    return status;
}

static const struct store_trace *trace_of(struct fixture *f, int64_t id)
{
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    return trace;
}

/* Two ranks under one name, the second compressed, and three members that are no trace. */
static struct buf make_run(void)
{
    struct buf bytes;
    char packed[400];
    buf_init(&bytes, ARCHIVE_MAX_BYTES);
    tar_any(&bytes, (struct tar_spec){.name = "run/", .type = '5'}, "", 0);
    tar_text(&bytes, "run/rank_0/trace.json", TRACE_OF("zero"));
    size_t len = ZSTD_compress(packed, sizeof packed, TRACE_OF("one"), strlen(TRACE_OF("one")), 1);
    assert_false(ZSTD_isError(len));
    tar_any(&bytes, (struct tar_spec){.name = "run/rank_1/trace.json.zst"}, packed, len);
    tar_text(&bytes, "run/notes.txt", "what we tried that day");
    tar_text(&bytes, "run/broken.json", "{\"traceEvents\": [");
    struct buf inner;
    buf_init(&inner, ARCHIVE_MAX_BYTES);
    tar_text(&inner, "x.json", TRACE_OF("x"));
    tar_end(&inner);
    tar_any(&bytes, (struct tar_spec){.name = "run/inner.tar"}, inner.ptr, inner.len);
    buf_free(&inner);
    tar_end(&bytes);
    return bytes;
}

static void expect_run(struct fixture *f, const struct jobs_status *status)
{
    static const char *const workers[] = {"rank_0/trace", "rank_1/trace"};
    static const struct {
        const char *member;
        enum err_code code;
    } failures[] = {{"run/notes.txt", ERR_UNSUPPORTED},
                    {"run/broken.json", ERR_BAD_INPUT},
                    {"run/inner.tar", ERR_UNSUPPORTED}};
    assert_int_equal(status->state, JOB_DONE);
    assert_int_equal(status->trace_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct store_trace *trace = trace_of(f, status->trace_ids[i]);
        assert_string_equal(trace->worker, workers[i]);
        assert_string_equal(trace->file_name, "run.tar");
        assert_int_equal(trace->event_count, 1);
    }
    assert_int_equal(status->failure_count, 3);
    assert_string_equal(status->file_name, "run.tar");
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(status->failures[i].member, failures[i].member);
        assert_int_equal(status->failures[i].error.code, failures[i].code);
        assert_true(status->failures[i].error.msg[0] != '\0');
    }
}

static void an_archive_makes_traces_and_failures(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct buf bytes = make_run();
    int64_t id = submit(f, jobs, "run.tar", &bytes).job_id;
    struct jobs_status status = wait_for(f, jobs, id);
    expect_run(f, &status);
    /* Each has its own events. */
    for (size_t i = 0; i < 2; i++) {
        struct store_event event;
        assert_ok(
            f, READ(f->store, store_event_get, &f->arena, status.trace_ids[i], 0, &event, &f->err));
        assert_string_equal(event.name, i == 0 ? "zero" : "one");
    }
    /* The same again: the same traces, and what could not be read. */
    struct jobs_submission again = submit(f, jobs, "run.tar", &bytes);
    assert_true(again.already);
    assert_int_equal(again.trace_count, 2);
    assert_int_equal(again.failure_count, 3);
    assert_string_equal(again.failures[1].member, "run/broken.json");
    /* Another process tells it too. */
    jobs_destroy(jobs);
    close_store(f);
    open_store(f);
    jobs = create(f);
    assert_ok(f, jobs_status(jobs, &f->arena, id, &status, &f->err));
    expect_run(f, &status);
    /* One trace goes, the other stays with the file. */
    char hash[SHA256_HEX_BYTES];
    memcpy(hash, trace_of(f, status.trace_ids[0])->sha256_hex, sizeof hash);
    assert_ok(f, store_trace_delete(f->store, status.trace_ids[0], &f->err));
    assert_true(raw_exists(f, hash));
    assert_string_equal(trace_of(f, status.trace_ids[1])->worker, "rank_1/trace");
    buf_free(&bytes);
    jobs_destroy(jobs);
}

static void an_archive_without_traces_fails(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct buf bytes;
    buf_init(&bytes, ARCHIVE_MAX_BYTES);
    tar_text(&bytes, "a.txt", "no trace");
    tar_text(&bytes, "b.txt", "neither");
    tar_end(&bytes);
    struct jobs_status status = wait_for(f, jobs, submit(f, jobs, "a.tar", &bytes).job_id);
    assert_int_equal(status.state, JOB_FAILED);
    assert_int_equal(status.error.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(status.error.msg, "a.txt"));
    assert_int_equal(status.failure_count, 2);
    buf_clear(&bytes);
    tar_any(&bytes, (struct tar_spec){.name = "only/", .type = '5'}, "", 0);
    tar_end(&bytes);
    status = wait_for(f, jobs, submit(f, jobs, "b.tar", &bytes).job_id);
    assert_int_equal(status.state, JOB_FAILED);
    assert_int_equal(status.error.code, ERR_BAD_INPUT);
    assert_int_equal(status.failure_count, 0);
    buf_free(&bytes);
    jobs_destroy(jobs);
}

static void a_cut_archive_keeps_what_was_whole(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct buf bytes;
    buf_init(&bytes, ARCHIVE_MAX_BYTES);
    tar_text(&bytes, "a.json", TRACE_OF("a"));
    tar_text(&bytes, "b.json", TRACE_OF("b"));
    size_t whole = bytes.len;
    tar_end(&bytes);
    for (size_t cut = 0; cut < 3; cut++) {
        char name[] = "0.tar";
        static const size_t less[] = {0, 500, 1000};
        name[0] = (char)('0' + cut);
        bytes.len = whole - less[cut];
        struct jobs_status status = wait_for(f, jobs, submit(f, jobs, name, &bytes).job_id);
        assert_int_equal(status.state, JOB_DONE);
        assert_int_equal(status.trace_count, cut == 0 ? 2 : 1);
        assert_string_equal(trace_of(f, status.trace_ids[0])->worker, "a");
        const struct store_job_failure *last = &status.failures[status.failure_count - 1];
        assert_non_null(strstr(last->error.msg, "breaks off"));
    }
    buf_free(&bytes);
    jobs_destroy(jobs);
}

static void many_failures_are_counted(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct buf bytes;
    buf_init(&bytes, ARCHIVE_MAX_BYTES);
    tar_text(&bytes, "good.json", TRACE_OF("a"));
    for (unsigned i = 0; i < STORE_SINK_FAILURES_MAX + 5; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%u.txt", i);
        tar_text(&bytes, name, "no");
    }
    tar_end(&bytes);
    struct jobs_status status = wait_for(f, jobs, submit(f, jobs, "many.tar", &bytes).job_id);
    assert_int_equal(status.state, JOB_DONE);
    assert_int_equal(status.failure_count, STORE_SINK_FAILURES_MAX + 1);
    const struct store_job_failure *last = &status.failures[STORE_SINK_FAILURES_MAX];
    assert_string_equal(last->member, "");
    assert_non_null(strstr(last->error.msg, "5 further"));
    buf_free(&bytes);
    jobs_destroy(jobs);
}

static void an_archive_has_no_rank_of_its_own(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct jobs_submission submission;
    struct jobs_hints hints = {.rank = 3};
    char hash[SHA256_HEX_BYTES];
    struct buf bytes = make_run();
    commit_archive(f, &bytes, hash);
    assert_fails(f,
                 jobs_submit(jobs, &f->arena, "r", "run.tar", hash, bytes.len, false, &hints,
                             &submission, &f->err),
                 ERR_BAD_REQUEST);
    assert_false(raw_exists(f, hash));
    buf_free(&bytes);
    jobs_destroy(jobs);
}

/* A member that does not fit is read again with all of the memory, and only then a failure. */
static void large_members_get_all_of_the_memory(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs;
    struct buf bytes;
    struct buf large;
    const struct jobs_options options = {
        .workers = 2, .retain_raw = true, .memory_budget_bytes = 1 << 20};
    assert_ok(f, jobs_create(&jobs, f->store, &options, &f->err));
    buf_init(&large, ARCHIVE_MAX_BYTES);
    buf_puts(&large, "{\"traceEvents\": [");
    for (unsigned i = 0; i < 100000; i++) {
        buf_printf(&large,
                   "%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"n%u\", \"pid\": 1, "
                   "\"tid\": 1, \"ts\": %u, \"dur\": 1}",
                   i == 0 ? "" : ",", i, i);
    }
    buf_puts(&large, "]}");
    assert_false(large.failed);
    buf_init(&bytes, ARCHIVE_MAX_BYTES);
    tar_text(&bytes, "a.json", TRACE_OF("a"));
    tar_text(&bytes, "large.json", large.ptr);
    tar_text(&bytes, "z.json", TRACE_OF("z"));
    tar_end(&bytes);
    struct jobs_status status = wait_for(f, jobs, submit(f, jobs, "a.tar", &bytes).job_id);
    assert_int_equal(status.state, JOB_DONE);
    assert_int_equal(status.trace_count, 2);
    assert_int_equal(status.failure_count, 1);
    assert_string_equal(status.failures[0].member, "large.json");
    assert_int_equal(status.failures[0].error.code, ERR_TOO_LARGE);
    buf_free(&bytes);
    buf_free(&large);
    jobs_destroy(jobs);
}

static void the_pipeline_collects_archives(void **state)
{
    struct fixture *f = *state;
    struct pipeline_output output;
    const char *path;
    char hash[SHA256_HEX_BYTES];
    struct buf bytes = make_run();
    commit_archive(f, &bytes, hash);
    assert_ok(f, store_blob_path(f->store, &f->arena, hash, &path, &f->err));
    assert_ok(f, pipeline_run(path, "run.tar", NULL, NULL, &output, &f->err));
    assert_string_equal(output.format, "chrome-trace");
    assert_int_equal(output.item_count, 2);
    assert_string_equal(output.items[1].worker, "rank_1/trace");
    assert_string_equal(output.items[1].member, "run/rank_1/trace.json.zst");
    assert_int_equal(output.failure_count, 3);
    assert_string_equal(output.failures[0].member, "run/notes.txt");
    pipeline_output_free(&output);
    buf_free(&bytes);
}

/* ---- sinks ---- */

static bool
refuse(void *context, struct pipeline_item *item, const struct timeline *timeline, struct err *err)
{
    int *calls = context;
    (void)item;
    (void)timeline;
    return ++*calls < 2 || err_set(err, ERR_STORE, "no more");
}

static bool never(void *context, const char *member, const struct err *error, struct err *err)
{
    (void)context;
    (void)member;
    (void)error;
    return err_set(err, ERR_INTERNAL, "no failure was expected");
}

static void a_sink_ends_the_whole(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    struct pipeline_sink sink = {.context = &calls, .trace = refuse, .failed = never};
    const char *path;
    char hash[SHA256_HEX_BYTES];
    struct buf bytes = make_run();
    commit_archive(f, &bytes, hash);
    assert_ok(f, store_blob_path(f->store, &f->arena, hash, &path, &f->err));
    assert_fails(f, pipeline_stream(path, "run.tar", NULL, NULL, &sink, &f->err), ERR_STORE);
    assert_int_equal(calls, 2);
    buf_free(&bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_archive_makes_traces_and_failures), TEST(an_archive_without_traces_fails),
        TEST(a_cut_archive_keeps_what_was_whole),   TEST(many_failures_are_counted),
        TEST(an_archive_has_no_rank_of_its_own),    TEST(large_members_get_all_of_the_memory),
        TEST(the_pipeline_collects_archives),       TEST(a_sink_ends_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
