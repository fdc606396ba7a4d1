#include "ingest/store/objects/blob_objects.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/secret.h"
#include "ingest/base/thread.h"
#include "ingest/store/objects/blob_check.h"
#include "ingest/store/objects/blob_objects_internal.h"
#include "ingest/store/schema/sums.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_MS 1000
/* Reading it again tells bytes that were damaged on the way from damaged ones. */
#define FETCHES_MAX 2

/* ---- open and close ---- */

/* What an earlier process of this server has left. Uploads that no row needs may have lost it in a
 * crash. */
static bool settle(struct db *db, void *context, struct err *err)
{
    const struct store *store = context;
    return db_run_text(db,
                       "UPDATE object SET state = 'deleting', since_s = unixepoch()"
                       " WHERE state = 'writing' AND node = ?",
                       store->node, err) &&
           db_exec(db,
                   "UPDATE object SET state = 'dying', since_s = unixepoch()"
                   " WHERE state IN ('live', 'damaged') AND NOT" BLOB_OBJECT_IS_NEEDED,
                   err);
}

static bool sum_live(struct db *db, uint64_t *bytes, struct err *err)
{
    struct sums sums;
    bool ok = sums_read(db, SUMS_OBJECTS, NULL, NULL, &sums, err);
    *bytes = sums.size_bytes;
    return ok;
}

static bool read_bytes(struct store *store, uint64_t *bytes, struct err *err)
{
    struct db *db;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = sum_live(db, bytes, err);
    store_read_end(store, db);
    return ok;
}

bool blob_objects_open(struct store *store, const struct store_objects *options, struct err *err)
{
    uint64_t bytes = 0;
    struct blob_objects *objects = calloc(1, sizeof *objects);
    if (objects == NULL || pthread_mutex_init(&objects->lock, NULL) != 0) {
        free(objects);
        return err_set(err, ERR_NO_MEMORY, "no memory for the objects");
    }
    objects->down = (struct err)ERR_INIT;
    objects->cache_bytes = options->cache_bytes;
    bool has_cond = monotonic_cond_init(&objects->changed);
    if (!has_cond) {
        (void)err_set(err, ERR_NO_MEMORY, "no resources for the objects");
    }
    if (!has_cond || !objects_open(&objects->objects, options->url, NULL, err)) {
        if (has_cond) {
            (void)pthread_cond_destroy(&objects->changed);
        }
        (void)pthread_mutex_destroy(&objects->lock);
        free(objects);
        return false;
    }
    store->objects = objects;
    bool ok = blob_objects_change(store, settle, store, err) && read_bytes(store, &bytes, err);
    atomic_store(&objects->bytes, bytes);
    if (!ok || !blob_sweeper_start(store, err)) {
        objects->stopping = true; /* no thread to end */
        blob_objects_close(store);
        return false;
    }
    return true;
}

void blob_objects_close(struct store *store)
{
    struct blob_objects *objects = store->objects;
    if (objects != NULL) {
        blob_sweeper_stop(store);
        objects_close(objects->objects);
        (void)pthread_cond_destroy(&objects->changed);
        (void)pthread_mutex_destroy(&objects->lock);
        free(objects);
        store->objects = NULL;
    }
}

bool blob_objects_check_none(struct store *store, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, store->writer,
               "SELECT EXISTS (SELECT 1 FROM object) OR"
               " EXISTS (SELECT 1 FROM results_file WHERE is_object <> 0)");
    bool some = db_next(&st) && db_get_bool(&st);
    return db_done(&st, err) &&
           (!some ||
            err_set(err, ERR_BAD_REQUEST,
                    "uploads or results of this data directory are objects elsewhere; start "
                    "with the --objects-url that it had"));
}

bool blob_objects_change(struct store *store,
                         bool (*run)(struct db *db, void *context, struct err *err),
                         void *context,
                         struct err *err)
{
    return store_write_begin(store, STORE_BATCH, err) &&
           store_write_end(store, run(store->writer, context, err), err);
}

