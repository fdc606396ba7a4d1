#include "ingest/store/catalogue/takeover.h"

#include "ingest/base/text/buf.h"
#include "ingest/store/schema/schema.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define SQL_BYTES ((size_t)16 << 10)

static bool
path_of(const struct store *store, const char *name, char out[STORE_PATH_BYTES], struct err *err)
{
    int len = snprintf(out, STORE_PATH_BYTES, "%s/%s", store->data_dir, name);
    return (len > 0 && len < STORE_PATH_BYTES) ||
           err_set(err, ERR_BAD_REQUEST, "the path of the data directory is too long");
}

static bool new_path(const struct store *store, char out[STORE_PATH_BYTES], struct err *err)
{
    return path_of(store, "kinetoscope-new.db", out, err);
}

static bool move(const char *from, const char *to, struct err *err)
{
    return rename(from, to) == 0 ||
           err_set_errno(err, ERR_IO, errno, "renaming %s to %s", from, to);
}

/* A crash may have done it already. */
static bool move_if_there(const char *from, const char *to, struct err *err)
{
    return access(from, F_OK) != 0 || move(from, to, err);
}

/* A database with the files that SQLite keeps beside it. */
static bool remove_database(const char *path, struct err *err)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char file[STORE_PATH_BYTES + 8];
        (void)snprintf(file, sizeof file, "%s%s", path, ends[i]);
        if (unlink(file) != 0 && errno != ENOENT) {
            return err_set_errno(err, ERR_IO, errno, "removing %s", file);
        }
    }
    return true;
}

bool takeover_recover(struct store *store, struct err *err)
{
    char path[STORE_PATH_BYTES];
    if (!new_path(store, path, err)) {
        return false;
    }
    if (access(path, F_OK) != 0) {
        return true;
    }
    return access(store->db_path, F_OK) == 0
               ? remove_database(path, err)
               : move(path, store->db_path, err) && store_sync_dir(store->data_dir, err);
}

/* ---- what is copied ---- */

/* Copies the columns that both versions have. `where` is a condition, or NULL. */
static bool copy_table(struct db *db, const char *table, const char *where, struct err *err)
{
    struct db_stmt st;
    struct buf sql;
    db_prepare(&st, db,
               "SELECT group_concat('\"' || name || '\"', ', ') FROM (SELECT name FROM"
               " pragma_table_info(?1, 'main') INTERSECT SELECT name FROM"
               " pragma_table_info(?1, 'old'))");
    db_put_text(&st, table);
    buf_init(&sql, SQL_BYTES);
    if (db_next(&st) && !db_get_is_null(&st)) {
        size_t len;
        const char *columns = db_peek_text(&st, &len);
        buf_printf(&sql, "INSERT INTO main.%s (%s) SELECT %s FROM old.%s WHERE %s", table, columns,
                   columns, table, where == NULL ? "true" : where);
    }
    bool ok = db_done(&st, err) &&
              (!sql.failed || err_set(err, ERR_NO_MEMORY, "no memory for a statement")) &&
              (sql.len == 0 || db_exec(db, sql.ptr, err));
    buf_free(&sql);
    return ok || err_context(err, "taking over the table %s", table);
}

static bool copy_comparisons(struct db *db, struct err *err)
{
    static const char *const tables[] = {
        "comparison_role",        "compared_trace",
        "comparison_environment", "comparison_text",
        "comparison_cycle",       "comparison_row",
        "comparison_finding",     "comparison_finding_metric",
        "comparison_appeared",
    };
    /* Those of uploaded reports come back with their uploads. */
    bool ok = copy_table(db, "comparison",
                         "state = 'there' AND trace_id IS NULL AND (group_id IS NULL OR group_id IN"
                         " (SELECT id FROM old.comparison WHERE state = 'there'"
                         " AND trace_id IS NULL)) ORDER BY group_id IS NOT NULL",
                         err);
    for (size_t i = 0; ok && i < sizeof tables / sizeof tables[0]; i++) {
        ok = copy_table(db, tables[i], "comparison_id IN (SELECT id FROM main.comparison)", err);
    }
    return ok;
}

/* The objects with the old files of results, if that version had some, are to be deleted. */
static bool delete_result_objects(struct db *db, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT 1 FROM pragma_table_info('results_file', 'old') WHERE name = 'is_object'");
    bool has_some = db_next(&st);
    return db_done(&st, err) &&
           (!has_some ||
            db_exec(db,
                    "INSERT OR IGNORE INTO main.object (key, state, since_s, sha256)"
                    " SELECT 'results/' || substr(key, 1, 2) || '/' || substr(key, 3) || '.db',"
                    " 'deleting', unixepoch(), sha256 FROM old.results_file WHERE is_object <> 0",
                    err));
}

static bool copy_catalogue(struct db *db, struct err *err)
{
    return copy_table(db, "run", NULL, err) &&
           db_exec(db, "UPDATE main.run SET newest_upload_id = 0, trace_id = 0", err) &&
           copy_table(db, "job", NULL, err) && copy_table(db, "job_failure", NULL, err) &&
           copy_table(db, "token", NULL, err) && copy_table(db, "session", NULL, err) &&
           copy_table(db, "taken_over", NULL, err) && copy_table(db, "deleted_trace", NULL, err) &&
           copy_table(db, "pinned_note", NULL, err) &&
           copy_table(db, "webhook_crossing", NULL, err) &&
           copy_table(db, "webhook_delivery", NULL, err) && copy_table(db, "object", NULL, err) &&
           delete_result_objects(db, err) && copy_comparisons(db, err);
}

