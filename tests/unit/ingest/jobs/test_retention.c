/* Which run goes, whether a file may come, and what the retention worker of the queue does about
 * it. */
#include "ingest/jobs/queue/jobs.h"
#include "ingest/store/catalogue/retention.h"
#include "ingest/store/internal.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <time.h>

#define NOW_S INT64_C(1700000000)
#define DAY_S INT64_C(86400)
#define RUNS_MAX 8
#define LARGE_BYTES ((size_t)100000)

/* ---- choosing ---- */

struct table {
    struct retention_run runs[RUNS_MAX];
    struct retention_project projects[2];
    struct retention_catalogue catalogue;
};

/* Runs "a", "b", ... of 10 bytes, a day apart, the last one uploaded now; the upper-case letters of
 * `pattern` stay, and a letter of the second half of the alphabet belongs to the second project. */
static struct table make_table(const char *pattern)
{
    static const char *const names[RUNS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct table t = {.projects = {{.name = ""}, {.name = "p"}}};
    size_t count = strlen(pattern);
    for (size_t i = 0; i < count; i++) {
        bool stays = pattern[i] >= 'A' && pattern[i] <= 'Z';
        size_t project = (pattern[i] | 32) >= 'n';
        t.runs[i] =
            (struct retention_run){.name = names[i],
                                   .project = project,
                                   .uploaded_at_s = NOW_S - (int64_t)(count - 1 - i) * DAY_S,
                                   .size_bytes = 10,
                                   .stays = stays};
        t.projects[project].size_bytes += 10;
        t.projects[project].newest = i;
    }
    t.catalogue = (struct retention_catalogue){.run_count = count, .project_count = 2};
    return t;
}

/* The names of those that go, in order. For a quota each of them frees 10 bytes. */
static const char *
gone(struct table *t, enum retention_reason reason, struct retention_rules rules, uint64_t used)
{
    static char names[RUNS_MAX + 1];
    size_t count = 0;
    t->catalogue.runs = t->runs;
    t->catalogue.projects = t->projects;
    for (size_t at = 0;; at++) {
        at = retention_next(&t->catalogue, at, reason, &rules, NOW_S, used);
        if (at == t->catalogue.run_count) {
            break;
        }
        names[count++] = t->runs[at].name[0];
        retention_note_removed(&t->catalogue, at);
        used -= 10;
    }
    names[count] = '\0';
    return names;
}

static const char *gone_of(const char *pattern,
                           enum retention_reason reason,
                           uint64_t used,
                           struct retention_rules rules)
{
    struct table t = make_table(pattern);
    return gone(&t, reason, rules, used);
}

#define GONE(pattern, reason, used, ...) \
    gone_of(pattern, reason, used, (struct retention_rules){__VA_ARGS__})

static void old_runs_go(void **state)
{
    assert_string_equal(GONE("aaaaa", RETENTION_AGE, 0, .max_age_s = 0), "");
    assert_string_equal(GONE("aaaaa", RETENTION_AGE, 0, .max_age_s = 2 * DAY_S), "ab");
    assert_string_equal(GONE("aaaaa", RETENTION_AGE, 0, .max_age_s = 2 * DAY_S - 1), "abc");
    assert_string_equal(GONE("AaAaa", RETENTION_AGE, 0, .max_age_s = DAY_S), "b");
    assert_string_equal(GONE("", RETENTION_AGE, 0, .max_age_s = DAY_S), "");
    /* Also whatever came last, when it is old. */
    struct table t = make_table("a");
    t.runs[0].uploaded_at_s -= DAY_S;
    assert_string_equal(
        gone(&t, RETENTION_AGE, (struct retention_rules){.max_age_s = DAY_S - 1}, 0), "a");
}

static void the_oldest_go_until_the_quota_is_kept(void **state)
{
    assert_string_equal(GONE("aaaa", RETENTION_QUOTA, 1000, .quota_bytes = 0), "");
    assert_string_equal(GONE("aaaa", RETENTION_QUOTA, 40, .quota_bytes = 40), "");
    assert_string_equal(GONE("aaaa", RETENTION_QUOTA, 40, .quota_bytes = 39), "a");
    assert_string_equal(GONE("aaaa", RETENTION_QUOTA, 40, .quota_bytes = 15), "abc");
    assert_string_equal(GONE("AaAa", RETENTION_QUOTA, 40, .quota_bytes = 15), "b");
    /* Not the last one, however little is allowed. */
    assert_string_equal(GONE("aaaa", RETENTION_QUOTA, 4000, .quota_bytes = 1), "abc");
}

static void a_project_keeps_its_own_quota(void **state)
{
    assert_string_equal(GONE("apapap", RETENTION_PROJECT_QUOTA, 0, .project_quota_bytes = 0), "");
    assert_string_equal(GONE("apapap", RETENTION_PROJECT_QUOTA, 0, .project_quota_bytes = 20),
                        "ab");
    assert_string_equal(GONE("aaapap", RETENTION_PROJECT_QUOTA, 0, .project_quota_bytes = 20),
                        "ab");
    assert_string_equal(GONE("apapap", RETENTION_PROJECT_QUOTA, 0, .project_quota_bytes = 1),
                        "abcd");
    assert_string_equal(GONE("ApApap", RETENTION_PROJECT_QUOTA, 0, .project_quota_bytes = 10),
                        "bd");
}

/* ---- admitting ---- */

struct question {
    const char *pattern;
    struct retention_rules rules;
    struct retention_upload upload;
    struct retention_usage usage;
    bool admitted;
};

static void check_question(const struct question *q)
{
    struct table t = make_table(q->pattern);
    struct err err = ERR_INIT;
    t.catalogue.runs = t.runs;
    t.catalogue.projects = t.projects;
    bool admitted = retention_admits(&t.catalogue, &q->rules, &q->upload, &q->usage, &err);
    assert_int_equal(admitted, q->admitted);
    if (!admitted) {
        assert_int_equal(err.code, ERR_NO_SPACE);
        assert_non_null(strstr(err.msg, q->rules.quota_bytes > 0 ? "--quota" : "--project-quota"));
        assert_non_null(strstr(err.msg, "raised"));
        assert_true(strlen(err.msg) < sizeof err.msg - 1);
    }
}

static void a_file_comes_when_there_is_room_or_can_be(void **state)
{
    const struct question questions[] = {
        {"", {0}, {"n", "", UINT64_MAX}, {.used_bytes = UINT64_MAX}, true},
        /* the quota of everything */
        {"aa", {.quota_bytes = 50}, {"n", "", 30}, {.used_bytes = 20}, true},
        {"AA", {.quota_bytes = 50}, {"n", "", 31}, {.used_bytes = 20}, false},
        {"Aa", {.quota_bytes = 50}, {"n", "", 31}, {.used_bytes = 20}, true},
        {"Aa", {.quota_bytes = 50}, {"b", "", 31}, {.used_bytes = 20}, false},
        {"Aa", {.quota_bytes = 50}, {"n", "", 51}, {.used_bytes = 0}, false},
        {"Aa", {.quota_bytes = 50}, {"n", "", 31}, {20, .fixed_raw_bytes = 19}, true},
        {"Aa", {.quota_bytes = 50}, {"n", "", 31}, {20, .fixed_raw_bytes = 20}, false},
        /* of unknown length */
        {"AA", {.quota_bytes = 20}, {"n", "", 0}, {.used_bytes = 20}, true},
        {"AA", {.quota_bytes = 19}, {"n", "", 0}, {.used_bytes = 20}, false},
        {"AA", {.quota_bytes = 50}, {"n", "", UINT64_MAX}, {.used_bytes = 20}, false},
        /* that of the project */
        {"aPaP", {.project_quota_bytes = 30}, {"n", "p", 10}, {0}, true},
        {"aPaP", {.project_quota_bytes = 30}, {"n", "p", 11}, {0}, false},
        {"aPap", {.project_quota_bytes = 30}, {"n", "p", 11}, {0}, true},
        {"aPap", {.project_quota_bytes = 30}, {"d", "p", 11}, {0}, false},
        {"aPaP", {.project_quota_bytes = 30}, {"n", "", 30}, {0}, true},
        {"aPaP", {.project_quota_bytes = 30}, {"n", "", 31}, {0}, false},
        {"aPaP", {.project_quota_bytes = 30}, {"n", "q", 20}, {.project_queue_bytes = 10}, true},
        {"aPaP", {.project_quota_bytes = 30}, {"n", "q", 21}, {.project_queue_bytes = 10}, false},
    };
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        check_question(&questions[i]);
    }
}

