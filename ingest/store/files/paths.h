/* What the modules of this folder share: where the file of a key lies, how one is begun, and the
 * connections that nobody uses at the moment. */
#ifndef KS_STORE_FILES_PATHS_H
#define KS_STORE_FILES_PATHS_H

#include "ingest/store/files/ranged.h"
#include "ingest/store/objects/objects.h"
#include "ingest/store/results_files.h"

#include <pthread.h>

#define RESULTS_IDLE_MAX 32u
#define RESULTS_MAKERS_MAX 4u
/* A file of up to so many bytes stands in its row, packed: no sync of its own then. */
#define RESULTS_IN_ROW_BYTES ((size_t)256 << 10)
/* A larger one that is an object is not fetched as a whole. */
#define RESULTS_WHOLE_BYTES ((uint64_t)64 << 20)
/* A file of up to so many bytes is in memory until it is sealed. */
#define RESULTS_IN_MEMORY_BYTES ((size_t)4 << 20)
/* The most that a row's bytes may say they are. */
#define RESULTS_UNPACKED_MAX ((size_t)16 << 20)

struct maker;

struct idle_file {
    char key[RESULTS_KEY_BYTES];
    struct db *db;
    uint64_t used_at;
};

/* By the begin of a key: a file that was hashed since the start. */
#define RESULTS_CHECKED_SLOTS 4096u

struct results_files {
    pthread_mutex_t lock; /* guards what follows, up to `checked` */
    struct idle_file idle[RESULTS_IDLE_MAX];
    size_t idle_count;
    uint64_t clock;       /* of uses, for the oldest one */
    struct maker *makers; /* idle ones */
    size_t maker_count;
    uint64_t checked[RESULTS_CHECKED_SLOTS]; /* of its key the next 16 digits; 0: none */
    size_t in_row_bytes;    /* RESULTS_IN_ROW_BYTES; tests want files of small traces, too */
    size_t in_memory_bytes; /* RESULTS_IN_MEMORY_BYTES, likewise */
    uint64_t whole_bytes;   /* RESULTS_WHOLE_BYTES, likewise */
    struct ranged *ranged;  /* NULL: there are no objects */
    _Atomic int64_t no_room_until_ms; /* monotonic; the disk was full, so that none is fetched */
    _Atomic uint64_t bytes;           /* of all files */
    _Atomic uint64_t cached_bytes;    /* of those in results/, where they are a cache */
};

/* What the catalogue says of a file that does not stand in its row. */
struct results_row {
    uint64_t size_bytes;
    bool is_object;
    char sha256_hex[SHA256_HEX_BYTES];
};

/* ---- makers (makers.c) ----
 * Databases in memory with the empty tables of a file. A file is begun in one, in a transaction
 * that is rolled back when its bytes were taken: creating the tables, or opening a file, takes
 * longer than a small upload may. */

bool results_maker_take(struct results_files *files,
                        struct maker **out,
                        struct err *err) KS_MUST_USE;
void results_maker_give_back(struct results_files *files,
                             struct maker *maker); /* NULL is allowed */
void results_makers_free(struct results_files *files);
struct db *results_maker_db(struct maker *maker);
/* Bytes of a file with what it holds. */
bool results_maker_size(struct maker *maker, size_t *bytes, struct err *err) KS_MUST_USE;
/* That file; to be freed with sqlite3_free. */
bool results_maker_image(struct maker *maker, void **image, size_t *bytes, struct err *err)
    KS_MUST_USE;
/* The same, packed; to be freed with free. *bytes: unpacked. */
bool results_maker_pack(struct maker *maker,
                        void **packed,
                        size_t *packed_bytes,
                        size_t *bytes,
                        struct err *err) KS_MUST_USE;
/* A connection to a packed file, which it copies. */
bool results_open_packed(struct db **db, const void *packed, size_t packed_bytes, struct err *err)
    KS_MUST_USE;

/* ---- paths (reading.c) ---- */

/* incoming/<key>.db */
bool results_incoming_path(const struct store *store,
                           const char *key,
                           char out[STORE_PATH_BYTES],
                           struct err *err) KS_MUST_USE;
/* results/ab/<rest of the key>.db */
bool results_path(const struct store *store,
                  const char *key,
                  char out[STORE_PATH_BYTES],
                  struct err *err) KS_MUST_USE;
/* Moves a file that the catalogue names to its place. */
bool results_move_in(const struct store *store, const char *from, const char *key, struct err *err)
    KS_MUST_USE;
/* Closes the connections to a file that goes, so that its space comes back. */
void results_files_forget(struct results_files *files, const char *key);
/* Whether the file has its size and hash; it is hashed only once until the next start. */
bool results_check(struct results_files *files,
                   const char *key,
                   const char *path,
                   const struct results_row *row,
                   bool *is_whole,
                   struct err *err) KS_MUST_USE;
void results_note_checked(struct results_files *files, const char *key);

/* ---- as objects (as_objects.c) ---- */

/* The name of the file in the data directory. */
void results_object_key(const char *key, char out[OBJECT_KEY_BYTES]);

struct results_put {
    const char *key;
    const char *path; /* sealed file */
};
/* True: the files are objects, and durably so, and rows of the table `object` say that they are
 * being written. On false, too, each needs results_object_name or results_object_give_up. */
bool results_objects_put(struct store *store,
                         const struct results_put *puts,
                         size_t count,
                         struct err *err) KS_MUST_USE;
/* In the transaction that names the file: the object belongs to it. */
bool results_object_name(struct db *db, const char *key, struct err *err) KS_MUST_USE;
void results_object_give_up(struct store *store, const char *key);
/* In the transaction that deletes the row of the file: the sweeper deletes the object. */
bool results_object_delete(struct db *db, const char *key, const char *sha256_hex, struct err *err)
    KS_MUST_USE;
/* Call it when the file is not in its place, or damaged: fetches it there from the objects; or
 * leaves it there and opens it by ranges (*db), where it is large, or the disk full.
 * ERR_GONE: it is lost, and marked so that the next start analyses the upload again.
 * ERR_UNAVAILABLE: try again later. */
bool results_recover(struct store *store,
                     const char *key,
                     const struct results_row *row,
                     struct db **db,
                     struct err *err) KS_MUST_USE;

#endif
