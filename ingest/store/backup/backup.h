/* Everything that a data directory holds in one file, and back. Neither takes the lock of the data
 * directory for itself: a backup is made while a server serves.
 *
 * The file is a tar: the raw uploads (raw/<2 hex>/<62 hex>), then kinetoscope.db. What a server
 * changes meanwhile is no danger: the blobs of a first look at the catalogue are copied, then
 * the database as it is at one moment, then the blobs that came between. A file that was
 * removed between that moment and its copy makes the database be taken anew; the window is short,
 * as nearly all files are there already. Files that the database does not name any more are left
 * out when it is read back. */
#ifndef KS_STORE_BACKUP_BACKUP_H
#define KS_STORE_BACKUP_BACKUP_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Told now and then, `bytes_total` may still grow; `tell` NULL: nobody is told. */
struct backup_progress {
    void *context;
    void (*tell)(void *context, uint64_t bytes_done, uint64_t bytes_total);
};

/* What was written or read. */
struct backup_counts {
    uint64_t raw_files;
    uint64_t raw_bytes;
    uint64_t database_bytes;
};

/* `path` "-" is standard output. A file is written as <path>.partial and gets its name when it is
 * whole and on the disk; one that is there is replaced. Needs room for a second database beside it.
 * ERR_NOT_FOUND without a database, ERR_IO (also a blob whose bytes do not fit its hash),
 * ERR_NO_SPACE, ERR_STORE, ERR_NO_MEMORY, ERR_UNAVAILABLE (too much is being removed). */
bool store_backup(const char *data_dir,
                  const char *path,
                  const struct backup_progress *progress,
                  struct backup_counts *counts,
                  struct err *err) KS_MUST_USE;

/* Into a directory that is empty or not there (else ERR_CONFLICT). Every blob is held against
 * its hash and the database is checked; what was written is removed when anything is wrong
 * (ERR_BAD_INPUT). The schema stays as it was until the store is opened. */
bool store_restore(const char *path,
                   const char *data_dir,
                   const struct backup_progress *progress,
                   struct backup_counts *counts,
                   struct err *err) KS_MUST_USE;

#endif
