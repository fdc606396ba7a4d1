/* The queue: handing in, waiting, failing, taking up again. */
#include "ingest/base/monotonic.h"
#include "ingest/base/text/buf.h"
#include "ingest/jobs/queue/internal.h"
#include "ingest/jobs/queue/jobs.h"
#include "ingest/store/internal.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <pthread.h>
#include <zstd.h>

#define TRACE_OF(name)                                                          \
    "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name \
    "\", \"pid\": 1, \"tid\": 1, \"ts\": 10, \"dur\": 5, \"args\": {\"External id\": 1}}]}"

static struct jobs *create_with(struct fixture *f, const struct jobs_options *options)
{
    struct jobs *jobs;
    assert_ok(f, jobs_create(&jobs, f->store, options, &f->err));
    return jobs;
}

static struct jobs *create(struct fixture *f)
{
    return create_with(f, &(struct jobs_options){.workers = 2, .retain_raw = true});
}

/* A queue that takes jobs in and begins none. */
static struct jobs *create_stopped(struct fixture *f)
{
    struct jobs *jobs = create(f);
    jobs_stop(jobs);
    return jobs;
}

static bool try_submit(struct fixture *f,
                       struct jobs *jobs,
                       const char *run,
                       const char *file_name,
                       const char *bytes,
                       bool replace,
                       struct jobs_submission *out)
{
    char sha256_hex[SHA256_HEX_BYTES];
    commit_bytes(f, bytes, sha256_hex);
    return jobs_submit(jobs, &f->arena, run, file_name, sha256_hex, strlen(bytes), replace, NULL,
                       out, &f->err);
}

static int64_t
submit(struct fixture *f, struct jobs *jobs, const char *file_name, const char *bytes)
{
    struct jobs_submission submission;
    assert_ok(f, try_submit(f, jobs, "r", file_name, bytes, false, &submission));
    assert_false(submission.already);
    assert_true(submission.job_id > 0);
    return submission.job_id;
}

static struct jobs_status wait_for(struct fixture *f, struct jobs *jobs, int64_t id)
{
    struct jobs_status status;
    assert_ok(f, jobs_wait(jobs, &f->arena, id, 0, -1, &status, &f->err));
    return status;
}

static bool raw_of_bytes_exists(struct fixture *f, const char *bytes)
{
    char sha256_hex[SHA256_HEX_BYTES];
    struct sha256 *hash = sha256_create();
    sha256_update(hash, bytes, strlen(bytes));
    sha256_final_hex(hash, sha256_hex);
    sha256_destroy(hash);
    return raw_exists(f, sha256_hex);
}

static void a_file_goes_all_the_way(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    const char *bytes = TRACE_OF("aten::add");
    int64_t id = submit(f, jobs, "host0.123.pt.trace.json", bytes);
    struct jobs_status status = wait_for(f, jobs, id);
    assert_int_equal(status.id, id);
    assert_int_equal(status.state, JOB_DONE);
    assert_int_equal(status.stage, STAGE_DONE);
    assert_int_equal(status.bytes_done, strlen(bytes));
    assert_int_equal(status.bytes_total, strlen(bytes));
    assert_int_equal(status.trace_count, 1);
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, status.trace_ids[0], &trace, &f->err));
    assert_string_equal(trace->worker, "host0");
    assert_string_equal(trace->span_digits, "123");
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace->operator_count, 1);
    struct jobs_counts counts;
    assert_ok(f, jobs_counts(jobs, &counts, &f->err));
    assert_int_equal(counts.done, 1);
    assert_int_equal(counts.failed + counts.queued + counts.running, 0);
    assert_int_equal(counts.bytes_ingested, strlen(bytes));
    assert_int_equal(counts.events_ingested, 1);
    jobs_destroy(jobs);
    jobs_destroy(NULL);
}

static void a_bad_file_fails(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    int64_t id = submit(f, jobs, "f", "hello, this is no trace");
    for (int again = 0; again < 2; again++) {
        struct jobs_status status = wait_for(f, jobs, id);
        assert_int_equal(status.state, JOB_FAILED);
        assert_int_equal(status.stage, STAGE_DONE);
        assert_int_equal(status.error.code, ERR_UNSUPPORTED);
        assert_true(status.error.msg[0] != '\0');
        assert_int_equal(status.trace_count, 0);
        /* The second time from what an earlier process left. */
        jobs_destroy(jobs);
        close_store(f);
        open_store(f);
        jobs = create(f);
    }
    assert_false(raw_of_bytes_exists(f, "hello, this is no trace"));
    struct jobs_status status;
    assert_fails(f, jobs_status(jobs, &f->arena, id + 1, &status, &f->err), ERR_NOT_FOUND);
    assert_fails(f, jobs_wait(jobs, &f->arena, id + 1, 0, 10, &status, &f->err), ERR_NOT_FOUND);
    jobs_destroy(jobs);
}

