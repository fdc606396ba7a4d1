/* Objects in a folder: a key is a path below it. What is being written stands in .writing/ until it
 * is synced. */
#include "ingest/base/files/write_all.h"
#include "ingest/store/internal.h"
#include "ingest/store/objects/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 1024

static const struct objects_driver folder_driver;

struct folder {
    struct objects objects;
    char root[PATH_BYTES];
    pthread_mutex_t lock; /* guards the next one */
    uint64_t serial;
};

struct folder_put {
    struct object_put put;
    struct folder *folder;
    int fd;
    uint64_t size_bytes;
    char key[OBJECT_KEY_BYTES];
    char path[PATH_BYTES]; /* of the unfinished file */
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for an object");
}

static bool
path_of(const struct folder *folder, const char *key, char out[PATH_BYTES], struct err *err)
{
    int len = snprintf(out, PATH_BYTES, "%s/%s", folder->root, key);
    return (len > 0 && len < PATH_BYTES) ||
           err_set(err, ERR_BAD_REQUEST, "the path of an object is too long");
}

/* The folders above a path, from the `from`th character on. With `syncs` also syncs each. */
static bool each_parent(const char *path, size_t from, bool syncs, struct err *err)
{
    char folder[PATH_BYTES];
    (void)snprintf(folder, sizeof folder, "%s", path);
    bool ok = true;
    for (char *slash = strchr(folder + from, '/'); ok && slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ok = syncs ? store_sync_dir(folder, err) : store_make_dir(folder, err);
        *slash = '/';
    }
    return ok;
}

static bool remove_file(const char *path, struct err *err)
{
    return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR ||
           err_set_errno(err, ERR_IO, errno, "removing %s", path);
}

/* ---- the place ---- */

bool folder_open(struct objects **out, const char *path, struct err *err)
{
    struct folder *folder = calloc(1, sizeof *folder);
    if (folder == NULL || pthread_mutex_init(&folder->lock, NULL) != 0) {
        free(folder);
        return no_memory(err);
    }
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/') {
        len--;
    }
    char writing[PATH_BYTES];
    int written = snprintf(folder->root, sizeof folder->root, "%.*s", (int)len, path);
    bool ok = (written > 0 && (size_t)written < sizeof folder->root &&
               path_of(folder, ".writing/", writing, err)) ||
              err_set(err, ERR_BAD_REQUEST, "the path of the folder for objects is too long");
    ok = ok && each_parent(writing, 1, false, err);
    if (!ok) {
        (void)pthread_mutex_destroy(&folder->lock);
        free(folder);
        return false;
    }
    folder->objects.driver = &folder_driver;
    *out = &folder->objects;
    return true;
}

static void close_folder(struct objects *objects)
{
    struct folder *folder = (struct folder *)objects;
    (void)pthread_mutex_destroy(&folder->lock);
    free(folder);
}

static bool probe(struct objects *objects, struct err *err)
{
    const struct folder *folder = (const struct folder *)objects;
    return access(folder->root, W_OK | X_OK) == 0 ||
           err_set_errno(err, ERR_UNAVAILABLE, errno, "looking at the folder %s", folder->root);
}

/* ---- writing ---- */

