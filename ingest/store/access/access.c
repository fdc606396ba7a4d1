/* Who may use which connection: one writer in turn, readers from a pool that grows when needed. */
#include "ingest/base/containers/fnv.h"
#include "ingest/base/monotonic.h"
#include "ingest/store/db/write_back.h"
#include "ingest/store/internal.h"
#include "ingest/store/results_files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FNV_BEGIN UINT64_C(0xCBF29CE484222325)
#define WAIT_FOR_READER_MS 20
/* 32 MB */
#define LONG_LOG_PAGES 4000
/* So many, 512 KB, are worth to begin with, without waiting for the sync that publishes them. */
#define WRITE_BACK_PAGES 64
/* In the log a page has a head as well. */
#define PAGE_BYTES UINT64_C(8192)

bool store_access_init(struct store *store, struct err *err)
{
    if (!fair_mutex_init(&store->writer_mutex)) {
        return err_set(err, ERR_NO_MEMORY, "no resources for the locks of the store");
    }
    if (pthread_mutex_init(&store->readers_lock, NULL) != 0) {
        fair_mutex_destroy(&store->writer_mutex);
        return err_set(err, ERR_NO_MEMORY, "no resources for the locks of the store");
    }
    if (!monotonic_cond_init(&store->reader_returned)) {
        (void)pthread_mutex_destroy(&store->readers_lock);
        fair_mutex_destroy(&store->writer_mutex);
        return err_set(err, ERR_NO_MEMORY, "no resources for the locks of the store");
    }
    return true;
}

void store_access_destroy(struct store *store)
{
    for (unsigned i = 0; i < store->idle_reader_count; i++) {
        db_close(store->idle_readers[i]);
    }
    db_close(store->checkpointer);
    /* Last, so that it is the one that checkpoints and removes the WAL. */
    db_close(store->writer);
    db_shared_end(&store->shared);
    (void)pthread_cond_destroy(&store->reader_returned);
    (void)pthread_mutex_destroy(&store->readers_lock);
    fair_mutex_destroy(&store->writer_mutex);
}

bool store_connect(const struct store *store, enum db_mode mode, struct db **out, struct err *err)
{
    return store->database_url != NULL ? db_open_url(out, store->database_url, mode, err)
                                       : db_open(out, store->db_path, mode, err);
}

/* ---- readers ---- */

/* Above STORE_READERS_MAX readers, each of which may fill a cache of its own, one waits for another
 * to return, but not for long: who has a snapshot may be waiting here for a second reader. */
static void wait_for_reader(struct store *store)
{
    const struct timespec until = monotonic_after(WAIT_FOR_READER_MS);
    int code = 0;
    while (store->idle_reader_count == 0 && store->open_reader_count >= STORE_READERS_MAX &&
           code == 0) {
        code = pthread_cond_timedwait(&store->reader_returned, &store->readers_lock, &until);
    }
}

/* An idle reader, or NULL with the right to open one more. */
static struct db *take_idle(struct store *store)
{
    struct db *db = NULL;
    (void)pthread_mutex_lock(&store->readers_lock);
    wait_for_reader(store);
    if (store->idle_reader_count > 0) {
        db = store->idle_readers[--store->idle_reader_count];
    } else {
        store->open_reader_count++;
    }
    (void)pthread_mutex_unlock(&store->readers_lock);
    return db;
}

/* NULL: the reader could not be opened or is broken, its place is free again. */
static void give_back(struct store *store, struct db *db)
{
    (void)pthread_mutex_lock(&store->readers_lock);
    if (db != NULL && store->open_reader_count <= STORE_READERS_MAX) {
        store->idle_readers[store->idle_reader_count++] = db;
        db = NULL;
    } else {
        store->open_reader_count--;
    }
    (void)pthread_cond_signal(&store->reader_returned);
    (void)pthread_mutex_unlock(&store->readers_lock);
    db_close(db); /* one too many */
}

static bool open_reader(struct store *store, struct db **out, struct err *err)
{
    return store->database_url != NULL
               ? db_open_shared(out, store->database_url, &store->shared, err)
               : db_open(out, store->db_path, DB_READER, err);
}

