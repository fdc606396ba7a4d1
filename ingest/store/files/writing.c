/* A file from its first row to its end: made, sealed, published, removed. It is begun in a maker,
 * and leaves it for a file of its own when it grows. */
#ifdef __linux__
#define _GNU_SOURCE /* syncfs */
#endif
#include "ingest/base/files/file_remove.h"
#include "ingest/base/sha256.h"
#include "ingest/store/db/write_back.h"
#include "ingest/store/files/paths.h"
#include "ingest/store/objects/blob_check.h"
#include "ingest/store/schema/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_BYTES ((RESULTS_KEY_BYTES - 1) / 2)
/* Above so many the whole file system is synced at once, where the system can. */
#ifdef __linux__
#define SYNCED_ONE_BY_ONE 16u
#else
#define SYNCED_ONE_BY_ONE SIZE_MAX
#define syncfs fsync
#endif

struct results_file {
    struct store *store;
    pthread_mutex_t turn;
    struct maker *maker; /* NULL: it is a file, or sealed */
    struct db *db;       /* NULL: sealed; of the maker, or of the file */
    bool is_apart;       /* a file of its own; else it will stand in its row */
    bool is_object;      /* being put to the objects, or there */
    bool is_durable;     /* synced, or put */
    void *packed;        /* sealed, for the row */
    size_t packed_bytes;
    uint64_t size_bytes; /* unpacked */
    char key[RESULTS_KEY_BYTES];
    char sha256_hex[SHA256_HEX_BYTES]; /* of a sealed file of its own; else "" */
    char path[STORE_PATH_BYTES];       /* in incoming/ */
};

/* ---- making ---- */

static bool make_key(char key[RESULTS_KEY_BYTES], struct err *err)
{
    unsigned char bytes[KEY_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return err_set_errno(err, ERR_INTERNAL, errno, "no random name for a file");
    }
    for (size_t i = 0; i < KEY_BYTES; i++) {
        (void)snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

static bool write_image(const char *path, const void *image, size_t bytes, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "creating %s", path);
    }
    size_t written = 0;
    ssize_t done = 1;
    while (written < bytes && done > 0) {
        done = write(fd, (const char *)image + written, bytes - written);
        written += done > 0 ? (size_t)done : 0;
    }
    int errnum = done < 0 ? errno : ENOSPC;
    bool ok = written == bytes;
    ok = close(fd) == 0 && ok;
    if (!ok) {
        (void)unlink(path);
    }
    return ok || err_set_errno(err, errnum == ENOSPC || errnum == EDQUOT ? ERR_NO_SPACE : ERR_IO,
                               errnum, "writing %s", path);
}

static bool begin_file(struct results_file *file, struct err *err)
{
    if (!make_key(file->key, err) ||
        !results_incoming_path(file->store, file->key, file->path, err) ||
        !results_maker_take(file->store->files, &file->maker, err)) {
        return false;
    }
    file->db = results_maker_db(file->maker);
    return true;
}

bool results_file_create(struct store *store, struct results_file **out, struct err *err)
{
    struct results_file *file = calloc(1, sizeof *file);
    if (file == NULL || pthread_mutex_init(&file->turn, NULL) != 0) {
        free(file);
        return err_set(err, ERR_NO_MEMORY, "no memory to store events");
    }
    file->store = store;
    if (!begin_file(file, err)) {
        (void)pthread_mutex_destroy(&file->turn);
        free(file);
        return false;
    }
    *out = file;
    return true;
}

static void give_back_maker(struct results_file *file)
{
    results_maker_give_back(file->store->files, file->maker);
    file->maker = NULL;
    file->db = NULL;
}

/* From the maker into a file of its own. */
static bool set_apart(struct results_file *file, struct err *err)
{
    void *image;
    size_t bytes;
    struct db *db = NULL;
    if (!results_maker_image(file->maker, &image, &bytes, err)) {
        return false;
    }
    bool ok = write_image(file->path, image, bytes, err);
    sqlite3_free(image);
    if (!ok) {
        return false;
    }
    if (!db_open(&db, file->path, DB_MAKER, err) || !db_exec(db, "BEGIN", err)) {
        db_close(db);
        (void)unlink(file->path);
        return false;
    }
    give_back_maker(file);
    file->is_apart = true;
    file->db = db;
    return true;
}

/* With `bytes` more of it. */
static bool set_apart_if_large(struct results_file *file, size_t bytes, struct err *err)
{
    const struct results_files *files = file->store->files;
    size_t in_memory_bytes =
        files->in_memory_bytes > files->in_row_bytes ? files->in_memory_bytes : files->in_row_bytes;
    size_t has_bytes;
    return file->is_apart || (results_maker_size(file->maker, &has_bytes, err) &&
                              (has_bytes + bytes <= in_memory_bytes || set_apart(file, err)));
}

