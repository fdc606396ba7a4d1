/* A database of an older version is taken over with all that a user put there; results of older
 * analyses are made again, or stay where they cannot be. */
#include "ingest/store/catalogue/takeover.h"
#include "ingest/store/schema/schema.h"
#include "ingest/store/store_access.h"
#include "tests/unit/ingest/store/store_fixture.h"
#include "tests/unit/ingest/store/trace_file.h"

/* What an older version lacks. */
static const char older_sql[] =
    "DROP TABLE taken_over;"
    "DROP TRIGGER run_comes; DROP TRIGGER run_goes; DROP TRIGGER run_changes;"
    "DROP INDEX run_newest; DROP INDEX run_uploaded_at; DROP INDEX run_traces;"
    "DROP INDEX run_workers; DROP INDEX run_size; DROP INDEX run_name; DROP INDEX run_project;"
    "ALTER TABLE run DROP COLUMN project;"
    "ALTER TABLE trace DROP COLUMN has_kernel_use;"
    "ALTER TABLE trace RENAME COLUMN derived_of TO plugin_of; PRAGMA user_version = 8";

static void exec_or_fail(struct fixture *f, const char *name, const char *sql)
{
    char path[TEST_PATH_BYTES * 2];
    char *message = NULL;
    sqlite3 *db;
    (void)snprintf(path, sizeof path, "%s/%s", f->dir, name);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s", message);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int64_t query_int(struct fixture *f, const char *sql)
{
    struct db_stmt st;
    db_prepare(&st, f->store->writer, sql);
    int64_t value = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    return value;
}

static bool file_exists(struct fixture *f, const char *name)
{
    char path[TEST_PATH_BYTES * 2];
    (void)snprintf(path, sizeof path, "%s/%s", f->dir, name);
    return access(path, F_OK) == 0;
}

static void copy_file(struct fixture *f, const char *from, const char *to)
{
    char command[TEST_PATH_BYTES * 3];
    (void)snprintf(command, sizeof command, "VACUUM INTO '%s/%s'", f->dir, to);
    exec_or_fail(f, from, command);
}

/* A used database of an older version. Returns the id of its trace, the last of three. */
static int64_t make_older(struct fixture *f, int64_t *job_id)
{
    struct store_token token = {.name = "ops",
                                .role = ACCESS_ROLE_ADMIN,
                                .projects = "[]",
                                .sha256_hex = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9"
                                              "376c2e32cff7"};
    (void)add_trace(f, "r", "gone.json", "gone", "", "1");
    int64_t id = add_trace(f, "r", "w.json", "w", "", "2");
    int64_t last = add_trace(f, "r", "gone.json2", "gone", "2", "3");
    assert_ok(f, store_trace_patch(f->store, id, "[\"mine\"]", "look here", &f->err));
    assert_ok(f, store_run_patch(f->store, "r", "[\"t\"]", "of the run", NULL, &f->err));
    assert_ok(f, store_token_add(f->store, &token, &f->err));
    assert_ok(f, store_trace_delete(f->store, last, &f->err));
    assert_ok(f, store_trace_delete(f->store, id - 1, &f->err));
    *job_id = query_int(f, "SELECT job_id FROM upload");
    close_store(f);
    exec_or_fail(f, "kinetoscope.db", older_sql);
    return id;
}

static int64_t analyse_again(struct fixture *f, int64_t job_id)
{
    struct trace_results results = {.device_type = "GPU", .views = 1};
    return publish(f, job_id, "w", "", &results);
}

static void what_a_user_put_there_stays(void **state)
{
    struct fixture *f = *state;
    struct store_trace *trace;
    struct store_run *run;
    struct store_job *jobs;
    size_t count;
    int64_t job_id;
    int64_t id = make_older(f, &job_id);
    for (int again = 0; again < 2; again++) {
        open_store(f);
        assert_int_equal(query_int(f, "PRAGMA user_version"), SCHEMA_VERSION);
        assert_ok(f, store_jobs_unfinished(f->store, &f->arena, &jobs, &count, &f->err));
        assert_int_equal(count, 1);
        assert_int_equal(jobs[0].id, job_id);
        assert_true(raw_exists(f, jobs[0].sha256_hex));
        assert_int_equal(query_int(f, "SELECT count(*) FROM token"), 1);
        close_store(f);
    }
    open_store(f);
    assert_int_equal(analyse_again(f, job_id), id);
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    assert_string_equal(trace->note, "look here");
    assert_string_equal(trace->tags, "[\"mine\"]");
    assert_ok(f, READ(f->store, store_run_get, &f->arena, "r", &run, &f->err));
    assert_string_equal(run->note, "of the run");
    assert_string_equal(run->project, "");
    assert_int_equal(query_int(f, "SELECT count(*) FROM taken_over"), 0);
    /* A deleted trace had the id behind it. */
    assert_true(add_trace(f, "r", "new.json", "new", "", "4") > id + 1);
    assert_true(file_exists(f, "kinetoscope-schema-8.db"));
}

static void the_run_goes_with_its_failed_upload(void **state)
{
    struct fixture *f = *state;
    struct store_job *job;
    struct err failure = ERR_INIT;
    int64_t job_id;
    (void)make_older(f, &job_id);
    open_store(f);
    (void)err_set(&failure, ERR_BAD_INPUT, "unreadable");
    assert_ok(f, store_job_failed(f->store, job_id, &failure, &f->err));
    assert_ok(f, READ(f->store, store_job_get, &f->arena, job_id, &job, &f->err));
    close_store(f);
    open_store(f);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run"), 0);
    assert_true(raw_exists(f, job->sha256_hex));
}

static void what_failed_is_tried_again_by_the_next_version(void **state)
{
    struct fixture *f = *state;
    struct err failure = ERR_INIT;
    int64_t job_id;
    int64_t id = make_older(f, &job_id);
    open_store(f);
    (void)err_set(&failure, ERR_BAD_INPUT, "unreadable");
    assert_ok(f, store_job_failed(f->store, job_id, &failure, &f->err));
    close_store(f);
    exec_or_fail(
        f, "kinetoscope.db",
        "ALTER TABLE trace RENAME COLUMN derived_of TO plugin_of; PRAGMA user_version = 7");
    open_store(f);
    assert_int_equal(analyse_again(f, job_id), id);
}

static void bytes_that_were_not_kept_fail_with_words(void **state)
{
    struct fixture *f = *state;
    struct store_job *job;
    int64_t job_id;
    (void)make_older(f, &job_id);
    char raw[TEST_PATH_BYTES * 2];
    (void)snprintf(raw, sizeof raw, "%s/raw", f->dir);
    remove_tree(raw, strlen(raw));
    open_store(f);
    assert_ok(f, READ(f->store, store_job_get, &f->arena, job_id, &job, &f->err));
    assert_int_equal(job->state, JOB_FAILED);
    assert_int_equal(job->error_code, ERR_GONE);
    assert_non_null(strstr(job->error_message, "kinetoscope-schema-8.db"));
}

static void a_crash_before_the_renames_begins_again(void **state)
{
    struct fixture *f = *state;
    int64_t job_id;
    int64_t id = make_older(f, &job_id);
    exec_or_fail(f, "kinetoscope-new.db", "CREATE TABLE half (a)");
    open_store(f);
    assert_false(file_exists(f, "kinetoscope-new.db"));
    assert_int_equal(analyse_again(f, job_id), id);
}

static void a_crash_between_the_renames_ends_them(void **state)
{
    struct fixture *f = *state;
    char path[TEST_PATH_BYTES * 2];
    int64_t job_id;
    int64_t id = make_older(f, &job_id);
    open_store(f);
    close_store(f);
    copy_file(f, "kinetoscope.db", "kinetoscope-new.db");
    (void)snprintf(path, sizeof path, "%s/kinetoscope.db", f->dir);
    assert_int_equal(unlink(path), 0);
    open_store(f);
    assert_false(file_exists(f, "kinetoscope-new.db"));
    assert_int_equal(analyse_again(f, job_id), id);
}

static void an_older_file_in_the_way_is_not_overwritten(void **state)
{
    struct fixture *f = *state;
    int64_t job_id;
    (void)make_older(f, &job_id);
    exec_or_fail(f, "kinetoscope-schema-8.db", "CREATE TABLE precious (a)");
    assert_fails(f, store_open(&f->store, f->dir, NULL, &f->err), ERR_CONFLICT);
    f->store = NULL;
    exec_or_fail(f, "kinetoscope.db", "SELECT device_type FROM trace");
    exec_or_fail(f, "kinetoscope-schema-8.db", "SELECT a FROM precious");
}

/* ---- the same schema, older analyses ---- */

static size_t unfinished_after_start(struct fixture *f)
{
    struct store_job *jobs;
    size_t count;
    open_store(f);
    assert_ok(f, store_follow_rules(f->store, "", &f->err));
    assert_ok(f, store_jobs_unfinished(f->store, &f->arena, &jobs, &count, &f->err));
    return count;
}

static void what_an_older_version_analysed_is_analysed_again(void **state)
{
    struct fixture *f = *state;
    struct store_trace *trace;
    int64_t id = add_trace(f, "r", "w.json", "w", "", "1");
    int64_t other = add_trace(f, "r", "v.json", "v", "", "2");
    int64_t job_id = query_int(f, "SELECT min(job_id) FROM upload");
    assert_ok(f, store_trace_patch(f->store, id, "[\"mine\"]", "look here", &f->err));
    close_store(f);
    assert_int_equal(unfinished_after_start(f), 0);
    close_store(f);
    exec_or_fail(f, "kinetoscope.db",
                 "UPDATE upload SET analysis_version = 0 WHERE file_name = 'w.json'");
    assert_int_equal(unfinished_after_start(f), 1);
    /* The old results are there, and may be spoken of, until the new ones are. */
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    assert_ok(f, store_trace_patch(f->store, id, "[\"mine\"]", "look there", &f->err));
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, other, &trace, &f->err));
    assert_int_equal(analyse_again(f, job_id), id);
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    assert_string_equal(trace->note, "look there");
    assert_string_equal(trace->tags, "[\"mine\"]");
    assert_int_equal(query_int(f, "SELECT count(*) FROM trace"), 2);
    assert_int_equal(query_int(f, "SELECT count(*) FROM results_file"), 2);
    assert_int_equal(query_int(f, "SELECT trace_count FROM run"), 2);
    close_store(f);
    assert_int_equal(unfinished_after_start(f), 0);
}