bool blob_objects_give_up(struct db *db, void *key, struct err *err)
{
    return db_run_text(db,
                       "UPDATE object SET state = 'deleting', since_s = unixepoch() WHERE key = ?"
                       " AND state = 'writing'",
                       key, err);
}

uint64_t blob_objects_bytes(struct store *store)
{
    struct err ignored = ERR_INIT;
    uint64_t bytes = 0;
    /* Others add and delete, too. */
    if (store->is_shared && read_bytes(store, &bytes, &ignored)) {
        return bytes;
    }
    return atomic_load(&store->objects->bytes);
}

/* ---- whether they answer ---- */

void blob_objects_note(struct store *store, const struct err *err)
{
    struct blob_objects *objects = store->objects;
    bool is_down = err != NULL && err->code == ERR_UNAVAILABLE;
    if (err != NULL && !is_down) {
        return; /* says nothing about the place */
    }
    (void)pthread_mutex_lock(&objects->lock);
    bool was_down = objects->is_down;
    objects->is_down = is_down;
    if (is_down) {
        objects->down = *err;
        objects->probed_at_ms = monotonic_ms();
    }
    (void)pthread_mutex_unlock(&objects->lock);
    if (is_down && !was_down) {
        log_write(store->log, LOG_WARN, "uploads are refused until the objects answer: %s",
                  err->msg);
    } else if (!is_down && was_down) {
        log_write(store->log, LOG_INFO, "the objects answer again");
    }
}

bool blob_objects_probe(struct store *store, struct err *err)
{
    struct blob_objects *objects = store->objects;
    struct err cause = ERR_INIT;
    (void)pthread_mutex_lock(&objects->lock);
    bool known = monotonic_ms() - objects->probed_at_ms < PROBE_MS;
    bool is_down = objects->is_down;
    if (known) {
        cause = objects->down;
    } else {
        objects->probed_at_ms = monotonic_ms(); /* the others do not wait for this one */
    }
    (void)pthread_mutex_unlock(&objects->lock);
    if (!known) {
        is_down = !objects_probe(objects->objects, &cause);
        blob_objects_note(store, is_down ? &cause : NULL);
    }
    return !is_down || err_set(err, ERR_UNAVAILABLE, "%s", cause.msg);
}

bool store_objects_ready(struct store *store, struct err *err)
{
    if (store->objects == NULL) {
        return true;
    }
    (void)pthread_mutex_lock(&store->objects->lock);
    bool is_down = store->objects->is_down;
    struct err cause = store->objects->down;
    (void)pthread_mutex_unlock(&store->objects->lock);
    return !is_down || err_set(err, ERR_UNAVAILABLE, "%s", cause.msg);
}

/* ---- writing ---- */

bool blob_objects_note_writing(struct db *db, const char *key, const char *node, struct err *err)
{
    struct db_stmt st;
    db_prepare(
        &st, db,
        "INSERT INTO object (key, state, since_s, node) VALUES (?, 'writing', unixepoch(), ?)");
    db_put_text(&st, key);
    db_put_text(&st, node);
    return db_run(&st, err);
}

static bool insert_writing(struct db *db, void *context, struct err *err)
{
    const struct blob_put *put = context;
    return blob_objects_note_writing(db, put->key, put->store->node, err);
}

bool blob_objects_make_key(char key[OBJECT_KEY_BYTES], struct err *err)
{
    char secret[SECRET_BYTES];
    if (!secret_make(secret, "", err)) {
        return false;
    }
    (void)snprintf(key, OBJECT_KEY_BYTES, "raw/%.2s/%s", secret, secret + 2);
    return true;
}

