#define _XOPEN_SOURCE 700 /* realpath */
#include "ingest/store/copy/copy.h"

#include "ingest/base/wall_clock.h"
#include "ingest/store/catalogue/server_catalogue.h"
#include "ingest/store/copy/copy_internal.h"
#include "ingest/store/schema/schema.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Moments of the source that are looked at because something was deleted meanwhile. */
#define ATTEMPTS_MAX 50
#define SOURCE_BYTES (PATH_MAX + 32)

/* ---- the two sides ---- */

/* In words, for messages: where the catalogue is. */
static const char *name_of(const struct copy_side *side)
{
    return side->store->database_url != NULL ? db_path(side->store->writer) : side->store->data_dir;
}

static bool check_version(const struct copy_side *side, int64_t version, struct err *err)
{
    if (version == 0) {
        return err_set(err, ERR_NOT_FOUND, "there is nothing to copy: %s has no table",
                       name_of(side));
    }
    return version == SCHEMA_VERSION ||
           err_set(err, ERR_CONFLICT,
                   "%s has schema %lld and this program schema %d: start a server of this version "
                   "on it, then copy",
                   name_of(side), (long long)version, SCHEMA_VERSION);
}

/* A database would be made where none is. */
static bool refuse_no_database(const struct store *store, struct err *err)
{
    return store->database_url != NULL || access(store->db_path, F_OK) == 0 ||
           err_set(err, ERR_NOT_FOUND,
                   "there is no database %s; name its directory with --data-dir", store->db_path);
}

static bool has_objects(struct db *db, bool *some, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT EXISTS (SELECT 1 FROM object WHERE state IN ('live', 'dying')) OR"
               " EXISTS (SELECT 1 FROM results_file WHERE is_object <> 0)");
    *some = db_next(&st) && db_get_bool(&st);
    return db_done(&st, err);
}

static bool open_objects(struct copy_side *side, const struct store_place *place, struct err *err)
{
    return place->objects == NULL || objects_open(&side->objects, place->objects->url, NULL, err);
}

/* Statements may take longer than those of a server may. */
static bool allow_time(struct db *db, struct err *err)
{
    return !db_is_server(db) ||
           db_exec(db, "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0",
                   err);
}

static bool open_from(struct copy_side *side, const struct store_place *place, struct err *err)
{
    int64_t version = 0;
    bool some = false;
    if (!store_open_bare(&side->store, place, err) ||
        (place->database_url == NULL && !server_catalogue_none(side->store, err)) ||
        !refuse_no_database(side->store, err) ||
        !store_connect(side->store, DB_READER, &side->store->writer, err) ||
        !allow_time(side->store->writer, err) ||
        !schema_version(side->store->writer, &version, err) || !check_version(side, version, err) ||
        (place->database_url != NULL && !server_catalogue_check(side->store, false, err)) ||
        !has_objects(side->store->writer, &some, err)) {
        return false;
    }
    return some && place->objects == NULL
               ? err_set(err, ERR_CONFLICT,
                         "uploads or results of %s are objects: give the --objects-url that it had",
                         name_of(side))
               : open_objects(side, place, err);
}

/* ---- the target ---- */

/* What tells one source from another. */
static bool source_text(const struct copy *copy, char text[SOURCE_BYTES], struct err *err)
{
    const struct store *store = copy->from.store;
    char path[PATH_MAX];
    char id[CATALOGUE_ID_BYTES];
    if (store->database_url != NULL) {
        (void)snprintf(text, SOURCE_BYTES, "the database ");
        bool ok = schema_read_id(store->writer, id, err);
        (void)snprintf(text + strlen(text), CATALOGUE_ID_BYTES, "%s", id);
        return ok;
    }
    if (realpath(store->data_dir, path) == NULL) {
        return err_set_errno(err, ERR_IO, errno, "looking at %s", store->data_dir);
    }
    (void)snprintf(text, SOURCE_BYTES, "the directory %s", path);
    return true;
}

static bool refuse_entry(const struct copy_side *side, const char *name, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "%s is not empty (there is %s): a copy goes into a new directory, or into one "
                   "that holds an earlier copy of the same source",
                   side->store->data_dir, name);
}

