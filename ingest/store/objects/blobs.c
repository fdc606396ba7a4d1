/* Raw uploads: written to incoming/, then moved to raw/ab/cdef… under their hash.
 *
 * A committed file is pinned until its job has arrived or until it is released, because between the
 * two another request may drop the last row that referred to equal bytes. It can be read at once;
 * its pin has it open until somebody syncs it, which the job does not wait for. Where uploads are
 * objects, the pin has the put instead: the object makes the upload durable, and the file is
 * cached.
 */
#include "ingest/base/files/file_remove.h"
#include "ingest/base/sha256.h"
#include "ingest/base/text/buf.h"
#include "ingest/store/internal.h"
#include "ingest/store/objects/blob_check.h"
#include "ingest/store/objects/blob_objects.h"
#include "ingest/store/objects/hashing_writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME_BYTES 32
#define FAN_OUT_CHARS 2 /* hex characters of the folder below raw/ */

struct store_blob {
    struct store *store;
    int fd;
    struct hashing_writer *writer;
    uint64_t size_bytes;        /* once it is committed */
    char name[FILE_NAME_BYTES]; /* below incoming/ */
    char *path;                 /* of that, once it was asked for */
    struct blob_put *put;       /* of the same bytes; NULL without objects */
};

/* ---- paths ---- */

static bool join(char out[STORE_PATH_BYTES], const char *folder, const char *name, struct err *err)
{
    int len = snprintf(out, STORE_PATH_BYTES, "%s/%s", folder, name);
    if (len < 0 || len >= STORE_PATH_BYTES) {
        return err_set(err, ERR_IO, "a path in the data directory is too long");
    }
    return true;
}

static bool blob_folder(const struct store *store,
                        const char *sha256_hex,
                        char out[STORE_PATH_BYTES],
                        struct err *err)
{
    char name[] = "raw/xx";
    if (!sha256_is_hex(sha256_hex)) {
        return err_set(err, ERR_BAD_REQUEST, "this is no SHA-256 in lower-case hex");
    }
    memcpy(name + strlen("raw/"), sha256_hex, FAN_OUT_CHARS);
    return join(out, store->data_dir, name, err);
}

bool store_blob_file_path(const struct store *store,
                          const char *sha256_hex,
                          char out[STORE_PATH_BYTES],
                          struct err *err)
{
    char folder[STORE_PATH_BYTES];
    return blob_folder(store, sha256_hex, folder, err) &&
           join(out, folder, sha256_hex + FAN_OUT_CHARS, err);
}

static bool incoming_path(const struct store *store,
                          const char *name,
                          char out[STORE_PATH_BYTES],
                          struct err *err)
{
    char folder[STORE_PATH_BYTES];
    return join(folder, store->data_dir, "incoming", err) && join(out, folder, name, err);
}

/* New names in a folder survive a power loss when the folder is synced. Some file systems cannot
 * and say EINVAL. */
bool store_sync_dir(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "opening the folder %s", path);
    }
    bool ok = fsync(fd) == 0 || errno == EINVAL;
    int errnum = errno;
    (void)close(fd);
    return ok || err_set_errno(err, ERR_IO, errnum, "syncing the folder %s", path);
}

bool store_make_dir(const char *path, struct err *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) {
        return true;
    }
    return err_set_errno(err, ERR_IO, errno, "creating the folder %s", path);
}

/* ---- pins; blob_lock is held ---- */

static struct blob_pin *find_pin(struct store *store, const char *sha256_hex)
{
    struct blob_pin *pin = store->pins;
    while (pin != NULL && strcmp(pin->sha256_hex, sha256_hex) != 0) {
        pin = pin->next;
    }
    return pin;
}

/* NULL: no memory. */
static struct blob_pin *add_pin(struct store *store, const char *sha256_hex, struct err *err)
{
    struct blob_pin *pin = find_pin(store, sha256_hex);
    if (pin == NULL) {
        pin = calloc(1, sizeof *pin);
        if (pin == NULL) {
            (void)err_set(err, ERR_NO_MEMORY, "no memory to keep an upload");
            return NULL;
        }
        memcpy(pin->sha256_hex, sha256_hex, SHA256_HEX_BYTES);
        pin->unsynced_fd = -1;
        pin->next = store->pins;
        store->pins = pin;
    }
    pin->count++;
    return pin;
}

