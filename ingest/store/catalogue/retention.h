/* Retention: rules over the age of runs, the bytes of everything, and the bytes of a project. They
 * remove whole runs, the run whose newest upload is oldest first, and never a run that is pinned or
 * has an unfinished job.
 *
 * Choosing needs no database: retention_next and retention_admits read a catalogue that
 * store_retention_read has filled. Nothing here waits or reads the clock; ingest/jobs/queue/janitor
 * does. */
#ifndef KS_STORE_CATALOGUE_RETENTION_H
#define KS_STORE_CATALOGUE_RETENTION_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/store/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: removes nothing and admits everything. */
struct retention_rules {
    int64_t max_age_s;            /* of a run's newest upload; 0: no limit */
    uint64_t quota_bytes;         /* of everything (store_used_bytes); 0: none */
    uint64_t project_quota_bytes; /* of the uploads of a project, as received; 0: none */
};
bool retention_has_rules(const struct retention_rules *rules);

enum retention_reason {
    RETENTION_AGE,
    RETENTION_PROJECT_QUOTA,
    RETENTION_QUOTA,
    RETENTION_REASON_COUNT
};
const char *retention_reason_text(enum retention_reason reason); /* "age", "project quota", ... */

struct retention_run {
    const char *name;
    size_t project; /* its index in the catalogue */
    int64_t newest_upload_id;
    int64_t uploaded_at_s; /* of the newest upload; Unix time */
    uint64_t size_bytes;   /* of its uploads, as received */
    bool stays;            /* pinned, or has an unfinished job */
    bool is_gone;          /* removed since the catalogue was read */
};

struct retention_project {
    const char *name; /* "" is a project like the others */
    uint64_t size_bytes;
    size_t newest; /* index of its newest run */
};

struct retention_catalogue {
    struct retention_run *runs; /* oldest first */
    size_t run_count;
    int64_t now_s; /* when it was read, by the clock of the database */
    struct retention_project *projects;
    size_t project_count;
};

/* Index, at least `from`, of the next run to remove for this reason, or run_count. A quota never
 * removes the newest run (of the store; of the project). `used_bytes` counts only for
 * RETENTION_QUOTA. */
size_t retention_next(const struct retention_catalogue *catalogue,
                      size_t from,
                      enum retention_reason reason,
                      const struct retention_rules *rules,
                      int64_t now_s,
                      uint64_t used_bytes);
/* Records that the run was removed. */
void retention_note_removed(struct retention_catalogue *catalogue, size_t run);

/* A file before its upload. */
struct retention_upload {
    const char *run;
    const char *project; /* of the run, if this file creates it; NULL: none */
    uint64_t size_bytes; /* 0: unknown */
};

/* What is compared with quotas. */
struct retention_usage {
    uint64_t used_bytes;
    uint64_t fixed_raw_bytes;     /* uploads of runs that stay: no removal frees them */
    uint64_t project_queue_bytes; /* of unfinished jobs of the upload's project */
};

/* Checks the quotas for a file. Counts as free what removable runs would free, but not the file's
 * own run. ERR_NO_SPACE says which quota is in the way and what to do. */
bool retention_admits(const struct retention_catalogue *catalogue,
                      const struct retention_rules *rules,
                      const struct retention_upload *upload,
                      const struct retention_usage *usage,
                      struct err *err) KS_MUST_USE;

/* ---- with the store ---- */

/* Bytes in use: database pages that hold something, and uploads. Freed pages do not count although
 * the file keeps them: the next upload fills them before the file grows. Returning them to the file
 * system would cost every transaction a pointer map (auto_vacuum), or an occasional second copy of
 * the database. */
bool store_used_bytes(struct store *store, uint64_t *bytes, struct err *err) KS_MUST_USE;
/* Reads the visible runs and their projects into the arena. */
bool store_retention_read(struct store *store,
                          struct arena *arena,
                          struct retention_catalogue *out,
                          struct err *err) KS_MUST_USE;
/* Removes the run as store_run_delete does, if it still is as the catalogue says: not pinned, no
 * new upload, no unfinished job. *removed says whether it did. Once `stop` is set, its rows,
 * already invisible, stay for the next start. */
bool store_retention_remove(struct store *store,
                            const struct retention_run *run,
                            const _Atomic bool *stop,
                            bool *removed,
                            struct err *err) KS_MUST_USE;
/* As retention_admits, with the current state of the store. An existing run keeps its project. */
bool store_retention_admits(struct store *store,
                            const struct retention_rules *rules,
                            const struct retention_upload *upload,
                            struct err *err) KS_MUST_USE;

#endif
