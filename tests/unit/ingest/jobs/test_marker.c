/* The marker and the rank of an upload: what counts as the same file, and that they are not lost on
 * the way. */
#include "ingest/jobs/queue/jobs.h"
#include "tests/unit/ingest/store/store_fixture.h"

/* Two calls of "a", one of "b". */
#define TRACE                                                                                   \
    "{\"traceEvents\": ["                                                                       \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 10," \
    " \"dur\": 5, \"args\": {\"External id\": 1}},"                                             \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 20," \
    " \"dur\": 5, \"args\": {\"External id\": 2}},"                                             \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"b\", \"pid\": 1, \"tid\": 1, \"ts\": 30," \
    " \"dur\": 5, \"args\": {\"External id\": 3}}]}"

static struct jobs *create(struct fixture *f)
{
    struct jobs *jobs;
    const struct jobs_options options = {.workers = 1, .retain_raw = true};
    assert_ok(f, jobs_create(&jobs, f->store, &options, &f->err));
    return jobs;
}

static bool try_submit_with(struct fixture *f,
                            struct jobs *jobs,
                            bool replace,
                            const struct jobs_hints *hints,
                            struct jobs_submission *out)
{
    char sha256_hex[SHA256_HEX_BYTES];
    commit_bytes(f, TRACE, sha256_hex);
    return jobs_submit(jobs, &f->arena, "r", "f", sha256_hex, strlen(TRACE), replace, hints, out,
                       &f->err);
}

static bool try_submit(struct fixture *f,
                       struct jobs *jobs,
                       bool replace,
                       const char *marker,
                       struct jobs_submission *out)
{
    struct jobs_hints hints = {.marker = marker, .rank = STORE_NO_RANK};
    return try_submit_with(f, jobs, replace, &hints, out);
}

static int64_t submit(struct fixture *f, struct jobs *jobs, bool replace, const char *marker)
{
    struct jobs_submission submission;
    assert_ok(f, try_submit(f, jobs, replace, marker, &submission));
    assert_false(submission.already);
    return submission.job_id;
}

static struct jobs_status wait_for(struct fixture *f, struct jobs *jobs, int64_t id)
{
    struct jobs_status status;
    assert_ok(f, jobs_wait(jobs, &f->arena, id, 0, -1, &status, &f->err));
    return status;
}

static const char *marker_of(struct fixture *f, int64_t job_id)
{
    struct store_job *row;
    assert_ok(f, READ(f->store, store_job_get, &f->arena, job_id, &row, &f->err));
    return row->marker;
}

static void expect_already(struct fixture *f, struct jobs *jobs, bool replace, const char *marker)
{
    struct jobs_submission submission;
    assert_ok(f, try_submit(f, jobs, replace, marker, &submission));
    assert_true(submission.already);
    assert_int_equal(submission.trace_count, 1);
}

static void expect_conflict(struct fixture *f, struct jobs *jobs, const char *marker)
{
    struct jobs_submission submission;
    assert_fails(f, try_submit(f, jobs, false, marker, &submission), ERR_CONFLICT);
    assert_non_null(strstr(f->err.msg, marker));
    assert_non_null(strstr(f->err.msg, "replace=1"));
}

static void another_marker_reads_again_when_told_to(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    int64_t plain = submit(f, jobs, false, NULL);
    int64_t plain_trace = wait_for(f, jobs, plain).trace_ids[0];
    assert_null(marker_of(f, plain));
    expect_already(f, jobs, false, NULL);
    expect_already(f, jobs, false, "");
    expect_already(f, jobs, true, NULL);
    expect_conflict(f, jobs, "a");

    int64_t marked = submit(f, jobs, true, "a");
    struct jobs_status status = wait_for(f, jobs, marked);
    assert_int_equal(status.state, JOB_DONE);
    assert_int_not_equal(status.trace_ids[0], plain_trace);
    assert_string_equal(marker_of(f, marked), "a");
    struct store_file file;
    assert_ok(f, store_find_file(f->store, &f->arena, "r", "f", &file, &f->err));
    assert_string_equal(file.marker, "a");
    assert_int_equal(file.trace_count, 1);
    assert_true(raw_exists(f, file.sha256_hex));
    expect_already(f, jobs, false, "a");
    expect_already(f, jobs, true, "a");
    /* Who asks for nothing takes it as it is. */
    expect_already(f, jobs, false, NULL);
    expect_conflict(f, jobs, "b");

    int64_t found_again = submit(f, jobs, true, NULL);
    assert_int_equal(wait_for(f, jobs, found_again).state, JOB_DONE);
    assert_ok(f, store_find_file(f->store, &f->arena, "r", "f", &file, &f->err));
    assert_null(file.marker);
    jobs_destroy(jobs);
}

