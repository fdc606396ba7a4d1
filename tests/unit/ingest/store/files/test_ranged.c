/* Files of results that are read where they are objects: blocks, threads, what is fetched, and what
 * is said when the objects are gone. */
#include "ingest/store/files/ranged.h"
#include "tests/unit/ingest/store/trace_file.h"

#include <pthread.h>

#define KEY "0123456789abcdef0123456789abcdef"
#define THREADS 4

/* With objects in a folder. */
static int set_up_objects(void **state)
{
    char url[TEST_PATH_BYTES + 32];
    if (set_up_store(state) != 0) {
        return -1;
    }
    struct fixture *f = *state;
    close_store(f);
    (void)snprintf(url, sizeof url, "file://%s/place", f->dir);
    const struct store_objects objects = {.url = url, .cache_bytes = 1 << 30};
    assert_ok(f, try_open_store(f, &objects));
    keep_files_apart(f);
    return 0;
}

/* A database of so many pieces of 64 kB, as the object of KEY. */
static uint64_t make_object(struct fixture *f, int pieces, int64_t *sum)
{
    char path[TEST_PATH_BYTES + 64];
    char sql[256];
    struct stat info;
    struct db *db;
    (void)snprintf(path, sizeof path, "%s/place/results", f->dir);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s/place/results/%.2s", f->dir, KEY);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s/place/results/%.2s/%s.db", f->dir, KEY, KEY + 2);
    assert_ok(f, db_open(&db, path, DB_WRITER, &f->err));
    assert_ok(f, db_exec(db, "PRAGMA journal_mode = DELETE", &f->err));
    assert_ok(f, db_exec(db, "CREATE TABLE piece (id INTEGER PRIMARY KEY, bytes BLOB)", &f->err));
    (void)snprintf(sql, sizeof sql,
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                   " INSERT INTO piece SELECT i, zeroblob(65536) FROM n",
                   pieces);
    assert_ok(f, db_exec(db, sql, &f->err));
    db_close(db);
    assert_int_equal(stat(path, &info), 0);
    *sum = pieces + (int64_t)pieces * 65536 + (int64_t)pieces * (pieces + 1) / 2;
    return (uint64_t)info.st_size;
}

static struct ranged *ranged_of(const struct fixture *f)
{
    return f->store->files->ranged;
}

struct reader {
    struct fixture *f;
    uint64_t size_bytes;
    int64_t sum;
    pthread_t thread;
};

static bool read_sum(struct db *db, int64_t *sum, struct err *err)
{
    struct db_stmt st;
    /* Not from lengths alone, for which SQLite reads no blob. */
    db_prepare(&st, db, "SELECT count(*) + sum(length(hex(bytes)) / 2) + sum(id) FROM piece");
    *sum = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err);
}

static void *read_all(void *argument)
{
    struct reader *reader = argument;
    struct err err = ERR_INIT;
    struct db *db = NULL;
    if (ranged_open(ranged_of(reader->f), KEY, reader->size_bytes, &db, &err)) {
        (void)!read_sum(db, &reader->sum, &err);
        db_close(db);
    }
    return NULL;
}

static uint64_t blocks_of(uint64_t size_bytes)
{
    return (size_bytes + RANGED_BLOCK_BYTES - 1) / RANGED_BLOCK_BYTES;
}

static void a_block_is_fetched_once_by_all(void **state)
{
    struct fixture *f = *state;
    struct reader readers[THREADS];
    int64_t sum;
    uint64_t size_bytes = make_object(f, 160, &sum);
    assert_in_range(blocks_of(size_bytes), 10, RANGED_BLOCKS);
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){.f = f, .size_bytes = size_bytes};
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_all, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
        assert_int_equal(readers[i].sum, sum);
    }
    assert_int_equal(ranged_fetched(ranged_of(f)), blocks_of(size_bytes));
    assert_true(ranged_were_much(ranged_of(f), KEY, size_bytes));
}

