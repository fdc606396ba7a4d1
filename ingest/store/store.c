/* Opening and closing the store. */
#include "ingest/store/store.h"

#include "ingest/base/monotonic.h"
#include "ingest/store/catalogue/server_catalogue.h"
#include "ingest/store/catalogue/takeover.h"
#include "ingest/store/files/paths.h"
#include "ingest/store/history/cache.h"
#include "ingest/store/history/points.h"
#include "ingest/store/internal.h"
#include "ingest/store/nodes/leases.h"
#include "ingest/store/nodes/nodes.h"
#include "ingest/store/objects/blob_objects.h"
#include "ingest/store/results_files.h"
#include "ingest/store/runs/run_names.h"
#include "ingest/store/schema/schema.h"
#include "ingest/store/schema/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory to open the store");
}

bool store_make_data_dir(const char *data_dir, struct err *err)
{
    char *path = strdup(data_dir);
    if (path == NULL) {
        return no_memory(err);
    }
    bool ok = true;
    for (char *slash = strchr(path + 1, '/'); ok && slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ok = store_make_dir(path, err);
        *slash = '/';
    }
    ok = ok && store_make_dir(path, err);
    free(path);
    return ok;
}

static char *path_in(const char *data_dir, const char *name)
{
    size_t len = strlen(data_dir) + strlen(name) + 2;
    char *path = malloc(len);
    if (path != NULL) {
        (void)snprintf(path, len, "%s/%s", data_dir, name);
    }
    return path;
}

/* ---- the lock of the data directory ---- */

