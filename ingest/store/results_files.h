/* Files beside the catalogue: the events of a trace, its timeline and the tables of its results
 * stand in a SQLite database of its own (schema/results/), results/ab/cdef....db.
 *
 * A file is made while the trace is read, by a connection of its own, so that no upload waits for
 * another one's rows: in memory up to 4 MB, then in incoming/. It is sealed there and synced;
 * then one transaction of the catalogue names it (table results_file), and only after that it moves
 * to its place. A file that is still small stands packed in its row instead, so that the publishing
 * transaction is its sync. Its key is random and never used again, and the file never changes:
 * readers take no locks. A crash leaves files in incoming/: the start moves those that the
 * catalogue names, and removes the rest. */
#ifndef KS_STORE_RESULTS_FILES_H
#define KS_STORE_RESULTS_FILES_H

#include "ingest/store/internal.h"

#include <stdbool.h>
#include <stdint.h>

enum results_kind {
    RESULTS_EVENTS,   /* and the tables, and the timeline if it was made at once */
    RESULTS_TIMELINE, /* a timeline that was made later */
    RESULTS_TABLES    /* to ask for: tables of derived figures are their own */
};

/* The id of the one log and of the one trace of a file. */
#define RESULTS_LOG_ID 1

bool results_files_create(struct results_files **out, struct err *err) KS_MUST_USE;
void results_files_destroy(struct results_files *files); /* NULL is allowed */
/* At start, before incoming/ is emptied: moves what the catalogue names to its place. */
bool results_files_recover(struct store *store, struct err *err) KS_MUST_USE;
/* Before the first table of a new database is written: files of an earlier, lost one are moved to a
 * folder of their own, since nothing names them. */
bool results_files_set_aside(const struct store *store, struct err *err) KS_MUST_USE;
/* Whether the file is there and as long as it was. */
bool results_file_is_there(const struct store *store,
                           const char *key,
                           uint64_t size_bytes,
                           bool *is_there,
                           struct err *err) KS_MUST_USE;
/* ---- as objects ----
 * Where uploads are objects, a file is put there before the catalogue names it, and results/ is a
 * cache: a file that is missing there, or has another hash when it is opened for the first time
 * after a start, is fetched. Any server with this catalogue and these objects opens every trace. */

/* Bytes of the files in results/. */
uint64_t results_cached_bytes(const struct store *store);
void results_cached_count(const struct store *store, uint64_t bytes); /* what a look has found */
/* Removes the file from results/ unless it is the only copy. Whoever has it open keeps it. */
bool results_file_uncache(struct store *store,
                          const char *key,
                          uint64_t size_bytes,
                          struct err *err) KS_MUST_USE;

/* Bytes of all files that the catalogue names, whichever server has made them. */
bool results_files_bytes(struct store *store, uint64_t *bytes, struct err *err) KS_MUST_USE;

/* ---- writing ---- */

struct results_file;

bool results_file_create(struct store *store,
                         struct results_file **out,
                         struct err *err) KS_MUST_USE;
/* Its connection for about `bytes` of rows, for one thread at a time: the others wait. Rows written
 * so are in the file once it is sealed. On false nothing is to be ended. */
bool results_file_begin(struct results_file *file, size_t bytes, struct db **db, struct err *err)
    KS_MUST_USE;
void results_file_end(struct results_file *file);
/* After the last row. */
bool results_file_seal(struct results_file *file, struct err *err) KS_MUST_USE;
/* Makes sealed files durable that are not yet: synced with their names, or put to the objects. */
bool results_files_sync(struct results_file *const *files,
                        size_t count,
                        struct err *err) KS_MUST_USE;
/* Names a synced file in the catalogue, in the caller's transaction. */
bool results_file_publish(const struct results_file *file,
                          int64_t trace_id,
                          enum results_kind kind,
                          struct err *err) KS_MUST_USE;
/* After that has been committed: moves the file to its place and frees `file`. */
void results_file_keep(struct results_file *file);
/* Removes the file and frees `file`. NULL is allowed. */
void results_file_discard(struct results_file *file);
/* Removes the files of a trace that nobody can see any more, then their rows. */
bool results_files_remove(struct store *store, int64_t trace_id, struct err *err) KS_MUST_USE;

/* ---- reading ---- */

/* The key of the file of a trace or, for derived figures, of their trace: one of this kind, or else
 * of a lower one. Empty: there is none. */
bool results_file_find(struct db *catalogue,
                       int64_t trace_id,
                       enum results_kind kind,
                       char key[RESULTS_KEY_BYTES],
                       struct err *err) KS_MUST_USE;
/* A connection to this file, to be released. ERR_GONE: somebody removed the file. */
bool results_file_acquire(struct store *store,
                          struct db *catalogue,
                          const char *key,
                          struct db **db,
                          struct err *err) KS_MUST_USE;
void results_file_release(struct store *store, const char *key, struct db *db);
/* The same for a snapshot, which releases it when it is closed. *db is NULL where there is none. */
bool store_snapshot_file(struct store_snapshot *snapshot,
                         int64_t trace_id,
                         enum results_kind kind,
                         struct db **db,
                         struct err *err) KS_MUST_USE;
/* That of the tables of a trace that is visible; fails where there is none. */
bool store_snapshot_tables(struct store_snapshot *snapshot,
                           int64_t trace_id,
                           struct db **db,
                           struct err *err) KS_MUST_USE;

#endif
