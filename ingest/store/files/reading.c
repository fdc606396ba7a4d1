/* Connections to files that are there: some stay open for the next reader. */
#include "ingest/base/monotonic.h"
#include "ingest/store/files/paths.h"
#include "ingest/store/objects/blob_check.h"
#include "ingest/store/schema/schema.h"
#include "ingest/store/schema/sums.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAN_OUT_CHARS 2
#define SUFFIX ".db"
/* A file may leave the cache before it is opened. */
#define OPEN_TRIES 3

/* ---- paths ---- */

static bool is_fit(int len, struct err *err)
{
    return (len > 0 && len < STORE_PATH_BYTES) ||
           err_set(err, ERR_IO, "a path in the data directory is too long");
}

bool results_incoming_path(const struct store *store,
                           const char *key,
                           char out[STORE_PATH_BYTES],
                           struct err *err)
{
    return is_fit(snprintf(out, STORE_PATH_BYTES, "%s/incoming/%s" SUFFIX, store->data_dir, key),
                  err);
}

bool results_path(const struct store *store,
                  const char *key,
                  char out[STORE_PATH_BYTES],
                  struct err *err)
{
    return is_fit(snprintf(out, STORE_PATH_BYTES, "%s/results/%.*s/%s" SUFFIX, store->data_dir,
                           FAN_OUT_CHARS, key, key + FAN_OUT_CHARS),
                  err);
}

static bool make_folders(const struct store *store, const char *path, struct err *err)
{
    char folder[STORE_PATH_BYTES];
    if (!is_fit(snprintf(folder, sizeof folder, "%s/results", store->data_dir), err) ||
        !store_make_dir(folder, err)) {
        return false;
    }
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    return store_make_dir(folder, err);
}

bool results_move_in(const struct store *store, const char *from, const char *key, struct err *err)
{
    char to[STORE_PATH_BYTES];
    return results_path(store, key, to, err) && make_folders(store, to, err) &&
           (rename(from, to) == 0 ||
            err_set_errno(err, ERR_IO, errno, "renaming %s to %s", from, to));
}

/* ---- life ---- */

bool results_files_create(struct results_files **out, struct err *err)
{
    struct results_files *files = calloc(1, sizeof *files);
    if (files == NULL || pthread_mutex_init(&files->lock, NULL) != 0) {
        free(files);
        return err_set(err, ERR_NO_MEMORY, "no memory for the files of results");
    }
    files->in_row_bytes = RESULTS_IN_ROW_BYTES;
    files->whole_bytes = RESULTS_WHOLE_BYTES;
    files->in_memory_bytes = RESULTS_IN_MEMORY_BYTES;
    *out = files;
    return true;
}

void results_files_destroy(struct results_files *files)
{
    if (files == NULL) {
        return;
    }
    for (size_t i = 0; i < files->idle_count; i++) {
        db_close(files->idle[i].db);
    }
    ranged_free(files->ranged);
    results_makers_free(files);
    (void)pthread_mutex_destroy(&files->lock);
    free(files);
}

static bool sum_bytes(struct db *db, uint64_t *bytes, struct err *err)
{
    struct sums sums;
    bool ok = sums_read(db, SUMS_RESULTS, NULL, NULL, &sums, err);
    *bytes = sums.size_bytes;
    return ok;
}

/* Where others publish and delete, too, no count of this process is right. */
bool results_files_bytes(struct store *store, uint64_t *bytes, struct err *err)
{
    struct db *db;
    if (!store->is_shared) {
        *bytes = atomic_load(&store->files->bytes);
        return true;
    }
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = sum_bytes(db, bytes, err);
    store_read_end(store, db);
    return ok;
}

/* ---- at start ---- */

bool results_files_set_aside(const struct store *store, struct err *err)
{
    char path[STORE_PATH_BYTES];
    char aside[STORE_PATH_BYTES];
    if (!is_fit(snprintf(path, sizeof path, "%s/results", store->data_dir), err)) {
        return false;
    }
    if (access(path, F_OK) != 0) {
        return true;
    }
    unsigned n = 0;
    do {
        if (!is_fit(snprintf(aside, sizeof aside, "%s/results-of-lost-database-%u", store->data_dir,
                             ++n),
                    err)) {
            return false;
        }
    } while (access(aside, F_OK) == 0);
    return rename(path, aside) == 0 ||
           err_set_errno(err, ERR_IO, errno, "renaming %s to %s", path, aside);
}

static bool is_named(struct db *db, const char *key, bool *named, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "SELECT 1 FROM results_file WHERE key = ?");
    db_put_text(&st, key);
    *named = db_next(&st);
    return db_done(&st, err);
}

