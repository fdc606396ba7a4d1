/* The tables of a trace as a file. */
#include "ingest/store/results_files.h"
#include "ingest/store/sql/tables.h"
#include "ingest/store/store_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool attach(struct db *out, const char *path, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, out, "ATTACH ? AS file");
    db_put_text(&st, path);
    return db_run(&st, err) &&
           db_exec(out, "PRAGMA file.journal_mode = OFF; PRAGMA file.synchronous = OFF", err);
}

static bool
copy_tables(struct db *out, struct store_snapshot *snapshot, int64_t trace_id, struct err *err)
{
    struct db *db;
    struct db *file;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    bool ok = store_check_trace(db, trace_id, err) &&
              store_snapshot_tables(snapshot, trace_id, &file, err) && db_exec(out, "BEGIN", err) &&
              sql_tables_create(out, "file", err);
    for (size_t i = 0; ok && i < sql_tables_count(); i++) {
        ok = sql_tables_fill(out, "file", i, file, err);
    }
    return ok && db_exec(out, "COMMIT", err);
}

static bool
write_file(struct store_snapshot *snapshot, int64_t trace_id, const char *path, struct err *err)
{
    struct db *out;
    if (!db_open(&out, ":memory:", DB_WRITER, err)) {
        return false;
    }
    bool ok = attach(out, path, err) && copy_tables(out, snapshot, trace_id, err);
    db_close(out);
    return ok;
}

bool store_sql_export(struct store_snapshot *snapshot, int64_t trace_id, int *fd, struct err *err)
{
    char path[STORE_PATH_BYTES];
    /* In incoming/, which every start empties. */
    int len = snprintf(path, sizeof path, "%s/incoming/results-XXXXXX", snapshot->store->data_dir);
    if (len < 0 || (size_t)len >= sizeof path) {
        return err_set(err, ERR_IO, "a path in the data directory is too long");
    }
    *fd = mkstemp(path);
    if (*fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "creating %s", path);
    }
    bool ok = write_file(snapshot, trace_id, path, err);
    (void)unlink(path);
    if (!ok) {
        (void)close(*fd);
    }
    return ok;
}
