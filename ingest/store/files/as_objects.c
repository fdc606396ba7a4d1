/* Files of results as objects: put before they are named, fetched when they are not here. */
#include "ingest/base/files/file_remove.h"
#include "ingest/base/monotonic.h"
#include "ingest/base/thread.h"
#include "ingest/store/files/paths.h"
#include "ingest/store/objects/blob_objects_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of an archive, so many at once. */
#define PUTS_AT_ONCE 4u
#define PIECE_BYTES ((size_t)256 << 10)

void results_object_key(const char *key, char out[OBJECT_KEY_BYTES])
{
    (void)snprintf(out, OBJECT_KEY_BYTES, "results/%.2s/%s.db", key, key + 2);
}

/* ---- rows ---- */

struct batch {
    struct store *store;
    const struct results_put *puts;
    size_t count;
    _Atomic size_t next;
    atomic_bool has_failed;
    struct err err; /* of the first that failed */
};

static bool insert_writing(struct db *db, void *context, struct err *err)
{
    const struct batch *batch = context;
    bool ok = true;
    for (size_t i = 0; ok && i < batch->count; i++) {
        char key[OBJECT_KEY_BYTES];
        results_object_key(batch->puts[i].key, key);
        ok = blob_objects_note_writing(db, key, batch->store->node, err);
    }
    return ok;
}

bool results_object_name(struct db *db, const char *key, struct err *err)
{
    char name[OBJECT_KEY_BYTES];
    results_object_key(key, name);
    return db_run_text(db, "DELETE FROM object WHERE key = ? AND state = 'writing'", name, err) &&
           (db_changes(db) == 1 ||
            err_set(err, ERR_UNAVAILABLE, "the object with the results was given up meanwhile"));
}

void results_object_give_up(struct store *store, const char *key)
{
    char name[OBJECT_KEY_BYTES];
    struct err err = ERR_INIT;
    results_object_key(key, name);
    if (!blob_objects_change(store, blob_objects_give_up, name, &err)) {
        log_write(store->log, LOG_WARN, "an unfinished object stays until the next start: %s",
                  err.msg);
    }
}

bool results_object_delete(struct db *db, const char *key, const char *sha256_hex, struct err *err)
{
    char name[OBJECT_KEY_BYTES];
    struct db_stmt st;
    results_object_key(key, name);
    db_prepare(&st, db,
               "INSERT INTO object (key, state, since_s, sha256) VALUES (?, 'deleting', " DB_CLOCK_S
               ", ?)");
    db_put_text(&st, name);
    db_put_clock(&st);
    db_put_text(&st, sha256_hex);
    return db_run(&st, err);
}

/* ---- putting ---- */

static bool send_file(struct object_put *put, int fd, char *piece, struct err *err)
{
    for (;;) {
        ssize_t got = read(fd, piece, PIECE_BYTES);
        if (got == 0) {
            return true;
        }
        if (got < 0 && errno != EINTR) {
            return err_set_errno(err, ERR_IO, errno, "reading a file of results");
        }
        if (got > 0 && !object_put_write(put, piece, (size_t)got, err)) {
            return false;
        }
    }
}

static bool
put_bytes(struct objects *objects, const struct results_put *file, char *piece, struct err *err)
{
    char key[OBJECT_KEY_BYTES];
    struct object_put *put;
    struct object_info info;
    results_object_key(file->key, key);
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "opening %s", file->path);
    }
    bool ok = object_put_begin(objects, key, &put, err);
    if (ok && !send_file(put, fd, piece, err)) {
        object_put_abort(put);
        ok = false;
    } else if (ok) {
        ok = object_put_finish(put, &info, err);
    }
    (void)close(fd);
    return ok;
}

static void *run_puts(void *argument)
{
    struct batch *batch = argument;
    struct err err = ERR_INIT;
    char *piece = malloc(PIECE_BYTES);
    bool ok = piece != NULL || err_set(&err, ERR_NO_MEMORY, "no memory to store a trace");
    while (ok && !atomic_load(&batch->has_failed)) {
        size_t at = atomic_fetch_add(&batch->next, 1);
        if (at >= batch->count) {
            break;
        }
        ok = put_bytes(batch->store->objects->objects, &batch->puts[at], piece, &err);
    }
    free(piece);
    if (!ok && !atomic_exchange(&batch->has_failed, true)) {
        batch->err = err;
    }
    return NULL;
}

