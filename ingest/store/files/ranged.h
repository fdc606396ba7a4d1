/* Files of results that are read where they are objects, by ranges of 1 MB, instead of being
 * fetched as a whole: large ones, and all of them when the disk is full. A read-only VFS of SQLite
 * whose blocks stand in memory, at most RANGED_BLOCKS of them, the least recently used goes; of
 * several threads that want a block one fetches it. What is read so is not hashed. Thread-safe. */
#ifndef KS_STORE_FILES_RANGED_H
#define KS_STORE_FILES_RANGED_H

#include "ingest/store/internal.h"

#define RANGED_BLOCK_BYTES ((uint64_t)1 << 20)
#define RANGED_BLOCKS 32u

struct ranged;

/* The store has objects, and outlives them. */
bool ranged_create(struct ranged **out, struct store *store, struct err *err) KS_MUST_USE;
/* After the last connection is closed. NULL is allowed. */
void ranged_free(struct ranged *ranged);
/* A connection to the file of this key; fetches its first and its last block at once. Errors of
 * object_range, and later of reading: ERR_UNAVAILABLE, ERR_STORE. */
bool ranged_open(struct ranged *ranged,
                 const char *key,
                 uint64_t size_bytes,
                 struct db **db,
                 struct err *err) KS_MUST_USE;
/* Whether a connection is one of these. */
bool ranged_has(const struct db *db);
/* Whether so much of it was fetched by ranges that it should be fetched as a whole. */
bool ranged_were_much(struct ranged *ranged, const char *key, uint64_t size_bytes);
/* The same of one of these connections. */
bool ranged_has_outgrown(struct ranged *ranged, const struct db *db);
uint64_t ranged_fetched(const struct ranged *ranged); /* blocks; for tests */

#endif
