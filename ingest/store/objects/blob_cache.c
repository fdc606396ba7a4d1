/* raw/ and results/ as a cache of uploads and files of results that are objects. */
#include "ingest/base/memory/scratch.h"
#include "ingest/base/monotonic.h"
#include "ingest/base/order.h"
#include "ingest/store/objects/blob_objects_internal.h"
#include "ingest/store/results_files.h"

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
    char name[SHA256_HEX_BYTES]; /* hash of an upload, or key of a file of results */
    bool is_results;
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

/* A name is split behind its first two digits. */
static void
list_folder(const struct store *store, bool is_results, unsigned number, struct list *list)
{
    char path[STORE_PATH_BYTES];
    int digits = (is_results ? RESULTS_KEY_BYTES : SHA256_HEX_BYTES) - 3;
    size_t name_len = (size_t)digits + (is_results ? strlen(".db") : 0);
    int len = snprintf(path, sizeof path, "%s/%s/%02x", store->data_dir,
                       is_results ? "results" : "raw", number);
    DIR *dir = len > 0 && (size_t)len < sizeof path ? opendir(path) : NULL;
    if (dir == NULL) {
        return;
    }
    bool ok = true;
    for (const struct dirent *entry = readdir(dir); ok && entry != NULL; entry = readdir(dir)) {
        struct cached file = {.is_results = is_results};
        struct stat there;
        if (strlen(entry->d_name) == name_len &&
            fstatat(dirfd(dir), entry->d_name, &there, 0) == 0) {
            (void)snprintf(file.name, sizeof file.name, "%02x%.*s", number, digits, entry->d_name);
            file.read_at_s =
                (int64_t)(there.st_atime > there.st_mtime ? there.st_atime : there.st_mtime);
            file.size_bytes = (uint64_t)there.st_size;
            ok = add(list, &file);
        }
    }
    (void)closedir(dir);
}

static void list_all(const struct store *store, struct list *list)
{
    uint64_t results_bytes = 0;
    for (unsigned i = 0; i < FOLDERS; i++) {
        list_folder(store, false, i, list);
        list_folder(store, true, i, list);
    }
    for (size_t i = 0; i < list->count; i++) {
        results_bytes += list->files[i].is_results ? list->files[i].size_bytes : 0;
    }
    results_cached_count(store, results_bytes);
}

ORDER_BY(by_time, struct cached, ORDER_UP(read_at_s))

/* ---- trimming ---- */

static uint64_t cached_bytes(struct store *store)
{
    return store_blob_files_bytes(store) + results_cached_bytes(store);
}

static bool remove_upload(struct store *store, const char *sha256_hex, struct err *err)
{
    struct err ignored = ERR_INIT;
    bool held = false;
    bool may_go = !is_given_out(store, sha256_hex) &&
                  blob_objects_hold(store, sha256_hex, &held, &ignored) && held;
    return !may_go || store_blob_uncache(store, sha256_hex, err);
}

void blob_cache_trim(struct store *store, uint64_t cache_bytes)
{
    uint64_t target_bytes = cache_bytes / 100 * TRIM_PERCENT;
    struct list list = {.count = 0};
    bool was_counted = store->objects->is_counted;
    store->objects->is_counted = true;
    if (was_counted && cached_bytes(store) <= cache_bytes) {
        return;
    }
    list_all(store, &list);
    if (list.count > 0) {
        qsort(list.files, list.count, sizeof *list.files, by_time);
    }
    bool is_over = cached_bytes(store) > cache_bytes;
    for (size_t i = 0; is_over && i < list.count && cached_bytes(store) > target_bytes; i++) {
        const struct cached *file = &list.files[i];
        struct err err = ERR_INIT;
        if (!(file->is_results ? results_file_uncache(store, file->name, file->size_bytes, &err)
                               : remove_upload(store, file->name, &err))) {
            log_write(store->log, LOG_WARN, "a cached file stays: %s", err.msg);
        }
    }
    scratch_free(list.files);
}