/* On threads of their own: requests need more than a request thread's stack has left. */
static bool run_batch(struct batch *batch, struct err *err)
{
    pthread_t threads[PUTS_AT_ONCE];
    size_t started = 0;
    while (started < PUTS_AT_ONCE && started < batch->count &&
           thread_start(&threads[started], run_puts, batch) == 0) {
        started++;
    }
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    if (started == 0) {
        return err_set(err, ERR_NO_MEMORY, "no resources to keep results");
    }
    bool ok = !atomic_load(&batch->has_failed);
    if (!ok) {
        *err = batch->err;
    }
    blob_objects_note(batch->store, ok ? NULL : err);
    return ok || err_context(err, "keeping the results failed");
}

bool results_objects_put(struct store *store,
                         const struct results_put *puts,
                         size_t count,
                         struct err *err)
{
    struct batch batch = {.store = store, .puts = puts, .count = count, .err = ERR_INIT};
    return blob_objects_change(store, insert_writing, &batch, err) && run_batch(&batch, err);
}

/* ---- fetching ---- */

static bool fetch_here(struct store *store,
                       const char *key,
                       const struct results_row *row,
                       const char *path,
                       struct err *err)
{
    char name[OBJECT_KEY_BYTES];
    results_object_key(key, name);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "creating %s", path);
    }
    bool ok = blob_objects_get(store->objects->objects, name, row->sha256_hex, fd, err);
    (void)close(fd);
    ok = ok && results_move_in(store, path, key, err);
    if (!ok) {
        (void)unlink(path);
        return false;
    }
    results_note_checked(store->files, key);
    atomic_fetch_add(&store->files->cached_bytes, row->size_bytes);
    return true;
}

/* Removes what a damaged disk has left. */
static bool
clear_place(struct store *store, const char *key, const struct results_row *row, struct err *err)
{
    char path[STORE_PATH_BYTES];
    bool is_whole = false;
    if (!results_path(store, key, path, err)) {
        return false;
    }
    if (access(path, F_OK) != 0) {
        return true;
    }
    if (!results_check(store->files, key, path, row, &is_whole, err)) {
        return false;
    }
    if (!is_whole && unlink(path) == 0) {
        atomic_fetch_sub(&store->files->cached_bytes, row->size_bytes);
        log_write(store->log, LOG_WARN, "the disk has damaged %s, which is fetched again", path);
    }
    return true;
}

/* One thread reads it, the others wait and look for it. */
static bool
fetch(struct store *store, const char *key, const struct results_row *row, struct err *err)
{
    struct blob_fetch turn = {.name = key};
    char to[STORE_PATH_BYTES];
    char path[STORE_PATH_BYTES];
    bool waited;
    blob_fetch_begin(store->objects, &turn, &waited);
    bool ok = clear_place(store, key, row, err) && results_path(store, key, to, err) &&
              results_incoming_path(store, key, path, err);
    if (ok && access(to, F_OK) != 0) {
        /* Not by the name under which readers look for it. */
        memcpy(strrchr(path, '.'), ".in", sizeof ".in");
        ok = fetch_here(store, key, row, path, err);
        blob_objects_note(store, ok ? NULL : err);
    }
    blob_fetch_end(store->objects, &turn);
    return ok;
}

struct loss {
    const char *key;
    bool is_new;
};

static bool mark_lost(struct db *db, void *context, struct err *err)
{
    struct loss *loss = context;
    bool ok = db_run_text(db,
                          "UPDATE upload SET analysis_version = " STORE_VERSION_LOST
                          " WHERE analysis_version <> " STORE_VERSION_LOST " AND id = (SELECT"
                          " t.upload_id FROM results_file AS f JOIN trace AS t"
                          " ON t.id = f.trace_id WHERE f.key = ?)",
                          loss->key, err);
    loss->is_new = ok && db_changes(db) > 0;
    return ok;
}

