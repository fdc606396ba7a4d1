/* Hashing writer: writes bytes into a file and hashes them on the way. Asks the system to start
 * writing at once, so that a sync at the end finds little left to do. One thread at a time. */
#ifndef KS_STORE_OBJECTS_HASHING_WRITER_H
#define KS_STORE_OBJECTS_HASHING_WRITER_H

#include "ingest/base/attr.h"
#include "ingest/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashing_writer;

/* The caller owns the file and closes it after hashing_writer_destroy. NULL without memory. */
struct hashing_writer *hashing_writer_create(int fd) KS_MUST_USE;
/* Returns 0, or the errno of a write that failed in this or an earlier call. */
int hashing_writer_write(struct hashing_writer *writer, const void *bytes, size_t len) KS_MUST_USE;
/* Completes the writing; returns as hashing_writer_write. Add nothing after it. */
int hashing_writer_finish(struct hashing_writer *writer) KS_MUST_USE;
/* The hash in lower-case hex; empty if hashing failed. Call it after hashing_writer_finish. */
void hashing_writer_sha256(struct hashing_writer *writer, char sha256_hex[SHA256_HEX_BYTES]);
/* Bytes written so far: all of them after hashing_writer_finish. */
uint64_t hashing_writer_size_bytes(const struct hashing_writer *writer);
/* Call it at any time. NULL is allowed. */
void hashing_writer_destroy(struct hashing_writer *writer);

#endif
