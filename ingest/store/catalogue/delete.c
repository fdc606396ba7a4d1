/* Deleting what is visible: one durable transaction takes the uploads away, which makes their
 * traces invisible; rows and blobs follow. */
#include "ingest/store/catalogue/retention.h"
#include "ingest/store/history/points.h"
#include "ingest/store/internal.h"
#include "ingest/store/runs/run_figures.h"

/* A failure here is not the client's: what is left is invisible and goes at the next start, as does
 * what is left once `stop` (NULL: never) is set. */
static void clean_up(struct store *store,
                     const char *const *sha256_hexes,
                     size_t count,
                     const _Atomic bool *stop)
{
    struct err err = ERR_INIT;
    for (size_t i = 0; i < count && (stop == NULL || !atomic_load(stop)); i++) {
        if (!store_blob_drop(store, sha256_hexes[i], &err)) {
            log_write(store->log, LOG_WARN, "a raw file stays until the next start: %s", err.msg);
        }
    }
    if (!store_purge_until(store, stop, &err)) {
        log_write(store->log, LOG_WARN, "removed rows stay until the next start: %s", err.msg);
    }
}

/* Hashes of the uploads that `sql` finds for its one parameter. */
static bool read_hashes(struct db *db,
                        const char *sql,
                        int64_t id,
                        struct arena *arena,
                        const char ***hashes,
                        size_t *count,
                        struct err *err)
{
    struct db_stmt st;
    size_t cap = 0;
    *hashes = NULL;
    *count = 0;
    db_prepare(&st, db, sql);
    db_put_int(&st, id);
    while (db_next(&st)) {
        const char **grown = arena_grow(arena, *hashes, *count, &cap, sizeof *grown);
        if (grown == NULL) {
            db_fail_memory(&st);
            break;
        }
        grown[(*count)++] = db_get_text(&st, arena);
        *hashes = grown;
    }
    return db_done(&st, err);
}

/* Uploads that are analysed again do not come back: `which` selects their jobs, by its one
 * parameter. */
#define END_AGAIN(which)                                                                           \
    "UPDATE job SET state = 'failed', error_code = 'gone', error_message = 'its upload was"        \
    " deleted while it was analysed again' WHERE state IN ('queued', 'running') AND id IN (" which \
    ")"
#define FORGET_AGAIN(which) "DELETE FROM taken_over WHERE job_id IN (" which ")"

#define JOBS_OF_RUN "SELECT job_id FROM upload WHERE published = 1 AND run_id = ?"
#define UPLOAD_OF_LAST_TRACE                                                                    \
    "SELECT u.job_id FROM upload AS u WHERE u.id = (SELECT upload_id FROM trace WHERE id = ?1)" \
    " AND NOT EXISTS (SELECT 1 FROM trace AS t WHERE t.upload_id = u.id AND t.id <> ?1"         \
    " AND (t.derived_of IS NULL OR t.derived_of <> ?1))"

/* An upload that is being written keeps its run, which then begins anew. */
static bool delete_run_rows(struct db *db, int64_t run_id, struct err *err)
{
    return series_points_drop(db, run_id, err) &&
           db_run_id(db, END_AGAIN(JOBS_OF_RUN), run_id, err) &&
           db_run_id(db, FORGET_AGAIN(JOBS_OF_RUN), run_id, err) &&
           db_run_id(db, "DELETE FROM upload WHERE published = 1 AND run_id = ?", run_id, err) &&
           db_run_id(db, "UPDATE run SET note = '', tags = '[]', pinned = 0 WHERE id = ?", run_id,
                     err) &&
           run_figures_forget(db, run_id, err) &&
           db_run_id(db,
                     "DELETE FROM run WHERE id = ?1"
                     " AND NOT EXISTS (SELECT 1 FROM upload WHERE run_id = ?1)",
                     run_id, err);
}

/* Uploads of the run that can be seen, gone when they are any. */
static bool delete_run(struct db *db,
                       const char *name,
                       struct arena *arena,
                       const char ***hashes,
                       size_t *count,
                       struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT id FROM run WHERE name = ?");
    db_put_text(&st, name);
    int64_t run_id = db_next(&st) ? db_get_int(&st) : 0;
    return db_done(&st, err) &&
           read_hashes(db, "SELECT sha256 FROM upload WHERE run_id = ? AND published = 1", run_id,
                       arena, hashes, count, err) &&
           (*count == 0 || delete_run_rows(db, run_id, err));
}

