/* What the tests of the store share: a folder of its own for each test, and uploads made by hand.
 */
#ifndef KS_TESTS_UNIT_INGEST_STORE_STORE_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_STORE_STORE_FIXTURE_H

#include "ingest/store/internal.h"
#include "tests/unit/ingest/store/read.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_PATH_BYTES 1024

struct fixture {
    char dir[TEST_PATH_BYTES];
    struct store *store;
    struct arena arena;
    struct err err;
};

#define assert_ok(f, call)                                                         \
    do {                                                                           \
        bool ok_ = (call);                                                         \
        if (!ok_) {                                                                \
            print_message("%s: %s\n", err_code_text((f)->err.code), (f)->err.msg); \
        }                                                                          \
        assert_true(ok_);                                                          \
    } while (0)

#define assert_fails(f, call, error_code)            \
    do {                                             \
        assert_false(call);                          \
        assert_int_equal((f)->err.code, error_code); \
        assert_true((f)->err.msg[0] != '\0');        \
    } while (0)

/* `path` holds `len` bytes and is used for what lies below; paths that do not fit are left. */
static inline void remove_tree(char path[TEST_PATH_BYTES], size_t len)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        (void)unlink(path);
        return;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        size_t name_len = strlen(entry->d_name);
        bool is_dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!is_dots && len + name_len + 2 <= TEST_PATH_BYTES) {
            path[len] = '/';
            memcpy(path + len + 1, entry->d_name, name_len + 1);
            remove_tree(path, len + 1 + name_len);
            path[len] = '\0';
        }
    }
    (void)closedir(dir);
    (void)rmdir(path);
}

/* With KINETOSCOPE_TEST_DATABASE_URL, postgresql://…, the catalogue of each folder is a schema of
 * that database. */
static inline bool tests_on_server(void)
{
    return getenv("KINETOSCOPE_TEST_DATABASE_URL") != NULL;
}

/* NULL: the catalogue is embedded. */
static inline const char *database_of(const struct fixture *f, char url[TEST_PATH_BYTES])
{
    if (!tests_on_server()) {
        return NULL;
    }
    int len = snprintf(url, TEST_PATH_BYTES, "%s?options=-csearch_path%%3Dks_",
                       getenv("KINETOSCOPE_TEST_DATABASE_URL"));
    for (const char *at = strrchr(f->dir, '-') + 1; *at != '\0'; at++) {
        /* The server takes no capitals. */
        len += snprintf(url + len, TEST_PATH_BYTES - (size_t)len, "%02x", (unsigned char)*at);
    }
    return url;
}

static inline bool try_open_store(struct fixture *f, const struct store_objects *objects)
{
    char url[TEST_PATH_BYTES];
    const struct store_place place = {
        .data_dir = f->dir, .database_url = database_of(f, url), .objects = objects};
    return store_open_at(&f->store, &place, NULL, &f->err);
}

static inline void open_store(struct fixture *f)
{
    if (tests_on_server()) {
        assert_ok(f, try_open_store(f, NULL));
    } else {
        assert_ok(f, store_open(&f->store, f->dir, NULL, &f->err));
    }
}

/* For a test of what only an embedded catalogue has. */
#define skip_on_server()       \
    do {                       \
        if (tests_on_server()) \
            skip();            \
    } while (0)

static inline void close_store(struct fixture *f)
{
    store_close(f->store);
    f->store = NULL;
}

/* `work` in a process of its own, which ends with the store open. The store is closed before and
 * afterwards. */
