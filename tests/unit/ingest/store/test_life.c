/* Opening, crashing, locking, full disks and many threads. */
#include "ingest/store/internal.h"
#include "ingest/store/schema/schema.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

static void join_path(const struct fixture *f, const char *name, char out[TEST_PATH_BYTES])
{
    size_t len = strlen(f->dir);
    assert_true(len + strlen(name) + 1 < TEST_PATH_BYTES);
    memcpy(out, f->dir, len);
    memcpy(out + len, name, strlen(name) + 1);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static int64_t query_int(const struct fixture *f, const char *sql)
{
    char path[TEST_PATH_BYTES];
    sqlite3 *db;
    sqlite3_stmt *st;
    join_path(f, "/kinetoscope.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    int64_t value = sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : -1;
    assert_int_equal(sqlite3_finalize(st), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return value;
}

/* ---- schema ---- */

static void a_new_database_has_the_schema(void **state)
{
    struct fixture *f = *state;
    assert_ok(f, store_ready(f->store, &f->err));
    close_store(f);
    assert_int_equal(query_int(f, "PRAGMA user_version"), SCHEMA_VERSION);
    assert_int_equal(query_int(f,
                               "SELECT count(*) FROM pragma_table_list WHERE schema = 'main'"
                               " AND type = 'table' AND name NOT LIKE 'sqlite_%' AND NOT strict"),
                     0);
    assert_int_equal(query_int(f, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    open_store(f);
    assert_ok(f, store_ready(f->store, &f->err));
}

static void an_empty_database_of_version_0_is_new(void **state)
{
    struct fixture *f = *state;
    char path[TEST_PATH_BYTES];
    close_store(f);
    join_path(f, "/kinetoscope.db", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(query_int(f, "VACUUM"), -1);
    assert_int_equal(query_int(f, "PRAGMA user_version"), 0);
    open_store(f);
    (void)add_trace(f, "r", "f", "w", "", "x");
}

static void a_newer_database_is_refused(void **state)
{
    struct fixture *f = *state;
    close_store(f);
    assert_int_equal(query_int(f, "PRAGMA user_version = 999"), -1);
    assert_fails(f, store_open(&f->store, f->dir, NULL, &f->err), ERR_STORE);
    assert_non_null(strstr(f->err.msg, "999"));
    f->store = NULL;
    assert_int_equal(query_int(f, "PRAGMA user_version"), 999);
}

static void a_foreign_database_is_refused(void **state)
{
    struct fixture *f = *state;
    close_store(f);
    assert_int_equal(query_int(f, "PRAGMA application_id = 7"), -1);
    assert_fails(f, store_open(&f->store, f->dir, NULL, &f->err), ERR_STORE);
    f->store = NULL;
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    struct fixture *f = *state;
    char path[TEST_PATH_BYTES];
    close_store(f);
    join_path(f, "/kinetoscope.db", path);
    write_file(path, "this is not a database, this is not a database, this is not a database");
    assert_fails(f, store_open(&f->store, f->dir, NULL, &f->err), ERR_STORE);
    assert_non_null(strstr(f->err.msg, "kinetoscope.db"));
    f->store = NULL;
}

static void folders_are_made(void **state)
{
    struct fixture *f = *state;
    char path[TEST_PATH_BYTES];
    struct store *other;
    join_path(f, "/a/b", path);
    assert_ok(f, store_open(&other, path, NULL, &f->err));
    store_close(other);
    join_path(f, "/lock/b", path);
    assert_fails(f, store_open(&other, path, NULL, &f->err), ERR_IO);
}

/* ---- lock ---- */

static void a_second_process_is_refused(void **state)
{
    struct fixture *f = *state;
    long holder = (long)getpid();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store *second;
        struct err err = ERR_INIT;
        char pid_text[32];
        (void)snprintf(pid_text, sizeof pid_text, "process %ld", holder);
        bool refused = !store_open(&second, f->dir, NULL, &err) && err.code == ERR_UNAVAILABLE &&
                       strstr(err.msg, pid_text) != NULL;
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- crashes ---- */

/* The end of a process in the middle of an ingest: memory goes, rows stay. */
static void leave_unfinished(struct fixture *f, void *job)
{
    struct store_ingest *ingest;
    struct trace_results results = {.device_type = "GPU"};
    assert_ok(f, store_ingest_begin(f->store, *(int64_t *)job, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "x", &results, &f->err));
}

static void reopening_removes_what_was_not_published(void **state)
{
    struct fixture *f = *state;
    char path[TEST_PATH_BYTES];
    struct trace_results results = {.device_type = "GPU"};
    int64_t kept = publish(f, add_job(f, "r", "kept", "kept", false), "w", "", &results);
    int64_t job = add_job(f, "new run", "f", "unfinished", false);
    end_without_warning(f, leave_unfinished, &job);
    join_path(f, "/incoming/cut", path);
    write_file(path, "cut");
    assert_int_equal(query_int(f, "SELECT count(*) FROM upload"), 2);

    open_store(f);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM upload"), 1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM trace"), 1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM results_file"), 1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM run"), 1);
    struct store_job *jobs;
    size_t count;
    assert_ok(f, store_jobs_unfinished(f->store, &f->arena, &jobs, &count, &f->err));
    assert_int_equal(count, 1);
    assert_int_equal(jobs[0].id, job);
    assert_true(raw_exists(f, jobs[0].sha256_hex));
    struct trace_results *out;
    assert_ok(f, READ(f->store, store_overview, &f->arena, kept, &out, &f->err));
    /* The job that was cut short can be done now. */
    (void)publish(f, job, "w", "", &results);
}

static int64_t add_arriving_job(struct fixture *f, const char *file_name, const char *sha256_hex)
{
    int64_t id = 0;
    const struct store_job job = {.run = "r",
                                  .file_name = file_name,
                                  .sha256_hex = sha256_hex,
                                  .size_bytes = 5,
                                  .rank = STORE_NO_RANK};
    assert_ok(f, store_job_add(f->store, &job, &id, NULL, &f->err));
    return id;
}

/* Bytes first, then the row that names them, then what is visible. */
static void nothing_is_published_before_it_has_arrived(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    struct trace_results results = {.device_type = "GPU"};
    struct store_ingest *ingest;
    commit_bytes(f, "bytes", sha256_hex);
    int64_t job = add_arriving_job(f, "f", sha256_hex);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "x", &results, &f->err));
    assert_fails(f, store_ingest_publish(ingest, &f->err), ERR_INTERNAL);
    assert_int_equal(query_int(f, "SELECT count(*) FROM upload"), 0);
    assert_ok(f, store_job_arrived(f->store, job, sha256_hex, &f->err));
    assert_ok(f, store_sync(f->store, &f->err));
    (void)publish(f, job, "w", "", &results);
    assert_int_equal(query_int(f, "SELECT min(uploaded_at_s) > 1600000000 FROM upload"), 1);
}

static void reopening_forgets_what_has_not_arrived(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    struct store_ingest *ingest;
    commit_bytes(f, "bytes", sha256_hex);
    int64_t job = add_arriving_job(f, "f", sha256_hex);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    free(ingest);
    close_store(f);
    open_store(f);
    assert_int_equal(query_int(f, "SELECT count(*) FROM job"), 0);
    assert_int_equal(query_int(f, "SELECT count(*) FROM upload"), 0);
    assert_false(raw_exists(f, sha256_hex));
}

/* A pipe cannot be synced: as if the disk had failed. */
static void what_cannot_be_synced_is_lost(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    char again_hex[SHA256_HEX_BYTES];
    int ends[2];
    commit_bytes(f, "bytes", sha256_hex);
    commit_bytes(f, "bytes", again_hex);
    int64_t job = add_arriving_job(f, "f", sha256_hex);
    assert_int_equal(pipe(ends), 0);
    assert_int_not_equal(dup2(ends[1], f->store->pins->unsynced_fd), -1);
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_fails(f, store_job_arrived(f->store, job, sha256_hex, &f->err), ERR_IO);
    assert_false(raw_exists(f, sha256_hex));
    /* Who relied on the same file learns it, too. */
    assert_fails(f, store_blob_sync(f->store, again_hex, &f->err), ERR_IO);
    /* And who comes with the bytes again heals it. */
    commit_bytes(f, "bytes", again_hex);
    assert_ok(f, store_blob_sync(f->store, again_hex, &f->err));
    assert_true(raw_exists(f, sha256_hex));
}

/* Its server stood still, and another removed what had not arrived. */
static void what_others_gave_up_has_not_arrived(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    commit_bytes(f, "bytes", sha256_hex);
    int64_t job = add_arriving_job(f, "f", sha256_hex);
    assert_ok(f, db_run_id(f->store->writer, "DELETE FROM job WHERE id = ?", job, &f->err));
    assert_fails(f, store_job_arrived(f->store, job, sha256_hex, &f->err), ERR_UNAVAILABLE);
}

static void reopening_removes_raw_files_without_rows(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    uint64_t database_bytes;
    uint64_t raw_bytes;
    int64_t id = add_trace(f, "r", "f", "w", "", "kept");
    commit_bytes(f, "orphan", sha256_hex);
    close_store(f);
    open_store(f);
    assert_false(raw_exists(f, sha256_hex));
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    assert_true(raw_exists(f, trace->sha256_hex));
    assert_ok(f, store_size(f->store, &database_bytes, &raw_bytes, &f->err));
    assert_int_equal(raw_bytes, 4);
    /* A database that was lost must not take the uploads along. */
    char path[TEST_PATH_BYTES];
    close_store(f);
    join_path(f, "/kinetoscope.db", path);
    assert_int_equal(unlink(path), 0);
    open_store(f);
    assert_false(raw_exists(f, trace->sha256_hex));
    join_path(f, "/raw-of-lost-database-1", path);
    assert_int_equal(access(path, F_OK), 0);
    /* Nor may one that comes from nowhere, killed before its first row, leave uploads for ever. */
    commit_bytes(f, "orphan", sha256_hex);
    close_store(f);
    open_store(f);
    assert_false(raw_exists(f, sha256_hex));
    join_path(f, "/raw-of-lost-database-2", path);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* Among many, so that each is looked for in all places. */
static void reopening_keeps_every_file_that_is_needed(void **state)
{
    enum { FILES = 40 };
    struct fixture *f = *state;
    char hashes[FILES][SHA256_HEX_BYTES];
    char bytes[16];
    uint64_t database_bytes;
    uint64_t before;
    uint64_t after;
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(bytes, sizeof bytes, "%d", i);
        if (i % 4 == 0) {
            (void)add_job(f, "waiting", bytes, bytes, false);
        } else if (i % 4 == 1) {
            (void)add_trace(f, "r", bytes, bytes, "", bytes);
        }
        commit_bytes(f, bytes, hashes[i]);
    }
    close_store(f);
    open_store(f);
    assert_ok(f, store_size(f->store, &database_bytes, &before, &f->err));
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(raw_exists(f, hashes[i]), i % 4 < 2);
    }
    close_store(f);
    open_store(f);
    assert_ok(f, store_size(f->store, &database_bytes, &after, &f->err));
    /* 0, 1, 4, 5, 8 and 9 have one digit, fourteen others have two. */
    assert_int_equal(before, 6 + 2 * 14);
    assert_int_equal(after, before);
}

static void blobs_of_any_size_are_kept(void **state)
{
    struct fixture *f = *state;
    static const size_t sizes[] = {0, 1, (1U << 20) - 1, 1U << 20, (1U << 20) + 1, (3U << 20) + 5};
    char *bytes = malloc(4U << 20);
    assert_non_null(bytes);
    for (size_t i = 0; i < 4U << 20; i++) {
        bytes[i] = (char)(i * 31 % 251);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t piece = 1000; piece <= 4000000; piece *= 63) {
            struct store_blob *blob;
            char sha256_hex[SHA256_HEX_BYTES];
            char expected[SHA256_HEX_BYTES];
            uint64_t size_bytes;
            const char *path;
            struct stat info;
            assert_ok(f, store_blob_create(f->store, &blob, &f->err));
            for (size_t at = 0; at < sizes[i]; at += piece) {
                size_t len = sizes[i] - at < piece ? sizes[i] - at : piece;
                assert_ok(f, store_blob_write(blob, bytes + at, len, &f->err));
            }
            assert_ok(f, store_blob_commit(blob, sha256_hex, &size_bytes, &f->err));
            struct sha256 *hash = sha256_create();
            sha256_update(hash, bytes, sizes[i]);
            sha256_final_hex(hash, expected);
            sha256_destroy(hash);
            assert_string_equal(sha256_hex, expected);
            assert_int_equal(size_bytes, sizes[i]);
            assert_ok(f, store_blob_path(f->store, &f->arena, sha256_hex, &path, &f->err));
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(info.st_size, sizes[i]);
        }
    }
    free(bytes);
    struct store_blob *blob;
    assert_ok(f, store_blob_create(f->store, &blob, &f->err));
    store_blob_discard(blob);
    store_blob_discard(NULL);
    const char *path;
    assert_fails(f, store_blob_path(f->store, &f->arena, "../../../etc/passwd", &path, &f->err),
                 ERR_BAD_REQUEST);
}