/* ---- the store ---- */

static void add_run(struct fixture *f, const char *run, const char *bytes, int64_t uploaded_at_s)
{
    struct db_stmt st;
    (void)add_trace(f, run, "f", "w", "", bytes);
    db_prepare(&st, f->store->writer,
               "UPDATE upload SET uploaded_at_s = ? WHERE run_id ="
               " (SELECT id FROM run WHERE name = ?)");
    db_put_int(&st, uploaded_at_s);
    db_put_text(&st, run);
    assert_ok(f, db_run(&st, &f->err));
}

static void pin(struct fixture *f, const char *run, bool pinned)
{
    assert_ok(f, store_run_patch(f->store, run, NULL, NULL, &pinned, &f->err));
}

static void move(struct fixture *f, const char *run, const char *project)
{
    struct db_stmt st;
    db_prepare(&st, f->store->writer, "UPDATE run SET project = ? WHERE name = ?");
    db_put_text(&st, project);
    db_put_text(&st, run);
    assert_ok(f, db_run(&st, &f->err));
}

static struct retention_catalogue read_catalogue(struct fixture *f)
{
    struct retention_catalogue catalogue;
    assert_ok(f, store_retention_read(f->store, &f->arena, &catalogue, &f->err));
    return catalogue;
}

static bool is_there(struct fixture *f, const char *run)
{
    struct store_run *found;
    struct err err = ERR_INIT;
    return READ(f->store, store_run_get, &f->arena, run, &found, &err);
}

