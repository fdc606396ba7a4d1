#include "ingest/store/files/ranged.h"

#include "ingest/base/thread.h"
#include "ingest/store/files/paths.h"
#include "ingest/store/objects/blob_objects_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "ranges:"
#define NAME_BYTES (sizeof PREFIX + RESULTS_KEY_BYTES + 24)
#define VFS_NAME_BYTES 32
/* Of so many files is known how much of each was fetched. */
#define TALLIES 64u

struct block {
    char key[RESULTS_KEY_BYTES]; /* "": free */
    uint64_t number;
    uint64_t used_at;
    bool is_loading;
    unsigned char *bytes;
};

struct tally {
    char key[RESULTS_KEY_BYTES];
    uint64_t bytes;
    uint64_t used_at;
};

struct ranged {
    struct store *store;
    sqlite3_vfs vfs;
    char vfs_name[VFS_NAME_BYTES];
    _Atomic uint64_t fetched;
    pthread_mutex_t lock;   /* guards what follows */
    pthread_cond_t changed; /* a block was loaded, or not */
    struct block blocks[RANGED_BLOCKS];
    struct tally tallies[TALLIES];
    uint64_t clock;
};

struct ranged_file {
    sqlite3_file base;
    struct ranged *ranged;
    char key[RESULTS_KEY_BYTES];
    uint64_t size_bytes;
    int errnum; /* of the last read that failed */
};

/* ---- blocks; the lock is held ---- */

static struct block *find(struct ranged *ranged, const char *key, uint64_t number)
{
    for (size_t i = 0; i < RANGED_BLOCKS; i++) {
        struct block *block = &ranged->blocks[i];
        if (block->number == number && strcmp(block->key, key) == 0) {
            return block;
        }
    }
    return NULL;
}

/* NULL: all are being loaded. */
static struct block *oldest(struct ranged *ranged)
{
    struct block *found = NULL;
    for (size_t i = 0; i < RANGED_BLOCKS; i++) {
        struct block *block = &ranged->blocks[i];
        if (!block->is_loading && (found == NULL || block->used_at < found->used_at)) {
            found = block;
        }
    }
    return found;
}

static void count(struct ranged *ranged, const char *key, uint64_t bytes)
{
    struct tally *tally = &ranged->tallies[0];
    for (size_t i = 0; i < TALLIES && strcmp(tally->key, key) != 0; i++) {
        struct tally *other = &ranged->tallies[i];
        bool is_it = strcmp(other->key, key) == 0;
        tally = is_it || other->used_at < tally->used_at ? other : tally;
    }
    if (strcmp(tally->key, key) != 0) {
        *tally = (struct tally){.bytes = 0};
        (void)snprintf(tally->key, sizeof tally->key, "%s", key);
    }
    tally->bytes += bytes;
    tally->used_at = ++ranged->clock;
}

struct load {
    struct ranged *ranged;
    const char *key;
    uint64_t offset;
    size_t len;
    unsigned char *bytes;
    struct err err;
    bool ok;
};

static void *run_load(void *argument)
{
    struct load *load = argument;
    struct store *store = load->ranged->store;
    char name[OBJECT_KEY_BYTES];
    results_object_key(load->key, name);
    load->ok = object_range(store->objects->objects, name, load->offset, load->bytes, load->len,
                            &load->err);
    blob_objects_note(store, load->ok ? NULL : &load->err);
    return NULL;
}

/* Unlocks meanwhile. On a thread of its own: a request of S3 needs more than a request thread's
 * stack has left. */
static bool
load_block(struct ranged *ranged, struct block *block, uint64_t size_bytes, struct err *err)
{
    uint64_t offset = block->number * RANGED_BLOCK_BYTES;
    uint64_t left = size_bytes - offset;
    char key[RESULTS_KEY_BYTES];
    struct load load = {.ranged = ranged,
                        .key = key,
                        .offset = offset,
                        .len = (size_t)(left < RANGED_BLOCK_BYTES ? left : RANGED_BLOCK_BYTES),
                        .bytes = block->bytes,
                        .err = ERR_INIT};
    memcpy(key, block->key, sizeof key);
    (void)pthread_mutex_unlock(&ranged->lock);
    if (thread_call(run_load, &load) != 0) {
        (void)err_set(&load.err, ERR_NO_MEMORY, "no resources to read results");
    }
    atomic_fetch_add(&ranged->fetched, 1);
    (void)pthread_mutex_lock(&ranged->lock);
    count(ranged, key, load.len);
    block->is_loading = false;
    if (!load.ok) {
        block->key[0] = '\0';
        *err = load.err;
    }
    (void)pthread_cond_broadcast(&ranged->changed);
    return load.ok;
}

static bool begin_load(struct block *block, const char *key, uint64_t number, struct err *err)
{
    if (block->bytes == NULL) {
        block->bytes = malloc(RANGED_BLOCK_BYTES);
    }
    if (block->bytes == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to read results");
    }
    (void)snprintf(block->key, sizeof block->key, "%s", key);
    block->number = number;
    block->is_loading = true;
    return true;
}