static void the_same_again_is_already_there(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct jobs_submission submission;
    struct jobs_status status = wait_for(f, jobs, submit(f, jobs, "f", TRACE_OF("a")));
    assert_ok(f, try_submit(f, jobs, "r", "f", TRACE_OF("a"), false, &submission));
    assert_true(submission.already);
    assert_int_equal(submission.job_id, 0);
    assert_int_equal(submission.trace_count, 1);
    assert_int_equal(submission.trace_ids[0], status.trace_ids[0]);
    assert_true(raw_of_bytes_exists(f, TRACE_OF("a")));
    /* Under another name it is a trace of its own. */
    assert_true(wait_for(f, jobs, submit(f, jobs, "g", TRACE_OF("a"))).trace_ids[0] !=
                status.trace_ids[0]);
    jobs_destroy(jobs);
}

static void other_bytes_conflict_or_replace(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct jobs_submission submission;
    struct jobs_status old = wait_for(f, jobs, submit(f, jobs, "f", TRACE_OF("a")));
    assert_fails(f, try_submit(f, jobs, "r", "f", TRACE_OF("b"), false, &submission), ERR_CONFLICT);
    assert_false(raw_of_bytes_exists(f, TRACE_OF("b")));
    assert_ok(f, try_submit(f, jobs, "r", "f", TRACE_OF("b"), true, &submission));
    struct jobs_status new = wait_for(f, jobs, submission.job_id);
    assert_int_equal(new.state, JOB_DONE);
    struct store_trace *trace;
    assert_fails(f, READ(f->store, store_trace_get, &f->arena, old.trace_ids[0], &trace, &f->err),
                 ERR_NOT_FOUND);
    assert_false(raw_of_bytes_exists(f, TRACE_OF("a")));
    jobs_destroy(jobs);
}

static void queued_jobs_are_known_by_name(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create_stopped(f);
    struct jobs_submission submission;
    struct jobs_status status;
    int64_t first = submit(f, jobs, "f", TRACE_OF("a"));
    assert_ok(f, try_submit(f, jobs, "r", "f", TRACE_OF("a"), false, &submission));
    assert_int_equal(submission.job_id, first);
    assert_false(submission.already);
    assert_fails(f, try_submit(f, jobs, "r", "f", TRACE_OF("b"), false, &submission), ERR_CONFLICT);
    assert_ok(f, try_submit(f, jobs, "r", "f", TRACE_OF("b"), true, &submission));
    int64_t second = submission.job_id;
    assert_true(second > first);
    /* Now the second is what will be there. */
    assert_ok(f, try_submit(f, jobs, "r", "f", TRACE_OF("b"), false, &submission));
    assert_int_equal(submission.job_id, second);
    assert_fails(f, try_submit(f, jobs, "r", "f", TRACE_OF("a"), false, &submission), ERR_CONFLICT);

    assert_ok(f, jobs_status(jobs, &f->arena, first, &status, &f->err));
    assert_int_equal(status.state, JOB_QUEUED);
    assert_int_equal(status.stage, STAGE_QUEUED);
    assert_ok(f, jobs_wait(jobs, &f->arena, first, status.version, 20, &status, &f->err));
    assert_int_equal(status.state, JOB_QUEUED);
    assert_fails(f, jobs_wait(jobs, &f->arena, first, 0, -1, &status, &f->err), ERR_UNAVAILABLE);
    struct jobs_counts counts;
    assert_ok(f, jobs_counts(jobs, &counts, &f->err));
    assert_int_equal(counts.queued, 2);
    jobs_destroy(jobs);

    /* The next process does both, in their order. */
    close_store(f);
    open_store(f);
    jobs = create(f);
    assert_int_equal(wait_for(f, jobs, second).state, JOB_DONE);
    assert_int_equal(wait_for(f, jobs, first).state, JOB_DONE);
    assert_int_equal(wait_for(f, jobs, first).trace_count, 0);
    assert_int_equal(wait_for(f, jobs, second).trace_count, 1);
    jobs_destroy(jobs);
}

/* As a disk does it: the size stays. */
static void damage_file(const char *path)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fputc('#', file), '#');
    assert_int_equal(fclose(file), 0);
}