static void the_catalogue_is_in_order(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_catalogue(f).run_count, 0);
    add_run(f, "young", "1", NOW_S);
    add_run(f, "old", "22", NOW_S - DAY_S);
    add_run(f, "older", "333", NOW_S - 2 * DAY_S);
    (void)add_trace(f, "old", "g", "w", "2", "4444");
    (void)add_job(f, "young", "g", "5", false);
    (void)add_job(f, "not yet", "g", "5", false);
    pin(f, "older", true);
    move(f, "young", "p");
    const struct retention_catalogue c = read_catalogue(f);
    assert_int_equal(c.run_count, 3);
    assert_string_equal(c.runs[0].name, "older");
    assert_true(c.runs[0].stays);
    assert_string_equal(c.runs[1].name, "young");
    assert_true(c.runs[1].stays);
    assert_int_equal(c.runs[1].uploaded_at_s, NOW_S);
    assert_string_equal(c.runs[2].name, "old");
    assert_false(c.runs[2].stays);
    assert_int_equal(c.runs[2].size_bytes, 6);
    assert_int_equal(c.project_count, 2);
    const struct retention_project *none = &c.projects[c.runs[0].project];
    assert_string_equal(none->name, "");
    assert_int_equal(none->size_bytes, 9);
    assert_int_equal(none->newest, 2);
    assert_string_equal(c.projects[c.runs[1].project].name, "p");
    pin(f, "older", false);
    assert_false(read_catalogue(f).runs[0].stays);
}

static void only_what_is_as_it_was_goes(void **state)
{
    struct fixture *f = *state;
    bool removed = true;
    add_run(f, "pinned", "1", NOW_S);
    add_run(f, "grown", "2", NOW_S);
    add_run(f, "read", "3", NOW_S);
    add_run(f, "left", "4", NOW_S);
    const struct retention_catalogue c = read_catalogue(f);
    assert_int_equal(c.run_count, 4);
    pin(f, "pinned", true);
    (void)add_trace(f, "grown", "g", "w", "2", "x");
    int64_t job_id = add_job(f, "read", "g", "y", false);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(f, store_retention_remove(f->store, &c.runs[i], NULL, &removed, &f->err));
        assert_false(removed);
        assert_true(is_there(f, c.runs[i].name));
    }
    assert_ok(f, store_retention_remove(f->store, &c.runs[3], NULL, &removed, &f->err));
    assert_true(removed);
    assert_false(is_there(f, "left"));
    assert_ok(f, store_retention_remove(f->store, &c.runs[3], NULL, &removed, &f->err));
    assert_false(removed);
    assert_ok(f, store_job_failed(f->store, job_id, &(struct err){.code = ERR_IO}, &f->err));
    assert_ok(f, store_retention_remove(f->store, &c.runs[2], NULL, &removed, &f->err));
    assert_true(removed);
}

