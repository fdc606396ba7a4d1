/* Bytes on their way into a file, hashed as they go. The system is asked to begin with the disk at
 * once, so that a sync at the end finds little left to do. One thread at a time. */
#ifndef KS_STORE_OBJECTS_HASHING_WRITER_H
#define KS_STORE_OBJECTS_HASHING_WRITER_H

#include "ingest/base/attr.h"
#include "ingest/base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashing_writer;

/* The file stays the caller's, who closes it after hashing_writer_destroy. NULL without memory. */
struct hashing_writer *hashing_writer_create(int fd) KS_MUST_USE;
/* 0, or the errno of a write that failed, now or before. */
int hashing_writer_write(struct hashing_writer *writer, const void *bytes, size_t len) KS_MUST_USE;
/* The same when all is written; nothing may be added after it. */
int hashing_writer_finish(struct hashing_writer *writer) KS_MUST_USE;
/* After hashing_writer_finish: lower-case hex; empty when hashing has failed. */
void hashing_writer_sha256(struct hashing_writer *writer, char sha256_hex[SHA256_HEX_BYTES]);
/* So many bytes are written: all of them after hashing_writer_finish. */
uint64_t hashing_writer_size_bytes(const struct hashing_writer *writer);
/* At any time; NULL is allowed. */
void hashing_writer_destroy(struct hashing_writer *writer);

#endif
