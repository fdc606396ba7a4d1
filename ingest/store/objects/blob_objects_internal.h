/* What blob_objects.c and blob_sweeper.c share. */
#ifndef KS_STORE_OBJECTS_BLOB_OBJECTS_INTERNAL_H
#define KS_STORE_OBJECTS_BLOB_OBJECTS_INTERNAL_H

#include "ingest/store/objects/blob_objects.h"
#include "ingest/store/objects/objects.h"

#include <pthread.h>

/* Of a row of `object`: an upload or a job has its bytes. */
#define BLOB_OBJECT_IS_NEEDED                                                          \
    " (EXISTS (SELECT 1 FROM upload WHERE sha256 = object.sha256)"                     \
    " OR EXISTS (SELECT 1 FROM job WHERE sha256 = object.sha256"                       \
    " AND state IN ('queued', 'running'))"                                             \
    " OR EXISTS (SELECT 1 FROM job WHERE sha256 = object.sha256 AND" STORE_JOB_CRASHED \
    ") OR sha256 IN (SELECT j.sha256 FROM taken_over AS t JOIN job AS j ON j.id = t.job_id))"

struct blob_put {
    struct blob_put *next; /* given up */
    struct store *store;
    struct object_put *put; /* NULL once it has ended */
    char key[OBJECT_KEY_BYTES];
};

/* What a thread reads from the objects. */
struct blob_fetch {
    struct blob_fetch *next;
    const char *name; /* a hash, or the key of a file of results */
};

struct blob_objects {
    struct objects *objects;
    uint64_t cache_bytes;
    bool is_counted;        /* the sweeper has looked at the cache */
    _Atomic uint64_t bytes; /* of all live ones */
    pthread_t sweeper;
    pthread_mutex_t lock; /* guards what follows; a leaf: nothing is locked while it is held */
    pthread_cond_t changed;
    bool stopping;
    struct blob_put *given_up;
    struct blob_fetch *fetches;
    uint64_t fetch_serial;
    bool is_down;
    struct err down; /* why */
    int64_t probed_at_ms;
};

/* Changes rows in one transaction: `run` returns whether to commit. */
bool blob_objects_change(struct store *store,
                         bool (*run)(struct db *db, void *context, struct err *err),
                         void *context,
                         struct err *err) KS_MUST_USE;
/* For blob_objects_change: the put of the key, its context, has not ended well. */
bool blob_objects_give_up(struct db *db, void *key, struct err *err) KS_MUST_USE;
/* Remembers whether the objects answer: `err` of the call to them that has just ended, or NULL; not
 * of one to the catalogue, which says nothing about them. */
void blob_objects_note(struct store *store, const struct err *err);
/* Asks the place, unless that was done within a second. */
bool blob_objects_probe(struct store *store, struct err *err) KS_MUST_USE;

/* A new key for an upload. */
bool blob_objects_make_key(char key[OBJECT_KEY_BYTES], struct err *err) KS_MUST_USE;
/* Before its bytes are put: the row of an object that this server (`node`, as in struct store) is
 * writing, so that whatever ends it early leaves nothing behind. */
bool blob_objects_note_writing(struct db *db, const char *key, const char *node, struct err *err)
    KS_MUST_USE;

/* Waits until no other thread reads what has this name; *waited: it did. The names of others wait
 * until the turn ends. */
void blob_fetch_begin(struct blob_objects *objects, struct blob_fetch *turn, bool *waited);
void blob_fetch_end(struct blob_objects *objects, const struct blob_fetch *turn);
/* Writes an object to an empty file. ERR_GONE: it has another hash, read twice; ERR_NOT_FOUND. */
bool blob_objects_get(struct objects *objects,
                      const char *key,
                      const char *sha256_hex,
                      int fd,
                      struct err *err) KS_MUST_USE;

bool blob_sweeper_start(struct store *store, struct err *err) KS_MUST_USE;
/* Ends the thread; gives up what was left to it. */
void blob_sweeper_stop(struct store *store);

#endif