/* ---- the log ---- */

static void a_long_log_begins_anew(void **state)
{
    struct fixture *f = *state;
    struct db *writer = f->store->writer;
    assert_ok(f, db_exec(writer,
                         "CREATE TABLE filler (bytes BLOB);"
                         "INSERT INTO filler VALUES (zeroblob(20000000));",
                         &f->err));
    int pages = db_log_pages(writer);
    assert_true(pages > 2000);
    /* Not yet. */
    store_checkpoint(f->store);
    assert_ok(f, db_exec(writer, "INSERT INTO filler VALUES (zeroblob(20000000))", &f->err));
    assert_true(db_log_pages(writer) > pages + 2000);
    store_checkpoint(f->store);
    assert_ok(f, db_exec(writer, "INSERT INTO filler VALUES (1)", &f->err));
    assert_in_range(db_log_pages(writer), 1, 100);
}

/* ---- full disks ---- */

static void a_full_database_says_so(void **state)
{
    struct fixture *f = *state;
    enum { ROWS = 20000 };
    struct environment_row *rows = calloc(ROWS, sizeof *rows);
    struct trace_results results = {.device_type = "GPU"};
    struct store_ingest *ingest;
    assert_non_null(rows);
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (struct environment_row){.name = "a name of the environment", .value = "a value"};
    }
    results.environment = rows;
    results.environment_count = ROWS;
    int64_t kept = add_trace(f, "r", "kept", "w", "", "kept");
    int64_t job = add_job(f, "r", "f", "x", false);
    assert_int_equal(
        sqlite3_exec(db_handle(f->store->writer), "PRAGMA max_page_count = 60", NULL, NULL, NULL),
        SQLITE_OK);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    assert_fails(f, store_ingest_trace(ingest, "w", "", "x", &results, &f->err), ERR_NO_SPACE);
    assert_non_null(strstr(f->err.msg, "kinetoscope.db"));
    store_ingest_abort(ingest);
    struct err why = f->err;
    assert_ok(f, store_job_failed(f->store, job, &why, &f->err));
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, kept, &trace, &f->err));
    assert_int_equal(query_int(f, "SELECT count(*) FROM results_file"), 1);
    assert_int_equal(query_int(f, "SELECT count(*) FROM trace"), 1);
    /* With room again it goes on. */
    assert_int_equal(sqlite3_exec(db_handle(f->store->writer), "PRAGMA max_page_count = 1000000",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    (void)publish(f, add_job(f, "r", "f", "x", false), "w", "", &results);
    free(rows);
}

static void a_full_disk_refuses_an_upload(void **state)
{
    struct fixture *f = *state;
    char path[TEST_PATH_BYTES];
    join_path(f, "/incoming", path);
    if (mount("tmpfs", path, "tmpfs", 0, "size=1m") != 0) {
        print_message("no right to mount a small file system: %d\n", errno);
        skip();
    }
    struct store_blob *blob;
    char piece[4096] = {1};
    bool ok = store_blob_create(f->store, &blob, &f->err);
    assert_true(ok);
    for (int i = 0; ok && i < 2000; i++) {
        ok = store_blob_write(blob, piece, sizeof piece, &f->err);
    }
    store_blob_discard(blob);
    (void)umount(path);
    assert_false(ok);
    assert_int_equal(f->err.code, ERR_NO_SPACE);
    assert_non_null(strstr(f->err.msg, "/incoming/"));
}

/* ---- threads; they only count, the main thread asserts ---- */

/* More than there are readers in the pool. */
#define READERS (STORE_READERS_MAX + 2)
#define OPERATORS 7000
#define MANY_OPERATORS 150000

struct traffic {
    struct store *store;
    atomic_bool stop;
    atomic_int failures;
    atomic_int reads;
    int64_t trace_id;
};

static void *read_much(void *argument)
{
    struct traffic *traffic = argument;
    while (!atomic_load(&traffic->stop)) {
        struct arena arena;
        struct err err = ERR_INIT;
        struct store_page page = {.sort = "calls", .descending = true, .limit = 10, .q = "op"};
        struct store_run *runs;
        struct operator_row *rows;
        size_t count;
        int64_t total;
        struct store_total run_total;
        arena_init(&arena, 0);
        bool ok = READ(traffic->store, store_operators, &arena, traffic->trace_id, OPERATOR_BY_NAME,
                       NULL, NULL, &page, &rows, &count, &total, &err) &&
                  count == 10 && total == OPERATORS && rows[0].calls == OPERATORS - 1;
        page = (struct store_page){0};
        ok = ok &&
             READ(traffic->store, store_runs, &arena, &page, &runs, &count, &run_total, &err) &&
             count >= 1 && runs[count - 1].trace_count >= 1;
        atomic_fetch_add(ok ? &traffic->reads : &traffic->failures, 1);
        arena_free(&arena);
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return NULL;
}

static void fill_operators(struct operator_row *rows, size_t count, struct trace_results *results)
{
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct operator_row){.name = "op", .calls = (int64_t)i};
    }
    *results = (struct trace_results){.device_type = "GPU"};
    results->operators[0] = rows;
    results->operator_count[0] = count;
}

