/* Hashing writer: writes bytes into a file and hashes them on the way. Asks the system to start
 * writing at once, so that a sync at the end finds little left to do. One thread at a time. */
#ifndef KS_STORE_OBJECTS_SPOOL_H
#define KS_STORE_OBJECTS_SPOOL_H

#include "ingest/base/attr.h"
#include "ingest/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool;

/* The caller owns the file and closes it after spool_destroy. NULL without memory. */
struct spool *spool_create(int fd) KS_MUST_USE;
/* Returns 0, or the errno of a write that failed in this or an earlier call. */
int spool_add(struct spool *spool, const void *bytes, size_t len) KS_MUST_USE;
/* Completes the writing; returns as spool_add. Add nothing after it. */
int spool_end(struct spool *spool) KS_MUST_USE;
/* The hash in lower-case hex; empty if hashing failed. Call it after spool_end. */
void spool_sha256(struct spool *spool, char sha256_hex[SHA256_HEX_BYTES]);
/* Bytes written so far: all of them after spool_end. */
uint64_t spool_size_bytes(const struct spool *spool);
/* Call it at any time. NULL is allowed. */
void spool_destroy(struct spool *spool);

#endif