static void little_is_fetched_for_a_row(void **state)
{
    struct fixture *f = *state;
    struct db *db;
    struct db_stmt st;
    int64_t sum;
    uint64_t size_bytes = make_object(f, 800, &sum);
    assert_true(blocks_of(size_bytes) > RANGED_BLOCKS);
    assert_ok(f, ranged_open(ranged_of(f), KEY, size_bytes, &db, &f->err));
    assert_true(ranged_has(db));
    db_prepare(&st, db, "SELECT length(bytes) FROM piece WHERE id = 400");
    assert_true(db_next(&st));
    assert_int_equal(db_get_int(&st), 65536);
    assert_ok(f, db_done(&st, &f->err));
    assert_in_range(ranged_fetched(ranged_of(f)), 2, 5);
    assert_false(ranged_were_much(ranged_of(f), KEY, size_bytes));
    assert_false(ranged_has_outgrown(ranged_of(f), db));
    /* More blocks than stand in memory. */
    int64_t found = 0;
    assert_ok(f, read_sum(db, &found, &f->err));
    assert_int_equal(found, sum);
    assert_true(ranged_has_outgrown(ranged_of(f), db));
    db_close(db);
}

static void objects_that_are_gone_are_said(void **state)
{
    struct fixture *f = *state;
    struct db *db;
    char path[TEST_PATH_BYTES + 64];
    int64_t sum;
    uint64_t size_bytes = make_object(f, 800, &sum);
    assert_ok(f, ranged_open(ranged_of(f), KEY, size_bytes, &db, &f->err));
    (void)snprintf(path, sizeof path, "%s/place/results/%.2s/%s.db", f->dir, KEY, KEY + 2);
    assert_int_equal(unlink(path), 0);
    assert_fails(f, read_sum(db, &sum, &f->err), ERR_STORE);
    db_close(db);
    assert_fails(f,
                 ranged_open(ranged_of(f), "ffff456789abcdef0123456789abcdef", 4096, &db, &f->err),
                 ERR_NOT_FOUND);
}

/* ---- in the store ---- */

static void drop_cache(struct fixture *f)
{
    char command[TEST_PATH_BYTES + 32];
    (void)snprintf(command, sizeof command, "rm -rf '%s/results'", f->dir);
    assert_int_equal(system(command), 0);
}

static int64_t trace_in_objects(struct fixture *f)
{
    int64_t id = add_trace(f, "run", "file", "worker", "1", "bytes");
    assert_int_equal(count_trace_files(f), 1);
    drop_cache(f);
    return id;
}

/* Whether the tables of the trace are read by ranges. */
static bool reads_by_ranges(struct fixture *f, int64_t trace_id)
{
    struct store_snapshot snapshot;
    struct db *db;
    struct db_stmt st;
    store_snapshot_init(&snapshot, f->store);
    assert_ok(f, store_snapshot_tables(&snapshot, trace_id, &db, &f->err));
    db_prepare(&st, db, "SELECT count(*) FROM sqlite_schema");
    assert_true(db_next(&st) && db_get_int(&st) > 0);
    assert_ok(f, db_done(&st, &f->err));
    bool is = ranged_has(db);
    store_snapshot_close(&snapshot);
    return is;
}

static void a_large_file_stays_where_it_is(void **state)
{
    struct fixture *f = *state;
    int64_t trace_id = trace_in_objects(f);
    f->store->files->whole_bytes = 0;
    assert_true(reads_by_ranges(f, trace_id));
    assert_int_equal(count_trace_files(f), 0);
    /* Of this one all was fetched by that: so the next fetches it as a whole. */
    assert_false(reads_by_ranges(f, trace_id));
    assert_int_equal(count_trace_files(f), 1);
}

static void a_small_one_is_fetched(void **state)
{
    struct fixture *f = *state;
    assert_false(reads_by_ranges(f, trace_in_objects(f)));
    assert_int_equal(count_trace_files(f), 1);
}

static void without_room_none_is_fetched(void **state)
{
    struct fixture *f = *state;
    int64_t trace_id = trace_in_objects(f);
    atomic_store(&f->store->files->no_room_until_ms, INT64_MAX);
    assert_true(reads_by_ranges(f, trace_id));
    assert_true(reads_by_ranges(f, trace_id));
    assert_int_equal(count_trace_files(f), 0);
    atomic_store(&f->store->files->no_room_until_ms, 0);
    assert_false(reads_by_ranges(f, trace_id));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_objects, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_block_is_fetched_once_by_all), TEST(little_is_fetched_for_a_row),
        TEST(objects_that_are_gone_are_said), TEST(a_large_file_stays_where_it_is),
        TEST(a_small_one_is_fetched),         TEST(without_room_none_is_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
