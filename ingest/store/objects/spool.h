/* Bytes on their way into a file, hashed as they go. The system is asked to begin with the disk at
 * once, so that a sync at the end finds little left to do. One thread at a time. */
#ifndef KS_STORE_OBJECTS_SPOOL_H
#define KS_STORE_OBJECTS_SPOOL_H

#include "ingest/base/attr.h"
#include "ingest/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool;

/* The file stays the caller's, who closes it after spool_destroy. NULL without memory. */
struct spool *spool_create(int fd) KS_MUST_USE;
/* 0, or the errno of a write that failed, now or before. */
int spool_add(struct spool *spool, const void *bytes, size_t len) KS_MUST_USE;
/* The same when all is written; nothing may be added after it. */
int spool_end(struct spool *spool) KS_MUST_USE;
/* After spool_end: lower-case hex; empty when hashing has failed. */
void spool_sha256(struct spool *spool, char sha256_hex[SHA256_HEX_BYTES]);
/* So many bytes are written: all of them after spool_end. */
uint64_t spool_size_bytes(const struct spool *spool);
/* At any time; NULL is allowed. */
void spool_destroy(struct spool *spool);

#endif
