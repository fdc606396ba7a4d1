/* The way back of backup.c: blobs at their places, each held against its hash; the database
 * last under its name, when it is known to be whole. */
#include "ingest/base/files/write_all.h"
#include "ingest/base/sha256.h"
#include "ingest/store/backup/backup.h"
#include "ingest/store/backup/tar.h"
#include "ingest/store/internal.h"
#include "ingest/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define COPY_BYTES ((size_t)1 << 20)
#define RAW_PREFIX_CHARS 7 /* "raw/ab/" */
#define RESULTS_FOLDER "results/"
#define RESULTS_FOLDER_CHARS 8

struct restore {
    const char *data_dir;
    const struct backup_progress *progress;
    struct backup_counts *counts;
    struct backup_tar tar;
    uint64_t done_bytes;
    uint64_t total_bytes;
    bool made_dir;
    bool has_database;
    sqlite3 *database; /* while it is checked */
    char *buffer;      /* COPY_BYTES */
};

static bool
path_in(const struct restore *restore, const char *name, char out[PATH_BYTES], struct err *err)
{
    int len = snprintf(out, PATH_BYTES, "%s/%s", restore->data_dir, name);
    return (len > 0 && len < PATH_BYTES) ||
           err_set(err, ERR_IO, "the path of %s is too long", restore->data_dir);
}

static bool make_dir(const struct restore *restore, const char *name, struct err *err)
{
    char path[PATH_BYTES];
    return path_in(restore, name, path, err) && store_make_dir(path, err);
}

static bool sync_folder(const struct restore *restore, const char *name, struct err *err)
{
    char path[PATH_BYTES];
    return path_in(restore, name, path, err) && store_sync_dir(path, err);
}

/* Calls `visit` for every name in a folder below the data directory but "." and "..". */
typedef bool
visit_fn(const struct restore *restore, const char *folder, const char *name, struct err *err);

static bool
visit_folder(const struct restore *restore, const char *folder, visit_fn *visit, struct err *err)
{
    char path[PATH_BYTES];
    if (!path_in(restore, folder, path, err)) {
        return false;
    }
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return err_set_errno(err, ERR_IO, errno, "reading the folder %s", path);
    }
    bool ok = true;
    for (const struct dirent *entry = readdir(dir); ok && entry != NULL; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            ok = visit(restore, folder, entry->d_name, err);
        }
    }
    (void)closedir(dir);
    return ok;
}

/* ---- before and after ---- */

static bool
refuse_entry(const struct restore *restore, const char *folder, const char *name, struct err *err)
{
    (void)folder;
    return err_set(err, ERR_CONFLICT,
                   "%s is not empty (there is %s): a backup is restored into a new or an empty "
                   "directory; move the old one away",
                   restore->data_dir, name);
}

static bool claim_dir(struct restore *restore, struct err *err)
{
    restore->made_dir = mkdir(restore->data_dir, 0700) == 0;
    if (!restore->made_dir && errno != EEXIST) {
        return err_set_errno(err, ERR_IO, errno, "creating the folder %s", restore->data_dir);
    }
    return visit_folder(restore, "", refuse_entry, err);
}

/* Of an entry of a folder below the data directory: its path from there, and the whole one. */
static bool entry_paths(const struct restore *restore,
                        const char *folder,
                        const char *name,
                        char below[PATH_BYTES],
                        char path[PATH_BYTES],
                        struct err *err)
{
    int len = snprintf(below, PATH_BYTES, "%s/%s", folder, name);
    return len > 0 && len < PATH_BYTES && path_in(restore, below, path, err);
}

static bool remove_blob_file(const struct restore *restore,
                             const char *folder,
                             const char *name,
                             struct err *err)
{
    char below[PATH_BYTES];
    char path[PATH_BYTES];
    if (entry_paths(restore, folder, name, below, path, err)) {
        (void)unlink(path);
    }
    return true;
}

static bool remove_blob_folder(const struct restore *restore,
                               const char *folder,
                               const char *name,
                               struct err *err)
{
    char below[PATH_BYTES];
    char path[PATH_BYTES];
    if (entry_paths(restore, folder, name, below, path, err)) {
        (void)visit_folder(restore, below, remove_blob_file, err);
        (void)rmdir(path);
    }
    return true;
}

/* So that the same command can be given again. */
static void clean_up(const struct restore *restore)
{
    static const char *const names[] = {"kinetoscope.db.partial", "kinetoscope.db.partial-wal",
                                        "kinetoscope.db.partial-shm"};
    struct err ignored = ERR_INIT;
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (path_in(restore, names[i], path, &ignored)) {
            (void)unlink(path);
        }
    }
    static const char *const folders[] = {"raw", "results"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        (void)visit_folder(restore, folders[i], remove_blob_folder, &ignored);
        if (path_in(restore, folders[i], path, &ignored)) {
            (void)rmdir(path);
        }
    }
    if (restore->made_dir) {
        (void)rmdir(restore->data_dir);
    }
}

