/* Objects: bytes under a key, written once and never changed, in a folder or in a bucket of S3.
 *
 * A key is 1 to OBJECT_KEY_BYTES - 1 letters without accents, digits and `.`, `_`, `-`, in at most
 * OBJECT_KEY_PARTS parts between slashes, none of which begins with a dot. Write a key once:
 * nothing here replaces an object. A put becomes an object when object_put_finish returns true:
 * then the object is durable, in a folder because file and folders are synced, in S3 because the
 * server says so in the body of its answer. A crash before leaves no object.
 *
 * Requests of S3 that fail on the way or for lack of capacity (5xx, 429, time-outs) are sent again,
 * with growing random pauses, at least once and until `retry_ms` after the first. Every function
 * may fail with ERR_UNAVAILABLE (the server does not answer or refuses; the message says why),
 * ERR_NO_MEMORY and, in a folder, ERR_IO and ERR_NO_SPACE. Thread-safe, but one thread at a time
 * for one put. */
#ifndef KS_STORE_OBJECTS_OBJECTS_H
#define KS_STORE_OBJECTS_OBJECTS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECT_KEY_BYTES 256
#define OBJECT_KEY_PARTS 4
#define OBJECT_TAG_BYTES 96

struct objects;
struct object_put;

struct object_info {
    uint64_t size_bytes;
    char tag[OBJECT_TAG_BYTES]; /* changes when the bytes do (an ETag); "" in a folder */
};

struct objects_options {
    int64_t retry_ms;    /* 0: OBJECTS_RETRY_MS */
    int64_t stall_ms;    /* a request on which nothing moves for so long is lost; 0: the default */
    uint64_t part_bytes; /* 0: OBJECTS_PART_BYTES; S3 demands 5 MB, tests do not */
};

#define OBJECTS_RETRY_MS ((int64_t)10 * 1000)
#define OBJECTS_STALL_MS ((int64_t)15 * 1000)
/* Up to so many bytes an object is one request, above it parts of this size. */
#define OBJECTS_PART_BYTES ((uint64_t)16 << 20)
#define OBJECTS_RANGE_BYTES ((uint64_t)8 << 20)

/* `url`: file:///absolute/folder, which is created, or s3://bucket/prefix (the prefix may be
 * missing). For S3 the environment gives AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL_S3. Sends nothing. `options` may be NULL.
 * ERR_BAD_REQUEST: the URL or the environment is wrong, or this program was built without S3. */
bool objects_open(struct objects **out,
                  const char *url,
                  const struct objects_options *options,
                  struct err *err) KS_MUST_USE;
/* Call it when no put is left and no call under way. NULL is allowed. */
void objects_close(struct objects *objects);

/* ---- writing ---- */

bool object_put_begin(struct objects *objects,
                      const char *key,
                      struct object_put **out,
                      struct err *err) KS_MUST_USE;
/* Sends while the bytes come, once there are more than one part. */
bool object_put_write(struct object_put *put, const void *bytes, size_t len, struct err *err)
    KS_MUST_USE;
/* Frees the put, also on false: then there may be parts, or the object, under the key until
 * object_discard. ERR_CONFLICT: the key has an object. */
bool object_put_finish(struct object_put *put,
                       struct object_info *info,
                       struct err *err) KS_MUST_USE;
/* Frees the put without an object. Sends nothing, waits for requests under way: parts stay until
 * object_discard. NULL is allowed. */
void object_put_abort(struct object_put *put);
/* Removes whatever a put of this key has left that did not end well. */
bool object_discard(struct objects *objects, const char *key, struct err *err) KS_MUST_USE;

/* ---- reading ---- */

/* ERR_NOT_FOUND. */
bool object_head(struct objects *objects,
                 const char *key,
                 struct object_info *info,
                 struct err *err) KS_MUST_USE;
/* Reads exactly `len` bytes, at most OBJECTS_RANGE_BYTES. ERR_NOT_FOUND; ERR_IO: the object ends
 * before. */
bool object_range(struct objects *objects,
                  const char *key,
                  uint64_t offset,
                  void *bytes,
                  size_t len,
                  struct err *err) KS_MUST_USE;
/* Writes the object to the file `fd`, from its begin, by several ranges at once. ERR_NOT_FOUND. */
bool object_get(struct objects *objects,
                const char *key,
                int fd,
                uint64_t *size_bytes,
                struct err *err) KS_MUST_USE;
/* Whether the place answers, in one try without retries. */
bool objects_probe(struct objects *objects, struct err *err) KS_MUST_USE;

/* ---- deleting ---- */

/* Also of keys without an object. */
bool object_delete_many(struct objects *objects,
                        const char *const *keys,
                        size_t count,
                        struct err *err) KS_MUST_USE;

#endif
