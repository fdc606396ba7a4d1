#include "ingest/store/backup/backup.h"

#include "ingest/base/sha256.h"
#include "ingest/store/backup/tar.h"
#include "ingest/store/db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define COPY_BYTES ((size_t)1 << 20)
/* Of the database, between two looks at the clock of the progress. */
#define STEP_PAGES 2000
/* Times that the database is taken anew because files went. */
#define ATTEMPTS_MAX 50

struct backup {
    const char *data_dir;
    const struct backup_progress *progress;
    struct backup_counts *counts;
    struct backup_tar tar;
    struct db *live;
    struct db *seen; /* in memory: hashes that are in the archive */
    uint64_t done_bytes;
    uint64_t total_bytes;
    char database[PATH_BYTES]; /* the live one */
    char snapshot[PATH_BYTES]; /* its copy */
    char partial[PATH_BYTES];  /* of the archive; "" for standard output */
    char *buffer;              /* COPY_BYTES */
};

/* What a blob is needed for. */
struct raw_row {
    const char *sha256_hex;
    bool job_waits; /* an unfinished job has to read it */
};

static bool path_of(char out[PATH_BYTES], const char *folder, const char *name, struct err *err)
{
    int len = snprintf(out, PATH_BYTES, "%s%s", folder, name);
    return (len > 0 && len < PATH_BYTES) || err_set(err, ERR_IO, "the path %s is too long", folder);
}

static void tell(const struct backup *backup)
{
    if (backup->progress->tell != NULL) {
        backup->progress->tell(backup->progress->context, backup->done_bytes, backup->total_bytes);
    }
}

/* ---- one file into the archive ---- */

/* `hash` may be NULL. */
static bool copy_bytes(struct backup *backup, int fd, struct sha256 *hash, struct err *err)
{
    for (;;) {
        ssize_t got = read(fd, backup->buffer, COPY_BYTES);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return err_set_errno(err, ERR_IO, errno, "reading a file of %s", backup->data_dir);
        }
        if (got == 0) {
            return true;
        }
        if (hash != NULL) {
            sha256_update(hash, backup->buffer, (size_t)got);
        }
        if (!backup_tar_write(&backup->tar, backup->buffer, (size_t)got, err)) {
            return false;
        }
        backup->done_bytes += (uint64_t)got;
        tell(backup);
    }
}

static bool copy_open_file(
    struct backup *backup, int fd, const char *name, struct sha256 *hash, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return err_set_errno(err, ERR_IO, errno, "looking at %s", name);
    }
    return backup_tar_begin(&backup->tar, name, (uint64_t)info.st_size, (int64_t)info.st_mtime,
                            err) &&
           copy_bytes(backup, fd, hash, err) && backup_tar_end_member(&backup->tar, err);
}

static bool copy_hashed(struct backup *backup, int fd, const char *sha256_hex, struct err *err)
{
    char name[BACKUP_TAR_NAME_BYTES];
    char found[SHA256_HEX_BYTES];
    struct sha256 *hash = sha256_create();
    uint64_t before = backup->done_bytes;
    if (hash == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a backup");
    }
    (void)snprintf(name, sizeof name, "raw/%.2s/%.62s", sha256_hex, sha256_hex + 2);
    bool ok = copy_open_file(backup, fd, name, hash, err);
    sha256_final_hex(hash, found);
    sha256_destroy(hash);
    backup->counts->raw_files++;
    backup->counts->raw_bytes += backup->done_bytes - before;
    if (ok && strcmp(found, sha256_hex) != 0) {
        return err_set(err, ERR_IO,
                       "the bytes of %s/%s are not those that were uploaded: the disk has damaged "
                       "them; upload the same file again, or delete its traces, then repeat the "
                       "backup",
                       backup->data_dir, name);
    }
    return ok;
}

/* ---- blobs ---- */

static bool
read_rows(struct db *db, struct arena *arena, struct raw_row **rows, size_t *count, struct err *err)
{
    struct db_stmt st;
    size_t cap = 0;
    *rows = NULL;
    *count = 0;
    db_prepare(&st, db,
               "SELECT sha256, max(waits) FROM (SELECT sha256, 0 AS waits FROM upload UNION ALL"
               " SELECT sha256, 1 FROM job WHERE state IN ('queued', 'running')) GROUP BY sha256");
    while (db_next(&st)) {
        struct raw_row *grown = arena_grow(arena, *rows, *count, &cap, sizeof *grown);
        if (grown == NULL) {
            db_fail_memory(&st);
            break;
        }
        *rows = grown;
        struct raw_row *row = &grown[*count];
        row->sha256_hex = db_get_text(&st, arena);
        row->job_waits = db_get_bool(&st);
        *count += row->sha256_hex != NULL && sha256_is_hex(row->sha256_hex);
    }
    return db_done(&st, err);
}