static bool recover_entry(struct store *store, const char *name, struct err *err)
{
    char key[RESULTS_KEY_BYTES];
    char path[STORE_PATH_BYTES];
    bool named = false;
    if (strspn(name, "0123456789abcdef") != RESULTS_KEY_BYTES - 1 ||
        strcmp(name + RESULTS_KEY_BYTES - 1, SUFFIX) != 0) {
        return true;
    }
    (void)snprintf(key, sizeof key, "%.*s", RESULTS_KEY_BYTES - 1, name);
    return is_named(store->writer, key, &named, err) &&
           results_incoming_path(store, key, path, err) &&
           (!named || results_move_in(store, path, key, err));
}

bool results_files_recover(struct store *store, struct err *err)
{
    char folder[STORE_PATH_BYTES];
    if (!is_fit(snprintf(folder, sizeof folder, "%s/incoming", store->data_dir), err)) {
        return false;
    }
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return err_set_errno(err, ERR_IO, errno, "reading the folder %s", folder);
    }
    bool ok = true;
    for (const struct dirent *entry = readdir(dir); ok && entry != NULL; entry = readdir(dir)) {
        ok = recover_entry(store, entry->d_name, err);
    }
    (void)closedir(dir);
    uint64_t bytes = 0;
    ok = ok && sum_bytes(store->writer, &bytes, err);
    atomic_store(&store->files->bytes, bytes);
    return ok;
}

/* ---- connections ---- */

static struct db *take_idle(struct results_files *files, const char *key)
{
    struct db *db = NULL;
    (void)pthread_mutex_lock(&files->lock);
    for (size_t i = 0; db == NULL && i < files->idle_count; i++) {
        if (strcmp(files->idle[i].key, key) == 0) {
            db = files->idle[i].db;
            files->idle[i] = files->idle[--files->idle_count];
        }
    }
    (void)pthread_mutex_unlock(&files->lock);
    return db;
}

void results_files_forget(struct results_files *files, const char *key)
{
    struct db *db = take_idle(files, key);
    while (db != NULL) {
        db_close(db);
        db = take_idle(files, key);
    }
}

/* A file that has just been published may still be on its way. "": it is not there. */
static bool
find_path(struct store *store, const char *key, char path[STORE_PATH_BYTES], struct err *err)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!results_path(store, key, path, err)) {
            return false;
        }
        if (access(path, F_OK) == 0) {
            return true;
        }
        if (!results_incoming_path(store, key, path, err)) {
            return false;
        }
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    path[0] = '\0';
    return true;
}

bool results_file_is_there(const struct store *store,
                           const char *key,
                           uint64_t size_bytes,
                           bool *is_there,
                           struct err *err)
{
    char path[STORE_PATH_BYTES];
    char incoming[STORE_PATH_BYTES];
    struct stat info;
    if (!results_path(store, key, path, err) || !results_incoming_path(store, key, incoming, err)) {
        return false;
    }
    *is_there = (stat(path, &info) == 0 || stat(incoming, &info) == 0) &&
                (uint64_t)info.st_size == size_bytes;
    return true;
}

static uint64_t *slot_of(struct results_files *files, const char *key, uint64_t *digits)
{
    char begin[4] = {0};
    char next[17] = {0};
    memcpy(begin, key, 3);
    memcpy(next, key + 3, 16);
    *digits = strtoull(next, NULL, 16) | 1;
    return &files->checked[strtoul(begin, NULL, 16) % RESULTS_CHECKED_SLOTS];
}

void results_note_checked(struct results_files *files, const char *key)
{
    uint64_t digits;
    uint64_t *slot = slot_of(files, key, &digits);
    (void)pthread_mutex_lock(&files->lock);
    *slot = digits;
    (void)pthread_mutex_unlock(&files->lock);
}

static bool is_checked(struct results_files *files, const char *key)
{
    uint64_t digits;
    const uint64_t *slot = slot_of(files, key, &digits);
    (void)pthread_mutex_lock(&files->lock);
    bool is_checked = *slot == digits;
    (void)pthread_mutex_unlock(&files->lock);
    return is_checked;
}

bool results_check(struct results_files *files,
                   const char *key,
                   const char *path,
                   const struct results_row *row,
                   bool *is_whole,
                   struct err *err)
{
    char found[SHA256_HEX_BYTES];
    struct stat info;
    *is_whole = is_checked(files, key) || row->sha256_hex[0] == '\0';
    if (*is_whole) {
        return true;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_there = fd >= 0 && fstat(fd, &info) == 0 && (uint64_t)info.st_size == row->size_bytes;
    bool is_read = is_there && blob_hash(fd, found, err);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (is_there && !is_read && err->code == ERR_NO_MEMORY) {
        return false;
    }
    /* A disk that cannot read a file has damaged it. */
    *err = (struct err)ERR_INIT;
    *is_whole = is_read && strcmp(found, row->sha256_hex) == 0;
    if (*is_whole) {
        results_note_checked(files, key);
    }
    return true;
}

/* What was opened last stays in the cache for longest. */
static void touch(const struct store *store, const char *path)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    if (store->objects != NULL) {
        (void)utimensat(AT_FDCWD, path, times, 0);
    }
}