bool blob_put_begin(struct store *store, struct blob_put **out, struct err *err)
{
    struct blob_objects *objects = store->objects;
    struct err ignored = ERR_INIT; /* what the probe says is newer */
    if (!store_objects_ready(store, &ignored) && !blob_objects_probe(store, err)) {
        return err_context(err, "nothing can be kept now, so send the file again later");
    }
    struct blob_put *put = calloc(1, sizeof *put);
    if (put == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to receive an upload");
    }
    put->store = store;
    if (!blob_objects_make_key(put->key, err) ||
        !blob_objects_change(store, insert_writing, put, err)) {
        free(put);
        return false;
    }
    if (!object_put_begin(objects->objects, put->key, &put->put, err)) {
        blob_put_give_up(put);
        return false;
    }
    *out = put;
    return true;
}

bool blob_put_write(struct blob_put *put, const void *bytes, size_t len, struct err *err)
{
    bool ok = object_put_write(put->put, bytes, len, err);
    if (!ok) {
        blob_objects_note(put->store, err);
    }
    return ok || err_context(err, "keeping the upload");
}

void blob_put_give_up(struct blob_put *put)
{
    if (put != NULL) {
        struct blob_objects *objects = put->store->objects;
        (void)pthread_mutex_lock(&objects->lock);
        put->next = objects->given_up;
        objects->given_up = put;
        (void)pthread_cond_broadcast(&objects->changed);
        (void)pthread_mutex_unlock(&objects->lock);
    }
}

/* An object as its row has it. */
struct row {
    char key[OBJECT_KEY_BYTES]; /* "": there is none */
    const char *sha256_hex;
    const char *state; /* to set */
    struct object_info info;
    bool is_changed;
    uint64_t live_bytes; /* that were live before the change */
};