static bool exists(struct db *db, const char *sql, const char *text, bool *found, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_text(&st, text);
    *found = db_next(&st) && db_get_bool(&st);
    return db_done(&st, err);
}

/* A file that is not there although the copy of the database names it: was it not kept
 * (--retain-raw no), or has it been removed since? */
static bool
is_removed(struct backup *backup, const struct raw_row *row, bool *removed, struct err *err)
{
    bool named = false;
    if (!row->job_waits &&
        !exists(backup->live, "SELECT EXISTS (SELECT 1 FROM upload WHERE sha256 = ?)",
                row->sha256_hex, &named, err)) {
        return false;
    }
    *removed = !named;
    return true;
}

static bool
copy_raw(struct backup *backup, const struct raw_row *row, bool *removed, struct err *err)
{
    char path[PATH_BYTES];
    char name[SHA256_HEX_BYTES + 8];
    bool seen = false;
    if (!exists(backup->seen, "SELECT EXISTS (SELECT 1 FROM seen WHERE sha256 = ?)",
                row->sha256_hex, &seen, err)) {
        return false;
    }
    if (seen) {
        return true;
    }
    (void)snprintf(name, sizeof name, "/raw/%.2s/%.62s", row->sha256_hex, row->sha256_hex + 2);
    if (!path_of(path, backup->data_dir, name, err)) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? is_removed(backup, row, removed, err)
                               : err_set_errno(err, ERR_IO, errno, "opening %s", path);
    }
    bool ok = copy_hashed(backup, fd, row->sha256_hex, err);
    (void)close(fd);
    return ok && db_run_text(backup->seen, "INSERT INTO seen VALUES (?)", row->sha256_hex, err);
}

/* The blobs that `db` names. *removed: at least one is not there any more. */
static bool copy_raws(struct backup *backup, struct db *db, bool *removed, struct err *err)
{
    struct arena arena;
    struct raw_row *rows;
    size_t count;
    arena_init(&arena, 0);
    *removed = false;
    bool ok = read_rows(db, &arena, &rows, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        bool gone = false;
        ok = copy_raw(backup, &rows[i], &gone, err);
        *removed = *removed || gone;
    }
    arena_free(&arena);
    return ok;
}

/* ---- files of traces ---- */

/* Of traces that can be seen. */
#define NAMED_FILES                                                              \
    "results_file AS f JOIN trace AS t ON t.id = f.trace_id JOIN upload AS u ON" \
    " u.id = t.upload_id AND u.published = 1"

/* One that has just been published may still be in incoming/. */
static int open_results(const struct backup *backup, const char *key, const char *name)
{
    char path[PATH_BYTES];
    struct err ignored = ERR_INIT;
    int fd =
        path_of(path, backup->data_dir, name, &ignored) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 && errno == ENOENT) {
        char incoming[64];
        (void)snprintf(incoming, sizeof incoming, "/incoming/%s.db", key);
        fd = path_of(path, backup->data_dir, incoming, &ignored) ? open(path, O_RDONLY | O_CLOEXEC)
                                                                 : -1;
    }
    return fd;
}

static bool copy_result(struct backup *backup, const char *key, bool *removed, struct err *err)
{
    char name[64];
    bool found = false;
    if (!exists(backup->seen, "SELECT EXISTS (SELECT 1 FROM seen WHERE sha256 = ?)", key, &found,
                err)) {
        return false;
    }
    if (found) {
        return true;
    }
    (void)snprintf(name, sizeof name, "/results/%.2s/%s.db", key, key + 2);
    int fd = open_results(backup, key, name);
    if (fd < 0) {
        /* Its trace was deleted meanwhile, or somebody removed the file. */
        bool ok = errno == ENOENT || err_set_errno(err, ERR_IO, errno, "opening %s", name + 1);
        ok = ok &&
             exists(backup->live, "SELECT EXISTS (SELECT 1 FROM " NAMED_FILES " WHERE f.key = ?)",
                    key, &found, err);
        *removed = ok && !found;
        return ok;
    }
    bool ok = copy_open_file(backup, fd, name + 1, NULL, err);
    (void)close(fd);
    return ok && db_run_text(backup->seen, "INSERT INTO seen VALUES (?)", key, err);
}

