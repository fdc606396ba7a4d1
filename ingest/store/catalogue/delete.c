/* Deleting what is visible: one durable transaction takes the uploads away, which makes their
 * traces invisible; rows and blobs follow. */
#include "ingest/store/catalogue/retention.h"
#include "ingest/store/internal.h"

#include <string.h>

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
                        const char *name,
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
    if (name != NULL) {
        db_put_text(&st, name);
    } else {
        db_put_int(&st, id);
    }
    while (db_next(&st)) {
        if (*count == cap) {
            cap = cap == 0 ? 8 : cap * 2;
            const char **grown = arena_calloc(arena, cap, sizeof *grown);
            if (grown == NULL) {
                db_fail_memory(&st);
                break;
            }
            if (*count > 0) {
                memcpy(grown, *hashes, *count * sizeof *grown);
            }
            *hashes = grown;
        }
        (*hashes)[(*count)++] = db_get_text(&st, arena);
    }
    return db_done(&st, err);
}

/* An upload that is being written keeps its run, which then begins anew. */
static bool delete_run_rows(struct db *db, const char *name, struct err *err)
{
    return db_run_text(db,
                       "DELETE FROM upload WHERE published = 1"
                       " AND run_id = (SELECT id FROM run WHERE name = ?)",
                       name, err) &&
           db_run_text(db, "UPDATE run SET note = '', tags = '[]', pinned = 0 WHERE name = ?", name,
                       err) &&
           db_run_text(db,
                       "DELETE FROM run WHERE name = ? AND id NOT IN (SELECT run_id FROM upload)",
                       name, err);
}

/* Uploads of the run that can be seen, gone when they are any. */
static bool delete_run(struct db *db,
                       const char *name,
                       struct arena *arena,
                       const char ***hashes,
                       size_t *count,
                       struct err *err)
{
    return read_hashes(db,
                       "SELECT u.sha256 FROM upload AS u JOIN run AS r ON r.id = u.run_id"
                       " WHERE r.name = ? AND u.published = 1",
                       name, 0, arena, hashes, count, err) &&
           (*count == 0 || delete_run_rows(db, name, err));
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
    return db_run_id(db,
                     "DELETE FROM upload WHERE id = (SELECT upload_id FROM trace WHERE id = ?1)"
                     " AND NOT EXISTS (SELECT 1 FROM trace WHERE upload_id = upload.id AND id <> ?1"
                     " AND derived_of IS NOT ?1)",
                     id, err) &&
           db_run_id(db, "UPDATE trace SET upload_id = NULL WHERE id = ?1 OR derived_of = ?1", id,
                     err) &&
           db_exec(db, STORE_DELETE_EMPTY_RUNS, err);
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
                          NULL, id, &arena, &hashes, &count, err) &&
              delete_trace_rows(store->writer, id, err);
    ok = store_write_end(store, ok, err);
    if (ok) {
        clean_up(store, hashes, count, NULL);
    }
    arena_free(&arena);
    return ok;
}
