/* Uploads as objects in a folder: rows and files over the life of an upload, and the cache. */
#include "ingest/store/files/paths.h"
#include "ingest/store/internal.h"
#include "ingest/store/objects/blob_objects.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <fcntl.h>
#include <time.h>

#define SIZE_BYTES ((size_t)1000)

static void open_with(struct fixture *f, uint64_t cache_bytes)
{
    char url[TEST_PATH_BYTES + 32];
    (void)snprintf(url, sizeof url, "file://%s/place", f->dir);
    const struct store_objects objects = {.url = url, .cache_bytes = cache_bytes};
    assert_ok(f, try_open_store(f, &objects));
}

/* A committed blob of SIZE_BYTES that differs by `number`. */
static void commit_number(struct fixture *f, unsigned number, char sha256_hex[SHA256_HEX_BYTES])
{
    struct store_blob *blob;
    char bytes[SIZE_BYTES];
    uint64_t size_bytes;
    memset(bytes, (int)number, sizeof bytes);
    assert_ok(f, store_blob_create(f->store, &blob, &f->err));
    assert_ok(f, store_blob_write(blob, bytes, sizeof bytes, &f->err));
    assert_ok(f, store_blob_commit(blob, sha256_hex, &size_bytes, &f->err));
    assert_int_equal(size_bytes, SIZE_BYTES);
}

/* A job that has not been done needs the upload. */
static int64_t add_job_of(struct fixture *f, const char *sha256_hex)
{
    int64_t id;
    const struct store_job job = {.run = "run",
                                  .file_name = sha256_hex,
                                  .sha256_hex = sha256_hex,
                                  .size_bytes = SIZE_BYTES,
                                  .rank = STORE_NO_RANK};
    assert_ok(f, store_job_add(f->store, &job, &id, NULL, &f->err));
    assert_ok(f, store_job_arrived(f->store, id, sha256_hex, &f->err));
    return id;
}

static void write_sql(struct fixture *f, const char *sql)
{
    assert_ok(f, store_write_begin(f->store, STORE_DURABLE, &f->err));
    bool ok = db_exec(f->store->writer, sql, &f->err);
    assert_ok(f, store_write_end(f->store, ok, &f->err));
}

static int64_t count_rows(struct fixture *f, const char *state)
{
    struct db *db;
    struct db_stmt st;
    assert_ok(f, store_read_begin(f->store, &db, &f->err));
    db_prepare(&st, db, "SELECT count(*) FROM object WHERE state = ?");
    db_put_text(&st, state);
    int64_t count = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    store_read_end(f->store, db);
    return count;
}

static bool is_cached(struct fixture *f, const char *sha256_hex)
{
    char path[STORE_PATH_BYTES];
    assert_ok(f, store_blob_file_path(f->store, sha256_hex, path, &f->err));
    return access(path, F_OK) == 0;
}

static void an_upload_is_an_object_once_it_has_arrived(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    const char *path;
    bool held = true;
    open_with(f, 1 << 20);
    commit_number(f, 1, sha256_hex);
    assert_ok(f, blob_objects_hold(f->store, sha256_hex, &held, &f->err));
    assert_false(held);
    (void)add_job_of(f, sha256_hex);
    assert_ok(f, blob_objects_hold(f->store, sha256_hex, &held, &f->err));
    assert_true(held);
    assert_int_equal(store_blobs_bytes(f->store), SIZE_BYTES);

    assert_ok(f, store_blob_uncache(f->store, sha256_hex, &f->err));
    assert_true(is_cached(f, sha256_hex)); /* a job waits for it */
    write_sql(f, "UPDATE job SET state = 'done'");
    assert_ok(f, store_blob_uncache(f->store, sha256_hex, &f->err));
    assert_false(is_cached(f, sha256_hex));
    assert_fails(f, store_blob_path(f->store, &f->arena, sha256_hex, &path, &f->err), ERR_GONE);
    assert_ok(f,
              store_blob_checked_path(f->store, &f->arena, sha256_hex, SIZE_BYTES, &path, &f->err));
    assert_true(is_cached(f, sha256_hex));
    assert_ok(f, store_blob_forget(f->store, sha256_hex, &f->err));
    assert_fails(
        f, store_blob_checked_path(f->store, &f->arena, sha256_hex, SIZE_BYTES, &path, &f->err),
        ERR_GONE);
    assert_int_equal(store_blobs_bytes(f->store), 0);
}