/* The files that `db` names; a database of an older version has none. */
static bool copy_results(struct backup *backup, struct db *db, bool *removed, struct err *err)
{
    struct db_stmt st;
    struct err second = ERR_INIT;
    bool has_table = false;
    uint64_t before = backup->done_bytes;
    if (!exists(db, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)", "results_file",
                &has_table, err) ||
        !has_table) {
        return !has_table && err->code == ERR_NONE;
    }
    bool ok = true;
    db_prepare(&st, db, "SELECT f.key FROM " NAMED_FILES " WHERE f.bytes IS NULL");
    while (ok && db_next(&st)) {
        size_t len;
        bool gone = false;
        const char *key = db_peek_text(&st, &len);
        ok = key == NULL || copy_result(backup, key, &gone, err);
        *removed = *removed || gone;
    }
    backup->counts->database_bytes += backup->done_bytes - before;
    return db_done(&st, ok ? err : &second) && ok;
}

/* ---- the database ---- */

static bool sqlite_failed(sqlite3 *handle, const char *path, int rc, struct err *err)
{
    if (rc == SQLITE_FULL) {
        return err_set(err, ERR_NO_SPACE,
                       "no space left for the copy of the database %s; free some and try again",
                       path);
    }
    return err_set(err, ERR_STORE, "copying the database into %s: %s", path,
                   handle == NULL ? sqlite3_errstr(rc) : sqlite3_errmsg(handle));
}

/* The source is in a read transaction: every step sees the same state, and the writer goes on. */
static bool copy_pages(struct backup *backup, sqlite3 *target, struct err *err)
{
    sqlite3_backup *copy = sqlite3_backup_init(target, "main", db_handle(backup->live), "main");
    if (copy == NULL) {
        return sqlite_failed(target, backup->snapshot, sqlite3_errcode(target), err);
    }
    int rc;
    do {
        rc = sqlite3_backup_step(copy, STEP_PAGES);
        tell(backup);
    } while (rc == SQLITE_OK);
    int finished = sqlite3_backup_finish(copy);
    return (rc == SQLITE_DONE && finished == SQLITE_OK) ||
           sqlite_failed(target, backup->snapshot, rc == SQLITE_DONE ? finished : rc, err);
}

/* With what a killed one may have left: a log of pages would be taken for this one's. */
static void remove_snapshot(const struct backup *backup)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    struct err ignored = ERR_INIT;
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (path_of(path, backup->snapshot, ends[i], &ignored)) {
            (void)unlink(path);
        }
    }
}

static bool take_snapshot(struct backup *backup, struct err *err)
{
    sqlite3 *target = NULL;
    remove_snapshot(backup);
    int rc =
        sqlite3_open_v2(backup->snapshot, &target,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    bool ok = rc == SQLITE_OK || sqlite_failed(target, backup->snapshot, rc, err);
    if (ok) {
        /* Only the archive has to last. */
        rc = sqlite3_exec(target, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL,
                          NULL);
        ok = rc == SQLITE_OK || sqlite_failed(target, backup->snapshot, rc, err);
    }
    ok = ok && db_exec(backup->live, "BEGIN", err);
    if (ok) {
        ok = copy_pages(backup, target, err);
        struct err second = ERR_INIT;
        ok = db_exec(backup->live, "ROLLBACK", ok ? err : &second) && ok;
    }
    (void)sqlite3_close(target);
    return ok;
}

/* The database at one moment, with every blob that it names in the archive. */
static bool take_consistent(struct backup *backup, struct err *err)
{
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        struct db *snapshot = NULL;
        bool removed = false;
        if (!take_snapshot(backup, err) || !db_open(&snapshot, backup->snapshot, DB_READER, err)) {
            return false;
        }
        bool ok = copy_raws(backup, snapshot, &removed, err) &&
                  copy_results(backup, snapshot, &removed, err);
        db_close(snapshot);
        if (!ok || !removed) {
            return ok;
        }
    }
    return err_set(err, ERR_UNAVAILABLE,
                   "uploads are removed faster than they can be copied; try again when less is "
                   "being deleted");
}

static bool copy_database(struct backup *backup, struct err *err)
{
    uint64_t before = backup->done_bytes;
    int fd = open(backup->snapshot, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "opening %s", backup->snapshot);
    }
    bool ok = copy_open_file(backup, fd, "kinetoscope.db", NULL, err);
    (void)close(fd);
    backup->counts->database_bytes += backup->done_bytes - before;
    return ok;
}

static bool copy_all(struct backup *backup, struct err *err)
{
    bool removed;
    struct db_stmt st;
    db_prepare(&st, backup->live,
               "SELECT (SELECT coalesce(sum(bytes), 0) FROM (SELECT max(size_bytes) AS bytes FROM"
               " upload GROUP BY sha256)) + page_count * page_size FROM pragma_page_count,"
               " pragma_page_size");
    backup->total_bytes = db_next(&st) ? (uint64_t)db_get_int(&st) : 0;
    return db_done(&st, err) &&
           db_exec(backup->seen, "CREATE TABLE seen (sha256 TEXT PRIMARY KEY) WITHOUT ROWID",
                   err) &&
           copy_raws(backup, backup->live, &removed, err) &&
           copy_results(backup, backup->live, &removed, err) && take_consistent(backup, err) &&
           copy_database(backup, err) && backup_tar_finish(&backup->tar, err);
}