static void queued_jobs_are_told_apart_by_marker(void **state)
{
    struct fixture *f = *state;
    struct jobs_submission submission;
    struct jobs *jobs = create(f);
    jobs_stop(jobs);
    int64_t first = submit(f, jobs, false, "a");
    assert_int_equal(submit(f, jobs, false, "a"), first);
    assert_int_equal(submit(f, jobs, true, "a"), first);
    assert_int_equal(submit(f, jobs, false, NULL), first);
    expect_conflict(f, jobs, "b");
    int64_t second = submit(f, jobs, true, "b");
    assert_int_not_equal(second, first);
    assert_int_equal(submit(f, jobs, false, "b"), second);
    assert_ok(f, try_submit(f, jobs, true, NULL, &submission));
    assert_true(submission.job_id > second);
    jobs_destroy(jobs);
}

static void a_restart_keeps_the_marker(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    jobs_stop(jobs);
    char marker[] = "a";
    int64_t good = submit(f, jobs, false, marker);
    marker[0] = 'x'; /* the queue has a copy */
    int64_t bad = submit(f, jobs, true, "no such function");
    jobs_destroy(jobs);
    close_store(f);
    open_store(f);
    assert_string_equal(marker_of(f, good), "a");
    assert_string_equal(marker_of(f, bad), "no such function");
    jobs = create(f);
    assert_int_equal(wait_for(f, jobs, good).state, JOB_DONE);
    struct jobs_status status = wait_for(f, jobs, bad);
    assert_int_equal(status.state, JOB_FAILED);
    assert_int_equal(status.error.code, ERR_BAD_REQUEST);
    assert_non_null(strstr(status.error.msg, "no such function"));
    /* What was there has stayed. */
    struct trace_results *cycles;
    status = wait_for(f, jobs, good);
    assert_int_equal(status.trace_count, 1);
    assert_ok(f, READ(f->store, store_cycles, &f->arena, status.trace_ids[0], &cycles, &f->err));
    assert_int_equal(cycles->cycle_source, CYCLES_MARKER);
    jobs_destroy(jobs);
}

static struct jobs_submission
submit_rank(struct fixture *f, struct jobs *jobs, bool replace, int64_t rank)
{
    struct jobs_submission submission;
    assert_ok(f,
              try_submit_with(f, jobs, replace, &(struct jobs_hints){.rank = rank}, &submission));
    return submission;
}

static int64_t rank_of_trace(struct fixture *f, int64_t id)
{
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    return trace->rank;
}

static void the_rank_is_kept_with_the_trace(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    struct jobs_submission submission = submit_rank(f, jobs, false, 0);
    int64_t id = wait_for(f, jobs, submission.job_id).trace_ids[0];
    assert_int_equal(rank_of_trace(f, id), 0);
    /* Who tells none takes it as it is; another one is another file. */
    assert_true(submit_rank(f, jobs, false, 0).already);
    assert_true(submit_rank(f, jobs, false, STORE_NO_RANK).already);
    assert_fails(f, try_submit_with(f, jobs, false, &(struct jobs_hints){.rank = 7}, &submission),
                 ERR_CONFLICT);
    assert_non_null(strstr(f->err.msg, "rank 7"));
    submission = submit_rank(f, jobs, true, 7);
    assert_false(submission.already);
    id = wait_for(f, jobs, submission.job_id).trace_ids[0];
    assert_int_equal(rank_of_trace(f, id), 7);
    submission = submit_rank(f, jobs, true, STORE_NO_RANK);
    id = wait_for(f, jobs, submission.job_id).trace_ids[0];
    assert_int_equal(rank_of_trace(f, id), STORE_NO_RANK);
    jobs_destroy(jobs);
}

static void a_restart_keeps_the_rank(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create(f);
    jobs_stop(jobs);
    int64_t job_id = submit_rank(f, jobs, false, 2147483647).job_id;
    assert_int_equal(submit_rank(f, jobs, false, STORE_NO_RANK).job_id, job_id);
    jobs_destroy(jobs);
    close_store(f);
    open_store(f);
    jobs = create(f);
    assert_int_equal(rank_of_trace(f, wait_for(f, jobs, job_id).trace_ids[0]), 2147483647);
    jobs_destroy(jobs);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_marker_reads_again_when_told_to),
        TEST(queued_jobs_are_told_apart_by_marker),
        TEST(a_restart_keeps_the_marker),
        TEST(the_rank_is_kept_with_the_trace),
        TEST(a_restart_keeps_the_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