static bool refuse_locked(int fd, const char *path, int errnum, struct err *err)
{
    struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (errnum != EACCES && errnum != EAGAIN) {
        return err_set_errno(err, ERR_IO, errnum, "locking %s", path);
    }
    if (fcntl(fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK) {
        return err_set(err, ERR_UNAVAILABLE,
                       "the data directory is in use by process %ld, which holds %s",
                       (long)holder.l_pid, path);
    }
    return err_set(err, ERR_UNAVAILABLE, "the data directory is in use: another process holds %s",
                   path);
}

bool store_lock_dir(struct store *store, struct err *err)
{
    char *path = path_in(store->data_dir, "lock");
    if (path == NULL) {
        return no_memory(err);
    }
    store->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool ok = store->lock_fd >= 0 || err_set_errno(err, ERR_IO, errno, "opening %s", path);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (ok && fcntl(store->lock_fd, F_SETLK, &whole) != 0) {
        ok = refuse_locked(store->lock_fd, path, errno, err);
    }
    free(path);
    return ok;
}

/* ---- open and close ---- */

/* Of the log, unlike of the database, a file may be closed: SQLite holds no lock on it. */
static bool open_log(struct store *store, struct err *err)
{
    char *path = path_in(store->data_dir, "kinetoscope.db-wal");
    if (path == NULL) {
        return no_memory(err);
    }
    store->log_fd = open(path, O_RDWR | O_CLOEXEC);
    bool ok = store->log_fd >= 0 || err_set_errno(err, ERR_IO, errno, "opening %s", path);
    free(path);
    return ok;
}

static bool remove_unfinished(struct db *db, int64_t *uploads, struct err *err)
{
    bool ok = db_exec(db, "DELETE FROM upload WHERE published = 0", err);
    *uploads = ok ? db_changes(db) : 0;
    /* Their clients were told nothing, and their files may be less than whole. */
    return ok &&
           db_exec(db, "DELETE FROM job WHERE received_at_s = 0 AND state IN ('queued', 'running')",
                   err);
}

/* Uploads and comparisons that a crash interrupted. The jobs of the uploads are still there and
 * will be taken up again. */
static bool remove_unpublished(struct store *store, struct err *err)
{
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    int64_t uploads = 0;
    bool ok = store->database_url != NULL
                  ? lease_give_back(store->writer, store->node, 0, LEASE_CRASHED, err)
                  : remove_unfinished(store->writer, &uploads, err);
    /* Others may be writing some. */
    ok = ok && db_run_text(store->writer,
                           "UPDATE comparison SET state = 'removed' WHERE state = 'writing' AND"
                           " NOT EXISTS (SELECT 1 FROM node WHERE id <> ?)",
                           store->node, err);
    ok = ok && db_exec(store->writer, STORE_DELETE_EMPTY_RUNS, err);
    if (uploads > 0) {
        log_write(store->log, LOG_INFO, "%lld unfinished uploads removed", (long long)uploads);
    }
    return store_write_end(store, ok, err);
}

/* Uploads that an earlier, lost database referred to are set aside before the first table is
 * written. */
static bool create_tables(struct store *store, struct err *err)
{
    return store_blobs_set_aside(store, err) && results_files_set_aside(store, err) &&
           db_begin(store->writer, err) &&
           db_end(store->writer, schema_create(store->writer, err), err);
}

static bool follow_steps(struct store *store, int64_t version, struct err *err)
{
    if (version < SCHEMA_VERSION) {
        log_write(store->log, LOG_INFO, "the database goes from schema %lld to %d",
                  (long long)version, SCHEMA_VERSION);
    } else if (version > SCHEMA_VERSION) {
        log_write(store->log, LOG_INFO,
                  "the database has schema %lld, of the program after this one: upgrade this one, "
                  "too",
                  (long long)version);
    }
    return schema_apply_steps(store->writer, schema_steps, schema_step_count, err);
}

static bool open_embedded(struct store *store, struct err *err)
{
    int64_t version = 0;
    if (!server_catalogue_none(store, err) || !takeover_recover(store, err) ||
        !db_open(&store->writer, store->db_path, DB_WRITER, err) ||
        !schema_version(store->writer, &version, err)) {
        return false;
    }
    if (version == 0) {
        return create_tables(store, err);
    }
    if (version >= SCHEMA_BASE) {
        return follow_steps(store, version, err);
    }
    db_close(store->writer);
    store->writer = NULL;
    return takeover_run(store, version, err) &&
           db_open(&store->writer, store->db_path, DB_WRITER, err);
}

/* A server's catalogue is created or opened, never taken over. */
static bool open_on_server(struct store *store, bool has_objects, struct err *err)
{
    int64_t version = 0;
    atomic_store(&store->renewed_at_ms, monotonic_ms());
    if (!server_catalogue_node(store, err) ||
        !db_open_url(&store->writer, store->database_url, DB_WRITER, err) ||
        !schema_version(store->writer, &version, err)) {
        return false;
    }
    db_share(store->writer, &store->shared);
    if (!db_shared_keep(&store->shared, err)) {
        return false;
    }
    if (version == 0) {
        if (!store_blobs_set_aside(store, err) || !results_files_set_aside(store, err)) {
            return false;
        }
        struct err first = ERR_INIT;
        if (server_catalogue_create(store, &first)) {
            return true;
        }
        /* Another server may have been first. */
        if (!schema_version(store->writer, &version, err) || version == 0) {
            *err = first;
            return false;
        }
    }
    if (version < SCHEMA_BASE) {
        return err_set(err, ERR_STORE,
                       "the database has schema %lld, and steps lead on from schema %d only; start "
                       "the program that wrote it, or give a new database and upload the traces "
                       "again",
                       (long long)version, SCHEMA_BASE);
    }
    return server_catalogue_check(store, has_objects, err) && follow_steps(store, version, err);
}

static bool open_database(struct store *store, bool has_objects, struct err *err)
{
    return store->database_url != NULL ? open_on_server(store, has_objects, err)
                                       : open_embedded(store, err) && open_log(store, err);
}

/* A copy (copy/copy.h) is a store of its own from its first opening on; half of one is none. */
static bool end_copy(struct store *store, struct err *err)
{
    struct db_stmt st;
    bool is_half = false;
    db_prepare(&st, store->writer, "SELECT state = 'copying' FROM copy_state");
    bool is_copy = db_next(&st);
    if (is_copy) {
        is_half = db_get_bool(&st);
    }
    if (!db_done(&st, err)) {
        return false;
    }
    if (is_half) {
        return err_set(err, ERR_CONFLICT,
                       "this is half a copy: give the same `kinetoscope copy` again, then start");
    }
    return !is_copy || db_exec(store->writer, "DELETE FROM copy_state", err);
}

/* With or without objects, as told; or without, whatever the uploads are. */
enum objects_use { OBJECTS_AS_TOLD, OBJECTS_UNUSED };

static bool open_objects(struct store *store,
                         const struct store_objects *objects,
                         enum objects_use use,
                         struct err *err)
{
    if (use == OBJECTS_UNUSED) {
        return true;
    }
    return objects == NULL ? blob_objects_check_none(store, err)
                           : blob_objects_open(store, objects, err) &&
                                 ranged_create(&store->files->ranged, store, err);
}

static bool warn_of_no_standby(struct store *store, struct err *err)
{
    struct db_stmt st;
    if (store->log == NULL || !db_is_server(store->writer)) {
        return true;
    }
    db_prepare(&st, store->writer,
               "SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN 1 ELSE 0"
               " END");
    if (db_next(&st) && db_get_bool(&st)) {
        log_write(store->log, LOG_WARN,
                  "the database has no synchronous standby: what it acknowledged is lost with its"
                  " disk (PostgreSQL's synchronous_standby_names is empty)");
    }
    return db_done(&st, err);
}

static bool open_parts(struct store *store,
                       const struct store_place *place,
                       enum objects_use use,
                       struct err *err)
{
    store->writer_is_durable = true;
    /* The log is there once something has been written. */
    return open_database(store, place->objects != NULL, err) && end_copy(store, err) &&
           warn_of_no_standby(store, err) &&
           node_join(store, place->node_name, place->node_address, err) &&
           remove_unpublished(store, err) && results_files_recover(store, err) &&
           store_purge(store, err) && series_metrics_purge(store, err) &&
           store_purge_jobs(store, err) && open_objects(store, place->objects, use, err) &&
           store_blobs_sweep(store, err);
}

static void free_store(struct store *store)
{
    if (store->log_fd >= 0) {
        (void)close(store->log_fd);
    }
    if (store->lock_fd >= 0) {
        (void)close(store->lock_fd);
    }
    series_cache_destroy(store->series);
    run_names_destroy(store->run_names);
    results_files_destroy(store->files);
    free(store->leases);
    free(store->db_path);
    free(store->database_url);
    free(store->data_dir);
    free(store);
}

static struct store *make_store(const struct store_place *place, struct err *err)
{
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        (void)no_memory(err);
        return NULL;
    }
    store->lock_fd = -1;
    store->log_fd = -1;
    atomic_flag_clear(&store->is_checkpointing);
    store->data_dir = strdup(place->data_dir);
    store->db_path = path_in(place->data_dir, "kinetoscope.db");
    store->database_url = place->database_url == NULL ? NULL : strdup(place->database_url);
    store->is_shared = place->database_url != NULL && place->objects != NULL;
    if (store->data_dir == NULL || store->db_path == NULL ||
        (place->database_url != NULL && store->database_url == NULL)) {
        free_store(store);
        (void)no_memory(err);
        return NULL;
    }
    return store;
}