static void readers_are_not_disturbed_by_writers(void **state)
{
    struct fixture *f = *state;
    struct operator_row *rows = calloc(OPERATORS, sizeof *rows);
    struct trace_results results;
    pthread_t threads[READERS];
    assert_non_null(rows);
    fill_operators(rows, OPERATORS, &results);
    struct traffic traffic = {.store = f->store};
    traffic.trace_id = publish(f, add_job(f, "first", "f", "f", false), "w", "", &results);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_much, &traffic), 0);
    }
    for (int i = 0; i < 8; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "f%d", i);
        int64_t id = publish(f, add_job(f, "r", name, name, false), "w", "", &results);
        if (i % 2 == 0) {
            assert_ok(f, store_trace_delete(f->store, id, &f->err));
        }
    }
    atomic_store(&traffic.stop, true);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&traffic.failures), 0);
    assert_true(atomic_load(&traffic.reads) > READERS);
    assert_true(f->store->open_reader_count <= STORE_READERS_MAX);
    free(rows);
}

static void *write_long(void *argument)
{
    struct traffic *traffic = argument;
    struct operator_row *rows = calloc(MANY_OPERATORS, sizeof *rows);
    struct trace_results results;
    struct store_ingest *ingest = NULL;
    struct err err = ERR_INIT;
    bool ok = rows != NULL && store_ingest_begin(traffic->store, traffic->trace_id, &ingest, &err);
    if (ok) {
        fill_operators(rows, MANY_OPERATORS, &results);
    }
    while (ok && !atomic_load(&traffic->stop)) {
        ok = store_ingest_trace(ingest, "w", "", "x", &results, &err);
        atomic_fetch_add(&traffic->reads, 1);
    }
    store_ingest_abort(ingest);
    atomic_fetch_add(&traffic->failures, ok ? 0 : 1);
    free(rows);
    return NULL;
}

