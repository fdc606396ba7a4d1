/* The thread that deletes objects nobody needs, ends puts that were given up, and asks a place that
 * does not answer whether it does again, and keeps the cache in its bounds. Nobody waits for it. */
#include "ingest/base/monotonic.h"
#include "ingest/base/thread.h"
#include "ingest/store/objects/blob_objects_internal.h"

#include <stdlib.h>

#define SWEEP_MS 5000
#define KEYS_MAX 256
/* A server that was silent for so long is writing nothing any more. */
#define WRITER_GONE_S 600
#define NOW DB_CLOCK_OF("?1")

struct batch {
    struct arena arena;
    const char *keys[KEYS_MAX];
    size_t count;
};

/* ---- rows ---- */

static bool end_dying(struct db *db, void *context, struct err *err)
{
    struct db_stmt st;
    (void)context;
    /* Another server may have begun to need one. */
    db_prepare(&st, db,
               "UPDATE object SET state = 'live', since_s = " NOW " WHERE state = 'dying' AND"
               " since_s <= " NOW " - ?2 AND" BLOB_OBJECT_IS_NEEDED);
    db_put_clock(&st);
    db_put_int(&st, BLOB_DYING_S);
    if (!db_run(&st, err)) {
        return false;
    }
    db_prepare(&st, db,
               "UPDATE object SET state = 'deleting', since_s = " NOW " WHERE state = 'dying'"
               " AND since_s <= " NOW " - ?2");
    db_put_clock(&st);
    db_put_int(&st, BLOB_DYING_S);
    return db_run(&st, err);
}

