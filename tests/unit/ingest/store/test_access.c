/* Tokens, sessions and projects in the store. */
#include "ingest/base/secret.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_access.h"
#include "tests/unit/ingest/store/store_fixture.h"

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HASH_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define HASH_D "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

static struct store_token token(const char *name, const char *sha256_hex)
{
    return (struct store_token){
        .name = name, .role = ACCESS_ROLE_VIEWER, .sha256_hex = sha256_hex, .projects = "[\"a\"]"};
}

static void lists_of_projects(void **state)
{
    struct buf list;
    buf_init(&list, 1000);
    store_projects_add(&list, "a");
    store_projects_add(&list, "b/c");
    store_projects_add(&list, "a");
    assert_string_equal(list.ptr, "[\"a\", \"b/c\"]");
    assert_true(store_projects_have(list.ptr, "a"));
    assert_true(store_projects_have(list.ptr, "b/c"));
    assert_true(store_projects_have(list.ptr, ""));
    assert_false(store_projects_have(list.ptr, "b"));
    assert_false(store_projects_have(list.ptr, ", "));
    assert_false(store_projects_have("[]", "a"));
    assert_true(store_projects_have(NULL, "a"));
    buf_free(&list);
}

static void names_of_projects_are_plain(void **state)
{
    struct err err = ERR_INIT;
    char longest[STORE_PROJECT_MAX_BYTES + 2];
    memset(longest, 'x', sizeof longest);
    longest[STORE_PROJECT_MAX_BYTES] = '\0';
    assert_true(store_project_check("team-A_1.x/y", &err));
    assert_true(store_project_check(longest, &err));
    longest[STORE_PROJECT_MAX_BYTES] = 'x';
    longest[STORE_PROJECT_MAX_BYTES + 1] = '\0';
    static const char *const bad[] = {"", "a b", "a\"b", "a,b", "<b>", "\xC3\xA4", "a\n", "%41"};
    assert_false(store_project_check(longest, &err));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(store_project_check(bad[i], &err));
    }
}

static void tokens_come_and_go(void **state)
{
    struct fixture *f = *state;
    struct store_token *rows = NULL;
    size_t count = 0;
    const struct store_token ann = token("ann", HASH_A);
    const struct store_token again = token("ann", HASH_B);
    uint64_t before = store_tokens_version(f->store);
    assert_ok(f, store_token_add(f->store, &ann, &f->err));
    assert_true(store_tokens_version(f->store) != before);
    assert_fails(f, store_token_add(f->store, &again, &f->err), ERR_CONFLICT);
    assert_ok(f, store_token_revoke(f->store, "ann", &f->err));
    assert_fails(f, store_token_revoke(f->store, "ann", &f->err), ERR_NOT_FOUND);
    assert_ok(f, store_token_add(f->store, &again, &f->err));
    assert_ok(f, store_tokens(f->store, &f->arena, &rows, &count, &f->err));
    assert_int_equal(count, 2);
    assert_true(rows[0].revoked_at_s > 0);
    assert_int_equal(rows[1].revoked_at_s, 0);
    assert_string_equal(rows[1].sha256_hex, HASH_B);
    assert_int_equal(rows[1].role, ACCESS_ROLE_VIEWER);
    assert_int_equal(rows[1].last_used_at_s, 0);
    assert_ok(f, store_token_used(f->store, rows[1].id, 12345, &f->err));
    assert_ok(f, store_tokens(f->store, &f->arena, &rows, &count, &f->err));
    assert_int_equal(rows[1].last_used_at_s, 12345);
}

static void find(struct fixture *f, const char *hash, int64_t now_s, const char *expected)
{
    char found[SHA256_HEX_BYTES];
    assert_ok(f, store_session_find(f->store, hash, now_s, found, &f->err));
    assert_string_equal(found, expected);
}

static void sessions_end(void **state)
{
    struct fixture *f = *state;
    const struct store_token ann = token("ann", HASH_A);
    assert_ok(f, store_token_add(f->store, &ann, &f->err));
    assert_ok(f, store_session_add(f->store, HASH_C, HASH_A, 100, 200, &f->err));
    find(f, HASH_C, 100, HASH_A);
    find(f, HASH_C, 199, HASH_A);
    find(f, HASH_C, 200, "");
    find(f, HASH_D, 100, "");
    assert_ok(f, store_session_end(f->store, HASH_C, &f->err));
    find(f, HASH_C, 100, "");
    assert_ok(f, store_session_add(f->store, HASH_D, HASH_A, 100, 200, &f->err));
    assert_ok(f, store_token_revoke(f->store, "ann", &f->err));
    find(f, HASH_D, 100, "");
}