static inline void
end_without_warning(struct fixture *f, void (*work)(struct fixture *, void *), void *context)
{
    int status = 1;
    close_store(f);
    pid_t child = fork();
    if (child == 0) {
        open_store(f);
        work(f, context);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static inline int set_up_store(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->err = (struct err)ERR_INIT;
    arena_init(&f->arena, 0);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/ks-store-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    open_store(f);
    *state = f;
    return 0;
}

#define SUM(kind, project, traces, rows)                                                   \
    "SELECT * FROM (SELECT '" kind "' AS kind, " project " AS project, count(*) AS items," \
    " sum(" traces ") AS traces, sum(size_bytes) AS size_bytes FROM " kind " WHERE " rows  \
    " GROUP BY 1, 2) AS s_" kind
#define RUN_SUMS SUM("run", "project", "trace_count", "newest_upload_id > 0")
#define OBJECT_SUMS SUM("object", "''", "0", "state = 'live'")
#define RESULTS_SUMS SUM("results_file", "''", "0", "bytes IS NULL")
#define SUMS RUN_SUMS " UNION ALL " OBJECT_SUMS " UNION ALL " RESULTS_SUMS
#define KEPT_SUMS                                                                           \
    "SELECT kind, project, sum(items) AS items, sum(traces) AS traces, sum(size_bytes) AS"  \
    " size_bytes FROM kept_sum GROUP BY 1, 2 HAVING sum(items) <> 0 OR sum(traces) <> 0 OR" \
    " sum(size_bytes) <> 0"

/* Whatever a test did: the sums that the catalogue keeps are those of its rows. */
static inline void check_kept_sums(struct fixture *f)
{
    struct db *db;
    struct db_stmt st;
    int64_t wrong = 0;
    assert_ok(f, store_read_begin(f->store, &db, &f->err));
    assert_ok(f, db_read_int(db,
                             "SELECT count(*) FROM (SELECT * FROM (SELECT * FROM (" KEPT_SUMS
                             ") AS a EXCEPT SELECT * FROM (" SUMS
                             ") AS b) AS c UNION ALL SELECT * FROM (SELECT * FROM (" SUMS
                             ") AS d EXCEPT SELECT * FROM (" KEPT_SUMS ") AS e) AS f) AS g",
                             &wrong, &f->err));
    db_prepare(&st, db, "SELECT kind, project, items, traces, size_bytes FROM kept_sum");
    while (wrong != 0 && db_next(&st)) {
        const char *kind = db_get_text(&st, &f->arena);
        const char *project = db_get_text(&st, &f->arena);
        long long items = db_get_int(&st);
        long long traces = db_get_int(&st);
        print_message("kept: %s \"%s\" %lld %lld %lld\n", kind, project, items, traces,
                      (long long)db_get_int(&st));
    }
    assert_ok(f, db_done(&st, &f->err));
    store_read_end(f->store, db);
    assert_int_equal(wrong, 0);
}

static inline int tear_down_store(void **state)
{
    struct fixture *f = *state;
    if (f->store != NULL) {
        check_kept_sums(f);
    }
    close_store(f);
    arena_free(&f->arena);
    remove_tree(f->dir, strlen(f->dir));
    free(f);
    return 0;
}

/* ---- uploads ---- */

static inline void
commit_bytes(struct fixture *f, const char *bytes, char sha256_hex[SHA256_HEX_BYTES])
{
    struct store_blob *blob;
    uint64_t size_bytes = 0;
    assert_ok(f, store_blob_create(f->store, &blob, &f->err));
    assert_ok(f, store_blob_write(blob, bytes, strlen(bytes), &f->err));
    assert_ok(f, store_blob_commit(blob, sha256_hex, &size_bytes, &f->err));
    assert_int_equal(size_bytes, strlen(bytes));
}

static inline int64_t
add_job(struct fixture *f, const char *run, const char *file_name, const char *bytes, bool replace)
{
    char sha256_hex[SHA256_HEX_BYTES];
    int64_t id = 0;
    commit_bytes(f, bytes, sha256_hex);
    struct store_job job = {.run = run,
                            .file_name = file_name,
                            .sha256_hex = sha256_hex,
                            .size_bytes = strlen(bytes),
                            .replace = replace,
                            .may_have_twin = true};
    assert_ok(f, store_job_add(f->store, &job, &id, NULL, &f->err));
    assert_true(id > 0);
    assert_ok(f, store_job_arrived(f->store, id, sha256_hex, &f->err));
    return id;
}

/* The one trace that a job made. */
static inline int64_t trace_of_job(struct fixture *f, int64_t job_id)
{
    int64_t *ids;
    size_t count;
    assert_ok(f, READ(f->store, store_job_traces, &f->arena, job_id, &ids, &count, &f->err));
    assert_int_equal(count, 1);
    return ids[0];
}

static inline int64_t publish(struct fixture *f,
                              int64_t job_id,
                              const char *worker,
                              const char *span_digits,
                              const struct trace_results *results)
{
    struct store_ingest *ingest;
    assert_ok(f, store_ingest_begin(f->store, job_id, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, worker, span_digits, "chrome-trace", results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    return trace_of_job(f, job_id);
}

/* A published trace without rows. */
static inline int64_t add_trace(struct fixture *f,
                                const char *run,
                                const char *file_name,
                                const char *worker,
                                const char *span_digits,
                                const char *bytes)
{
    struct trace_results results = {.device_type = "GPU", .views = 1};
    return publish(f, add_job(f, run, file_name, bytes, false), worker, span_digits, &results);
}

static inline bool raw_exists(struct fixture *f, const char *sha256_hex)
{
    const char *path;
    struct err err = ERR_INIT;
    return store_blob_path(f->store, &f->arena, sha256_hex, &path, &err);
}

#endif