/* Gives each visible upload its job back, and notes the ids of its traces; so too for what waits
 * since the last takeover. The next new trace gets an id that no older one had. */
static bool queue_uploads(struct db *db, int64_t version, struct err *err)
{
    char sql[1024];
    (void)snprintf(
        sql, sizeof sql,
        "INSERT OR IGNORE INTO taken_over (job_id, worker, span_digits, trace_id, note, tags)"
        " SELECT u.job_id, t.worker, t.span_digits, t.id, t.note, t.tags FROM old.trace AS t"
        " JOIN old.upload AS u ON u.id = t.upload_id AND u.published = 1"
        " WHERE t.%s IS NULL;"
        "UPDATE main.job SET state = 'queued', replace = 0, received_at_s = coalesce((SELECT"
        " uploaded_at_s FROM old.upload WHERE job_id = job.id AND published = 1), received_at_s)"
        " WHERE id IN (SELECT job_id FROM main.taken_over);"
        "INSERT INTO main.sqlite_sequence (name, seq)"
        " SELECT name, seq FROM old.sqlite_sequence WHERE name = 'trace'",
        version < 13 ? "plugin_of" : "derived_of");
    return db_exec(db, sql, err);
}

static bool fail_job(struct db *db, int64_t job_id, int64_t version, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "UPDATE main.job SET state = 'failed', received_at_s = unixepoch(), error_code ="
               " 'gone', error_message = 'the bytes of this upload were not kept, so that this"
               " version cannot analyse them again; upload the file again. Its old results are in"
               " kinetoscope-schema-' || ? || '.db' WHERE id = ?");
    db_put_int(&st, version);
    db_put_int(&st, job_id);
    return db_run(&st, err) &&
           db_run_id(db, "DELETE FROM main.taken_over WHERE job_id = ?", job_id, err);
}

static bool is_object(struct db *db, const char *sha256_hex, bool *found, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT EXISTS (SELECT 1 FROM main.object WHERE sha256 = ?"
               " AND state IN ('live', 'dying'))");
    db_put_text(&st, sha256_hex);
    *found = db_next(&st) && db_get_bool(&st);
    return db_done(&st, err);
}

static bool fail_without_bytes(struct store *store, struct db *db, int64_t version, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    db_prepare(&st, db,
               "SELECT id, sha256 FROM main.job WHERE id IN (SELECT job_id FROM main.taken_over)");
    while (ok && db_next(&st)) {
        char path[STORE_PATH_BYTES];
        size_t len;
        bool found = false;
        int64_t job_id = db_get_int(&st);
        const char *sha256_hex = db_peek_text(&st, &len);
        ok = store_blob_file_path(store, sha256_hex, path, err) &&
             is_object(db, sha256_hex, &found, err) &&
             (found || access(path, F_OK) == 0 || fail_job(db, job_id, version, err));
    }
    return db_done(&st, ok ? err : &second) && ok;
}

/* ---- the new database ---- */

static bool fill(struct store *store, struct db *db, int64_t version, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "ATTACH ? AS old");
    db_put_text(&st, store->db_path);
    if (!db_run(&st, err) || !db_begin(db, err)) {
        return false;
    }
    bool ok = schema_create(db, err) && copy_catalogue(db, err) &&
              queue_uploads(db, version, err) && fail_without_bytes(store, db, version, err);
    return db_end(db, ok, err) && db_exec(db, "DETACH old", err) && db_checkpoint(db, err);
}

static bool make_new(struct store *store, const char *path, int64_t version, struct err *err)
{
    struct db *db;
    if (!db_open(&db, path, DB_WRITER, err)) {
        return false;
    }
    bool ok = fill(store, db, version, err);
    db_close(db);
    return ok;
}

/* Afterwards the database is one file. */
static bool empty_log(const char *path, struct err *err)
{
    struct db *db;
    if (!db_open(&db, path, DB_WRITER, err)) {
        return false;
    }
    bool ok = db_checkpoint(db, err);
    db_close(db);
    return ok;
}

bool takeover_run(struct store *store, int64_t version, struct err *err)
{
    char path[STORE_PATH_BYTES];
    char aside[STORE_PATH_BYTES];
    char name[64];
    (void)snprintf(name, sizeof name, "kinetoscope-schema-%lld.db", (long long)version);
    if (!path_of(store, name, aside, err) || !new_path(store, path, err)) {
        return false;
    }
    if (access(aside, F_OK) == 0) {
        return err_set(err, ERR_CONFLICT,
                       "the database is of an older version and would be kept as %s, but there is"
                       " such a file already; move it elsewhere, then start again",
                       aside);
    }
    char results[STORE_PATH_BYTES];
    char results_aside[STORE_PATH_BYTES];
    (void)snprintf(name, sizeof name, "results-schema-%lld", (long long)version);
    if (!path_of(store, "results", results, err) || !path_of(store, name, results_aside, err)) {
        return false;
    }
    log_write(
        store->log, LOG_INFO,
        "the database has schema %lld: its uploads are analysed again; it stays as %s, and the"
        " files of its traces beside it, until you remove them",
        (long long)version, aside);
    return empty_log(store->db_path, err) && make_new(store, path, version, err) &&
           move_if_there(results, results_aside, err) && move(store->db_path, aside, err) &&
           move(path, store->db_path, err) && store_sync_dir(store->data_dir, err);
}
