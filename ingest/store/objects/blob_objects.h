/* Uploads as objects (--objects-url): each upload is sent to a folder or a bucket while it arrives,
 * and the files in raw/ are a cache of bounded size. A row of the table `object` says where the
 * bytes of a hash are:
 *
 *   writing → live → dying → deleting → no row
 *
 * The row exists before the object, so that a crash leaves nothing that nobody knows. An object
 * nobody needs is dying for BLOB_DYING_S, during which the same upload revives it; then the
 * sweeper, a thread of its own, deletes it. `damaged` is an object whose bytes are not those of its
 * hash: the next upload of these takes its place. */
#ifndef KS_STORE_OBJECTS_BLOB_OBJECTS_H
#define KS_STORE_OBJECTS_BLOB_OBJECTS_H

#include "ingest/base/attr.h"
#include "ingest/store/internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOB_DYING_S ((int64_t)60 * 60)

struct blob_put;

/* What else is true when the bytes are an object, for the same transaction. */
struct blob_also {
    bool (*run)(void *context, struct db *db, struct err *err);
    void *context;
    bool is_done; /* out: committed; false where no row of the object had to change */
};

/* Sets store->objects. Call it with the database open. */
bool blob_objects_open(struct store *store,
                       const struct store_objects *options,
                       struct err *err) KS_MUST_USE;
void blob_objects_close(struct store *store);
/* Refuses a store without objects whose uploads are some. */
bool blob_objects_check_none(struct store *store, struct err *err) KS_MUST_USE;

/* ---- writing ---- */

/* ERR_UNAVAILABLE at once while the objects are known not to answer. */
bool blob_put_begin(struct store *store, struct blob_put **out, struct err *err) KS_MUST_USE;
bool blob_put_write(struct blob_put *put, const void *bytes, size_t len, struct err *err)
    KS_MUST_USE;
/* True: the bytes are an object, and durably so, and a row says it, which is on disk with the next
 * durable commit. Frees the put, also on false. One thread at a time for one hash. `also` may be
 * NULL. */
bool blob_put_store(struct blob_put *put,
                    const char *sha256_hex,
                    uint64_t size_bytes,
                    struct blob_also *also,
                    struct err *err) KS_MUST_USE;
/* store_blob_sync, and `also` with it where the bytes become an object. */
bool blob_sync_also(struct store *store,
                    const char *sha256_hex,
                    struct blob_also *also,
                    struct err *err) KS_MUST_USE;
/* Leaves the rest to the sweeper: returns at once. NULL is allowed. */
void blob_put_give_up(struct blob_put *put);

/* ---- reading, deleting ---- */

bool blob_objects_hold(struct store *store, const char *sha256_hex, bool *held, struct err *err)
    KS_MUST_USE;
/* Copies the object to its path in raw/, checked. ERR_NOT_FOUND: there is none. ERR_GONE: it is
 * damaged, or its place has lost it. ERR_UNAVAILABLE: try again later. Threads that ask for one
 * hash wait for the one that reads it. */
bool blob_objects_fetch(struct store *store,
                        const char *sha256_hex,
                        uint64_t size_bytes,
                        struct err *err) KS_MUST_USE;
/* Nobody needs the bytes. `at_once`: they are not to be kept for the hour either. */
bool blob_objects_retire(struct store *store, const char *sha256_hex, bool at_once, struct err *err)
    KS_MUST_USE;
uint64_t blob_objects_bytes(struct store *store);

/* ---- blob_cache.c ---- */

/* Removes the files of raw/ and results/ that were read longest ago, until they fit the cache.
 * Keeps what is pinned, what a job waits for, what was given out within a minute, and what is no
 * object. Called by the sweeper alone. */
void blob_cache_trim(struct store *store, uint64_t cache_bytes);

#endif