/* ---- members ---- */

static bool
copy_member(struct restore *restore, int fd, const char *path, struct sha256 *hash, struct err *err)
{
    for (;;) {
        size_t got;
        if (!backup_tar_read(&restore->tar, restore->buffer, COPY_BYTES, &got, err)) {
            return false;
        }
        if (got == 0) {
            return true;
        }
        sha256_update(hash, restore->buffer, got);
        if (!write_all(fd, restore->buffer, got)) {
            return err_set_errno(err, ERR_IO, errno, "writing %s", path);
        }
        restore->done_bytes += got;
        if (restore->progress->tell != NULL) {
            restore->progress->tell(restore->progress->context, restore->done_bytes,
                                    restore->total_bytes);
        }
    }
}

/* One member into a new file, on the disk when this returns. */
static bool write_member(struct restore *restore,
                         const char *name,
                         char sha256_hex[SHA256_HEX_BYTES],
                         struct err *err)
{
    char path[PATH_BYTES];
    if (!path_in(restore, name, path, err)) {
        return false;
    }
    struct sha256 *hash = sha256_create();
    if (hash == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to restore a backup");
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 || err_set_errno(err, ERR_IO, errno, "creating %s", path);
    ok = ok && copy_member(restore, fd, path, hash, err);
    if (ok && fsync(fd) != 0) {
        ok = err_set_errno(err, ERR_IO, errno, "writing %s", path);
    }
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = err_set_errno(err, ERR_IO, errno, "writing %s", path);
    }
    sha256_final_hex(hash, sha256_hex);
    sha256_destroy(hash);
    return ok;
}

/* "raw/ab/cdef..." and nothing else. */
static bool is_blob_name(const char *name)
{
    static const char hex[] = "0123456789abcdef";
    return strncmp(name, "raw/", 4) == 0 && strspn(name + 4, hex) == 2 && name[6] == '/' &&
           strspn(name + RAW_PREFIX_CHARS, hex) == SHA256_HEX_BYTES - 3 &&
           name[RAW_PREFIX_CHARS + SHA256_HEX_BYTES - 3] == '\0';
}

/* "results/ab/cdef....db" and nothing else. */
static bool is_results_name(const char *name)
{
    static const char hex[] = "0123456789abcdef";
    return strncmp(name, RESULTS_FOLDER, RESULTS_FOLDER_CHARS) == 0 &&
           strspn(name + RESULTS_FOLDER_CHARS, hex) == 2 && name[RESULTS_FOLDER_CHARS + 2] == '/' &&
           strspn(name + RESULTS_FOLDER_CHARS + 3, hex) == RESULTS_KEY_BYTES - 3 &&
           strcmp(name + RESULTS_FOLDER_CHARS + RESULTS_KEY_BYTES, ".db") == 0;
}

static bool restore_results(struct restore *restore, const char *name, struct err *err)
{
    char folder[RESULTS_FOLDER_CHARS + 3];
    char ignored[SHA256_HEX_BYTES];
    (void)snprintf(folder, sizeof folder, "%.*s", RESULTS_FOLDER_CHARS + 2, name);
    uint64_t before = restore->done_bytes;
    bool ok = make_dir(restore, "results", err) && make_dir(restore, folder, err) &&
              write_member(restore, name, ignored, err) && sync_folder(restore, folder, err) &&
              sync_folder(restore, "results", err);
    restore->counts->database_bytes += restore->done_bytes - before;
    return ok;
}

static bool restore_raw(struct restore *restore, const char *name, struct err *err)
{
    char folder[RAW_PREFIX_CHARS];
    char sha256_hex[SHA256_HEX_BYTES];
    memcpy(folder, name, sizeof folder - 1);
    folder[sizeof folder - 1] = '\0';
    uint64_t before = restore->done_bytes;
    if (!make_dir(restore, "raw", err) || !make_dir(restore, folder, err) ||
        !write_member(restore, name, sha256_hex, err) || !sync_folder(restore, folder, err)) {
        return false;
    }
    restore->counts->raw_files++;
    restore->counts->raw_bytes += restore->done_bytes - before;
    bool same = strncmp(sha256_hex, name + 4, 2) == 0 &&
                strcmp(sha256_hex + 2, name + RAW_PREFIX_CHARS) == 0;
    return same || err_set(err, ERR_BAD_INPUT,
                           "the backup %s is damaged: the bytes of %s do not fit their hash",
                           restore->tar.path, name);
}

static bool restore_member(struct restore *restore, const char *name, struct err *err)
{
    char ignored[SHA256_HEX_BYTES];
    if (is_blob_name(name)) {
        return restore_raw(restore, name, err);
    }
    if (is_results_name(name)) {
        return restore_results(restore, name, err);
    }
    if (strcmp(name, "kinetoscope.db") != 0 || restore->has_database) {
        return err_set(err, ERR_BAD_INPUT,
                       "%s is no backup that `kinetoscope backup` wrote: it holds %.80s",
                       restore->tar.path, name);
    }
    uint64_t before = restore->done_bytes;
    restore->has_database = true;
    bool ok = write_member(restore, "kinetoscope.db.partial", ignored, err);
    restore->counts->database_bytes += restore->done_bytes - before;
    return ok;
}

