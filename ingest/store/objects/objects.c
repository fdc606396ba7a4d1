#include "ingest/store/objects/objects.h"

#include "ingest/base/text/affix.h"
#include "ingest/base/thread.h"
#include "ingest/store/objects/driver.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Ranges of one object that are read at once. */
#define GET_THREADS 4

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for an object");
}

/* ---- places ---- */

static bool open_s3(struct objects **out,
                    const char *rest,
                    const struct objects_options *options,
                    struct err *err)
{
#ifdef KS_CLUSTER
    return s3_open(out, rest, options, err);
#else
    (void)out;
    (void)options;
    return err_set(err, ERR_BAD_REQUEST,
                   "s3://%.200s: this program was built without S3; build it where libcurl is "
                   "(libcurl4-openssl-dev), with -DKS_CLUSTER=ON",
                   rest);
#endif
}

bool objects_open(struct objects **out,
                  const char *url,
                  const struct objects_options *options,
                  struct err *err)
{
    static const char folder[] = "file://";
    static const char s3[] = "s3://";
    struct objects_options set = options == NULL ? (struct objects_options){0} : *options;
    set.retry_ms = set.retry_ms == 0 ? OBJECTS_RETRY_MS : set.retry_ms;
    set.stall_ms = set.stall_ms == 0 ? OBJECTS_STALL_MS : set.stall_ms;
    set.part_bytes = set.part_bytes == 0 ? OBJECTS_PART_BYTES : set.part_bytes;
    if (text_begins(url, folder) && url[sizeof folder - 1] == '/') {
        return folder_open(out, url + sizeof folder - 1, err);
    }
    if (text_begins(url, s3)) {
        return open_s3(out, url + sizeof s3 - 1, &set, err);
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "%.200s: objects are kept in file:///folder or s3://bucket/prefix", url);
}

void objects_close(struct objects *objects)
{
    if (objects != NULL) {
        objects->driver->close(objects);
    }
}

/* ---- keys ---- */

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

static bool check_key(const char *key, struct err *err)
{
    size_t len = 0;
    unsigned parts = 1;
    bool begins = true; /* a part */
    bool ok = true;
    for (; ok && key[len] != '\0' && len < OBJECT_KEY_BYTES; len++) {
        bool is_slash = key[len] == '/';
        parts += is_slash;
        ok = is_slash ? !begins : is_key_char(key[len]) && !(begins && key[len] == '.');
        begins = is_slash;
    }
    return (ok && !begins && len < OBJECT_KEY_BYTES && parts <= OBJECT_KEY_PARTS) ||
           err_set(err, ERR_BAD_REQUEST, "%.100s is no key of an object", key);
}

/* ---- one call each ---- */

bool object_put_begin(struct objects *objects,
                      const char *key,
                      struct object_put **out,
                      struct err *err)
{
    return check_key(key, err) && objects->driver->put_begin(objects, key, out, err);
}

bool object_put_write(struct object_put *put, const void *bytes, size_t len, struct err *err)
{
    return put->driver->put_write(put, bytes, len, err);
}

bool object_put_finish(struct object_put *put, struct object_info *info, struct err *err)
{
    return put->driver->put_finish(put, info, err);
}

void object_put_abort(struct object_put *put)
{
    if (put != NULL) {
        put->driver->put_abort(put);
    }
}

bool object_discard(struct objects *objects, const char *key, struct err *err)
{
    return check_key(key, err) && objects->driver->discard(objects, key, err);
}

bool object_head(struct objects *objects,
                 const char *key,
                 struct object_info *info,
                 struct err *err)
{
    return check_key(key, err) && objects->driver->head(objects, key, info, err);
}

bool object_range(struct objects *objects,
                  const char *key,
                  uint64_t offset,
                  void *bytes,
                  size_t len,
                  struct err *err)
{
    return check_key(key, err) &&
           (len == 0 || objects->driver->range(objects, key, offset, bytes, len, err));
}

bool objects_probe(struct objects *objects, struct err *err)
{
    return objects->driver->probe(objects, err);
}

bool object_delete_many(struct objects *objects,
                        const char *const *keys,
                        size_t count,
                        struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!check_key(keys[i], err)) {
            return false;
        }
    }
    return count == 0 || objects->driver->delete_many(objects, keys, count, err);
}

/* ---- a whole object ---- */

/* Several threads take the next range each until there is none, or one has failed. */
struct get {
    struct objects *objects;
    const char *key;
    int fd;
    uint64_t size_bytes;
    _Atomic uint64_t next_range;
    _Atomic bool failed;
    pthread_mutex_t lock; /* guards `err` */
    struct err err;       /* of the first that failed */
};

static bool write_at(int fd, const char *bytes, size_t len, uint64_t offset, struct err *err)
{
    while (len > 0) {
        ssize_t done = pwrite(fd, bytes, len, (off_t)offset);
        if (done < 0 && errno != EINTR) {
            return err_set_errno(err, ERR_IO, errno, "writing an object to the disk");
        }
        size_t step = done < 0 ? 0 : (size_t)done;
        bytes += step;
        len -= step;
        offset += step;
    }
    return true;
}

static bool copy_ranges(struct get *get, struct err *err)
{
    uint64_t most = get->size_bytes < OBJECTS_RANGE_BYTES ? get->size_bytes : OBJECTS_RANGE_BYTES;
    char *bytes = malloc(most > 0 ? (size_t)most : 1);
    bool ok = bytes != NULL || no_memory(err);
    while (ok && !atomic_load(&get->failed)) {
        uint64_t offset = atomic_fetch_add(&get->next_range, 1) * OBJECTS_RANGE_BYTES;
        if (offset >= get->size_bytes) {
            break;
        }
        uint64_t left = get->size_bytes - offset;
        size_t len = (size_t)(left < OBJECTS_RANGE_BYTES ? left : OBJECTS_RANGE_BYTES);
        ok = object_range(get->objects, get->key, offset, bytes, len, err) &&
             write_at(get->fd, bytes, len, offset, err);
    }
    free(bytes);
    return ok;
}

static void *run_get(void *argument)
{
    struct get *get = argument;
    struct err err = ERR_INIT;
    if (!copy_ranges(get, &err)) {
        (void)pthread_mutex_lock(&get->lock);
        if (!atomic_exchange(&get->failed, true)) {
            get->err = err;
        }
        (void)pthread_mutex_unlock(&get->lock);
    }
    return NULL;
}

bool object_get(
    struct objects *objects, const char *key, int fd, uint64_t *size_bytes, struct err *err)
{
    struct object_info info;
    if (!object_head(objects, key, &info, err)) {
        return false;
    }
    struct get get = {.objects = objects,
                      .key = key,
                      .fd = fd,
                      .size_bytes = info.size_bytes,
                      .lock = PTHREAD_MUTEX_INITIALIZER,
                      .err = ERR_INIT};
    uint64_t ranges = info.size_bytes / OBJECTS_RANGE_BYTES + 1;
    pthread_t threads[GET_THREADS - 1];
    size_t count = 0;
    while (count < GET_THREADS - 1 && count + 1 < ranges &&
           thread_start(&threads[count], run_get, &get) == 0) {
        count++;
    }
    (void)run_get(&get);
    while (count > 0) {
        (void)pthread_join(threads[--count], NULL);
    }
    (void)pthread_mutex_destroy(&get.lock);
    if (atomic_load(&get.failed)) {
        *err = get.err;
        return false;
    }
    *size_bytes = info.size_bytes;
    return true;
}