bool results_file_begin(struct results_file *file, size_t bytes, struct db **db, struct err *err)
{
    (void)pthread_mutex_lock(&file->turn);
    if (!set_apart_if_large(file, bytes, err)) {
        (void)pthread_mutex_unlock(&file->turn);
        return false;
    }
    *db = file->db;
    return true;
}

void results_file_end(struct results_file *file)
{
    (void)pthread_mutex_unlock(&file->turn);
}

/* Its bytes go to the disk while the next trace is read. */
static bool look_at(struct results_file *file, struct err *err)
{
    struct stat info;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fstat(fd, &info) == 0;
    int errnum = errno;
    if (!ok) {
        (void)err_set_errno(err, ERR_IO, errnum, "looking at %s", file->path);
    } else {
        file->size_bytes = (uint64_t)info.st_size;
        if (file->store->objects == NULL) {
            write_back_begin(fd, 0);
        }
        ok = blob_hash(fd, file->sha256_hex, err);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

static bool seal_apart(struct results_file *file, struct err *err)
{
    bool ok = db_exec(file->db, "COMMIT", err);
    db_close(file->db);
    file->db = NULL;
    return ok && look_at(file, err);
}

static bool seal_in_row(struct results_file *file, struct err *err)
{
    size_t bytes = 0;
    bool ok = results_maker_pack(file->maker, &file->packed, &file->packed_bytes, &bytes, err);
    file->size_bytes = bytes;
    give_back_maker(file);
    return ok;
}

/* From the maker, hashed before it is a file. */
static bool seal_from_memory(struct results_file *file, struct err *err)
{
    unsigned char digest[SHA256_BYTES];
    void *image;
    size_t bytes;
    if (!results_maker_image(file->maker, &image, &bytes, err)) {
        return false;
    }
    give_back_maker(file);
    bool ok = sha256_of(image, bytes, digest) ||
              err_set(err, ERR_INTERNAL, "hashing a file of results failed");
    ok = ok && write_image(file->path, image, bytes, err);
    sqlite3_free(image);
    if (ok) {
        sha256_to_hex(digest, file->sha256_hex);
        file->size_bytes = bytes;
        file->is_apart = true;
    }
    return ok;
}

bool results_file_seal(struct results_file *file, struct err *err)
{
    size_t bytes;
    if (file->is_apart) {
        return seal_apart(file, err);
    }
    return results_maker_size(file->maker, &bytes, err) &&
           (bytes <= file->store->files->in_row_bytes ? seal_in_row(file, err)
                                                      : seal_from_memory(file, err));
}

/* ---- publishing ---- */

/* The file or, with `is_whole`, the file system that it is in. */
static bool sync_path(const char *path, int flags, bool is_whole, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    bool ok = fd >= 0 && (is_whole ? syncfs(fd) : fsync(fd)) == 0;
    int errnum = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok || err_set_errno(err, ERR_IO, errnum, "writing %s", path);
}

static bool is_to_sync(const struct results_file *file)
{
    return file->is_apart && !file->is_durable;
}

static bool sync_one_by_one(struct results_file *const *files, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (is_to_sync(files[i]) && !sync_path(files[i]->path, 0, false, err)) {
            return false;
        }
    }
    return true;
}

/* What is an object need not be on this disk. */
static bool put_apart(struct results_file *const *files, size_t count, struct err *err)
{
    struct results_put *puts = calloc(count, sizeof *puts);
    size_t put_count = 0;
    if (puts == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store a trace");
    }
    for (size_t i = 0; i < count; i++) {
        if (is_to_sync(files[i])) {
            files[i]->is_object = true;
            puts[put_count++] = (struct results_put){.key = files[i]->key, .path = files[i]->path};
        }
    }
    bool ok = results_objects_put(files[0]->store, puts, put_count, err);
    free(puts);
    return ok;
}

static bool
sync_on_disk(struct results_file *const *files, size_t count, size_t to_sync, struct err *err)
{
    char folder[STORE_PATH_BYTES];
    (void)snprintf(folder, sizeof folder, "%s", files[0]->path);
    *strrchr(folder, '/') = '\0';
    if (to_sync > SYNCED_ONE_BY_ONE) {
        return sync_path(folder, O_DIRECTORY, true, err);
    }
    return sync_one_by_one(files, count, err) && store_sync_dir(folder, err);
}

bool results_files_sync(struct results_file *const *files, size_t count, struct err *err)
{
    size_t to_sync = 0;
    for (size_t i = 0; i < count; i++) {
        to_sync += is_to_sync(files[i]);
    }
    if (to_sync == 0) {
        return true;
    }
    bool ok = files[0]->store->objects != NULL ? put_apart(files, count, err)
                                               : sync_on_disk(files, count, to_sync, err);
    for (size_t i = 0; i < count; i++) {
        files[i]->is_durable = ok;
    }
    return ok;
}

bool results_file_publish(const struct results_file *file,
                          int64_t trace_id,
                          enum results_kind kind,
                          struct err *err)
{
    struct db_stmt st;
    if (file->is_object && !results_object_name(file->store->writer, file->key, err)) {
        return false;
    }
    db_prepare(&st, file->store->writer,
               "INSERT INTO results_file (trace_id, kind, key, size_bytes, bytes, sha256,"
               " is_object) VALUES (?, ?, ?, ?, ?, ?, ?)");
    db_put_int(&st, trace_id);
    db_put_int(&st, kind);
    db_put_text(&st, file->key);
    db_put_int(&st, (int64_t)file->size_bytes);
    db_put_blob(&st, file->packed, file->packed_bytes); /* NULL: a file */
    db_put_text(&st, file->sha256_hex);
    db_put_int(&st, file->is_object);
    return db_run(&st, err);
}

static void free_file(struct results_file *file)
{
    if (file->maker != NULL) {
        give_back_maker(file);
    }
    db_close(file->db);
    free(file->packed);
    (void)pthread_mutex_destroy(&file->turn);
    free(file);
}

/* What fails here the next start does again; until then the file is read where it is. */
void results_file_keep(struct results_file *file)
{
    struct err err = ERR_INIT;
    if (file->is_apart) {
        struct results_files *files = file->store->files;
        atomic_fetch_add(&files->bytes, file->size_bytes);
        atomic_fetch_add(&files->cached_bytes, file->size_bytes);
        results_note_checked(files, file->key);
        if (!results_move_in(file->store, file->path, file->key, &err)) {
            log_write(file->store->log, LOG_WARN, "a file of results stays in incoming/: %s",
                      err.msg);
        }
    }
    free_file(file);
}

void results_file_discard(struct results_file *file)
{
    if (file != NULL) {
        /* Should the catalogue name it after all, the next start moves it to its place. */
        if (file->is_apart && !db_is_in_doubt(file->store->writer)) {
            (void)unlink(file->path);
        }
        if (file->is_object) {
            results_object_give_up(file->store, file->key);
        }
        free_file(file);
    }
}

/* ---- removing ---- */

static bool unlink_if_there(const char *path, struct err *err)
{
    return file_remove(path) == 0 || errno == ENOENT ||
           err_set_errno(err, ERR_IO, errno, "removing %s", path);
}

static bool remove_file(struct store *store, const char *key, uint64_t size_bytes, struct err *err)
{
    char path[STORE_PATH_BYTES];
    char incoming[STORE_PATH_BYTES];
    if (!results_path(store, key, path, err) || !results_incoming_path(store, key, incoming, err)) {
        return false;
    }
    results_files_forget(store->files, key);
    if (access(path, F_OK) == 0) {
        atomic_fetch_sub(&store->files->cached_bytes, size_bytes);
    }
    return unlink_if_there(path, err) && unlink_if_there(incoming, err);
}

/* `row` is of size 0 if the file stands in its row. */
static bool read_row(struct store *store,
                     int64_t trace_id,
                     char key[RESULTS_KEY_BYTES],
                     struct results_row *row,
                     struct err *err)
{
    struct db *db;
    struct db_stmt st;
    size_t len = 0;
    *row = (struct results_row){0};
    key[0] = '\0';
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT key, CASE WHEN bytes IS NULL THEN size_bytes ELSE 0 END, is_object, sha256"
               " FROM results_file WHERE trace_id = ? LIMIT 1");
    db_put_int(&st, trace_id);
    const char *text = db_next(&st) ? db_peek_text(&st, &len) : NULL;
    if (text != NULL && len < RESULTS_KEY_BYTES) {
        memcpy(key, text, len + 1);
        row->size_bytes = (uint64_t)db_get_int(&st);
        row->is_object = db_get_bool(&st);
        (void)snprintf(row->sha256_hex, sizeof row->sha256_hex, "%s", db_peek_text(&st, &len));
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

static bool
drop_row(struct store *store, const char *key, const struct results_row *row, struct err *err)
{
    struct db *db = store->writer;
    return store_write_begin(store, STORE_BATCH, err) &&
           store_write_end(store,
                           db_run_text(db, "DELETE FROM results_file WHERE key = ?", key, err) &&
                               (!row->is_object || db_changes(db) == 0 ||
                                results_object_delete(db, key, row->sha256_hex, err)),
                           err);
}

bool results_files_remove(struct store *store, int64_t trace_id, struct err *err)
{
    char key[RESULTS_KEY_BYTES];
    struct results_row row;
    for (;;) {
        if (!read_row(store, trace_id, key, &row, err)) {
            return false;
        }
        if (key[0] == '\0') {
            return true;
        }
        if (!remove_file(store, key, row.size_bytes, err) || !drop_row(store, key, &row, err)) {
            return false;
        }
        atomic_fetch_sub(&store->files->bytes, row.size_bytes);
    }
}