static void check_lost_file(struct fixture *f, bool is_damaged)
{
    struct jobs *jobs = create_stopped(f);
    int64_t id = submit(f, jobs, "f", TRACE_OF("a"));
    struct store_job *row;
    const char *path;
    assert_ok(f, READ(f->store, store_job_get, &f->arena, id, &row, &f->err));
    assert_ok(f, store_blob_path(f->store, &f->arena, row->sha256_hex, &path, &f->err));
    jobs_destroy(jobs);
    close_store(f);
    if (is_damaged) {
        damage_file(path);
    } else {
        assert_int_equal(unlink(path), 0);
    }
    open_store(f);
    jobs = create(f);
    struct jobs_status status = wait_for(f, jobs, id);
    assert_int_equal(status.state, JOB_FAILED);
    assert_int_equal(status.error.code, ERR_GONE);
    assert_non_null(strstr(status.error.msg, "upload the file again"));
    jobs_destroy(jobs);
}

static void a_lost_file_fails_its_job(void **state)
{
    check_lost_file(*state, false);
}

static void a_damaged_file_fails_its_job(void **state)
{
    check_lost_file(*state, true);
}

static void raw_files_go_when_they_are_not_wanted(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create_with(f, &(struct jobs_options){.workers = 1});
    struct jobs_submission submission;
    struct jobs_status status = wait_for(f, jobs, submit(f, jobs, "f", TRACE_OF("a")));
    assert_int_equal(status.state, JOB_DONE);
    assert_ok(f, try_submit(f, jobs, "r", "f", TRACE_OF("a"), false, &submission));
    assert_true(submission.already);
    jobs_destroy(jobs);
    assert_false(raw_of_bytes_exists(f, TRACE_OF("a")));
}

#define MANY_EVENTS 500000

/* Small as a file, so that it gets a small share, and large as a model. */
static size_t make_deceptive_file(char **out)
{
    struct buf text;
    buf_init(&text, (size_t)64 << 20);
    buf_puts(&text, "{\"traceEvents\":[");
    for (int i = 0; i < MANY_EVENTS; i++) {
        buf_puts(&text, i == 0 ? "" : ",");
        buf_puts(&text, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
                        "\"ts\":1,\"dur\":0}");
    }
    buf_puts(&text, "]}");
    assert_false(text.failed);
    size_t bound = ZSTD_compressBound(text.len);
    *out = malloc(bound);
    assert_non_null(*out);
    size_t packed = ZSTD_compress(*out, bound, text.ptr, text.len, 1);
    assert_false(ZSTD_isError(packed));
    buf_free(&text);
    return packed;
}

static int64_t submit_deceptive_file(struct fixture *f, struct jobs *jobs)
{
    char *bytes;
    size_t len = make_deceptive_file(&bytes);
    struct store_blob *blob;
    char sha256_hex[SHA256_HEX_BYTES];
    uint64_t size_bytes;
    struct jobs_submission submission;
    assert_ok(f, store_blob_create(f->store, &blob, &f->err));
    assert_ok(f, store_blob_write(blob, bytes, len, &f->err));
    assert_ok(f, store_blob_commit(blob, sha256_hex, &size_bytes, &f->err));
    free(bytes);
    assert_ok(f, jobs_submit(jobs, &f->arena, "r", "f", sha256_hex, size_bytes, false, NULL,
                             &submission, &f->err));
    return submission.job_id;
}

static struct jobs *create_with_budget(struct fixture *f, unsigned mib)
{
    return create_with(f, &(struct jobs_options){.workers = 4,
                                                 .memory_budget_bytes = (uint64_t)mib << 20,
                                                 .retain_raw = true});
}

static void a_model_beyond_the_budget_fails(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create_with_budget(f, 4);
    struct jobs_status status = wait_for(f, jobs, submit_deceptive_file(f, jobs));
    assert_int_equal(status.state, JOB_FAILED);
    assert_int_equal(status.error.code, ERR_TOO_LARGE);
    jobs_destroy(jobs);
}

static void a_model_beyond_its_share_gets_the_whole(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create_with_budget(f, 64);
    int64_t id = submit_deceptive_file(f, jobs);
    /* The stages show the second attempt. */
    struct jobs_status status = {0};
    uint64_t largest = 0;
    while (status.state != JOB_DONE && status.state != JOB_FAILED) {
        uint64_t seen = status.version;
        assert_ok(f, jobs_wait(jobs, &f->arena, id, seen, 1000, &status, &f->err));
        assert_true(status.version >= seen);
        largest =
            status.version != UINT64_MAX && status.version > largest ? status.version : largest;
    }
    assert_int_equal(status.state, JOB_DONE);
    assert_true(largest >= 16);
    struct jobs_counts counts;
    assert_ok(f, jobs_counts(jobs, &counts, &f->err));
    assert_int_equal(counts.done, 1);
    assert_int_equal(counts.failed, 0);
    assert_int_equal(counts.events_ingested, MANY_EVENTS);
    jobs_destroy(jobs);
}