/* The block with its bytes, which stay as long as the lock is held. NULL: they cannot be read. */
static struct block *
get(struct ranged *ranged, const char *key, uint64_t size_bytes, uint64_t number, struct err *err)
{
    for (;;) {
        struct block *block = find(ranged, key, number);
        bool is_new = block == NULL;
        block = is_new ? oldest(ranged) : block;
        if (block == NULL || block->is_loading) {
            (void)pthread_cond_wait(&ranged->changed, &ranged->lock);
            continue;
        }
        block->used_at = ++ranged->clock;
        if (!is_new) {
            return block;
        }
        if (!begin_load(block, key, number, err) || !load_block(ranged, block, size_bytes, err)) {
            return NULL;
        }
    }
}

/* ---- a file, as SQLite reads it ---- */

static int file_close(sqlite3_file *base)
{
    (void)base;
    return SQLITE_OK;
}

static int refuse(struct ranged_file *file, const struct err *err)
{
    log_write(file->ranged->store->log, LOG_WARN, "results/%.2s/%s.db is not read: %s", file->key,
              file->key + 2, err->msg);
    file->errnum = err->code == ERR_UNAVAILABLE ? EHOSTUNREACH : EIO;
    return err->code == ERR_NO_MEMORY ? SQLITE_IOERR_NOMEM : SQLITE_IOERR_READ;
}

static int file_read(sqlite3_file *base, void *bytes, int len, sqlite3_int64 offset)
{
    struct ranged_file *file = (struct ranged_file *)base;
    struct ranged *ranged = file->ranged;
    unsigned char *out = bytes;
    uint64_t at = (uint64_t)offset;
    uint64_t end = at + (uint64_t)len < file->size_bytes ? at + (uint64_t)len : file->size_bytes;
    struct err err = ERR_INIT;
    bool ok = true;
    memset(bytes, 0, (size_t)len);
    (void)pthread_mutex_lock(&ranged->lock);
    while (ok && at < end) {
        const struct block *block =
            get(ranged, file->key, file->size_bytes, at / RANGED_BLOCK_BYTES, &err);
        uint64_t in_block = at % RANGED_BLOCK_BYTES;
        uint64_t step =
            end - at < RANGED_BLOCK_BYTES - in_block ? end - at : RANGED_BLOCK_BYTES - in_block;
        ok = block != NULL;
        if (ok) {
            memcpy(out, block->bytes + in_block, (size_t)step);
        }
        out += step;
        at += step;
    }
    (void)pthread_mutex_unlock(&ranged->lock);
    if (!ok) {
        return refuse(file, &err);
    }
    return at == (uint64_t)offset + (uint64_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int len, sqlite3_int64 offset)
{
    (void)base;
    (void)bytes;
    (void)len;
    (void)offset;
    return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    (void)base;
    (void)size;
    return SQLITE_READONLY;
}

static int file_flags(sqlite3_file *base, int flags)
{
    (void)base;
    (void)flags;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)((struct ranged_file *)base)->size_bytes;
    return SQLITE_OK;
}

static int file_reserved(sqlite3_file *base, int *is)
{
    (void)base;
    *is = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int what, void *argument)
{
    if (what == SQLITE_FCNTL_LAST_ERRNO) {
        *(int *)argument = ((struct ranged_file *)base)->errnum;
        return SQLITE_OK;
    }
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base)
{
    (void)base;
    return 4096;
}