/* ---- the file ---- */

static bool sync_folder_of(const char *path, struct err *err)
{
    char folder[PATH_BYTES];
    if (!path_of(folder, path, "", err)) {
        return false;
    }
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    int fd = open(slash == NULL ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    int errnum = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok || err_set_errno(err, ERR_IO, errnum, "syncing the folder of %s", path);
}

static bool open_output(struct backup *backup, const char *path, struct err *err)
{
    backup->tar.path = path;
    if (strcmp(path, "-") == 0) {
        const char *folder = getenv("TMPDIR");
        backup->tar.fd = STDOUT_FILENO;
        if (!path_of(backup->snapshot, folder == NULL || *folder == '\0' ? "/tmp" : folder,
                     "/kinetoscope-backup-XXXXXX", err)) {
            return false;
        }
        int fd = mkstemp(backup->snapshot);
        if (fd < 0) {
            return err_set_errno(err, ERR_IO, errno, "creating %s", backup->snapshot);
        }
        (void)close(fd);
        return true;
    }
    if (!path_of(backup->partial, path, ".partial", err) ||
        !path_of(backup->snapshot, path, ".partial-db", err)) {
        return false;
    }
    backup->tar.fd = open(backup->partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return backup->tar.fd >= 0 || err_set_errno(err, ERR_IO, errno, "creating %s", backup->partial);
}

/* Gives the archive its name, or takes it away. */
static bool close_output(struct backup *backup, const char *path, bool ok, struct err *err)
{
    if (backup->snapshot[0] != '\0') {
        remove_snapshot(backup);
    }
    if (backup->partial[0] == '\0') {
        return ok;
    }
    if (backup->tar.fd >= 0) {
        bool synced = !ok || fsync(backup->tar.fd) == 0;
        int errnum = errno;
        bool closed = close(backup->tar.fd) == 0;
        if (ok && !(synced && closed)) {
            ok = err_set_errno(err, ERR_IO, synced ? errno : errnum, "writing the backup %s", path);
        }
    }
    if (ok && rename(backup->partial, path) != 0) {
        ok = err_set_errno(err, ERR_IO, errno, "renaming %s to %s", backup->partial, path);
    }
    if (!ok) {
        (void)unlink(backup->partial);
    }
    return ok && sync_folder_of(path, err);
}

static bool open_databases(struct backup *backup, struct err *err)
{
    if (!path_of(backup->database, backup->data_dir, "/kinetoscope.db", err)) {
        return false;
    }
    if (access(backup->database, F_OK) != 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "there is no database %s; name its directory with "
                       "--data-dir",
                       backup->database);
    }
    backup->buffer = malloc(COPY_BYTES);
    return (backup->buffer != NULL || err_set(err, ERR_NO_MEMORY, "no memory for a backup")) &&
           db_open(&backup->live, backup->database, DB_READER, err) &&
           db_open(&backup->seen, ":memory:", DB_WRITER, err);
}

/* A backup without the bytes of its uploads would look whole and not be. An older schema has no
 * such table. */
static bool refuse_objects(struct backup *backup, struct err *err)
{
    bool some = false;
    if (!exists(backup->live, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)",
                "object", &some, err)) {
        return false;
    }
    if (some && !exists(backup->live, "SELECT EXISTS (SELECT 1 FROM object WHERE state = ?)",
                        "live", &some, err)) {
        return false;
    }
    return !some || err_set(err, ERR_CONFLICT,
                            "uploads of %s are objects (--objects-url), which a backup of the "
                            "directory does not hold: back up their bucket or folder with its own "
                            "means, and with it, while no server runs, this directory",
                            backup->data_dir);
}

bool store_backup(const char *data_dir,
                  const char *path,
                  const struct backup_progress *progress,
                  struct backup_counts *counts,
                  struct err *err)
{
    struct backup *backup = calloc(1, sizeof *backup);
    if (backup == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a backup");
    }
    *counts = (struct backup_counts){0};
    backup->data_dir = data_dir;
    backup->progress = progress;
    backup->counts = counts;
    backup->tar.fd = -1;
    bool ok = open_databases(backup, err) && refuse_objects(backup, err) &&
              open_output(backup, path, err);
    ok = ok && copy_all(backup, err);
    db_close(backup->seen);
    db_close(backup->live);
    ok = close_output(backup, path, ok, err);
    free(backup->buffer);
    free(backup);
    return ok;
}