/* Keys that are to be deleted; of finished puts, or of such as never ended well. */
static bool read_keys(struct store *store, bool finished, struct batch *batch, struct err *err)
{
    struct db *db;
    struct db_stmt st;
    batch->count = 0;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT key FROM object WHERE state = 'deleting' AND"
               " CASE WHEN sha256 <> '' THEN 1 ELSE 0 END = ?"
               " ORDER BY since_s LIMIT ?");
    db_put_int(&st, finished);
    db_put_int(&st, KEYS_MAX);
    while (db_next(&st) && batch->count < KEYS_MAX) {
        const char *key = db_get_text(&st, &batch->arena);
        if (key != NULL) {
            batch->keys[batch->count++] = key;
        }
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

static bool delete_rows(struct db *db, void *context, struct err *err)
{
    const struct batch *batch = context;
    bool ok = true;
    for (size_t i = 0; ok && i < batch->count; i++) {
        ok = db_run_text(db, "DELETE FROM object WHERE key = ? AND state = 'deleting'",
                         batch->keys[i], err);
    }
    return ok;
}

/* What servers that are gone were writing. */
static bool give_up_rows(struct db *db, void *context, struct err *err)
{
    (void)context;
    return db_run_id(db,
                     "UPDATE object SET state = 'deleting', since_s = unixepoch() WHERE"
                     " state = 'writing' AND since_s < unixepoch() - ?1 AND node NOT IN"
                     " (SELECT id FROM node WHERE seen_at_s >= unixepoch() - ?1)",
                     WRITER_GONE_S, err);
}

/* ---- the objects ---- */

static bool delete_objects(struct store *store, bool finished, struct batch *batch, struct err *err)
{
    struct objects *objects = store->objects->objects;
    if (!read_keys(store, finished, batch, err)) {
        return false;
    }
    if (batch->count == 0) {
        return true;
    }
    bool ok = true;
    if (finished) {
        ok = object_delete_many(objects, batch->keys, batch->count, err);
    }
    for (size_t i = 0; ok && !finished && i < batch->count; i++) {
        ok = object_discard(objects, batch->keys[i], err);
    }
    blob_objects_note(store, ok ? NULL : err);
    return ok && blob_objects_change(store, delete_rows, batch, err);
}

static bool any_ends(struct store *store, bool *any, struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT EXISTS (SELECT 1 FROM object WHERE state = 'deleting'), EXISTS"
               " (SELECT 1 FROM object WHERE state = 'dying' AND since_s <= " NOW " - ?2), EXISTS"
               " (SELECT 1 FROM object WHERE state = 'writing' AND node <> ?3 AND since_s <"
               " unixepoch() - ?4)");
    db_put_clock(&st);
    db_put_int(&st, BLOB_DYING_S);
    db_put_text(&st, store->node);
    db_put_int(&st, WRITER_GONE_S);
    *any = false;
    if (db_next(&st)) {
        bool is_deleting = db_get_bool(&st);
        bool is_dying = db_get_bool(&st);
        *any = db_get_bool(&st) || is_deleting || is_dying;
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

/* An idle server writes nothing. */
static void sweep(struct store *store)
{
    struct batch batch = {.count = 0};
    struct err err = ERR_INIT;
    bool any = false;
    arena_init(&batch.arena, 0);
    bool ok =
        any_ends(store, &any, &err) &&
        (!any ||
         (blob_objects_change(store, end_dying, NULL, &err) &&
          (!store->is_shared || blob_objects_change(store, give_up_rows, NULL, &err)) &&
          delete_objects(store, true, &batch, &err) && delete_objects(store, false, &batch, &err)));
    if (!ok) {
        log_write(store->log, LOG_DEBUG, "objects stay for now: %s", err.msg);
    }
    arena_free(&batch.arena);
}

/* ---- puts that were given up ---- */

static struct blob_put *take_given_up(struct blob_objects *objects)
{
    (void)pthread_mutex_lock(&objects->lock);
    struct blob_put *put = objects->given_up;
    objects->given_up = put == NULL ? NULL : put->next;
    (void)pthread_mutex_unlock(&objects->lock);
    return put;
}

static void end_given_up(struct store *store)
{
    for (struct blob_put *put = take_given_up(store->objects); put != NULL;
         put = take_given_up(store->objects)) {
        struct err err = ERR_INIT;
        object_put_abort(put->put);
        if (!blob_objects_change(store, blob_objects_give_up, put->key, &err)) {
            log_write(store->log, LOG_WARN, "an unfinished object stays until the next start: %s",
                      err.msg);
        }
        free(put);
    }
}

/* ---- the thread ---- */

/* Returns after SWEEP_MS, or when there is a put to end. */
static bool wait_for_work(struct blob_objects *objects)
{
    const struct timespec until = monotonic_after(SWEEP_MS);
    int waited = 0;
    (void)pthread_mutex_lock(&objects->lock);
    while (!objects->stopping && objects->given_up == NULL && waited == 0) {
        waited = pthread_cond_timedwait(&objects->changed, &objects->lock, &until);
    }
    bool goes_on = !objects->stopping;
    (void)pthread_mutex_unlock(&objects->lock);
    return goes_on;
}

static void *run(void *argument)
{
    struct store *store = argument;
    do {
        struct err ignored = ERR_INIT; /* noted */
        end_given_up(store);
        if (blob_objects_probe(store, &ignored) && store_has_duty(store, STORE_DUTY_OBJECTS)) {
            sweep(store);
        }
        blob_cache_trim(store, store->objects->cache_bytes);
    } while (wait_for_work(store->objects));
    return NULL;
}

bool blob_sweeper_start(struct store *store, struct err *err)
{
    return thread_start(&store->objects->sweeper, run, store) == 0 ||
           err_set(err, ERR_NO_MEMORY, "no resources for the thread that deletes objects");
}

void blob_sweeper_stop(struct store *store)
{
    struct blob_objects *objects = store->objects;
    (void)pthread_mutex_lock(&objects->lock);
    bool runs = !objects->stopping;
    objects->stopping = true;
    (void)pthread_cond_broadcast(&objects->changed);
    (void)pthread_mutex_unlock(&objects->lock);
    if (runs) {
        (void)pthread_join(objects->sweeper, NULL);
    }
    end_given_up(store);
}