static void close_unsynced(struct blob_pin *pin)
{
    if (pin->unsynced_fd >= 0) {
        (void)close(pin->unsynced_fd);
        pin->unsynced_fd = -1;
    }
}

static void free_pin(struct blob_pin *pin)
{
    close_unsynced(pin);
    blob_put_give_up(pin->put);
    free(pin);
}

static void remove_pin(struct store *store, const char *sha256_hex)
{
    struct blob_pin *pin = find_pin(store, sha256_hex);
    if (pin == NULL || --pin->count > 0) {
        return;
    }
    struct blob_pin **link = &store->pins;
    while (*link != pin) {
        link = &(*link)->next;
    }
    *link = pin->next;
    free_pin(pin);
}

/* ---- who needs a file ---- */

static bool is_referred(
    struct store *store, const char *sha256_hex, bool by_uploads, bool *referred, struct err *err)
{
    struct db *db;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(
        &st, db,
        "SELECT EXISTS (SELECT 1 FROM job WHERE sha256 = ?1 AND state IN ('queued', 'running'))"
        " OR (?2 <> 0 AND EXISTS (SELECT 1 FROM upload WHERE sha256 = ?1))"
        " OR EXISTS (SELECT 1 FROM taken_over AS t JOIN job AS j ON j.id = t.job_id"
        " WHERE j.sha256 = ?1) OR EXISTS (SELECT 1 FROM job WHERE sha256 = ?1 AND" STORE_JOB_CRASHED
        ")");
    db_put_text(&st, sha256_hex);
    db_put_int(&st, by_uploads);
    *referred = db_next(&st) && db_get_bool(&st);
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

/* ---- writing ---- */

static bool open_incoming(struct store_blob *blob, struct err *err)
{
    struct store *store = blob->store;
    (void)pthread_mutex_lock(&store->blob_lock);
    uint64_t serial = ++store->incoming_serial;
    (void)pthread_mutex_unlock(&store->blob_lock);
    (void)snprintf(blob->name, sizeof blob->name, "%" PRIu64, serial);

    char path[STORE_PATH_BYTES];
    if (!incoming_path(store, blob->name, path, err)) {
        return false;
    }
    blob->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return blob->fd >= 0 || err_set_errno(err, ERR_IO, errno, "creating %s", path);
}

bool store_blob_create(struct store *store, struct store_blob **out, struct err *err)
{
    struct store_blob *blob = calloc(1, sizeof *blob);
    if (blob == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to receive an upload");
    }
    blob->store = store;
    blob->fd = -1;
    bool ok = (store->objects == NULL || blob_put_begin(store, &blob->put, err)) &&
              open_incoming(blob, err);
    blob->writer = ok ? hashing_writer_create(blob->fd) : NULL;
    if (ok && blob->writer == NULL) {
        ok = err_set(err, ERR_NO_MEMORY, "no resources to receive an upload");
    }
    if (!ok) {
        store_blob_discard(blob);
        return false;
    }
    *out = blob;
    return true;
}

static bool cannot_write(const struct store_blob *blob, int errnum, struct err *err)
{
    (void)err_set_errno(err, ERR_IO, errnum, "writing the upload to %s/incoming/%s",
                        blob->store->data_dir, blob->name);
    return err_context(err, err->code == ERR_NO_SPACE
                                ? "free some space on the server's disk, then send the file again"
                                : "check the server's disk, then send the file again");
}

bool store_blob_write(struct store_blob *blob, const void *bytes, size_t len, struct err *err)
{
    int errnum = hashing_writer_write(blob->writer, bytes, len);
    return errnum == 0 ? blob->put == NULL || blob_put_write(blob->put, bytes, len, err)
                       : cannot_write(blob, errnum, err);
}

const char *store_blob_incoming(struct store_blob *blob)
{
    struct err ignored = ERR_INIT;
    char path[STORE_PATH_BYTES];
    if (blob->path == NULL && incoming_path(blob->store, blob->name, path, &ignored)) {
        blob->path = strdup(path);
    }
    return blob->path;
}

uint64_t store_blob_there_bytes(const struct store_blob *blob)
{
    return hashing_writer_size_bytes(blob->writer);
}

/* Where rows that are on disk refer to the hash, its name must not stand for less than the whole
 * file, not even after a power loss; unless it is cached only. */
static bool
sync_if_relied_on(const struct store_blob *blob, const char *sha256_hex, struct err *err)
{
    struct store *store = blob->store;
    bool referred = false;
    return store->objects != NULL ||
           (is_referred(store, sha256_hex, true, &referred, err) &&
            (!referred || fsync(blob->fd) == 0 ||
             err_set_errno(err, ERR_IO, errno, "writing the upload to %s/incoming/%s",
                           store->data_dir, blob->name)));
}

static void note_mended(struct store *store, const char *sha256_hex)
{
    const struct log_field fields[] = {
        {.name = "sha256", .kind = LOG_FIELD_TEXT, .text = sha256_hex}};
    atomic_fetch_add(&store->blob_faults.mended, 1);
    log_record(store->log, LOG_INFO, "a damaged upload is mended: the same file came again", fields,
               1);
}

/* blob_lock is held, but not while the file is read: the pin keeps it in its place meanwhile,
 * unless another upload replaces it. */
static bool judge_there(struct store_blob *blob,
                        struct blob_pin *pin,
                        struct blob_verdict *there,
                        struct err *err)
{
    struct store *store = blob->store;
    char path[STORE_PATH_BYTES];
    if (!store_blob_file_path(store, pin->sha256_hex, path, err)) {
        return false;
    }
    bool ok;
    do {
        (void)pthread_mutex_unlock(&store->blob_lock);
        ok = blob_check(store->blob_checks, path, pin->sha256_hex, blob->size_bytes, there, err);
        (void)pthread_mutex_lock(&store->blob_lock);
        while (pin->is_syncing) {
            (void)pthread_cond_wait(&store->blob_synced, &store->blob_lock);
        }
    } while (ok && !blob_verdict_holds(there, path));
    return ok;
}

/* blob_lock is held. */
static void hand_over_put(struct store_blob *blob, struct blob_pin *pin)
{
    if (pin->put == NULL && !pin->is_stored) {
        pin->put = blob->put;
        pin->is_lost = false;
        blob->put = NULL;
    }
}

/* blob_lock is held. A whole file that is there stays; a missing or damaged one is replaced, and
 * the new one is the pin's from then on. */
static bool move_in_place(struct store_blob *blob, struct blob_pin *pin, struct err *err)
{
    struct store *store = blob->store;
    const char *sha256_hex = pin->sha256_hex;
    char from[STORE_PATH_BYTES];
    char to[STORE_PATH_BYTES];
    char folder[STORE_PATH_BYTES];
    struct blob_verdict there;
    if (!judge_there(blob, pin, &there, err) || !incoming_path(store, blob->name, from, err) ||
        !store_blob_file_path(store, sha256_hex, to, err) ||
        !blob_folder(store, sha256_hex, folder, err) || !store_make_dir(folder, err)) {
        return false;
    }
    if (there.state == BLOB_WHOLE) {
        (void)unlink(from);
    } else if (!sync_if_relied_on(blob, sha256_hex, err)) {
        return false;
    } else if (rename(from, to) != 0) {
        return err_set_errno(err, ERR_IO, errno, "moving the upload to %s", to);
    } else {
        store->raw_bytes = store->raw_bytes - there.stamp.size_bytes + blob->size_bytes;
        close_unsynced(pin);
        blob_checks_note_whole(store->blob_checks, sha256_hex, blob->fd);
        if (store->objects == NULL) {
            pin->unsynced_fd = blob->fd;
            pin->is_lost = false;
            blob->fd = -1;
        }
        if (there.state == BLOB_DAMAGED) {
            note_mended(store, sha256_hex);
        }
    }
    hand_over_put(blob, pin);
    blob->name[0] = '\0';
    return true;
}

static bool commit(struct store_blob *blob, char sha256_hex[SHA256_HEX_BYTES], struct err *err)
{
    struct store *store = blob->store;
    int errnum = hashing_writer_finish(blob->writer);
    blob->size_bytes = hashing_writer_size_bytes(blob->writer);
    if (errnum != 0) {
        return cannot_write(blob, errnum, err);
    }
    hashing_writer_sha256(blob->writer, sha256_hex);
    if (sha256_hex[0] == '\0') {
        return err_set(err, ERR_INTERNAL, "hashing the upload failed");
    }
    (void)pthread_mutex_lock(&store->blob_lock);
    struct blob_pin *pin = add_pin(store, sha256_hex, err);
    /* Nobody takes a file's place, or relies on it, while it is being synced. */
    while (pin != NULL && pin->is_syncing) {
        (void)pthread_cond_wait(&store->blob_synced, &store->blob_lock);
    }
    bool ok = pin != NULL && move_in_place(blob, pin, err);
    if (pin != NULL && !ok) {
        remove_pin(store, sha256_hex);
    }
    (void)pthread_mutex_unlock(&store->blob_lock);
    return ok;
}

bool store_blob_commit(struct store_blob *blob,
                       char sha256_hex[SHA256_HEX_BYTES],
                       uint64_t *size_bytes,
                       struct err *err)
{
    bool ok = commit(blob, sha256_hex, err);
    if (ok) {
        *size_bytes = blob->size_bytes;
    }
    store_blob_discard(blob);
    return ok;
}

void store_blob_discard(struct store_blob *blob)
{
    if (blob == NULL) {
        return;
    }
    blob_put_give_up(blob->put);
    hashing_writer_destroy(blob->writer);
    if (blob->fd >= 0) {
        (void)close(blob->fd);
    }
    struct err ignored = ERR_INIT;
    char path[STORE_PATH_BYTES];
    if (blob->name[0] != '\0' && incoming_path(blob->store, blob->name, path, &ignored)) {
        (void)unlink(path);
    }
    free(blob->path);
    free(blob);
}

/* ---- keeping and dropping ---- */

/* blob_lock is held. */
static bool remove_file(struct store *store, const char *sha256_hex, struct err *err)
{
    char path[STORE_PATH_BYTES];
    if (!store_blob_file_path(store, sha256_hex, path, err)) {
        return false;
    }
    uint64_t bytes = store_file_bytes(path);
    if (file_remove(path) != 0) {
        return errno == ENOENT || err_set_errno(err, ERR_IO, errno, "removing %s", path);
    }
    store->raw_bytes -= bytes;
    return true;
}

uint64_t store_file_bytes(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 ? (uint64_t)there.st_size : 0;
}

/* The size of the upload that the pin has. */
static uint64_t size_of(const struct store *store, const struct blob_pin *pin)
{
    struct err ignored = ERR_INIT;
    char path[STORE_PATH_BYTES];
    return store_blob_file_path(store, pin->sha256_hex, path, &ignored) ? store_file_bytes(path)
                                                                        : 0;
}

static bool sync_file(struct store *store, const struct blob_pin *pin, struct err *err)
{
    char folder[STORE_PATH_BYTES];
    char parent[STORE_PATH_BYTES];
    if (fsync(pin->unsynced_fd) != 0) {
        return err_set_errno(err, ERR_IO, errno, "writing the upload to %s/raw", store->data_dir);
    }
    return blob_folder(store, pin->sha256_hex, folder, err) && store_sync_dir(folder, err) &&
           join(parent, store->data_dir, "raw", err) && store_sync_dir(parent, err);
}

/* blob_lock is held, but not while the disk is waited for: `is_syncing` and the pin that the caller
 * has keep the others away. */
static bool
sync_pinned(struct store *store, struct blob_pin *pin, struct blob_also *also, struct err *err)
{
    struct blob_put *put = pin->put;
    pin->put = NULL;
    pin->is_syncing = true;
    (void)pthread_mutex_unlock(&store->blob_lock);
    bool ok = put == NULL ? sync_file(store, pin, err)
                          : blob_put_store(put, pin->sha256_hex, size_of(store, pin), also, err);
    (void)pthread_mutex_lock(&store->blob_lock);
    close_unsynced(pin);
    pin->is_syncing = false;
    pin->is_stored = ok && put != NULL;
    pin->is_lost = !ok;
    struct err second = ERR_INIT;
    /* Whoever refers to it: the system may take pages for written that are not. */
    if (!ok && put == NULL && !remove_file(store, pin->sha256_hex, &second)) {
        log_write(store->log, LOG_WARN, "a raw file that could not be synced stays: %s",
                  second.msg);
    }
    (void)pthread_cond_broadcast(&store->blob_synced);
    return ok;
}

bool blob_sync_also(struct store *store,
                    const char *sha256_hex,
                    struct blob_also *also,
                    struct err *err)
{
    bool ok = true;
    (void)pthread_mutex_lock(&store->blob_lock);
    struct blob_pin *pin = find_pin(store, sha256_hex);
    while (pin != NULL && pin->is_syncing) {
        (void)pthread_cond_wait(&store->blob_synced, &store->blob_lock);
    }
    if (pin != NULL && (pin->unsynced_fd >= 0 || pin->put != NULL)) {
        ok = sync_pinned(store, pin, also, err);
    } else if (pin != NULL && pin->is_lost) {
        ok = store->objects == NULL
                 ? err_set(err, ERR_IO,
                           "the same upload could not be written to %s/raw; send it again",
                           store->data_dir)
                 : err_set(err, ERR_UNAVAILABLE,
                           "the objects did not take the same upload; send it again later");
    }
    (void)pthread_mutex_unlock(&store->blob_lock);
    return ok;
}

bool store_blob_sync(struct store *store, const char *sha256_hex, struct err *err)
{
    return blob_sync_also(store, sha256_hex, NULL, err);
}

static bool drop(struct store *store,
                 const char *sha256_hex,
                 bool release_pin,
                 bool uploads_keep,
                 struct err *err)
{
    (void)pthread_mutex_lock(&store->blob_lock);
    if (release_pin) {
        remove_pin(store, sha256_hex);
    }
    bool referred = find_pin(store, sha256_hex) != NULL;
    bool ok = referred || is_referred(store, sha256_hex, uploads_keep, &referred, err);
    if (ok && !referred) {
        ok = remove_file(store, sha256_hex, err) &&
             (store->objects == NULL || blob_objects_retire(store, sha256_hex, !uploads_keep, err));
    }
    (void)pthread_mutex_unlock(&store->blob_lock);
    return ok;
}

bool store_blob_drop(struct store *store, const char *sha256_hex, struct err *err)
{
    return drop(store, sha256_hex, false, true, err);
}

bool store_blob_release(struct store *store, const char *sha256_hex, struct err *err)
{
    return drop(store, sha256_hex, true, true, err);
}

bool store_blob_forget(struct store *store, const char *sha256_hex, struct err *err)
{
    return drop(store, sha256_hex, false, false, err);
}

bool store_blob_uncache(struct store *store, const char *sha256_hex, struct err *err)
{
    (void)pthread_mutex_lock(&store->blob_lock);
    bool needed = find_pin(store, sha256_hex) != NULL;
    bool ok = needed || is_referred(store, sha256_hex, false, &needed, err);
    if (ok && !needed) {
        ok = remove_file(store, sha256_hex, err);
    }
    (void)pthread_mutex_unlock(&store->blob_lock);
    return ok;
}

uint64_t store_blobs_bytes(struct store *store)
{
    return store->objects == NULL ? store_blob_files_bytes(store) : blob_objects_bytes(store);
}

uint64_t store_blob_files_bytes(struct store *store)
{
    (void)pthread_mutex_lock(&store->blob_lock);
    uint64_t bytes = store->raw_bytes;
    (void)pthread_mutex_unlock(&store->blob_lock);
    return bytes;
}

/* ---- start and end ---- */

bool store_blobs_init(struct store *store, struct err *err)
{
    char path[STORE_PATH_BYTES];
    if (!blob_checks_create(&store->blob_checks, err)) {
        return false;
    }
    if (pthread_mutex_init(&store->blob_lock, NULL) != 0) {
        blob_checks_destroy(store->blob_checks);
        return err_set(err, ERR_NO_MEMORY, "no resources for the locks of the store");
    }
    if (pthread_cond_init(&store->blob_synced, NULL) != 0) {
        (void)pthread_mutex_destroy(&store->blob_lock);
        blob_checks_destroy(store->blob_checks);
        return err_set(err, ERR_NO_MEMORY, "no resources for the locks of the store");
    }
    bool ok = join(path, store->data_dir, "raw", err) && store_make_dir(path, err) &&
              join(path, store->data_dir, "incoming", err) && store_make_dir(path, err) &&
              store_sync_dir(store->data_dir, err);
    if (!ok) {
        (void)pthread_cond_destroy(&store->blob_synced);
        (void)pthread_mutex_destroy(&store->blob_lock);
        blob_checks_destroy(store->blob_checks);
    }
    return ok;
}

void store_blobs_destroy(struct store *store)
{
    while (store->pins != NULL) {
        struct blob_pin *pin = store->pins;
        store->pins = pin->next;
        free_pin(pin);
    }
    blob_objects_close(store);
    (void)pthread_cond_destroy(&store->blob_synced);
    (void)pthread_mutex_destroy(&store->blob_lock);
    blob_checks_destroy(store->blob_checks);
}

/* Uploads that a row refers to: hashes in hex with a NUL each, in order. */
struct referred {
    struct buf hexes;
    size_t count;
};

/* One query for all, where one for each file would make every start wait for seconds. */
static bool read_referred(struct store *store, struct referred *referred, struct err *err)
{
    struct db *db;
    buf_init(&referred->hexes, SIZE_MAX / 2);
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(
        &st, db,
        "SELECT sha256 FROM upload UNION SELECT sha256 FROM job WHERE id IN"
        " (SELECT job_id FROM taken_over) UNION SELECT sha256 FROM job WHERE" STORE_JOB_CRASHED
        " UNION"
        " SELECT sha256 FROM job WHERE state IN ('queued', 'running') ORDER BY 1");
    while (db_next(&st)) {
        size_t len;
        const char *hex = db_peek_text(&st, &len);
        if (len == SHA256_HEX_BYTES - 1) {
            buf_append(&referred->hexes, hex, SHA256_HEX_BYTES);
        }
    }
    if (referred->hexes.failed) {
        db_fail_memory(&st);
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    referred->count = referred->hexes.len / SHA256_HEX_BYTES;
    return ok;
}

static int compare_hexes(const void *a, const void *b)
{
    return memcmp(a, b, SHA256_HEX_BYTES);
}

static bool has_hex(const struct referred *referred, const char sha256_hex[SHA256_HEX_BYTES])
{
    return referred->count > 0 && bsearch(sha256_hex, referred->hexes.ptr, referred->count,
                                          SHA256_HEX_BYTES, compare_hexes) != NULL;
}

/* An entry of a folder. */
struct visit {
    struct store *store;
    const struct referred *referred; /* NULL in incoming/ */
    const char *folder;
    int folder_fd;
    const char *name;
};

typedef bool visit_fn(const struct visit *visit, struct err *err);

/* Calls `visit_entry` for every entry that is not hidden. */
static bool visit_folder(struct store *store,
                         const struct referred *referred,
                         const char *path,
                         visit_fn *visit_entry,
                         struct err *err)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return err_set_errno(err, ERR_IO, errno, "reading the folder %s", path);
    }
    struct visit visit = {
        .store = store, .referred = referred, .folder = path, .folder_fd = dirfd(dir)};
    bool ok = true;
    for (const struct dirent *entry = readdir(dir); ok && entry != NULL; entry = readdir(dir)) {
        visit.name = entry->d_name;
        ok = entry->d_name[0] == '.' || visit_entry(&visit, err);
    }
    (void)closedir(dir);
    return ok;
}