#define FILES 40

static void many_files_at_once(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create_with(f, &(struct jobs_options){.workers = 4, .retain_raw = true});
    int64_t ids[FILES];
    for (int i = 0; i < FILES; i++) {
        char name[48];
        char bytes[256];
        (void)snprintf(name, sizeof name, "w%d.%d.pt.trace.json", i % 4, i);
        (void)snprintf(bytes, sizeof bytes,
                       "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%d\", "
                       "\"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 2}]}",
                       i);
        ids[i] = submit(f, jobs, name, i % 10 == 9 ? "broken" : bytes);
    }
    for (int i = 0; i < FILES; i++) {
        struct jobs_status status = wait_for(f, jobs, ids[i]);
        assert_int_equal(status.state, i % 10 == 9 ? JOB_FAILED : JOB_DONE);
    }
    struct store_trace *traces;
    size_t count;
    assert_ok(f, READ(f->store, store_traces, &f->arena, "r", &traces, &count, &f->err));
    assert_int_equal(count, FILES - FILES / 10);
    struct jobs_counts counts;
    assert_ok(f, jobs_counts(jobs, &counts, &f->err));
    assert_int_equal(counts.done, FILES - FILES / 10);
    assert_int_equal(counts.failed, FILES / 10);
    jobs_destroy(jobs);
}

static int64_t upload_of_job(struct fixture *f, int64_t job_id)
{
    struct db_stmt st;
    db_prepare(&st, f->store->writer, "SELECT id FROM upload WHERE job_id = ?");
    db_put_int(&st, job_id);
    int64_t id = db_next(&st) ? db_get_int(&st) : 0;
    assert_ok(f, db_done(&st, &f->err));
    return id;
}

static void uploads_go_before_what_is_analysed_again(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    int64_t older = submit(f, jobs, "older", TRACE_OF("a"));
    struct jobs_status before = wait_for(f, jobs, older);
    jobs_destroy(jobs);
    jobs = create_stopped(f);
    int64_t newer = submit(f, jobs, "newer", TRACE_OF("b"));
    jobs_destroy(jobs);
    assert_ok(f, db_exec(f->store->writer, "UPDATE upload SET analysis_version = 0", &f->err));
    assert_ok(f, store_follow_rules(f->store, "", &f->err));
    int64_t shown = upload_of_job(f, older);
    assert_int_not_equal(shown, 0);
    jobs = create_with(f, &(struct jobs_options){.workers = 1, .retain_raw = true});
    struct jobs_status after = wait_for(f, jobs, older);
    assert_int_equal(after.state, JOB_DONE);
    assert_int_equal(after.trace_count, 1);
    assert_int_equal(after.trace_ids[0], before.trace_ids[0]);
    assert_int_equal(wait_for(f, jobs, newer).state, JOB_DONE);
    assert_true(upload_of_job(f, newer) < upload_of_job(f, older));
    assert_true(shown < upload_of_job(f, older));
    jobs_destroy(jobs);
}

struct waiting {
    struct jobs *jobs;
    int64_t id;
    enum err_code code;
};

static void *wait_in_thread(void *argument)
{
    struct waiting *waiting = argument;
    struct arena arena;
    struct jobs_status status;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    bool ok = jobs_wait(waiting->jobs, &arena, waiting->id, 0, -1, &status, &err);
    waiting->code = ok ? ERR_NONE : err.code;
    arena_free(&arena);
    return NULL;
}

static void stopping_wakes_those_who_wait(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    int64_t id = submit(f, jobs, "f", TRACE_OF("a"));
    struct waiting waiting = {.jobs = jobs, .id = id};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, &waiting), 0);
    jobs_stop(jobs);
    assert_int_equal(pthread_join(thread, NULL), 0);
    /* It had begun and was finished, or had not and is left for the next start. */
    assert_true(waiting.code == ERR_NONE || waiting.code == ERR_UNAVAILABLE);
    jobs_destroy(jobs);
}

