/* The file with the events of a trace, from outside: tests look into it and damage it. */
#ifndef KS_TESTS_UNIT_INGEST_STORE_TRACE_FILE_H
#define KS_TESTS_UNIT_INGEST_STORE_TRACE_FILE_H

#include "ingest/store/files/paths.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <glob.h>

/* From here on small traces have files of their own, too, from their first row on. */
static inline void keep_files_apart(const struct fixture *f)
{
    f->store->files->in_row_bytes = 0;
    f->store->files->in_memory_bytes = 0;
}

static inline int set_up_store_of_files(void **state)
{
    int failed = set_up_store(state);
    if (failed == 0) {
        keep_files_apart(*state);
    }
    return failed;
}

#define PUBLISHED_FILES "results/*/*.db"
#define INCOMING_FILES "incoming/*.db"

static inline void find_files(const struct fixture *f, const char *kind, glob_t *found)
{
    char pattern[TEST_PATH_BYTES + 32];
    (void)snprintf(pattern, sizeof pattern, "%s/%s", f->dir, kind);
    (void)glob(pattern, 0, NULL, found);
}

static inline size_t count_files(const struct fixture *f, const char *kind)
{
    glob_t found;
    find_files(f, kind, &found);
    size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

static inline size_t count_incoming_files(const struct fixture *f)
{
    return count_files(f, INCOMING_FILES);
}

/* Files of traces in the data directory, published or not. */
static inline size_t count_trace_files(const struct fixture *f)
{
    return count_files(f, PUBLISHED_FILES) + count_incoming_files(f);
}

/* Of the only file of this kind, which the store opens anew when it next reads. */
static inline struct db *open_only_file(struct fixture *f, const char *kind)
{
    struct db *db = NULL;
    glob_t found;
    char key[RESULTS_KEY_BYTES];
    find_files(f, kind, &found);
    assert_int_equal(found.gl_pathc, 1);
    const char *name = strrchr(found.gl_pathv[0], '/');
    (void)snprintf(key, sizeof key, "%.2s%.30s", name - 2, name + 1);
    results_files_forget(f->store->files, key);
    assert_ok(f, db_open(&db, found.gl_pathv[0], DB_MAKER, &f->err));
    globfree(&found);
    return db;
}

/* The only one that is published. */
static inline struct db *open_trace_file(struct fixture *f)
{
    return open_only_file(f, PUBLISHED_FILES);
}

static inline void change_trace_file(struct fixture *f, const char *sql)
{
    struct db *db = open_trace_file(f);
    assert_ok(f, db_exec(db, sql, &f->err));
    db_close(db);
}

static inline int64_t number_of_file(struct fixture *f, struct db *db, const char *sql)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    int64_t value = db_next(&st) ? db_get_int(&st) : -1;
    assert_ok(f, db_done(&st, &f->err));
    db_close(db);
    return value;
}

static inline int64_t trace_file_number(struct fixture *f, const char *sql)
{
    return number_of_file(f, open_trace_file(f), sql);
}

/* The sum over all that are published. */
static inline int64_t files_number(struct fixture *f, const char *sql)
{
    int64_t sum = 0;
    glob_t found;
    find_files(f, PUBLISHED_FILES, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct db *db;
        assert_ok(f, db_open(&db, found.gl_pathv[i], DB_IMMUTABLE, &f->err));
        sum += number_of_file(f, db, sql);
    }
    globfree(&found);
    return sum;
}

/* Of the only one that is not published. */
static inline int64_t incoming_number(struct fixture *f, const char *sql)
{
    return number_of_file(f, open_only_file(f, INCOMING_FILES), sql);
}

#endif