static bool visit_incoming(const struct visit *visit, struct err *err)
{
    return unlinkat(visit->folder_fd, visit->name, 0) == 0 ||
           err_set_errno(err, ERR_IO, errno, "removing %s/%s", visit->folder, visit->name);
}

/* Names that are no hash are not ours and stay. */
static bool visit_blob(const struct visit *visit, struct err *err)
{
    char sha256_hex[SHA256_HEX_BYTES];
    const char *prefix = strrchr(visit->folder, '/') + 1;
    int len = snprintf(sha256_hex, sizeof sha256_hex, "%s%s", prefix, visit->name);
    struct stat there;
    if (len != SHA256_HEX_BYTES - 1 || !sha256_is_hex(sha256_hex)) {
        return true;
    }
    if (fstatat(visit->folder_fd, visit->name, &there, 0) == 0) {
        visit->store->raw_bytes += (uint64_t)there.st_size;
    }
    return has_hex(visit->referred, sha256_hex) || store_blob_drop(visit->store, sha256_hex, err);
}

static bool visit_blob_folder(const struct visit *visit, struct err *err)
{
    char path[STORE_PATH_BYTES];
    if (strlen(visit->name) != FAN_OUT_CHARS) {
        return true;
    }
    return join(path, visit->folder, visit->name, err) &&
           visit_folder(visit->store, visit->referred, path, visit_blob, err);
}