static int64_t count_rows(struct fixture *f, const char *sql)
{
    struct db_stmt st;
    db_prepare(&st, f->store->writer, sql);
    int64_t count = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    return count;
}

/* What is invisible stays for the next start, when there is no time. */
static void a_stop_leaves_rows_behind(void **state)
{
    struct fixture *f = *state;
    const _Atomic bool stop = true;
    bool removed = false;
    add_run(f, "r", "bytes", NOW_S);
    assert_ok(
        f, store_retention_remove(f->store, &read_catalogue(f).runs[0], &stop, &removed, &f->err));
    assert_true(removed);
    assert_false(is_there(f, "r"));
    assert_int_equal(count_rows(f, "SELECT count(*) FROM trace"), 1);
    assert_int_equal(store_blobs_bytes(f->store), 5);
    close_store(f);
    open_store(f);
    assert_int_equal(count_rows(f, "SELECT count(*) FROM trace"), 0);
    assert_int_equal(store_blobs_bytes(f->store), 0);
}

/* Freed pages do not count, although the file stays as long. */
static void used_bytes_shrink_with_a_removal(void **state)
{
    struct fixture *f = *state;
    char *large = calloc(1, LARGE_BYTES + 1);
    uint64_t before;
    uint64_t with;
    uint64_t after;
    assert_non_null(large);
    memset(large, 'x', LARGE_BYTES);
    struct environment_row environment = {.name = "large", .value = large};
    struct trace_results results = {
        .device_type = "GPU", .environment = &environment, .environment_count = 1};
    assert_ok(f, store_used_bytes(f->store, &before, &f->err));
    (void)publish(f, add_job(f, "r", "f", large, false), "w", "", &results);
    free(large);
    assert_ok(f, store_used_bytes(f->store, &with, &f->err));
    /* The blob and the row, whose rest may have found room on a page that was there. */
    assert_in_range(with - before, LARGE_BYTES * 19 / 10, LARGE_BYTES * 3);
    assert_ok(f, store_run_delete(f->store, "r", &f->err));
    assert_ok(f, store_used_bytes(f->store, &after, &f->err));
    assert_true(after < before + LARGE_BYTES / 2);
}

static void a_run_that_is_there_keeps_its_project(void **state)
{
    struct fixture *f = *state;
    const struct retention_rules rules = {.project_quota_bytes = 10};
    struct retention_upload upload = {.run = "r", .project = "other", .size_bytes = 5};
    add_run(f, "r", "666666", NOW_S);
    move(f, "r", "mine");
    assert_fails(f, store_retention_admits(f->store, &rules, &upload, &f->err), ERR_NO_SPACE);
    assert_non_null(strstr(f->err.msg, "\"mine\""));
    upload.run = "new";
    assert_ok(f, store_retention_admits(f->store, &rules, &upload, &f->err));
    upload.project = NULL;
    assert_ok(f, store_retention_admits(f->store, &rules, &upload, &f->err));
    upload.size_bytes = 11;
    assert_fails(f, store_retention_admits(f->store, &rules, &upload, &f->err), ERR_NO_SPACE);
    assert_ok(f, store_retention_admits(f->store, &(struct retention_rules){0}, &upload, &f->err));
}

/* ---- the retention worker ---- */

static struct jobs *create_jobs(struct fixture *f, struct retention_rules rules)
{
    struct jobs *jobs;
    const struct jobs_options options = {.workers = 1, .retain_raw = true, .retention = rules};
    assert_ok(f, jobs_create(&jobs, f->store, &options, &f->err));
    return jobs;
}