static void one_token_has_no_end_of_sessions(void **state)
{
    struct fixture *f = *state;
    char hash[SHA256_HEX_BYTES];
    char first[SHA256_HEX_BYTES] = "";
    for (int i = 0; i < 130; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", i);
        assert_true(secret_hash(text, hash, &f->err));
        assert_ok(f, store_session_add(f->store, hash, HASH_A, 1000 + i, 5000, &f->err));
        if (i == 0) {
            memcpy(first, hash, sizeof first);
        }
    }
    find(f, first, 1200, "");
    find(f, hash, 1200, HASH_A);
}

/* As `kinetoscope token` does beside a server. */
static void a_book_opens_beside_the_store(void **state)
{
    struct fixture *f = *state;
    struct token_registry *registry = NULL;
    struct store_token *rows = NULL;
    size_t count = 0;
    const struct store_token ann = token("ann", HASH_A);
    /* A lock is of a process: this one may have it twice, so that the store has to be closed. */
    close_store(f);
    char url[TEST_PATH_BYTES];
    assert_true(tests_on_server() || token_registry_may_be(f->dir));
    assert_ok(f, token_registry_open(&registry, f->dir, database_of(f, url), NULL, &f->err));
    assert_ok(f, token_registry_add(registry, &ann, &f->err));
    assert_fails(f, token_registry_add(registry, &ann, &f->err), ERR_CONFLICT);
    assert_ok(f, token_registry_list(registry, &f->arena, &rows, &count, &f->err));
    assert_int_equal(count, 1);
    assert_ok(f, token_registry_revoke(registry, "ann", &f->err));
    token_registry_close(registry);
    open_store(f);
    assert_ok(f, store_tokens(f->store, &f->arena, &rows, &count, &f->err));
    assert_int_equal(count, 1);
    assert_true(rows[0].revoked_at_s > 0);
}

/* ---- projects ---- */

static int64_t add_project_job(struct fixture *f, const char *run, const char *project)
{
    char sha256_hex[SHA256_HEX_BYTES];
    int64_t id = 0;
    commit_bytes(f, run, sha256_hex);
    const struct store_job job = {.run = run,
                                  .file_name = "f",
                                  .sha256_hex = sha256_hex,
                                  .size_bytes = strlen(run),
                                  .rank = STORE_NO_RANK,
                                  .project = project};
    assert_ok(f, store_job_add(f->store, &job, &id, NULL, &f->err));
    assert_ok(f, store_job_arrived(f->store, id, sha256_hex, &f->err));
    return id;
}

static int64_t add_in_project(struct fixture *f, const char *run, const char *project, int64_t *job)
{
    struct trace_results results = {.device_type = "GPU", .views = 1};
    *job = add_project_job(f, run, project);
    return publish(f, *job, "w", "", &results);
}

static size_t count_runs(struct fixture *f, const char *projects)
{
    const struct store_page page = {.projects = projects};
    struct store_run *runs = NULL;
    size_t count = 0;
    struct store_total total;
    assert_ok(f, READ(f->store, store_runs, &f->arena, &page, &runs, &count, &total, &f->err));
    assert_int_equal(count, total.rows);
    return count;
}

static void runs_have_readers(void **state)
{
    struct fixture *f = *state;
    int64_t jobs[3];
    int64_t open = add_in_project(f, "open", "", &jobs[0]);
    int64_t ours = add_in_project(f, "ours", "a", &jobs[1]);
    (void)add_in_project(f, "theirs", "b", &jobs[2]);
    assert_int_equal(count_runs(f, NULL), 3);
    assert_int_equal(count_runs(f, "[]"), 1);
    assert_int_equal(count_runs(f, "[\"a\"]"), 2);
    assert_int_equal(count_runs(f, "[\"a\", \"b\"]"), 3);
    assert_ok(f, READ(f->store, store_trace_readable, open, "[]", &f->err));
    assert_ok(f, READ(f->store, store_trace_readable, ours, "[\"a\"]", &f->err));
    assert_fails(f, READ(f->store, store_trace_readable, ours, "[\"b\"]", &f->err), ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_trace_readable, 999, NULL, &f->err), ERR_NOT_FOUND);
    assert_ok(f, READ(f->store, store_run_readable, "ours", "[\"a\"]", &f->err));
    assert_fails(f, READ(f->store, store_run_readable, "ours", "[]", &f->err), ERR_NOT_FOUND);
    assert_string_equal(f->err.msg, "Run \"ours\" not found: it may have been deleted or renamed");
    assert_fails(f, READ(f->store, store_run_readable, "none", "[]", &f->err), ERR_NOT_FOUND);
    assert_string_equal(f->err.msg, "Run \"none\" not found: it may have been deleted or renamed");
    assert_ok(f, READ(f->store, store_job_readable, jobs[1], "[\"a\"]", &f->err));
    assert_fails(f, READ(f->store, store_job_readable, jobs[1], "[]", &f->err), ERR_NOT_FOUND);
}

