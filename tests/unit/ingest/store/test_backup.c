/* A backup between whose steps uploads come and go: what it holds is one moment of the store. The
 * whole program does the rest in tests/checks/backup.py. */
#include "ingest/store/backup/backup.h"
#include "ingest/store/internal.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <string.h>

static void join_path(const struct fixture *f, const char *name, char path[TEST_PATH_BYTES])
{
    int len = snprintf(path, TEST_PATH_BYTES, "%s%s", f->dir, name);
    assert_true(len > 0 && len < TEST_PATH_BYTES);
}

/* Uploads while the first blob is copied, and removes that while the database is. */
struct traffic {
    struct fixture *f;
    unsigned removals; /* how many times an upload is to go */
    unsigned calls;
    int64_t going;
};

static void come_and_go(void *context, uint64_t bytes_done, uint64_t bytes_total)
{
    struct traffic *traffic = context;
    char name[32];
    (void)bytes_done;
    (void)bytes_total;
    if (traffic->going != 0) {
        assert_ok(traffic->f,
                  store_trace_delete(traffic->f->store, traffic->going, &traffic->f->err));
        traffic->going = 0;
    } else if (traffic->calls < traffic->removals) {
        (void)snprintf(name, sizeof name, "going %u", traffic->calls++);
        traffic->going = add_trace(traffic->f, "going", name, "w", "", name);
    }
}

static void what_goes_meanwhile_is_not_in_it(void **state)
{
    struct fixture *f = *state;
    char file[TEST_PATH_BYTES];
    char back[TEST_PATH_BYTES];
    struct backup_counts counts;
    struct traffic traffic = {.f = f, .removals = 1};
    struct backup_progress progress = {.context = &traffic, .tell = come_and_go};
    struct backup_progress silent = {.tell = NULL};
    int64_t kept = add_trace(f, "r", "kept", "w", "", "kept");
    join_path(f, "/backup.tar", file);
    join_path(f, "/back", back);
    assert_ok(f, store_backup(f->dir, file, &progress, &counts, &f->err));
    assert_int_equal(traffic.calls, 1);
    assert_int_equal(traffic.going, 0);
    assert_int_equal(counts.raw_files, 1);

    assert_ok(f, store_restore(file, back, &silent, &counts, &f->err));
    struct store *other;
    struct store_trace *trace;
    struct store_run *run;
    const char *path;
    assert_ok(f, store_open(&other, back, NULL, &f->err));
    assert_ok(f, READ(other, store_trace_get, &f->arena, kept, &trace, &f->err));
    assert_ok(f, store_blob_path(other, &f->arena, trace->sha256_hex, &path, &f->err));
    assert_fails(f, READ(other, store_run_get, &f->arena, "going", &run, &f->err), ERR_NOT_FOUND);
    store_close(other);
}

static void a_directory_in_use_is_left_alone(void **state)
{
    struct fixture *f = *state;
    char file[TEST_PATH_BYTES];
    struct backup_counts counts;
    struct backup_progress silent = {.tell = NULL};
    int64_t kept = add_trace(f, "r", "kept", "w", "", "kept");
    join_path(f, "/backup.tar", file);
    assert_ok(f, store_backup(f->dir, file, &silent, &counts, &f->err));
    assert_fails(f, store_restore(file, f->dir, &silent, &counts, &f->err), ERR_CONFLICT);
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, kept, &trace, &f->err));
    assert_true(raw_exists(f, trace->sha256_hex));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_goes_meanwhile_is_not_in_it),
        TEST(a_directory_in_use_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