/* Before the first table is written. */
static bool refuse_entries(const struct copy_side *side, struct err *err)
{
    static const char *const own[] = {".", "..", "lock", "catalogue-id", "node-id"};
    DIR *dir = opendir(side->store->data_dir);
    if (dir == NULL) {
        return err_set_errno(err, ERR_IO, errno, "reading the folder %s", side->store->data_dir);
    }
    bool ok = true;
    for (const struct dirent *entry = readdir(dir); ok && entry != NULL; entry = readdir(dir)) {
        bool is_own = false;
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
            is_own = is_own || strcmp(entry->d_name, own[i]) == 0;
        }
        ok = is_own || refuse_entry(side, entry->d_name, err);
    }
    (void)closedir(dir);
    return ok;
}

static bool insert_state(struct db *db, const char *source, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "INSERT INTO copy_state (source, state, at_s) VALUES (?, 'copying', ?)");
    db_put_text(&st, source);
    db_put_int(&st, wall_clock_s());
    return db_run(&st, err);
}

static bool create_embedded(struct store *store, struct err *err)
{
    return db_begin(store->writer, err) &&
           db_end(store->writer, schema_create(store->writer, err), err);
}

/* Whose copy the target is; without one it has to be empty. */
static bool check_state(struct copy *copy, const char *source, struct err *err)
{
    struct db_stmt st;
    char theirs[SOURCE_BYTES] = "";
    size_t len;
    bool none = false;
    struct db *db = copy->to.store->writer;
    db_prepare(&st, db, "SELECT source FROM copy_state");
    if (db_next(&st)) {
        (void)snprintf(theirs, sizeof theirs, "%s", db_peek_text(&st, &len));
    }
    if (!db_done(&st, err) || (theirs[0] == '\0' && !copy_rows_none(copy, &none, err))) {
        return false;
    }
    if (theirs[0] == '\0') {
        return none ? insert_state(db, source, err)
                    : err_set(err, ERR_CONFLICT,
                              "%s is not empty, and no copy that waits for its first server: a "
                              "copy goes into a new database",
                              name_of(&copy->to));
    }
    return strcmp(theirs, source) == 0 ||
           err_set(err, ERR_CONFLICT, "%s holds a copy of %s, not of %s", name_of(&copy->to),
                   theirs, source);
}

static bool open_database(struct copy *copy, const char *source, struct err *err)
{
    struct store *store = copy->to.store;
    int64_t version = 0;
    bool is_new = store->database_url != NULL || access(store->db_path, F_OK) != 0;
    if (store->database_url == NULL && !server_catalogue_none(store, err)) {
        return false;
    }
    if (store->database_url == NULL && is_new && !refuse_entries(&copy->to, err)) {
        return false;
    }
    if (!store_connect(store, DB_WRITER, &store->writer, err) || !allow_time(store->writer, err) ||
        !schema_version(store->writer, &version, err)) {
        return false;
    }
    if (version == 0 && store->database_url != NULL) {
        return refuse_entries(&copy->to, err) && server_catalogue_create(store, err) &&
               check_state(copy, source, err);
    }
    if (version == 0) {
        return create_embedded(store, err) && check_state(copy, source, err);
    }
    return check_version(&copy->to, version, err) &&
           (store->database_url == NULL || server_catalogue_check(store, false, err)) &&
           check_state(copy, source, err);
}

static bool make_folder(const struct store *store, const char *name, struct err *err)
{
    char path[STORE_PATH_BYTES];
    int len = snprintf(path, sizeof path, "%s/%s", store->data_dir, name);
    return (len > 0 && len < (int)sizeof path && store_make_dir(path, err)) ||
           err_context(err, "making the folder %s", name);
}

static bool open_to(struct copy *copy, const struct store_place *place, struct err *err)
{
    char source[SOURCE_BYTES];
    struct copy_side *side = &copy->to;
    return source_text(copy, source, err) && store_open_bare(&side->store, place, err) &&
           store_make_data_dir(side->store->data_dir, err) && store_lock_dir(side->store, err) &&
           open_database(copy, source, err) && make_folder(side->store, "raw", err) &&
           make_folder(side->store, "incoming", err) && open_objects(side, place, err) &&
           copy_bytes_recover(copy, err);
}

static void close_side(struct copy_side *side)
{
    objects_close(side->objects);
    store_close_bare(side->store);
}

/* ---- copying ---- */

