/* Backup and restore of a data directory in one file. Neither locks the data directory: a backup
 * runs while a server serves.
 *
 * The file is a tar: the uploads (raw/<2 hex>/<62 hex>) and the files of traces (results/<2 hex>/
 * <30 hex>.db), then kinetoscope.db. A server may write meanwhile: the backup copies what the
 * catalogue names at first, then the database as of one moment, then what came between. If an
 * upload is deleted between that moment and its copy, the backup takes the database again; this
 * window is short, because nearly all uploads are copied already. A restore leaves out what the
 * database no longer names. */
#ifndef KS_STORE_BACKUP_BACKUP_H
#define KS_STORE_BACKUP_BACKUP_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Receives progress now and then; `bytes_total` may still grow. `tell` NULL: no progress. */
struct backup_progress {
    void *context;
    void (*tell)(void *context, uint64_t bytes_done, uint64_t bytes_total);
};

/* What was written or read. */
struct backup_counts {
    uint64_t raw_files;
    uint64_t raw_bytes;
    uint64_t database_bytes; /* with the files of traces */
};

/* Writes the backup to `path`, or to standard output for "-". A file is written as <path>.partial
 * and renamed when it is complete and synced; it replaces an existing one. Needs disk space for a
 * second database beside it. ERR_NOT_FOUND: no database; ERR_IO: also an upload whose bytes do not
 * match its hash; ERR_UNAVAILABLE: too much is being deleted; ERR_NO_SPACE, ERR_STORE,
 * ERR_NO_MEMORY. */
bool store_backup(const char *data_dir,
                  const char *path,
                  const struct backup_progress *progress,
                  struct backup_counts *counts,
                  struct err *err) KS_MUST_USE;

/* Restores into a directory that is empty or absent (else ERR_CONFLICT). Compares every upload with
 * its hash and checks the database; on any fault removes what it wrote (ERR_BAD_INPUT). The schema
 * stays as it was until the store is opened. */
bool store_restore(const char *path,
                   const char *data_dir,
                   const struct backup_progress *progress,
                   struct backup_counts *counts,
                   struct err *err) KS_MUST_USE;

#endif