static bool
put_begin(struct objects *objects, const char *key, struct object_put **out, struct err *err)
{
    struct folder *folder = (struct folder *)objects;
    struct folder_put *put = calloc(1, sizeof *put);
    char name[64];
    if (put == NULL) {
        return no_memory(err);
    }
    (void)pthread_mutex_lock(&folder->lock);
    (void)snprintf(name, sizeof name, ".writing/%ld-%" PRIu64, (long)getpid(), ++folder->serial);
    (void)pthread_mutex_unlock(&folder->lock);
    put->folder = folder;
    (void)snprintf(put->key, sizeof put->key, "%s", key);
    bool ok = path_of(folder, name, put->path, err);
    put->fd = ok ? open(put->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (put->fd < 0) {
        ok = ok && err_set_errno(err, ERR_IO, errno, "creating %s", put->path);
        free(put);
        return ok;
    }
    put->put.driver = &folder_driver;
    *out = &put->put;
    return true;
}

static bool put_write(struct object_put *base, const void *bytes, size_t len, struct err *err)
{
    struct folder_put *put = (struct folder_put *)base;
    put->size_bytes += len;
    return write_all(put->fd, bytes, len) ||
           err_set_errno(err, ERR_IO, errno, "writing %s", put->path);
}

/* link, unlike rename, replaces nothing. */
static bool give_name(const struct folder_put *put, struct err *err)
{
    char path[PATH_BYTES];
    size_t root_len = strlen(put->folder->root);
    if (fsync(put->fd) != 0) {
        return err_set_errno(err, ERR_IO, errno, "writing %s", put->path);
    }
    if (!path_of(put->folder, put->key, path, err) ||
        !each_parent(path, root_len + 1, false, err)) {
        return false;
    }
    if (link(put->path, path) != 0) {
        return errno == EEXIST ? err_set(err, ERR_CONFLICT, "%s is there already", path)
                               : err_set_errno(err, ERR_IO, errno, "naming %s", path);
    }
    return each_parent(path, root_len, true, err);
}

static void put_abort(struct object_put *base)
{
    struct folder_put *put = (struct folder_put *)base;
    (void)close(put->fd);
    (void)unlink(put->path);
    free(put);
}

static bool put_finish(struct object_put *base, struct object_info *info, struct err *err)
{
    struct folder_put *put = (struct folder_put *)base;
    bool ok = give_name(put, err);
    *info = (struct object_info){.size_bytes = put->size_bytes};
    put_abort(base);
    return ok;
}

static bool discard(struct objects *objects, const char *key, struct err *err)
{
    char path[PATH_BYTES];
    return path_of((const struct folder *)objects, key, path, err) && remove_file(path, err);
}

static bool
delete_many(struct objects *objects, const char *const *keys, size_t count, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = discard(objects, keys[i], err);
    }
    return ok;
}

/* ---- reading ---- */

static bool not_there(const char *path, struct err *err)
{
    return errno == ENOENT || errno == ENOTDIR
               ? err_set(err, ERR_NOT_FOUND, "there is no object %s", path)
               : err_set_errno(err, ERR_IO, errno, "opening %s", path);
}

static bool
head(struct objects *objects, const char *key, struct object_info *info, struct err *err)
{
    char path[PATH_BYTES];
    struct stat there;
    if (!path_of((const struct folder *)objects, key, path, err)) {
        return false;
    }
    if (stat(path, &there) != 0) {
        return not_there(path, err);
    }
    *info = (struct object_info){.size_bytes = (uint64_t)there.st_size};
    return S_ISREG(there.st_mode) || err_set(err, ERR_NOT_FOUND, "there is no object %s", path);
}

static bool range(struct objects *objects,
                  const char *key,
                  uint64_t offset,
                  void *bytes,
                  size_t len,
                  struct err *err)
{
    char path[PATH_BYTES];
    if (!path_of((const struct folder *)objects, key, path, err)) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return not_there(path, err);
    }
    size_t filled = 0;
    bool ok = true;
    while (ok && filled < len) {
        ssize_t got = pread(fd, (char *)bytes + filled, len - filled, (off_t)(offset + filled));
        if (got == 0) {
            ok = err_set(err, ERR_IO, "%s ends before byte %" PRIu64, path, offset + len);
        } else if (got > 0) {
            filled += (size_t)got;
        } else if (errno != EINTR) {
            ok = err_set_errno(err, ERR_IO, errno, "reading %s", path);
        }
    }
    (void)close(fd);
    return ok;
}

static const struct objects_driver folder_driver = {
    .close = close_folder,
    .put_begin = put_begin,
    .put_write = put_write,
    .put_finish = put_finish,
    .put_abort = put_abort,
    .discard = discard,
    .head = head,
    .range = range,
    .probe = probe,
    .delete_many = delete_many,
};