static void what_no_job_comes_for_is_no_object(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    struct store_blob *blob;
    open_with(f, 1 << 20);
    commit_number(f, 1, sha256_hex);
    assert_ok(f, store_blob_release(f->store, sha256_hex, &f->err));
    assert_ok(f, store_blob_create(f->store, &blob, &f->err));
    store_blob_discard(blob);
    commit_number(f, 2, sha256_hex); /* and is still pinned when the store closes */
    close_store(f);
    open_with(f, 1 << 20);
    assert_int_equal(count_rows(f, "writing") + count_rows(f, "live"), 0);
}

static void bytes_that_come_again_revive_their_object(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    open_with(f, 1 << 20);
    commit_number(f, 1, sha256_hex);
    (void)add_job_of(f, sha256_hex);
    write_sql(f, "UPDATE job SET state = 'failed'");
    assert_ok(f, store_blob_drop(f->store, sha256_hex, &f->err));
    assert_int_equal(count_rows(f, "dying"), 1);
    assert_int_equal(store_blobs_bytes(f->store), 0);
    commit_number(f, 1, sha256_hex);
    (void)add_job_of(f, sha256_hex);
    assert_int_equal(count_rows(f, "dying"), 0);
    assert_int_equal(count_rows(f, "live"), 1);
    assert_int_equal(store_blobs_bytes(f->store), SIZE_BYTES);
}

static void the_cache_keeps_what_was_read_last_or_is_needed(void **state)
{
    struct fixture *f = *state;
    char hexes[6][SHA256_HEX_BYTES];
    open_with(f, 1 << 20);
    for (unsigned i = 0; i < 6; i++) {
        char path[STORE_PATH_BYTES];
        /* Of the last but one a job waits, the last is no object. */
        commit_number(f, i, hexes[i]);
        if (i < 5) {
            (void)add_job_of(f, hexes[i]);
        }
        if (i == 3) {
            write_sql(f, "UPDATE job SET state = 'done'");
        }
        assert_ok(f, store_blob_file_path(f->store, hexes[i], path, &f->err));
        const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000}};
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    store_blob_given_out(f->store, hexes[0]);
    blob_cache_trim(f->store, 5 * SIZE_BYTES);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(is_cached(f, hexes[i]), i == 0 || i > 2);
    }
    blob_cache_trim(f->store, 0);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(is_cached(f, hexes[i]), i == 0 || i > 3);
    }
    assert_int_equal(store_blob_files_bytes(f->store), 3 * SIZE_BYTES);
}

static void a_store_without_its_objects_is_not_opened(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    open_with(f, 1 << 20);
    commit_number(f, 1, sha256_hex);
    (void)add_job_of(f, sha256_hex);
    close_store(f);
    assert_fails(f, try_open_store(f, NULL), ERR_BAD_REQUEST);
    f->err = (struct err)ERR_INIT;
    skip_on_server();
    /* For what needs no uploads. */
    assert_ok(f, store_open(&f->store, f->dir, NULL, &f->err));
}

/* Of this server, wherever its catalogue is: at once, and not when it was silent for long. */
static void results_that_were_being_put_are_given_up_at_the_start(void **state)
{
    struct fixture *f = *state;
    char path[TEST_PATH_BYTES + 16];
    const struct results_put put = {.key = "00112233445566778899aabbccddeeff", .path = path};
    (void)snprintf(path, sizeof path, "%s/file.db", f->dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    open_with(f, 1 << 20);
    assert_ok(f, results_objects_put(f->store, &put, 1, &f->err));
    assert_int_equal(count_rows(f, "writing"), 1);
    close_store(f);
    open_with(f, 1 << 20);
    assert_int_equal(count_rows(f, "writing"), 0);
}

static int set_up_closed(void **state)
{
    int failed = set_up_store(state);
    close_store(*state);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_upload_is_an_object_once_it_has_arrived, set_up_closed,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(what_no_job_comes_for_is_no_object, set_up_closed,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(bytes_that_come_again_revive_their_object, set_up_closed,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(the_cache_keeps_what_was_read_last_or_is_needed,
                                        set_up_closed, tear_down_store),
        cmocka_unit_test_setup_teardown(results_that_were_being_put_are_given_up_at_the_start,
                                        set_up_closed, tear_down_store),
        cmocka_unit_test_setup_teardown(a_store_without_its_objects_is_not_opened, set_up_closed,
                                        tear_down_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
