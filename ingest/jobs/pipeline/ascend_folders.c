#include "ingest/jobs/pipeline/ascend_folders.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/buf.h"

#include <stdlib.h>
#include <string.h>

#define SUFFIX "_ascend_pt"
#define VIEW "trace_view.json"
/* A larger table is left out, and so are tables beyond so many folders. */
#define TABLE_BYTES_MAX ((size_t)256 << 20)
#define FOLDERS_MAX 4096

/* The first part of the path that ends so. False: none. */
static bool find_folder(const char *path, const char **name, size_t *len)
{
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(path, '/')) {
        size_t part = (size_t)(slash - path);
        size_t suffix = strlen(SUFFIX);
        if (part >= suffix && memcmp(path + part - suffix, SUFFIX, suffix) == 0) {
            *name = path;
            *len = part;
            return true;
        }
        path = slash + 1;
    }
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* trace_view.json, also packed. */
static bool is_view(const char *path)
{
    const char *base = base_name(path);
    size_t len = strlen(VIEW);
    return strncmp(base, VIEW, len) == 0 &&
           (base[len] == '\0' || strcmp(base + len, ".gz") == 0 || strcmp(base + len, ".zst") == 0);
}

static bool is_database(const char *path)
{
    size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".db") == 0;
}

void ascend_folders_free(struct ascend_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++) {
        free(folders->items[i].name);
        ascend_tables_free(folders->items[i].tables);
    }
    scratch_free(folders->items);
    *folders = (struct ascend_folders){.items = NULL};
}

static struct ascend_folder *
find(const struct ascend_folders *folders, const char *name, size_t len)
{
    for (size_t i = folders->count; i-- > 0;) { /* members of a folder stand together */
        struct ascend_folder *folder = &folders->items[i];
        if (strlen(folder->name) == len && memcmp(folder->name, name, len) == 0) {
            return folder;
        }
    }
    return NULL;
}

/* NULL without memory. */
static struct ascend_folder *add(struct ascend_folders *folders, const char *name, size_t len)
{
    struct ascend_folder *grown =
        scratch_grow(folders->items, folders->count, &folders->cap, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    folders->items = grown;
    struct ascend_folder *folder = &grown[folders->count];
    *folder = (struct ascend_folder){.name = strndup(name, len), .tables = ascend_tables_create()};
    folders->count++;
    return folder->name == NULL || folder->tables == NULL ? NULL : folder;
}

struct ascend_folder *ascend_folders_of(const struct ascend_folders *folders, const char *path)
{
    const char *name;
    size_t len;
    return find_folder(path, &name, &len) ? find(folders, name, len) : NULL;
}

bool ascend_folder_takes(const struct ascend_folder *folder, const char *path, bool *view)
{
    *view = is_view(path);
    return *view || (!folder->has_trace && is_database(path));
}

/* The bytes of the member. */
static bool read_table(struct tar *tar, struct buf *bytes, struct err *err)
{
    struct input *in = NULL;
    const char *window = NULL;
    size_t len = 1;
    bool ok = tar_member(tar, &in, err);
    while (ok && len > 0) {
        ok = input_next(in, 0, &window, &len, err);
        if (ok) {
            buf_append(bytes, window, len);
        }
    }
    input_close(in);
    return ok;
}

static bool
take_table(struct ascend_folder *folder, struct tar *tar, const char *path, struct err *err)
{
    struct buf bytes;
    buf_init(&bytes, TABLE_BYTES_MAX);
    bool ok = read_table(tar, &bytes, err);
    if (ok && !bytes.failed && bytes.len > 0) {
        buf_append(&bytes, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
        buf_append(&bytes, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
        ok = ascend_tables_add(folder->tables, base_name(path), bytes.ptr, bytes.len - 64) ||
             err_set(err, ERR_NO_MEMORY, "no memory for the tables of a trace");
    }
    buf_free(&bytes);
    return ok;
}

bool ascend_folders_note(struct ascend_folders *folders,
                         struct tar *tar,
                         const struct tar_entry *entry,
                         struct err *err)
{
    const char *name;
    size_t len;
    if (!find_folder(entry->path, &name, &len)) {
        return true;
    }
    struct ascend_folder *folder = find(folders, name, len);
    if (folder == NULL && folders->count < FOLDERS_MAX) {
        folder = add(folders, name, len);
        if (folder == NULL) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the folders of an archive");
        }
    }
    if (folder == NULL) {
        return true;
    }
    folder->has_trace = folder->has_trace || is_view(entry->path);
    return !ascend_tables_know(base_name(entry->path)) || take_table(folder, tar, entry->path, err);
}