static bool find_row(struct store *store, struct row *row, struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    row->key[0] = '\0';
    db_prepare(&st, db,
               "SELECT key, tag, size_bytes FROM object WHERE sha256 = ?"
               " AND state IN ('live', 'dying')");
    db_put_text(&st, row->sha256_hex);
    if (db_next(&st)) {
        size_t len;
        (void)snprintf(row->key, sizeof row->key, "%s", db_peek_text(&st, &len));
        (void)snprintf(row->info.tag, sizeof row->info.tag, "%s", db_peek_text(&st, &len));
        row->info.size_bytes = (uint64_t)db_get_int(&st);
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

/* Of the row with this key, if it still is live or dying. */
static bool set_state(struct db *db, void *context, struct err *err)
{
    struct row *row = context;
    struct db_stmt st;
    db_prepare(&st, db, "SELECT size_bytes FROM object WHERE key = ? AND state = 'live'");
    db_put_text(&st, row->key);
    row->live_bytes = db_next(&st) ? (uint64_t)db_get_int(&st) : 0;
    if (!db_done(&st, err)) {
        return false;
    }
    db_prepare(&st, db,
               "UPDATE object SET state = ?, since_s = " DB_CLOCK_S " WHERE key = ?"
               " AND state IN ('live', 'dying')");
    db_put_text(&st, row->state);
    db_put_clock(&st);
    db_put_text(&st, row->key);
    bool ok = db_run(&st, err);
    row->is_changed = db_changes(db) > 0;
    return ok;
}

static bool change_state(struct store *store, struct row *row, const char *state, struct err *err)
{
    row->state = state;
    if (!blob_objects_change(store, set_state, row, err)) {
        return false;
    }
    uint64_t now_bytes = row->is_changed && strcmp(state, "live") == 0 ? row->info.size_bytes : 0;
    if (row->is_changed) {
        (void)atomic_fetch_add(&store->objects->bytes, now_bytes - row->live_bytes);
    }
    return true;
}

/* The object that has these bytes already is needed again, if its place still has it. */
static bool revive(struct store *store,
                   const char *sha256_hex,
                   uint64_t size_bytes,
                   bool *revived,
                   struct err *err)
{
    struct row row = {.sha256_hex = sha256_hex};
    struct object_info there;
    struct err cause = ERR_INIT;
    *revived = false;
    if (!find_row(store, &row, err)) {
        return false;
    }
    if (row.key[0] == '\0') {
        return true;
    }
    bool is_there = object_head(store->objects->objects, row.key, &there, &cause);
    blob_objects_note(store, is_there ? NULL : &cause);
    if (!is_there) {
        if (cause.code != ERR_NOT_FOUND) {
            *err = cause;
            return false;
        }
        there.size_bytes = UINT64_MAX;
    }
    bool same = there.size_bytes == size_bytes && strcmp(there.tag, row.info.tag) == 0;
    if (!change_state(store, &row, same ? "live" : "deleting", err)) {
        return false;
    }
    *revived = same && row.is_changed;
    return true;
}

struct arrival {
    const struct blob_put *put;
    const char *sha256_hex;
    const struct object_info *info;
    const struct blob_also *also; /* NULL: nothing */
};

static bool set_live(struct db *db, void *context, struct err *err)
{
    const struct arrival *arrival = context;
    struct db_stmt st;
    db_prepare(&st, db,
               "UPDATE object SET state = 'deleting', since_s = " DB_CLOCK_S " WHERE sha256 = ?"
               " AND state IN ('live', 'dying', 'damaged')");
    db_put_clock(&st);
    db_put_text(&st, arrival->sha256_hex);
    if (!db_run(&st, err)) {
        return false;
    }
    db_prepare(&st, db,
               "UPDATE object SET state = 'live', since_s = " DB_CLOCK_S
               ", sha256 = ?, size_bytes = ?, tag = ?"
               " WHERE key = ? AND state = 'writing'");
    db_put_clock(&st);
    db_put_text(&st, arrival->sha256_hex);
    db_put_int(&st, (int64_t)arrival->info->size_bytes);
    db_put_text(&st, arrival->info->tag);
    db_put_text(&st, arrival->put->key);
    return db_run(&st, err) &&
           (db_changes(db) == 1 ||
            err_set(err, ERR_UNAVAILABLE,
                    "this server was silent for so long that its upload was given up")) &&
           (arrival->also == NULL || arrival->also->run(arrival->also->context, db, err));
}

static bool
finish(struct blob_put *put, const char *sha256_hex, struct blob_also *also, struct err *err)
{
    struct object_info info;
    struct arrival arrival = {.put = put, .sha256_hex = sha256_hex, .info = &info, .also = also};
    bool ok = object_put_finish(put->put, &info, err);
    blob_objects_note(put->store, ok ? NULL : err);
    put->put = NULL;
    ok = ok && blob_objects_change(put->store, set_live, &arrival, err);
    if (ok) {
        (void)atomic_fetch_add(&put->store->objects->bytes, info.size_bytes);
    }
    if (also != NULL) {
        also->is_done = ok;
    }
    return ok;
}

struct put_call {
    struct blob_put *put;
    const char *sha256_hex;
    uint64_t size_bytes;
    struct blob_also *also;
    struct err *err;
    bool ok, revived;
};

static void *run_put(void *argument)
{
    struct put_call *call = argument;
    struct store *store = call->put->store;
    struct err second = ERR_INIT;
    call->ok = revive(store, call->sha256_hex, call->size_bytes, &call->revived, call->err) &&
               (call->revived || finish(call->put, call->sha256_hex, call->also, call->err));
    /* Another server may have put the same bytes meanwhile: then these are there, whatever failed.
     */
    if (!call->ok && revive(store, call->sha256_hex, call->size_bytes, &call->revived, &second) &&
        call->revived) {
        call->ok = true;
        *call->err = (struct err)ERR_INIT;
    }
    return NULL;
}

/* On a thread of its own: its requests need more than a request thread's stack has left. */
bool blob_put_store(struct blob_put *put,
                    const char *sha256_hex,
                    uint64_t size_bytes,
                    struct blob_also *also,
                    struct err *err)
{
    struct put_call call = {
        .put = put, .sha256_hex = sha256_hex, .size_bytes = size_bytes, .also = also, .err = err};
    if (thread_call(run_put, &call) != 0) {
        call.ok = err_set(err, ERR_NO_MEMORY, "no resources to keep an upload");
    }
    if (call.ok && !call.revived) {
        free(put);
    } else {
        blob_put_give_up(put);
    }
    return call.ok || err_context(err, "keeping the upload failed, so send the file again later");
}

/* ---- deleting ---- */

bool blob_objects_hold(struct store *store, const char *sha256_hex, bool *held, struct err *err)
{
    struct row row = {.sha256_hex = sha256_hex};
    bool ok = find_row(store, &row, err);
    *held = row.key[0] != '\0';
    return ok;
}

bool blob_objects_retire(struct store *store, const char *sha256_hex, bool at_once, struct err *err)
{
    struct row row = {.sha256_hex = sha256_hex};
    return find_row(store, &row, err) &&
           (row.key[0] == '\0' || change_state(store, &row, at_once ? "deleting" : "dying", err));
}

/* ---- reading ---- */

static bool has_hash(int fd, const char *sha256_hex, struct err *err)
{
    char found[SHA256_HEX_BYTES];
    return blob_hash(fd, found, err) &&
           (strcmp(found, sha256_hex) == 0 ||
            err_set(err, ERR_GONE, "the objects have damaged the file %.12s…", sha256_hex));
}

bool blob_objects_get(
    struct objects *objects, const char *key, const char *sha256_hex, int fd, struct err *err)
{
    uint64_t size_bytes = 0;
    for (int tries = 1;; tries++) {
        *err = (struct err)ERR_INIT;
        bool ok = ftruncate(fd, 0) == 0 ||
                  err_set_errno(err, ERR_IO, errno, "making room for a file from the objects");
        ok = ok && object_get(objects, key, fd, &size_bytes, err) && has_hash(fd, sha256_hex, err);
        if (ok || err->code != ERR_GONE || tries == FETCHES_MAX) {
            return ok;
        }
    }
}

/* Gives the file its name in raw/. */
static bool move_in(struct store *store,
                    const char *from,
                    const char *sha256_hex,
                    uint64_t size_bytes,
                    int fd,
                    struct err *err)
{
    char to[STORE_PATH_BYTES];
    if (!store_blob_file_path(store, sha256_hex, to, err)) {
        return false;
    }
    char *slash = strrchr(to, '/');
    *slash = '\0';
    bool ok = store_make_dir(to, err);
    *slash = '/';
    (void)pthread_mutex_lock(&store->blob_lock);
    uint64_t before_bytes = store_file_bytes(to);
    ok = ok &&
         (rename(from, to) == 0 || err_set_errno(err, ERR_IO, errno, "moving an upload to %s", to));
    if (ok) {
        store->raw_bytes = store->raw_bytes - before_bytes + size_bytes;
        blob_checks_note_whole(store->blob_checks, sha256_hex, fd);
    }
    (void)pthread_mutex_unlock(&store->blob_lock);
    return ok;
}

static bool copy_here(struct store *store, const struct row *row, struct err *err)
{
    char path[STORE_PATH_BYTES];
    (void)pthread_mutex_lock(&store->objects->lock);
    uint64_t serial = ++store->objects->fetch_serial;
    (void)pthread_mutex_unlock(&store->objects->lock);
    int len = snprintf(path, sizeof path, "%s/incoming/fetch-%" PRIu64, store->data_dir, serial);
    int fd = len > 0 && (size_t)len < sizeof path
                 ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                 : -1;
    if (fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "creating a file in %s/incoming", store->data_dir);
    }
    bool ok = blob_objects_get(store->objects->objects, row->key, row->sha256_hex, fd, err) &&
              move_in(store, path, row->sha256_hex, row->info.size_bytes, fd, err);
    (void)close(fd);
    if (!ok) {
        (void)unlink(path);
    }
    return ok;
}

static bool fetch(struct store *store, const char *sha256_hex, uint64_t size_bytes, struct err *err)
{
    struct row row = {.sha256_hex = sha256_hex};
    struct err second = ERR_INIT;
    if (!find_row(store, &row, err)) {
        return false;
    }
    if (row.key[0] == '\0' || row.info.size_bytes != size_bytes) {
        return err_set(err, ERR_NOT_FOUND, "the upload is no object");
    }
    bool ok = copy_here(store, &row, err);
    blob_objects_note(store, ok ? NULL : err);
    if (!ok && err->code == ERR_NOT_FOUND) {
        ok = err_set(err, ERR_GONE, "the objects have lost the uploaded file %.12s…", sha256_hex);
    }
    if (!ok && err->code == ERR_GONE && !change_state(store, &row, "damaged", &second)) {
        log_write(store->log, LOG_WARN, "a damaged object is not marked: %s", second.msg);
    }
    return ok;
}

static struct blob_fetch **find_fetch(struct blob_objects *objects, const char *name)
{
    struct blob_fetch **link = &objects->fetches;
    while (*link != NULL && strcmp((*link)->name, name) != 0) {
        link = &(*link)->next;
    }
    return link;
}

void blob_fetch_begin(struct blob_objects *objects, struct blob_fetch *turn, bool *waited)
{
    *waited = false;
    (void)pthread_mutex_lock(&objects->lock);
    while (*find_fetch(objects, turn->name) != NULL) {
        *waited = true;
        (void)pthread_cond_wait(&objects->changed, &objects->lock);
    }
    turn->next = objects->fetches;
    objects->fetches = turn;
    (void)pthread_mutex_unlock(&objects->lock);
}

void blob_fetch_end(struct blob_objects *objects, const struct blob_fetch *turn)
{
    (void)pthread_mutex_lock(&objects->lock);
    *find_fetch(objects, turn->name) = turn->next;
    (void)pthread_cond_broadcast(&objects->changed);
    (void)pthread_mutex_unlock(&objects->lock);
}

/* Whoever waited looks for the file himself: it may be there now. */
static bool
fetch_or_wait(struct store *store, const char *sha256_hex, uint64_t size_bytes, struct err *err)
{
    struct blob_fetch turn = {.name = sha256_hex};
    char path[STORE_PATH_BYTES];
    struct blob_verdict verdict;
    bool waited;
    blob_fetch_begin(store->objects, &turn, &waited);
    bool is_there = waited && store_blob_file_path(store, sha256_hex, path, err) &&
                    blob_check(store->blob_checks, path, sha256_hex, size_bytes, &verdict, err) &&
                    verdict.state == BLOB_WHOLE;
    bool ok = is_there || fetch(store, sha256_hex, size_bytes, err);
    blob_fetch_end(store->objects, &turn);
    return ok;
}

struct fetch_call {
    struct store *store;
    const char *sha256_hex;
    uint64_t size_bytes;
    struct err *err;
    bool ok;
};

static void *run_fetch(void *argument)
{
    struct fetch_call *call = argument;
    call->ok = fetch_or_wait(call->store, call->sha256_hex, call->size_bytes, call->err);
    return NULL;
}

/* On a thread of its own: its paths are more than a request thread's stack has left. */
bool blob_objects_fetch(struct store *store,
                        const char *sha256_hex,
                        uint64_t size_bytes,
                        struct err *err)
{
    struct fetch_call call = {
        .store = store, .sha256_hex = sha256_hex, .size_bytes = size_bytes, .err = err};
    return thread_call(run_fetch, &call) == 0
               ? call.ok
               : err_set(err, ERR_NO_MEMORY, "no resources to read an upload back");
}