static void a_long_ingest_lets_others_through(void **state)
{
    struct fixture *f = *state;
    struct traffic traffic = {.store = f->store,
                              .trace_id = add_job(f, "long", "f", "long", false)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_long, &traffic), 0);
    while (atomic_load(&traffic.reads) < 1) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    for (int i = 0; i < 20; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "f%d", i);
        (void)add_trace(f, "short", name, "w", "", name);
    }
    /* Without turns, the twenty would have waited until the long one has its end. */
    assert_true(atomic_load(&traffic.reads) < 200);
    atomic_store(&traffic.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&traffic.failures), 0);
    assert_int_equal(query_int(f, "SELECT count(*) FROM trace"), 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_database_has_the_schema),
        TEST(an_empty_database_of_version_0_is_new),
        TEST(a_newer_database_is_refused),
        TEST(a_foreign_database_is_refused),
        TEST(a_file_that_is_no_database_is_refused),
        TEST(folders_are_made),
        TEST(a_second_process_is_refused),
        TEST(reopening_removes_what_was_not_published),
        TEST(nothing_is_published_before_it_has_arrived),
        TEST(reopening_forgets_what_has_not_arrived),
        TEST(what_cannot_be_synced_is_lost),
        TEST(what_others_gave_up_has_not_arrived),
        TEST(reopening_removes_raw_files_without_rows),
        TEST(reopening_keeps_every_file_that_is_needed),
        TEST(blobs_of_any_size_are_kept),
        TEST(a_long_log_begins_anew),
        TEST(a_full_database_says_so),
        TEST(a_full_disk_refuses_an_upload),
        TEST(readers_are_not_disturbed_by_writers),
        TEST(a_long_ingest_lets_others_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
