/* Where the file of a key lies, and the connections that nobody uses at the moment. */
#ifndef KS_STORE_FILES_PATHS_H
#define KS_STORE_FILES_PATHS_H

#include "ingest/store/results_files.h"

#include <pthread.h>

#define RESULTS_IDLE_MAX 32u

struct idle_file {
    char key[RESULTS_KEY_BYTES];
    struct db *db;
    uint64_t used_at;
};

struct results_files {
    pthread_mutex_t lock; /* guards what follows, up to `clock` */
    struct idle_file idle[RESULTS_IDLE_MAX];
    size_t idle_count;
    uint64_t clock; /* of uses, for the oldest one */
    void *image;    /* an empty file; SQLite's memory */
    size_t image_bytes;
    _Atomic uint64_t bytes; /* of all files */
};

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
bool results_move_in(const struct store *store, const char *key, struct err *err) KS_MUST_USE;
/* Closes the connections to a file that goes, so that its space comes back. */
void results_files_forget(struct results_files *files, const char *key);

#endif