static bool say_lost(struct store *store, const char *key, bool is_object, struct err *err)
{
    struct err second = ERR_INIT;
    struct loss loss = {.key = key};
    if (!blob_objects_change(store, mark_lost, &loss, &second)) {
        log_write(store->log, LOG_WARN, "lost results are not marked: %s", second.msg);
    }
    atomic_fetch_add(&store->losses, loss.is_new);
    log_write(store->log, LOG_WARN, "results/%.2s/%s.db is lost or damaged", key, key + 2);
    return err_set(err, ERR_GONE,
                   "the file with the results of this trace is %s any more, or damaged "
                   "(results/%.2s/%s.db): its upload is analysed again, ask again in a while; "
                   "if that was not kept, delete the trace and upload its file again",
                   is_object ? "not in the objects" : "not on the server's disk", key, key + 2);
}

/* So long none is fetched after the disk was full. */
#define NO_ROOM_MS 60000

/* Rather than as a whole: opened elsewhere, or too large for what is asked of it. */
static bool is_for_ranges(struct store *store, const char *key, const struct results_row *row)
{
    struct results_files *files = store->files;
    return monotonic_ms() < atomic_load(&files->no_room_until_ms) ||
           (row->size_bytes > files->whole_bytes &&
            !ranged_were_much(files->ranged, key, row->size_bytes));
}

static bool fetch_or_open(struct store *store,
                          const char *key,
                          const struct results_row *row,
                          struct db **db,
                          struct err *err)
{
    struct results_files *files = store->files;
    if (!is_for_ranges(store, key, row)) {
        if (fetch(store, key, row, err)) {
            return true;
        }
        if (err->code != ERR_NO_SPACE) {
            return false;
        }
        log_write(store->log, LOG_WARN, "results are read by ranges for a while: %s", err->msg);
        *err = (struct err)ERR_INIT;
        atomic_store(&files->no_room_until_ms, monotonic_ms() + NO_ROOM_MS);
    }
    return ranged_open(files->ranged, key, row->size_bytes, db, err);
}

struct recover_call {
    struct store *store;
    const char *key;
    const struct results_row *row;
    struct db **db;
    struct err *err;
    bool ok;
};

static void *run_recover(void *argument)
{
    struct recover_call *call = argument;
    bool is_object = call->row->is_object;
    if (is_object && call->store->objects == NULL) {
        call->ok = err_set(call->err, ERR_UNAVAILABLE,
                           "the results of this trace are an object elsewhere: give the "
                           "--objects-url");
        return NULL;
    }
    call->ok = is_object && fetch_or_open(call->store, call->key, call->row, call->db, call->err);
    if (!is_object ||
        (!call->ok && (call->err->code == ERR_GONE || call->err->code == ERR_NOT_FOUND))) {
        call->ok = say_lost(call->store, call->key, is_object, call->err);
    }
    return NULL;
}

/* On a thread of its own: its paths and requests are more than a request thread's stack has left.
 */
bool results_recover(struct store *store,
                     const char *key,
                     const struct results_row *row,
                     struct db **db,
                     struct err *err)
{
    struct recover_call call = {.store = store, .key = key, .row = row, .db = db, .err = err};
    return thread_call(run_recover, &call) == 0
               ? call.ok
               : err_set(err, ERR_NO_MEMORY, "no resources to read results back");
}

/* ---- the cache ---- */

uint64_t results_cached_bytes(const struct store *store)
{
    return atomic_load(&store->files->cached_bytes);
}

void results_cached_count(const struct store *store, uint64_t bytes)
{
    atomic_store(&store->files->cached_bytes, bytes);
}

/* Also what no row names is no copy that anybody needs. */
static bool is_only_copy(struct store *store, const char *key, bool *is_only, struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db, "SELECT 1 FROM results_file WHERE key = ? AND is_object = 0");
    db_put_text(&st, key);
    *is_only = db_next(&st);
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool results_file_uncache(struct store *store,
                          const char *key,
                          uint64_t size_bytes,
                          struct err *err)
{
    char path[STORE_PATH_BYTES];
    bool is_only = true;
    if (!is_only_copy(store, key, &is_only, err) || !results_path(store, key, path, err)) {
        return false;
    }
    if (is_only) {
        return true;
    }
    results_files_forget(store->files, key);
    if (file_remove(path) != 0) {
        return errno == ENOENT || err_set_errno(err, ERR_IO, errno, "removing %s", path);
    }
    atomic_fetch_sub(&store->files->cached_bytes, size_bytes);
    return true;
}
