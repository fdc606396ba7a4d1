/* What the file system says of the data directory. */
#include "ingest/store/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

static bool wal_bytes(const struct store *store, uint64_t *bytes, struct err *err)
{
    static const char suffix[] = "-wal";
    size_t len = strlen(store->db_path);
    char *path = malloc(len + sizeof suffix);
    if (path == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a path");
    }
    memcpy(path, store->db_path, len);
    memcpy(path + len, suffix, sizeof suffix);
    struct stat info;
    *bytes = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
    free(path);
    return true;
}

bool store_disk(struct store *store, struct store_disk *out, struct err *err)
{
    struct statvfs system;
    if (statvfs(store->data_dir, &system) != 0) {
        return err_set_errno(err, ERR_IO, errno, "asking the file system of %.200s",
                             store->data_dir);
    }
    out->free_bytes = (uint64_t)system.f_bavail * system.f_frsize;
    out->total_bytes = (uint64_t)system.f_blocks * system.f_frsize;
    return wal_bytes(store, &out->wal_bytes, err);
}
