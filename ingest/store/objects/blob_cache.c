/* raw/ as a cache of uploads that are objects. */
#include "ingest/base/memory/scratch.h"
#include "ingest/base/monotonic.h"
#include "ingest/base/order.h"
#include "ingest/store/objects/blob_objects.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS 256
/* Trimming goes a bit below the bound, so that not every new file makes it read the folders. */
#define TRIM_PERCENT 90
#define GIVEN_OUT_MS ((int64_t)60 * 1000)

struct cached {
    char sha256_hex[SHA256_HEX_BYTES];
    int64_t read_at_s;
    uint64_t size_bytes;
};

struct list {
    struct cached *files;
    size_t count, cap;
};

/* ---- what was given out ---- */

static size_t slot_of(const char *sha256_hex)
{
    char begin[4] = {0};
    memcpy(begin, sha256_hex, 3);
    return strtoul(begin, NULL, 16) % STORE_GIVEN_OUT_SLOTS;
}

void store_blob_given_out(struct store *store, const char *sha256_hex)
{
    atomic_store(&store->given_out_ms[slot_of(sha256_hex)], monotonic_ms());
}

static bool is_given_out(struct store *store, const char *sha256_hex)
{
    int64_t at_ms = atomic_load(&store->given_out_ms[slot_of(sha256_hex)]);
    return at_ms != 0 && monotonic_ms() - at_ms < GIVEN_OUT_MS;
}

/* ---- listing ---- */

static bool add(struct list *list, const struct cached *file)
{
    struct cached *grown = scratch_grow(list->files, list->count, &list->cap, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    list->files = grown;
    list->files[list->count++] = *file;
    return true;
}

static void list_folder(const struct store *store, unsigned number, struct list *list)
{
    char path[STORE_PATH_BYTES];
    int len = snprintf(path, sizeof path, "%s/raw/%02x", store->data_dir, number);
    DIR *dir = len > 0 && (size_t)len < sizeof path ? opendir(path) : NULL;
    if (dir == NULL) {
        return;
    }
    bool ok = true;
    for (const struct dirent *entry = readdir(dir); ok && entry != NULL; entry = readdir(dir)) {
        struct cached file;
        struct stat there;
        if (strlen(entry->d_name) == SHA256_HEX_BYTES - 3 &&
            fstatat(dirfd(dir), entry->d_name, &there, 0) == 0) {
            (void)snprintf(file.sha256_hex, sizeof file.sha256_hex, "%02x%.62s", number,
                           entry->d_name);
            file.read_at_s =
                (int64_t)(there.st_atime > there.st_mtime ? there.st_atime : there.st_mtime);
            file.size_bytes = (uint64_t)there.st_size;
            ok = add(list, &file);
        }
    }
    (void)closedir(dir);
}

static int by_time(const void *left, const void *right)
{
    const struct cached *a = left;
    const struct cached *b = right;
    return order_i64(a->read_at_s, b->read_at_s);
}

/* ---- trimming ---- */

static bool may_go(struct store *store, const struct cached *file)
{
    struct err ignored = ERR_INIT;
    bool held = false;
    return !is_given_out(store, file->sha256_hex) &&
           blob_objects_hold(store, file->sha256_hex, &held, &ignored) && held;
}

void blob_cache_trim(struct store *store, uint64_t cache_bytes)
{
    uint64_t target_bytes = cache_bytes / 100 * TRIM_PERCENT;
    struct list list = {.count = 0};
    if (store_blob_files_bytes(store) <= cache_bytes) {
        return;
    }
    for (unsigned i = 0; i < FOLDERS; i++) {
        list_folder(store, i, &list);
    }
    if (list.count > 0) {
        qsort(list.files, list.count, sizeof *list.files, by_time);
    }
    for (size_t i = 0; i < list.count && store_blob_files_bytes(store) > target_bytes; i++) {
        struct err err = ERR_INIT;
        if (may_go(store, &list.files[i]) &&
            !store_blob_uncache(store, list.files[i].sha256_hex, &err)) {
            log_write(store->log, LOG_WARN, "a cached upload stays: %s", err.msg);
        }
    }
    scratch_free(list.files);
}