static int file_traits(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {.iVersion = 1,
                                           .xClose = file_close,
                                           .xRead = file_read,
                                           .xWrite = file_write,
                                           .xTruncate = file_truncate,
                                           .xSync = file_flags,
                                           .xFileSize = file_size,
                                           .xLock = file_flags,
                                           .xUnlock = file_flags,
                                           .xCheckReservedLock = file_reserved,
                                           .xFileControl = file_control,
                                           .xSectorSize = file_sector,
                                           .xDeviceCharacteristics = file_traits};

/* ---- the VFS ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out)
{
    struct ranged_file *file = (struct ranged_file *)base;
    base->pMethods = NULL;
    if (name == NULL || strncmp(name, PREFIX, sizeof PREFIX - 1) != 0 ||
        strlen(name) < sizeof PREFIX + RESULTS_KEY_BYTES) {
        return SQLITE_CANTOPEN;
    }
    *file = (struct ranged_file){.base.pMethods = &methods, .ranged = vfs->pAppData};
    memcpy(file->key, name + sizeof PREFIX - 1, RESULTS_KEY_BYTES - 1);
    file->size_bytes = strtoull(name + sizeof PREFIX + RESULTS_KEY_BYTES - 1, NULL, 10);
    if (out != NULL) {
        *out = flags;
    }
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_READONLY;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *is)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *is = 0;
    return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int bytes, char *out)
{
    (void)vfs;
    int len = snprintf(out, (size_t)bytes, "%s", name);
    return len >= 0 && len < bytes ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_last_error(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    (void)bytes;
    (void)out;
    return 0;
}

bool ranged_create(struct ranged **out, struct store *store, struct err *err)
{
    const sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    struct ranged *ranged = calloc(1, sizeof *ranged);
    bool ok = ranged != NULL && system != NULL && pthread_mutex_init(&ranged->lock, NULL) == 0;
    if (!ok || pthread_cond_init(&ranged->changed, NULL) != 0) {
        free(ranged);
        return err_set(err, ERR_NO_MEMORY, "no memory to read results");
    }
    ranged->store = store;
    (void)snprintf(ranged->vfs_name, sizeof ranged->vfs_name, PREFIX "%" PRIxPTR,
                   (uintptr_t)ranged);
    ranged->vfs = *system; /* time, chance and sleep */
    ranged->vfs.iVersion = 2;
    ranged->vfs.szOsFile = sizeof(struct ranged_file);
    ranged->vfs.mxPathname = NAME_BYTES;
    ranged->vfs.pNext = NULL;
    ranged->vfs.zName = ranged->vfs_name;
    ranged->vfs.pAppData = ranged;
    ranged->vfs.xOpen = vfs_open;
    ranged->vfs.xDelete = vfs_delete;
    ranged->vfs.xAccess = vfs_access;
    ranged->vfs.xFullPathname = vfs_full_name;
    ranged->vfs.xGetLastError = vfs_last_error;
    if (sqlite3_vfs_register(&ranged->vfs, 0) != SQLITE_OK) {
        free(ranged);
        return err_set(err, ERR_NO_MEMORY, "no memory to read results");
    }
    *out = ranged;
    return true;
}

void ranged_free(struct ranged *ranged)
{
    if (ranged == NULL) {
        return;
    }
    (void)sqlite3_vfs_unregister(&ranged->vfs);
    for (size_t i = 0; i < RANGED_BLOCKS; i++) {
        free(ranged->blocks[i].bytes);
    }
    (void)pthread_cond_destroy(&ranged->changed);
    (void)pthread_mutex_destroy(&ranged->lock);
    free(ranged);
}

/* ---- opening ---- */

struct ahead {
    struct ranged *ranged;
    const char *key;
    uint64_t size_bytes, number;
    struct err err;
    bool ok;
};

static void *run_ahead(void *argument)
{
    struct ahead *ahead = argument;
    (void)pthread_mutex_lock(&ahead->ranged->lock);
    ahead->ok =
        get(ahead->ranged, ahead->key, ahead->size_bytes, ahead->number, &ahead->err) != NULL;
    (void)pthread_mutex_unlock(&ahead->ranged->lock);
    return NULL;
}

/* The begin has the schema and the roots of all tables, the end the rows of the small ones. */
static bool read_ends(struct ranged *ranged, const char *key, uint64_t size_bytes, struct err *err)
{
    pthread_t thread;
    struct ahead first = {.ranged = ranged, .key = key, .size_bytes = size_bytes, .err = ERR_INIT};
    struct ahead last = first;
    last.number = (size_bytes - 1) / RANGED_BLOCK_BYTES;
    bool both = last.number > 0 && thread_start(&thread, run_ahead, &last) == 0;
    (void)run_ahead(&first);
    if (both) {
        (void)pthread_join(thread, NULL);
    }
    if (!first.ok) {
        *err = first.err;
    }
    return first.ok;
}

bool ranged_open(
    struct ranged *ranged, const char *key, uint64_t size_bytes, struct db **db, struct err *err)
{
    char name[NAME_BYTES];
    if (size_bytes == 0) {
        return err_set(err, ERR_GONE, "the file with the results of this trace is empty");
    }
    (void)snprintf(name, sizeof name, PREFIX "%s:%" PRIu64, key, size_bytes);
    return read_ends(ranged, key, size_bytes, err) && db_open_by(db, name, ranged->vfs_name, err);
}

bool ranged_has(const struct db *db)
{
    return strncmp(db_path(db), PREFIX, sizeof PREFIX - 1) == 0;
}

bool ranged_were_much(struct ranged *ranged, const char *key, uint64_t size_bytes)
{
    bool were = false;
    (void)pthread_mutex_lock(&ranged->lock);
    for (size_t i = 0; i < TALLIES; i++) {
        were = were || (strcmp(ranged->tallies[i].key, key) == 0 &&
                        ranged->tallies[i].bytes >= size_bytes / 2);
    }
    (void)pthread_mutex_unlock(&ranged->lock);
    return were;
}

bool ranged_has_outgrown(struct ranged *ranged, const struct db *db)
{
    char key[RESULTS_KEY_BYTES];
    const char *name = db_path(db) + sizeof PREFIX - 1;
    (void)snprintf(key, sizeof key, "%s", name);
    return ranged_were_much(ranged, key, strtoull(name + RESULTS_KEY_BYTES, NULL, 10));
}

uint64_t ranged_fetched(const struct ranged *ranged)
{
    return atomic_load(&ranged->fetched);
}