bool store_blobs_sweep(struct store *store, struct err *err)
{
    char incoming[STORE_PATH_BYTES];
    char raw[STORE_PATH_BYTES];
    struct referred referred = {.count = 0};
    bool ok = join(incoming, store->data_dir, "incoming", err) &&
              visit_folder(store, NULL, incoming, visit_incoming, err) &&
              join(raw, store->data_dir, "raw", err) && read_referred(store, &referred, err) &&
              visit_folder(store, &referred, raw, visit_blob_folder, err);
    buf_free(&referred.hexes);
    return ok;
}

static bool is_empty_folder(const char *path, bool *empty, struct err *err)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return err_set_errno(err, ERR_IO, errno, "reading the folder %s", path);
    }
    *empty = true;
    for (const struct dirent *entry = readdir(dir); *empty && entry != NULL; entry = readdir(dir)) {
        *empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    (void)closedir(dir);
    return true;
}

/* The first of "raw-of-lost-database-1", -2 … that is not taken. */
static bool free_aside_path(const struct store *store, char out[STORE_PATH_BYTES], struct err *err)
{
    for (unsigned n = 1;; n++) {
        char name[48];
        (void)snprintf(name, sizeof name, "raw-of-lost-database-%u", n);
        if (!join(out, store->data_dir, name, err)) {
            return false;
        }
        if (access(out, F_OK) != 0) {
            return true;
        }
    }
}

bool store_blobs_set_aside(struct store *store, struct err *err)
{
    char path[STORE_PATH_BYTES];
    char aside[STORE_PATH_BYTES];
    bool empty = false;
    if (!join(path, store->data_dir, "raw", err) || !is_empty_folder(path, &empty, err)) {
        return false;
    }
    if (empty) {
        return true;
    }
    if (!free_aside_path(store, aside, err)) {
        return false;
    }
    if (rename(path, aside) != 0) {
        return err_set_errno(err, ERR_IO, errno, "renaming %s to %s", path, aside);
    }
    log_write(store->log, LOG_WARN,
              "the database is new, but uploads of an earlier one are there: they are kept in %s; "
              "upload them again to see them",
              aside);
    return store_make_dir(path, err) && store_sync_dir(store->data_dir, err);
}
