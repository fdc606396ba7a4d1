/* What of an archive could not be read, kept with its job. */
#include "ingest/store/nodes/leases.h"

static bool add_failure(struct db *db,
                        int64_t id,
                        size_t position,
                        const struct store_job_failure *failure,
                        struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO job_failure (job_id, position, member, error_code, error_offset,"
               " error_message) VALUES (?, ?, ?, ?, ?, ?)");
    db_put_int(&st, id);
    db_put_int(&st, (int64_t)position);
    db_put_text(&st, failure->member);
    db_put_text(&st, err_code_text(failure->error.code));
    uint64_t offset = failure->error.byte_off;
    db_put_optional(&st, offset == ERR_NO_OFFSET ? INT64_MIN : (int64_t)offset);
    db_put_text(&st, failure->error.msg);
    return db_run(&st, err);
}

bool store_job_set_failures(struct store *store,
                            int64_t id,
                            const struct store_job_failure *failures,
                            size_t count,
                            struct err *err)
{
    /* Published or failed after this, durably: that takes this along. */
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    struct db *db = store->writer;
    bool ok = lease_hold(store, id, err) &&
              db_run_id(db, "DELETE FROM job_failure WHERE job_id = ?", id, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = add_failure(db, id, i, &failures[i], err);
    }
    return store_write_end(store, ok, err);
}

static bool count_failures(struct db *db, int64_t id, size_t *count, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT count(*) FROM job_failure WHERE job_id = ?");
    db_put_int(&st, id);
    *count = db_next(&st) ? (size_t)db_get_int(&st) : 0;
    return db_done(&st, err);
}

static bool read_failure(struct db_stmt *st, struct arena *arena, struct store_job_failure *failure)
{
    size_t len;
    failure->error = (struct err)ERR_INIT;
    failure->member = db_get_text(st, arena);
    enum err_code code = store_error_code_of(db_peek_text(st, &len));
    uint64_t offset = db_get_is_null(st) ? ERR_NO_OFFSET : 0;
    offset |= (uint64_t)db_get_int(st);
    const char *message = db_peek_text(st, &len);
    (void)err_set_at(&failure->error, code, offset, "%s", message == NULL ? "" : message);
    return failure->member != NULL;
}

static bool read_failures(struct db *db,
                          struct arena *arena,
                          int64_t id,
                          struct store_job_failure **failures,
                          size_t *count,
                          struct err *err)
{
    size_t rows;
    if (!count_failures(db, id, &rows, err)) {
        return false;
    }
    *failures = arena_calloc(arena, rows, sizeof **failures);
    if (*failures == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the failures of a job");
    }
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT member, error_code, error_offset, error_message FROM job_failure"
               " WHERE job_id = ? ORDER BY position");
    db_put_int(&st, id);
    while (*count < rows && db_next(&st) && read_failure(&st, arena, &(*failures)[*count])) {
        (*count)++;
    }
    return db_done(&st, err);
}

bool store_job_failures(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t id,
                        struct store_job_failure **failures,
                        size_t *count,
                        struct err *err)
{
    struct db *db;
    *count = 0;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    return read_failures(db, arena, id, failures, count, err);
}