bool store_open_bare(struct store **out, const struct store_place *place, struct err *err)
{
    *out = make_store(place, err);
    return *out != NULL;
}

void store_close_bare(struct store *store)
{
    if (store != NULL) {
        db_close(store->writer);
        free_store(store);
    }
}

static bool open_store(struct store **out,
                       const struct store_place *place,
                       enum objects_use use,
                       const struct log *log,
                       struct err *err)
{
    struct store *store = make_store(place, err);
    if (store == NULL) {
        return false;
    }
    store->log = log;
    store->series = series_cache_create();
    store->run_names = run_names_create();
    if (store->series == NULL || store->run_names == NULL) {
        free_store(store);
        return no_memory(err);
    }
    if (!results_files_create(&store->files, err) || !store_make_data_dir(place->data_dir, err) ||
        !store_lock_dir(store, err) || !store_access_init(store, err)) {
        free_store(store);
        return false;
    }
    if (!store_blobs_init(store, err)) {
        store_access_destroy(store);
        free_store(store);
        return false;
    }
    if (!open_parts(store, place, use, err)) {
        store_close(store);
        return false;
    }
    *out = store;
    return true;
}

bool store_open(struct store **out, const char *data_dir, const struct log *log, struct err *err)
{
    const struct store_place place = {.data_dir = data_dir};
    return open_store(out, &place, OBJECTS_UNUSED, log, err);
}

bool store_open_at(struct store **out,
                   const struct store_place *place,
                   const struct log *log,
                   struct err *err)
{
    return open_store(out, place, OBJECTS_AS_TOLD, log, err);
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    /* Objects have a thread that uses the database. */
    store_blobs_destroy(store);
    node_leave(store);
    store_access_destroy(store);
    free_store(store);
}

bool store_is_on_server(const struct store *store)
{
    return store->database_url != NULL;
}

bool store_is_away(const struct store *store)
{
    return atomic_load(&store->shared.away_since_ms) != 0;
}

bool store_is_given_up(const struct store *store)
{
    int64_t since_ms = atomic_load(&store->shared.away_since_ms);
    return since_ms != 0 && monotonic_ms() - since_ms >= DB_WAITS_MS;
}

bool store_is_shared(const struct store *store)
{
    return store->is_shared;
}

bool store_ready(struct store *store, struct err *err)
{
    struct db *db;
    if (!store_read_begin_recent(store, &db, 0, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, db, "SELECT id FROM run LIMIT 1");
    (void)db_next(&st);
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

static bool server_bytes(struct store *store, uint64_t *bytes, struct err *err)
{
    struct db *db;
    if (store->database_url == NULL) {
        return true;
    }
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = db_used_bytes(db, bytes, err);
    store_read_end(store, db);
    return ok;
}

bool store_size(struct store *store, uint64_t *database_bytes, uint64_t *raw_bytes, struct err *err)
{
    static const char *const names[] = {"kinetoscope.db", "kinetoscope.db-wal",
                                        "kinetoscope.db-shm"};
    uint64_t total_bytes = 0;
    uint64_t results_bytes = 0;
    if (!server_bytes(store, &total_bytes, err) ||
        !results_files_bytes(store, &results_bytes, err)) {
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = path_in(store->data_dir, names[i]);
        if (path == NULL) {
            return err_set(err, ERR_NO_MEMORY, "no memory for a path");
        }
        struct stat info;
        if (stat(path, &info) == 0) {
            total_bytes += (uint64_t)info.st_size;
        }
        free(path);
    }
    *database_bytes = total_bytes + results_bytes;
    *raw_bytes = store_blobs_bytes(store);
    return true;
}