/* Others of this server arrive and end meanwhile. */
static void say_changed(struct jobs *jobs, int64_t left_id)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    (void)pthread_mutex_lock(&jobs->lock);
    jobs_tell_left(jobs, left_id);
    (void)pthread_cond_broadcast(&jobs->changed);
    (void)pthread_mutex_unlock(&jobs->lock);
    (void)nanosleep(&pause, NULL);
}

static void who_waits_for_a_job_elsewhere_seldom_looks(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct waiting waiting = {.jobs = jobs, .id = add_job(f, "r", "f", "x", false)};
    const struct timespec began = monotonic_after(0);
    uint64_t before = store_snapshots_opened(f->store);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, &waiting), 0);
    while (store_snapshots_opened(f->store) < before + 5) {
        say_changed(jobs, waiting.id + 1);
    }
    /* At 0, 0.1, 0.3, 0.7 and 1.5 s; the next would come a second later. */
    assert_true(monotonic_us_since(&began) >= 1500000);
    assert_ok(f, store_write_begin(f->store, STORE_DURABLE, &f->err));
    assert_ok(f, store_write_end(
                     f->store, db_exec(f->store->writer, "UPDATE job SET state = 'done'", &f->err),
                     &f->err));
    const struct timespec done = monotonic_after(0);
    say_changed(jobs, waiting.id);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(monotonic_us_since(&done) < 800000);
    assert_int_equal(waiting.code, ERR_NONE);
    jobs_destroy(jobs);
}

static void a_failure_that_cannot_be_noted_is_remembered(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create_stopped(f);
    int64_t id = submit(f, jobs, "f", TRACE_OF("a"));
    jobs_destroy(jobs);
    sqlite3 *writer = db_handle(f->store->writer);
    assert_int_equal(sqlite3_exec(writer, "PRAGMA query_only = 1", NULL, NULL, NULL), SQLITE_OK);
    jobs = create(f);
    struct jobs_status status = wait_for(f, jobs, id);
    assert_int_equal(status.state, JOB_FAILED);
    assert_int_equal(status.error.code, ERR_STORE);
    jobs_destroy(jobs);
    assert_int_equal(sqlite3_exec(writer, "PRAGMA query_only = 0", NULL, NULL, NULL), SQLITE_OK);
    jobs = create(f);
    assert_int_equal(wait_for(f, jobs, id).state, JOB_DONE);
    jobs_destroy(jobs);
}

static void the_pipeline_works_without_a_store(void **state)
{
    struct fixture *f = *state;
    struct pipeline_progress progress = {0};
    struct pipeline_output output;
    char sha256_hex[SHA256_HEX_BYTES];
    const char *path;
    commit_bytes(f, TRACE_OF("a"), sha256_hex);
    assert_ok(f, store_blob_path(f->store, &f->arena, sha256_hex, &path, &f->err));
    assert_ok(f, pipeline_run(path, "some name.json.gz", NULL, &progress, &output, &f->err));
    assert_int_equal(output.item_count, 1);
    assert_string_equal(output.items[0].worker, "some name");
    assert_string_equal(output.items[0].span_digits, "");
    assert_int_equal(output.items[0].results->event_count, 1);
    assert_int_equal(atomic_load(&progress.bytes_done), strlen(TRACE_OF("a")));
    assert_int_equal(atomic_load(&progress.bytes_total), strlen(TRACE_OF("a")));
    assert_int_equal(atomic_load(&progress.stage), STAGE_ANALYSING);
    pipeline_output_free(&output);
    assert_fails(f, pipeline_run("/nonexistent", "f", NULL, NULL, &output, &f->err), ERR_NOT_FOUND);
    assert_int_equal(output.item_count, 0);
    assert_string_equal(pipeline_stage_text(STAGE_QUEUED), "queued");
    assert_string_equal(pipeline_stage_text(STAGE_DONE), "done");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_goes_all_the_way),
        TEST(a_bad_file_fails),
        TEST(who_waits_for_a_job_elsewhere_seldom_looks),
        TEST(the_same_again_is_already_there),
        TEST(other_bytes_conflict_or_replace),
        TEST(queued_jobs_are_known_by_name),
        TEST(a_lost_file_fails_its_job),
        TEST(a_damaged_file_fails_its_job),
        TEST(raw_files_go_when_they_are_not_wanted),
        TEST(a_model_beyond_the_budget_fails),
        TEST(a_model_beyond_its_share_gets_the_whole),
        TEST(many_files_at_once),
        TEST(uploads_go_before_what_is_analysed_again),
        TEST(stopping_wakes_those_who_wait),
        TEST(a_failure_that_cannot_be_noted_is_remembered),
        TEST(the_pipeline_works_without_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