static void a_run_moves_with_its_jobs(void **state)
{
    struct fixture *f = *state;
    int64_t job = 0;
    int64_t trace = add_in_project(f, "r", "a", &job);
    const char *project = NULL;
    assert_ok(f, store_run_move(f->store, "r", "b", &f->err));
    assert_ok(f, store_run_project(f->store, &f->arena, "r", &project, &f->err));
    assert_string_equal(project, "b");
    assert_ok(f, READ(f->store, store_trace_readable, trace, "[\"b\"]", &f->err));
    assert_fails(f, READ(f->store, store_trace_readable, trace, "[\"a\"]", &f->err), ERR_NOT_FOUND);
    assert_ok(f, READ(f->store, store_job_readable, job, "[\"b\"]", &f->err));
    assert_fails(f, store_run_move(f->store, "none", "b", &f->err), ERR_NOT_FOUND);
}

/* Two that make the same run at once, in different projects. */
static void a_name_belongs_to_who_came_first(void **state)
{
    struct fixture *f = *state;
    const char *project = NULL;
    char sha256_hex[SHA256_HEX_BYTES];
    int64_t id = 0;
    assert_ok(f, store_run_project(f->store, &f->arena, "r", &project, &f->err));
    assert_null(project);
    (void)add_project_job(f, "r", "a");
    assert_ok(f, store_run_project(f->store, &f->arena, "r", &project, &f->err));
    assert_string_equal(project, "a");
    commit_bytes(f, "bytes", sha256_hex);
    struct store_job job = {.run = "r",
                            .file_name = "g",
                            .sha256_hex = sha256_hex,
                            .size_bytes = 5,
                            .rank = STORE_NO_RANK,
                            .project = ""};
    assert_fails(f, store_job_add(f->store, &job, &id, NULL, &f->err), ERR_CONFLICT);
    job.project = NULL;
    assert_ok(f, store_job_add(f->store, &job, &id, NULL, &f->err));
    assert_ok(f, READ(f->store, store_job_readable, id, "[\"a\"]", &f->err));
    assert_fails(f, READ(f->store, store_job_readable, id, "[]", &f->err), ERR_NOT_FOUND);
}

static void take_wrong(void *context, const struct store_wrong_tokens *row)
{
    int64_t *left = context;
    left[row->address[0] - 'a'] = row->count;
    left[2]++;
}

/* The clock is the database's, in whole seconds: one may have passed. */
static void wrong_tokens_add_up(void **state)
{
    struct fixture *f = *state;
    const struct store_wrong_tokens rows[] = {{"a", 30}, {"b", 120}};
    int64_t left[3] = {0};
    assert_ok(f, store_wrong_tokens_add(f->store, rows, 2, &f->err));
    assert_ok(f, store_wrong_tokens_add(f->store, rows, 1, &f->err));
    assert_ok(f, store_wrong_tokens_read(f->store, take_wrong, left, &f->err));
    assert_int_equal(left[2], 2);
    assert_in_range(left[0], 50, 60);
    assert_in_range(left[1], 110, 120);
    /* Those that are forgiven are forgotten. */
    assert_ok(f, store_write_begin(f->store, STORE_DURABLE, &f->err));
    assert_ok(f, store_write_end(f->store,
                                 db_exec(f->store->writer,
                                         "UPDATE wrong_token SET forgiven_at_s = unixepoch() - 1"
                                         " WHERE address = 'a'",
                                         &f->err),
                                 &f->err));
    memset(left, 0, sizeof left);
    assert_ok(f, store_wrong_tokens_read(f->store, take_wrong, left, &f->err));
    assert_int_equal(left[2], 1);
    assert_ok(f, store_wrong_tokens_add(f->store, &rows[1], 1, &f->err));
    assert_ok(f, store_wrong_tokens_add(f->store, rows, 1, &f->err));
    assert_ok(f, store_wrong_tokens_read(f->store, take_wrong, left, &f->err));
    assert_in_range(left[0], 20, 30);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_projects),
        cmocka_unit_test(names_of_projects_are_plain),
        TEST(tokens_come_and_go),
        TEST(sessions_end),
        TEST(one_token_has_no_end_of_sessions),
        TEST(wrong_tokens_add_up),
        TEST(a_book_opens_beside_the_store),
        TEST(runs_have_readers),
        TEST(a_run_moves_with_its_jobs),
        TEST(a_name_belongs_to_who_came_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