bool store_run_delete(struct store *store, const char *name, struct err *err)
{
    struct arena arena;
    const char **hashes = NULL;
    size_t count = 0;
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    arena_init(&arena, 0);
    bool ok = delete_run(store->writer, name, &arena, &hashes, &count, err);
    if (ok && count == 0) {
        ok = err_set(err, ERR_NOT_FOUND,
                     "Run \"%s\" not found: it may have been deleted or renamed", name);
    }
    ok = store_write_end(store, ok, err);
    if (ok) {
        clean_up(store, hashes, count, NULL);
    }
    arena_free(&arena);
    return ok;
}

/* Whether the run still is what it was when it was chosen. */
static bool
may_still_go(struct db *db, const struct retention_run *run, bool *may_go, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT r.pinned = 0 AND max(u.id) = ?2 AND min(u.published) = 1"
               " AND r.name NOT IN (SELECT run FROM job WHERE state IN ('queued', 'running'))"
               " FROM run AS r JOIN upload AS u ON u.run_id = r.id WHERE r.name = ?1"
               " GROUP BY r.id");
    db_put_text(&st, run->name);
    db_put_int(&st, run->newest_upload_id);
    *may_go = db_next(&st) && db_get_bool(&st);
    return db_done(&st, err);
}

bool store_retention_remove(struct store *store,
                            const struct retention_run *run,
                            const _Atomic bool *stop,
                            bool *removed,
                            struct err *err)
{
    struct arena arena;
    const char **hashes = NULL;
    size_t count = 0;
    bool may_go = false;
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    arena_init(&arena, 0);
    bool ok = may_still_go(store->writer, run, &may_go, err);
    ok = ok && (!may_go || delete_run(store->writer, run->name, &arena, &hashes, &count, err));
    ok = store_write_end(store, ok, err);
    *removed = ok && may_go;
    if (*removed) {
        clean_up(store, hashes, count, stop);
    }
    arena_free(&arena);
    return ok;
}

/* The upload goes with its last trace, the run with its last upload. */
static bool delete_trace_rows(struct db *db, int64_t id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT u.id, u.run_id FROM trace AS t JOIN upload AS u ON u.id = t.upload_id"
               " WHERE t.id = ?");
    db_put_int(&st, id);
    bool found = db_next(&st);
    int64_t upload_id = found ? db_get_int(&st) : 0;
    int64_t run_id = found ? db_get_int(&st) : 0;
    return db_done(&st, err) && run_figures_count(db, upload_id, id, RUN_TRACES_GO, err) &&
           db_run_id(db, END_AGAIN(UPLOAD_OF_LAST_TRACE), id, err) &&
           db_run_id(db, FORGET_AGAIN(UPLOAD_OF_LAST_TRACE), id, err) &&
           db_run_id(db,
                     "INSERT INTO deleted_trace (job_id, worker, span_digits) SELECT u.job_id,"
                     " t.worker, t.span_digits FROM trace AS t JOIN upload AS u ON"
                     " u.id = t.upload_id WHERE t.id = ? ON CONFLICT DO NOTHING",
                     id, err) &&
           db_run_id(db,
                     "DELETE FROM upload WHERE id = (SELECT upload_id FROM trace WHERE id = ?1)"
                     " AND NOT EXISTS (SELECT 1 FROM trace WHERE upload_id = upload.id AND id <> ?1"
                     " AND (derived_of IS NULL OR derived_of <> ?1))",
                     id, err) &&
           db_run_id(db, "UPDATE trace SET upload_id = NULL WHERE id = ?1 OR derived_of = ?1", id,
                     err) &&
           run_figures_renew(db, run_id, err) && series_points_refresh(db, run_id, err) &&
           db_run_id(db, STORE_DELETE_RUN_IF_EMPTY, run_id, err);
}

bool store_trace_delete(struct store *store, int64_t id, struct err *err)
{
    struct arena arena;
    const char **hashes = NULL;
    size_t count = 0;
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    arena_init(&arena, 0);
    bool ok = store_check_trace(store->writer, id, err) &&
              read_hashes(store->writer,
                          "SELECT u.sha256 FROM trace AS t JOIN upload AS u ON u.id = t.upload_id"
                          " WHERE t.id = ?",
                          id, &arena, &hashes, &count, err) &&
              delete_trace_rows(store->writer, id, err);
    ok = store_write_end(store, ok, err);
    if (ok) {
        clean_up(store, hashes, count, NULL);
    }
    arena_free(&arena);
    return ok;
}