bool store_read_begin(struct store *store, struct db **out, struct err *err)
{
    return store_read_begin_recent(store, out, STORE_NEVER_RECENT, err);
}

bool store_read_begin_recent(struct store *store, struct db **out, int64_t away_ms, struct err *err)
{
    struct db *db = take_idle(store);
    if (db == NULL && !open_reader(store, &db, err)) {
        give_back(store, NULL);
        return false;
    }
    bool ok = away_ms == STORE_NEVER_RECENT ? db_begin(db, err) : db_begin_recent(db, away_ms, err);
    if (!ok) {
        db_close(db);
        give_back(store, NULL);
        return false;
    }
    *out = db;
    return true;
}

void store_read_end(struct store *store, struct db *db)
{
    struct err ignored = ERR_INIT;
    /* A reader that cannot end its transaction would show an old state for ever. */
    if (db_in_transaction(db) && !db_commit(db, &ignored)) {
        const struct log_field fields[] = {
            {.name = "error", .kind = LOG_FIELD_TEXT, .text = ignored.msg}};
        log_record(store->log, LOG_WARN, "a reader is closed", fields, 1);
        db_close(db);
        db = NULL;
    }
    give_back(store, db);
}

void store_snapshot_init(struct store_snapshot *snapshot, struct store *store)
{
    *snapshot =
        (struct store_snapshot){.store = store, .away_ms = STORE_NEVER_RECENT, .closed_age_ms = -1};
}

void store_snapshot_close(struct store_snapshot *snapshot)
{
    struct store *store = snapshot->store;
    for (size_t i = 0; i < STORE_SNAPSHOT_FILES; i++) {
        if (snapshot->files[i].db != NULL) {
            results_file_release(store, snapshot->files[i].key, snapshot->files[i].db);
        }
    }
    snapshot->closed_age_ms = store_snapshot_age_ms(snapshot);
    if (snapshot->db != NULL) {
        store_read_end(store, snapshot->db);
    }
    snapshot->db = NULL;
    memset(snapshot->files, 0, sizeof snapshot->files);
}

void store_snapshot_may_be_old(struct store_snapshot *snapshot)
{
    snapshot->away_ms = STORE_RECENT_MS;
}

int64_t store_snapshot_age_ms(const struct store_snapshot *snapshot)
{
    int64_t age_ms = snapshot->db == NULL ? -1 : db_recalled_ms(snapshot->db);
    return age_ms > snapshot->closed_age_ms ? age_ms : snapshot->closed_age_ms;
}

uint64_t store_snapshots_opened(const struct store *store)
{
    return atomic_load(&store->snapshots_opened);
}

bool store_snapshot_read(struct store_snapshot *snapshot, struct db **db, struct err *err)
{
    if (snapshot->db == NULL) {
        if (!store_read_begin_recent(snapshot->store, &snapshot->db, snapshot->away_ms, err)) {
            snapshot->db = NULL;
            return false;
        }
        atomic_fetch_add(&snapshot->store->snapshots_opened, 1);
    }
    *db = snapshot->db;
    return true;
}

/* ---- the writer ---- */

static bool set_durability(struct store *store, enum store_durability durability, struct err *err)
{
    bool durable = durability == STORE_DURABLE;
    if (durable == store->writer_is_durable) {
        return true;
    }
    if (!db_set_durable(store->writer, durable, err)) {
        return false;
    }
    store->writer_is_durable = durable;
    return true;
}

/* After a sync that failed, the system may take pages of the log for written that are not, and the
 * next sync would say that all is well. What the log holds is therefore written once more, into
 * the database, before anything else is promised. */
static bool mend_log(struct store *store, struct err *err)
{
    if (store->log_is_doubtful && !db_checkpoint(store->writer, err)) {
        return false;
    }
    store->log_is_doubtful = false;
    return true;
}

/* What other servers commit is part of it: a transaction that ends changes the snapshot. Without an
 * answer nothing is to be taken for unchanged. */