static uint64_t removed_for(struct jobs *jobs, enum retention_reason reason)
{
    struct jobs_counts counts;
    struct err err = ERR_INIT;
    assert_true(jobs_counts(jobs, &counts, &err));
    return counts.removed[reason];
}

/* The retention worker tells nobody when it is done. */
static void wait_for_removed(struct jobs *jobs, enum retention_reason reason, uint64_t count)
{
    while (removed_for(jobs, reason) != count) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void upload(struct fixture *f, struct jobs *jobs, const char *run, const char *event)
{
    char bytes[256];
    char sha256_hex[SHA256_HEX_BYTES];
    struct jobs_submission submission;
    struct jobs_status status;
    (void)snprintf(bytes, sizeof bytes,
                   "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\","
                   " \"pid\": 1, \"tid\": 1, \"ts\": 10, \"dur\": 5}]}",
                   event);
    commit_bytes(f, bytes, sha256_hex);
    assert_ok(f, jobs_submit(jobs, &f->arena, run, "f.json", sha256_hex, strlen(bytes), false, NULL,
                             &submission, &f->err));
    assert_ok(f, jobs_wait(jobs, &f->arena, submission.job_id, 0, -1, &status, &f->err));
    assert_int_equal(status.state, JOB_DONE);
}

static void the_retention_worker_looks_at_the_start(void **state)
{
    struct fixture *f = *state;
    add_run(f, "old", "1", NOW_S);
    add_run(f, "pinned", "2", NOW_S);
    (void)add_trace(f, "young", "f", "w", "", "3");
    pin(f, "pinned", true);
    struct jobs *jobs = create_jobs(f, (struct retention_rules){0});
    jobs_destroy(jobs);
    assert_true(is_there(f, "old"));
    jobs = create_jobs(f, (struct retention_rules){.max_age_s = DAY_S});
    wait_for_removed(jobs, RETENTION_AGE, 1);
    jobs_destroy(jobs);
    assert_false(is_there(f, "old"));
    assert_true(is_there(f, "pinned"));
    assert_true(is_there(f, "young"));
}

static void an_upload_wakes_the_retention_worker(void **state)
{
    struct fixture *f = *state;
    struct jobs *jobs = create_jobs(f, (struct retention_rules){.quota_bytes = 1});
    upload(f, jobs, "first", "a");
    assert_true(is_there(f, "first"));
    upload(f, jobs, "second", "b");
    wait_for_removed(jobs, RETENTION_QUOTA, 1);
    assert_false(is_there(f, "first"));
    assert_true(is_there(f, "second"));
    pin(f, "second", true);
    upload(f, jobs, "third", "c");
    upload(f, jobs, "fourth", "d");
    wait_for_removed(jobs, RETENTION_QUOTA, 2);
    jobs_destroy(jobs);
    assert_true(is_there(f, "second"));
    assert_false(is_there(f, "third"));
    assert_true(is_there(f, "fourth"));
}

static void a_project_quota_leaves_other_projects(void **state)
{
    struct fixture *f = *state;
    add_run(f, "other", "a long text of another project", NOW_S - DAY_S);
    move(f, "other", "p");
    struct jobs *jobs = create_jobs(f, (struct retention_rules){.project_quota_bytes = 150});
    upload(f, jobs, "first", "a");
    upload(f, jobs, "second", "b");
    wait_for_removed(jobs, RETENTION_PROJECT_QUOTA, 1);
    jobs_destroy(jobs);
    assert_false(is_there(f, "first"));
    assert_true(is_there(f, "second"));
    assert_true(is_there(f, "other"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_runs_go),
        cmocka_unit_test(the_oldest_go_until_the_quota_is_kept),
        cmocka_unit_test(a_project_keeps_its_own_quota),
        cmocka_unit_test(a_file_comes_when_there_is_room_or_can_be),
        TEST(the_catalogue_is_in_order),
        TEST(only_what_is_as_it_was_goes),
        TEST(a_stop_leaves_rows_behind),
        TEST(used_bytes_shrink_with_a_removal),
        TEST(a_run_that_is_there_keeps_its_project),
        TEST(the_retention_worker_looks_at_the_start),
        TEST(an_upload_wakes_the_retention_worker),
        TEST(a_project_quota_leaves_other_projects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
