/* Figures of a stored trace by other rules than ours: a trace row of their own, `derived_of` the
 * trace. Until they are whole they hang on an upload row that is never published, so that nobody
 * sees them and a start after a crash removes them like any unfinished upload. */
#include "ingest/store/results/ingest_rows.h"
#include "ingest/store/schema/schema.h"

static bool insert_upload(struct db *db, int64_t trace_id, int64_t *id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO upload (run_id, job_id, file_name, sha256, size_bytes, uploaded_at_s)"
               " SELECT run_id, job_id, file_name, sha256, size_bytes, uploaded_at_s FROM upload"
               " WHERE id = (SELECT upload_id FROM trace WHERE id = ?) AND analysis_version <= ?"
               " RETURNING id");
    db_put_int(&st, trace_id);
    db_put_int(&st, ANALYSIS_VERSION);
    return db_run_returning(&st, id, err) &&
           (*id != 0 || err_set(err, ERR_UNAVAILABLE,
                                "a newer program has analysed this trace: this server waits for "
                                "its upgrade; try again later"));
}

static bool begin(struct store *store, int64_t trace_id, int64_t *upload_id, struct err *err)
{
    struct db *db = store->writer;
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    bool ok = store_check_trace(db, trace_id, err) && insert_upload(db, trace_id, upload_id, err);
    return store_write_end(store, ok, err);
}

/* The trace row is copied from the one whose figures these are, but for what the results say. */
static bool insert_row(struct store *store,
                       int64_t trace_id,
                       int64_t upload_id,
                       const struct trace_results *results,
                       int64_t *id,
                       struct err *err)
{
    struct db *db = store->writer;
    struct arena arena;
    struct trace_place place = {.upload_id = upload_id, .derived_of = trace_id};
    struct db_stmt st;
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    arena_init(&arena, 0);
    db_prepare(&st, db, "SELECT worker, span_digits, format FROM trace WHERE id = ?");
    db_put_int(&st, trace_id);
    bool found = db_next(&st);
    if (found) {
        place.worker = db_get_text(&st, &arena);
        place.span_digits = db_get_text(&st, &arena);
        place.format = db_get_text(&st, &arena);
    }
    bool ok = db_done(&st, err) &&
              (found || err_set(err, ERR_NOT_FOUND, "the trace was removed meanwhile")) &&
              ingest_rows_trace(store, &place, results, id, err);
    arena_free(&arena);
    return store_write_end(store, ok, err);
}

static bool publish_rows(struct store *store,
                         const struct results_file *file,
                         int64_t trace_id,
                         int64_t upload_id,
                         int64_t id,
                         struct err *err)
{
    struct db *db = store->writer;
    struct db_stmt st;
    db_prepare(&st, db,
               "UPDATE trace SET upload_id = (SELECT upload_id FROM trace WHERE id = ?2)"
               " WHERE id = ?1 AND upload_id = ?3");
    db_put_int(&st, id);
    db_put_int(&st, trace_id);
    db_put_int(&st, upload_id);
    return store_check_trace(db, trace_id, err) && db_run(&st, err) &&
           (db_changes(db) == 1 ||
            err_set(err, ERR_NOT_FOUND, "the trace was removed meanwhile")) &&
           db_run_id(db, "DELETE FROM upload WHERE id = ?", upload_id, err) &&
           results_file_publish(file, id, RESULTS_EVENTS, err);
}

static bool publish(struct store *store,
                    struct results_file *file,
                    int64_t trace_id,
                    int64_t upload_id,
                    int64_t id,
                    struct err *err)
{
    return results_file_seal(file, err) && results_files_sync(&file, 1, err) &&
           store_write_begin(store, STORE_DURABLE, err) &&
           store_write_end(store, publish_rows(store, file, trace_id, upload_id, id, err), err);
}

/* While the upload row stood it kept run and blob of a trace that was deleted meanwhile. */
static bool delete_upload(struct store *store,
                          int64_t upload_id,
                          struct arena *arena,
                          const char **sha256,
                          struct err *err)
{
    struct db *db = store->writer;
    struct db_stmt st;
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    db_prepare(&st, db, "SELECT sha256 FROM upload WHERE id = ?");
    db_put_int(&st, upload_id);
    *sha256 = db_next(&st) ? db_get_text(&st, arena) : NULL;
    bool ok = db_done(&st, err) &&
              db_run_id(db, "DELETE FROM upload WHERE id = ?", upload_id, err) &&
              db_exec(db, STORE_DELETE_EMPTY_RUNS, err);
    return store_write_end(store, ok, err);
}

static void give_up(struct store *store, int64_t upload_id)
{
    struct err err = ERR_INIT;
    struct arena arena;
    const char *sha256 = NULL;
    arena_init(&arena, 0);
    bool ok = delete_upload(store, upload_id, &arena, &sha256, &err) &&
              (sha256 == NULL || store_blob_drop(store, sha256, &err)) && store_purge(store, &err);
    arena_free(&arena);
    if (!ok) {
        log_write(store->log, LOG_WARN, "unfinished figures stay until the next start: %s",
                  err.msg);
    }
}

bool store_derived_write(struct store *store,
                         int64_t trace_id,
                         const struct trace_results *results,
                         int64_t *derived_id,
                         struct err *err)
{
    int64_t upload_id = 0;
    struct results_file *file;
    if (!results_file_create(store, &file, err)) {
        return false;
    }
    if (!ingest_rows_write(file, results, err) || !begin(store, trace_id, &upload_id, err)) {
        results_file_discard(file);
        return false;
    }
    bool ok = insert_row(store, trace_id, upload_id, results, derived_id, err) &&
              ingest_rows_comparison(store, *derived_id, results, err) &&
              publish(store, file, trace_id, upload_id, *derived_id, err);
    if (!ok) {
        results_file_discard(file);
        give_up(store, upload_id);
        return false;
    }
    results_file_keep(file);
    return true;
}