/* Of an archive: both traces of one upload. */
static int64_t publish_two(struct fixture *f, int64_t job_id)
{
    struct trace_results results = {.device_type = "GPU", .views = 1};
    struct store_ingest *ingest;
    assert_ok(f, store_ingest_begin(f->store, job_id, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "v", "", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    return query_int(f, "SELECT max(id) FROM trace WHERE worker = 'v'");
}

static void a_trace_that_was_deleted_alone_stays_deleted(void **state)
{
    struct fixture *f = *state;
    struct store_trace *trace;
    int64_t job_id = add_job(f, "r", "both.tar", "1", false);
    int64_t deleted = publish_two(f, job_id);
    int64_t kept = query_int(f, "SELECT id FROM trace WHERE worker = 'w'");
    assert_ok(f, store_trace_delete(f->store, deleted, &f->err));
    close_store(f);
    exec_or_fail(f, "kinetoscope.db", "UPDATE upload SET analysis_version = 0");
    assert_int_equal(unfinished_after_start(f), 1);
    (void)publish_two(f, job_id);
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, kept, &trace, &f->err));
    assert_int_equal(query_int(f, "SELECT count(*) FROM trace"), 1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM results_file"), 1);
    assert_int_equal(query_int(f, "SELECT trace_count FROM run"), 1);
}

static void what_is_deleted_meanwhile_does_not_come_back(void **state)
{
    struct fixture *f = *state;
    struct store_ingest *ingest;
    struct trace_results results = {.device_type = "GPU", .views = 1};
    int64_t id = add_trace(f, "r", "w.json", "w", "", "1");
    int64_t job_id = query_int(f, "SELECT job_id FROM upload");
    for (int by_run = 0; by_run < 2; by_run++) {
        close_store(f);
        exec_or_fail(f, "kinetoscope.db", "UPDATE upload SET analysis_version = 0");
        assert_int_equal(unfinished_after_start(f), 1);
        assert_ok(f, store_ingest_begin(f->store, job_id, &ingest, &f->err));
        assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
        assert_ok(f, by_run ? store_run_delete(f->store, "r", &f->err)
                            : store_trace_delete(f->store, id, &f->err));
        assert_fails(f, store_ingest_publish(ingest, &f->err), ERR_INTERNAL);
        f->err = (struct err)ERR_INIT;
        assert_int_equal(query_int(f, "SELECT count(*) FROM trace"), 0);
        assert_int_equal(query_int(f, "SELECT count(*) FROM run"), 0);
        id = add_trace(f, "r", "w.json", "w", "", "1");
        job_id = query_int(f, "SELECT job_id FROM upload");
    }
}

static void older_results_without_bytes_stay(void **state)
{
    struct fixture *f = *state;
    struct store_trace *trace;
    char raw[TEST_PATH_BYTES * 2];
    int64_t id = add_trace(f, "r", "w.json", "w", "", "1");
    close_store(f);
    exec_or_fail(f, "kinetoscope.db", "UPDATE upload SET analysis_version = 0");
    (void)snprintf(raw, sizeof raw, "%s/raw", f->dir);
    remove_tree(raw, strlen(raw));
    assert_int_equal(unfinished_after_start(f), 0);
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
}

static void check_lost_file(struct fixture *f, bool is_cut_off)
{
    struct store_trace *trace;
    glob_t found;
    keep_files_apart(f);
    int64_t id = add_trace(f, "r", "w.json", "w", "", "1");
    int64_t job_id = query_int(f, "SELECT job_id FROM upload");
    close_store(f);
    assert_int_equal(unfinished_after_start(f), 0);
    close_store(f);
    find_files(f, PUBLISHED_FILES, &found);
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(is_cut_off ? truncate(found.gl_pathv[0], 4096) : unlink(found.gl_pathv[0]), 0);
    globfree(&found);
    assert_int_equal(unfinished_after_start(f), 1);
    keep_files_apart(f);
    assert_int_equal(analyse_again(f, job_id), id);
    assert_int_equal(count_files(f, PUBLISHED_FILES), 1);
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    close_store(f);
    assert_int_equal(unfinished_after_start(f), 0);
}

static void a_missing_file_of_results_is_made_again(void **state)
{
    check_lost_file(*state, false);
}

static void a_cut_off_file_of_results_is_made_again(void **state)
{
    check_lost_file(*state, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_user_put_there_stays),
        TEST(the_run_goes_with_its_failed_upload),
        TEST(what_failed_is_tried_again_by_the_next_version),
        TEST(bytes_that_were_not_kept_fail_with_words),
        TEST(a_crash_before_the_renames_begins_again),
        TEST(a_crash_between_the_renames_ends_them),
        TEST(an_older_file_in_the_way_is_not_overwritten),
        TEST(what_an_older_version_analysed_is_analysed_again),
        TEST(older_results_without_bytes_stay),
        TEST(a_trace_that_was_deleted_alone_stays_deleted),
        TEST(what_is_deleted_meanwhile_does_not_come_back),
        TEST(a_missing_file_of_results_is_made_again),
        TEST(a_cut_off_file_of_results_is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