uint64_t store_version(struct store *store)
{
    uint64_t version = atomic_load(&store->version);
    struct err ignored = ERR_INIT;
    struct db *db;
    struct db_stmt st;
    size_t len;
    if (!store->is_shared) {
        return version;
    }
    if (!store_read_begin_recent(store, &db, STORE_RECENT_MS, &ignored)) {
        return atomic_fetch_add(&store->version, 1);
    }
    db_prepare(&st, db, "SELECT CAST(pg_current_snapshot() AS text)");
    const char *snapshot = db_next(&st) ? db_peek_text(&st, &len) : NULL;
    uint64_t mixed = snapshot == NULL ? atomic_fetch_add(&store->version, 1)
                                      : fnv_add(version + FNV_BEGIN, snapshot, len);
    if (!db_done(&st, &ignored) || db_recalled_ms(db) >= 0) {
        mixed = atomic_fetch_add(&store->version, 1);
    }
    store_read_end(store, db);
    return mixed;
}

bool store_write_begin(struct store *store, enum store_durability durability, struct err *err)
{
    fair_mutex_lock(&store->writer_mutex);
    if (!mend_log(store, err) || !set_durability(store, durability, err) ||
        !db_begin(store->writer, err)) {
        fair_mutex_unlock(&store->writer_mutex);
        return false;
    }
    return true;
}

/* Of the log, after a batch. */
static void begin_write_back(struct store *store)
{
    int pages = db_log_pages(store->writer);
    if (pages < store->log_pages_begun) {
        store->log_pages_begun = 0; /* it has begun anew */
    }
    if (pages - store->log_pages_begun >= WRITE_BACK_PAGES) {
        write_back_begin(store->log_fd, (uint64_t)store->log_pages_begun * PAGE_BYTES);
        store->log_pages_begun = pages;
    }
}

bool store_write_end(struct store *store, bool ok, struct err *err)
{
    if (ok) {
        ok = db_commit(store->writer, err);
        store->log_is_doubtful = !ok && db_failed_to_sync(store->writer);
    }
    /* A full disk has rolled back by itself; then there is nothing to do. */
    if (!ok && db_in_transaction(store->writer)) {
        struct err second = ERR_INIT;
        if (!db_rollback(store->writer, &second)) {
            log_write(store->log, LOG_ERROR, "rolling back failed: %s", second.msg);
        }
    }
    /* Also when it is not known whether the commit has come through. */
    if (store->writer_is_durable) {
        atomic_fetch_add(&store->version, 1);
    } else if (ok) {
        begin_write_back(store);
    }
    fair_mutex_unlock(&store->writer_mutex);
    return ok;
}

bool store_sync(struct store *store, struct err *err)
{
    /* A server syncs what was written before with the next commit that waits for it. */
    if (store->log_fd < 0 || fsync(store->log_fd) == 0) {
        return true;
    }
    int errnum = errno;
    fair_mutex_lock(&store->writer_mutex);
    store->log_is_doubtful = true;
    fair_mutex_unlock(&store->writer_mutex);
    return err_set_errno(err, ERR_IO, errnum, "writing to the log of %s", store->db_path);
}

static bool log_is_long_and_sound(struct store *store)
{
    fair_mutex_lock(&store->writer_mutex);
    bool is = !store->log_is_doubtful && db_log_pages(store->writer) >= LONG_LOG_PAGES;
    fair_mutex_unlock(&store->writer_mutex);
    return is;
}

/* A connection of its own, since the writer's belongs to whoever writes. */
void store_checkpoint(struct store *store)
{
    struct err err = ERR_INIT;
    if (!log_is_long_and_sound(store) || atomic_flag_test_and_set(&store->is_checkpointing)) {
        return;
    }
    bool ok = store->checkpointer != NULL ||
              db_open(&store->checkpointer, store->db_path, DB_WRITER, &err);
    if (!ok || !db_checkpoint_passive(store->checkpointer, &err)) {
        log_write(store->log, LOG_WARN, "the log of the database stays long: %s", err.msg);
    }
    atomic_flag_clear(&store->is_checkpointing);
}