/* *db stays NULL if there is no whole file. */
static bool open_here(struct store *store,
                      const char *key,
                      const struct results_row *row,
                      struct db **db,
                      struct err *err)
{
    char path[STORE_PATH_BYTES];
    bool is_whole = false;
    if (!find_path(store, key, path, err)) {
        return false;
    }
    if (path[0] == '\0') {
        return true;
    }
    if (!results_check(store->files, key, path, row, &is_whole, err)) {
        return false;
    }
    if (!is_whole) {
        return true;
    }
    touch(store, path);
    if (db_open(db, path, DB_IMMUTABLE, err)) {
        return true;
    }
    /* It may have moved, or left the cache, between the look and the opening. */
    *db = NULL;
    bool moved = access(path, F_OK) != 0;
    if (moved) {
        *err = (struct err)ERR_INIT;
    }
    return moved;
}

static bool open_apart(struct store *store,
                       const char *key,
                       const struct results_row *row,
                       struct db **db,
                       struct err *err)
{
    bool ok = open_here(store, key, row, db, err);
    for (int tries = 0; ok && *db == NULL && tries < OPEN_TRIES; tries++) {
        ok = results_recover(store, key, row, db, err) &&
             (*db != NULL || open_here(store, key, row, db, err));
    }
    return ok && (*db != NULL ||
                  err_set(err, ERR_UNAVAILABLE,
                          "the results of this trace leave the cache faster than they are read; "
                          "give --objects-cache more room"));
}

/* *db stays NULL if the file does not stand in its row. */
static bool open_in_row(
    struct db *catalogue, const char *key, struct results_row *row, struct db **db, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool ok = true;
    *row = (struct results_row){0};
    db_prepare(&st, catalogue,
               "SELECT size_bytes, is_object, sha256, bytes FROM results_file WHERE key = ?");
    db_put_text(&st, key);
    if (db_next(&st)) {
        size_t len;
        row->size_bytes = (uint64_t)db_get_int(&st);
        row->is_object = db_get_bool(&st);
        (void)snprintf(row->sha256_hex, sizeof row->sha256_hex, "%s", db_peek_text(&st, &len));
        if (!db_get_is_null(&st)) {
            const void *packed = db_peek_blob(&st, &len);
            ok = results_open_packed(db, packed, len, err);
        }
    }
    return db_done(&st, ok ? err : &second) && ok;
}

/* What stands in a file is read by programs that write the same. */
static bool check_version(struct db *db, struct err *err)
{
    int64_t version;
    if (!db_read_int(db, "PRAGMA user_version", &version, err)) {
        return false;
    }
    if (version == RESULTS_VERSION) {
        return true;
    }
    return version > RESULTS_VERSION
               ? err_set(err, ERR_UNAVAILABLE,
                         "a newer program has analysed this trace: this server waits for its "
                         "upgrade; try again later")
               : err_set(err, ERR_GONE,
                         "an older program has analysed this trace in another form, and its upload "
                         "was not kept to do it again: delete the trace and upload its file again");
}

/* So much is read of it by ranges that it is fetched, if there is room. */
static bool is_to_be_fetched(struct results_files *files, const struct db *db)
{
    return ranged_has(db) && monotonic_ms() >= atomic_load(&files->no_room_until_ms) &&
           ranged_has_outgrown(files->ranged, db);
}

bool results_file_acquire(
    struct store *store, struct db *catalogue, const char *key, struct db **db, struct err *err)
{
    struct results_row row;
    *db = take_idle(store->files, key);
    if (*db != NULL && !is_to_be_fetched(store->files, *db)) {
        return true;
    }
    db_close(*db);
    *db = NULL;
    bool ok = open_in_row(catalogue, key, &row, db, err) &&
              (*db != NULL || open_apart(store, key, &row, db, err)) && check_version(*db, err);
    if (!ok) {
        db_close(*db);
        *db = NULL;
    }
    return ok;
}

static size_t oldest_idle(const struct results_files *files)
{
    size_t oldest = 0;
    for (size_t i = 1; i < files->idle_count; i++) {
        oldest = files->idle[i].used_at < files->idle[oldest].used_at ? i : oldest;
    }
    return oldest;
}