static bool restore_members(struct restore *restore, struct err *err)
{
    char name[BACKUP_TAR_NAME_BYTES];
    uint64_t size_bytes;
    bool has_member = true;
    while (has_member) {
        if (!backup_tar_next(&restore->tar, name, &size_bytes, &has_member, err) ||
            (has_member && !restore_member(restore, name, err))) {
            return false;
        }
    }
    return restore->has_database ||
           err_set(err, ERR_BAD_INPUT, "%s holds no database: it is no backup", restore->tar.path);
}

/* ---- the database ---- */

/* The first row's text of `sql` is `expected`, or there is none and `expected` is NULL. */
static bool answers(sqlite3 *db, const char *sql, const char *expected)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK;
    int rc = ok ? sqlite3_step(statement) : SQLITE_ERROR;
    const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    ok = expected == NULL ? rc == SQLITE_DONE : text != NULL && strcmp(text, expected) == 0;
    (void)sqlite3_finalize(statement);
    return ok;
}

/* The file of a trace that was deleted while the backup was taken. */
static bool
drop_unnamed(const struct restore *restore, const char *folder, const char *name, struct err *err)
{
    char below[PATH_BYTES];
    char path[PATH_BYTES];
    char sql[128];
    (void)snprintf(sql, sizeof sql, "SELECT 1 FROM results_file WHERE key = '%.2s%.30s'",
                   folder + RESULTS_FOLDER_CHARS, name);
    if (answers(restore->database, sql, "1")) {
        return true;
    }
    return entry_paths(restore, folder, name, below, path, err) &&
           (unlink(path) == 0 || err_set_errno(err, ERR_IO, errno, "removing %s", path));
}

static bool drop_unnamed_of(const struct restore *restore,
                            const char *folder,
                            const char *name,
                            struct err *err)
{
    char below[PATH_BYTES];
    char path[PATH_BYTES];
    return entry_paths(restore, folder, name, below, path, err) &&
           visit_folder(restore, below, drop_unnamed, err);
}

static bool has_results(const struct restore *restore)
{
    char path[PATH_BYTES];
    struct err ignored = ERR_INIT;
    return path_in(restore, "results", path, &ignored) && access(path, F_OK) == 0;
}

static bool check_database(struct restore *restore, const char *path, struct err *err)
{
    sqlite3 *db = NULL;
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
                  SQLITE_OK &&
              answers(db, "PRAGMA integrity_check", "ok") &&
              answers(db, "PRAGMA foreign_key_check", NULL);
    restore->database = db;
    if (ok && has_results(restore) && !visit_folder(restore, "results", drop_unnamed_of, err)) {
        (void)sqlite3_close(db);
        return false;
    }
    (void)sqlite3_close(db);
    return ok || err_set(err, ERR_BAD_INPUT, "the database in %s is damaged; take another backup",
                         restore->tar.path);
}

static bool publish_database(struct restore *restore, struct err *err)
{
    char from[PATH_BYTES];
    char to[PATH_BYTES];
    if (!path_in(restore, "kinetoscope.db.partial", from, err) ||
        !path_in(restore, "kinetoscope.db", to, err) || !check_database(restore, from, err) ||
        !make_dir(restore, "raw", err) || !sync_folder(restore, "raw", err)) {
        return false;
    }
    return (rename(from, to) == 0 ||
            err_set_errno(err, ERR_IO, errno, "renaming %s to %s", from, to)) &&
           sync_folder(restore, "", err);
}

/* ---- all ---- */

static bool open_backup(struct restore *restore, const char *path, struct err *err)
{
    struct stat info;
    restore->tar.path = path;
    restore->tar.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (restore->tar.fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "opening the backup %s", path);
    }
    restore->total_bytes = fstat(restore->tar.fd, &info) == 0 ? (uint64_t)info.st_size : 0;
    restore->buffer = malloc(COPY_BYTES);
    return restore->buffer != NULL || err_set(err, ERR_NO_MEMORY, "no memory to restore a backup");
}

bool store_restore(const char *path,
                   const char *data_dir,
                   const struct backup_progress *progress,
                   struct backup_counts *counts,
                   struct err *err)
{
    struct restore restore = {.data_dir = data_dir, .progress = progress, .counts = counts};
    *counts = (struct backup_counts){0};
    bool opened = open_backup(&restore, path, err);
    bool claimed = opened && claim_dir(&restore, err);
    bool ok = claimed && restore_members(&restore, err) && publish_database(&restore, err);
    if (claimed && !ok) {
        clean_up(&restore);
    }
    if (restore.tar.fd >= 0) {
        (void)close(restore.tar.fd);
    }
    free(restore.buffer);
    return ok;
}