static bool sum_bytes(struct copy *copy, struct err *err)
{
    int64_t sum = 0;
    bool ok = db_read_int(copy->from.store->writer,
                          "SELECT (SELECT coalesce(sum(size_bytes), 0) FROM upload) + (SELECT"
                          " coalesce(sum(size_bytes), 0) FROM results_file WHERE bytes IS NULL)",
                          &sum, err);
    copy->total_bytes = (uint64_t)sum;
    return ok;
}

static bool finish_state(struct db *db, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "UPDATE copy_state SET state = 'copied', at_s = ?");
    db_put_int(&st, wall_clock_s());
    return db_run(&st, err);
}

/* Whoever was at work on a file is at the source: here it is begun anew. A server on a database
 * leaves alone what is not its own, so that nobody else would remove the rest. */
static bool let_go_of_work(struct db *db, struct err *err)
{
    return db_exec(db,
                   "DELETE FROM upload WHERE published = 0;"
                   "DELETE FROM job WHERE received_at_s = 0 AND state IN ('queued', 'running');"
                   "UPDATE job SET state = 'queued', node = '', fence = 0, lease_until_s = 0,"
                   " attempts = 0 WHERE state IN ('queued', 'running')",
                   err);
}

static bool replace_rows(struct copy *copy, struct db *snapshot, struct err *err)
{
    struct db *to = copy->to.store->writer;
    const char *where = copy->to.objects != NULL
                            ? "UPDATE results_file SET is_object = 1 WHERE bytes IS NULL"
                            : "UPDATE results_file SET is_object = 0";
    return db_begin(to, err) && db_end(to,
                                       copy_rows(copy, snapshot, err) && db_exec(to, where, err) &&
                                           let_go_of_work(to, err) && finish_state(to, err),
                                       err);
}

/* The source at one moment, with all bytes that it names then. */
static bool copy_moment(struct copy *copy, struct db *snapshot, bool *is_done, struct err *err)
{
    struct err second = ERR_INIT;
    if (!db_begin(snapshot, err)) {
        return false;
    }
    bool ok = copy_bytes(copy, snapshot, err);
    *is_done = ok && !copy->is_missing;
    ok = ok && (!*is_done || replace_rows(copy, snapshot, err));
    return db_rollback(snapshot, ok ? err : &second) && ok;
}

static bool copy_catalogue(struct copy *copy, struct err *err)
{
    struct db *snapshot = NULL;
    bool is_done = false;
    bool ok =
        store_connect(copy->from.store, DB_READER, &snapshot, err) && allow_time(snapshot, err);
    for (int attempt = 0; ok && !is_done && attempt < ATTEMPTS_MAX; attempt++) {
        ok = copy_moment(copy, snapshot, &is_done, err);
    }
    db_close(snapshot);
    return ok && (is_done || err_set(err, ERR_UNAVAILABLE,
                                     "uploads are removed faster than they can be copied; try "
                                     "again when less is being deleted"));
}

/* What a server's planner goes by; SQLite's is left as everywhere. */
static bool settle(struct db *db, struct err *err)
{
    return db_is_server(db) ? db_exec(db, "ANALYZE", err) : db_checkpoint(db, err);
}

static bool copy_all(struct copy *copy, struct err *err)
{
    if (!sum_bytes(copy, err) || !copy_bytes(copy, copy->from.store->writer, err)) {
        return false;
    }
    uint64_t there = copy->counts->there;
    bool ok = copy_catalogue(copy, err) && settle(copy->to.store->writer, err);
    copy->counts->there = there; /* not what this copy has brought */
    return ok;
}

static bool is_same(const char *left, const char *right)
{
    return left != NULL && right != NULL && strcmp(left, right) == 0;
}

bool store_copy(const struct store_place *from,
                const struct store_place *to,
                const struct copy_progress *progress,
                struct copy_counts *counts,
                struct err *err)
{
    struct copy copy = {.progress = progress, .counts = counts};
    *counts = (struct copy_counts){0};
    copy.is_same_objects = from->objects != NULL && to->objects != NULL &&
                           is_same(from->objects->url, to->objects->url);
    if (is_same(from->database_url, to->database_url)) {
        return err_set(err, ERR_BAD_REQUEST, "source and target are the same database");
    }
    bool ok = open_from(&copy.from, from, err) && open_to(&copy, to, err) && copy_all(&copy, err);
    close_side(&copy.to);
    close_side(&copy.from);
    return ok;
}