void results_file_release(struct store *store, const char *key, struct db *db)
{
    char path[STORE_PATH_BYTES];
    struct err ignored = ERR_INIT;
    struct results_files *files = store->files;
    /* A file that is on its way, or was removed meanwhile, is not held open. */
    bool stays = db_is_in_memory(db) || ranged_has(db) ||
                 (results_path(store, key, path, &ignored) && access(path, F_OK) == 0);
    (void)pthread_mutex_lock(&files->lock);
    if (stays) {
        bool is_full = files->idle_count == RESULTS_IDLE_MAX;
        struct idle_file *idle = &files->idle[is_full ? oldest_idle(files) : files->idle_count++];
        struct db *before = is_full ? idle->db : NULL;
        *idle = (struct idle_file){.db = db, .used_at = ++files->clock};
        (void)snprintf(idle->key, sizeof idle->key, "%s", key);
        db = before;
    }
    (void)pthread_mutex_unlock(&files->lock);
    db_close(db);
}

/* ---- of a snapshot ---- */

bool results_file_find(struct db *catalogue,
                       int64_t trace_id,
                       enum results_kind kind,
                       char key[RESULTS_KEY_BYTES],
                       struct err *err)
{
    struct db_stmt st;
    size_t len = 0;
    key[0] = '\0';
    if (kind == RESULTS_TABLES) {
        db_prepare(&st, catalogue, "SELECT key FROM results_file WHERE trace_id = ? AND kind = 0");
        db_put_int(&st, trace_id);
    } else {
        db_prepare(&st, catalogue,
                   "SELECT f.key FROM trace AS t"
                   " JOIN trace AS o ON o.id = coalesce(t.derived_of, t.id)"
                   " JOIN results_file AS f ON f.trace_id = o.id AND f.kind <= ?2"
                   " AND (f.kind = 1 OR o.has_events <> 0)"
                   " WHERE t.id = ?1 ORDER BY f.kind DESC LIMIT 1");
        db_put_int(&st, trace_id);
        db_put_int(&st, (int64_t)kind);
    }
    const char *text = db_next(&st) ? db_peek_text(&st, &len) : NULL;
    if (text != NULL && len < RESULTS_KEY_BYTES) {
        memcpy(key, text, len + 1);
    }
    return db_done(&st, err);
}

static struct db *of_snapshot(struct store_snapshot *snapshot, const char *key)
{
    for (size_t i = 0; i < STORE_SNAPSHOT_FILES; i++) {
        if (strcmp(snapshot->files[i].key, key) == 0) {
            return snapshot->files[i].db;
        }
    }
    return NULL;
}

/* A trace that was deleted after the snapshot was taken is not found; one that has new results is
 * to be asked for again. */
static bool is_removed(struct store *store, int64_t trace_id, const char *key, struct err *err)
{
    struct db *db;
    bool named = true;
    struct err removed = ERR_INIT;
    if (err->code != ERR_GONE || !store_read_begin(store, &db, &removed)) {
        return false;
    }
    if (!store_check_figures(db, trace_id, &removed) || !is_named(db, key, &named, &removed)) {
        *err = removed;
    } else if (!named) {
        (void)err_set(err, ERR_UNAVAILABLE,
                      "this trace has just been analysed again; ask for it again");
    }
    store_read_end(store, db);
    return false;
}

bool store_snapshot_file(struct store_snapshot *snapshot,
                         int64_t trace_id,
                         enum results_kind kind,
                         struct db **db,
                         struct err *err)
{
    struct db *catalogue;
    char key[RESULTS_KEY_BYTES];
    *db = NULL;
    if (!store_snapshot_read(snapshot, &catalogue, err) ||
        !results_file_find(catalogue, trace_id, kind, key, err)) {
        return false;
    }
    if (key[0] == '\0' || (*db = of_snapshot(snapshot, key)) != NULL) {
        return true;
    }
    if (!results_file_acquire(snapshot->store, catalogue, key, db, err)) {
        /* Of what was read lately nothing tells whether it was removed. */
        return db_recalled_ms(catalogue) < 0 && is_removed(snapshot->store, trace_id, key, err);
    }
    struct store_snapshot_file *place =
        &snapshot->files[snapshot->next_file++ % STORE_SNAPSHOT_FILES];
    if (place->db != NULL) {
        results_file_release(snapshot->store, place->key, place->db);
    }
    memcpy(place->key, key, sizeof key);
    place->db = *db;
    return true;
}

bool store_snapshot_tables(struct store_snapshot *snapshot,
                           int64_t trace_id,
                           struct db **db,
                           struct err *err)
{
    return store_snapshot_file(snapshot, trace_id, RESULTS_TABLES, db, err) &&
           (*db != NULL ||
            err_set(err, ERR_STORE, "the catalogue names no file with the results of this trace"));
}
