/* What goes by itself, and what may still come: rules over the age of runs, the bytes of everything
 * and the bytes of a project. A run goes as a whole, the one whose newest upload is oldest first,
 * and only when it is not pinned and nothing of it is on its way.
 *
 * Choosing knows no database: retention_next and retention_admits look at a catalogue that
 * store_retention_read has read. Nothing here waits or watches the time;
 * ingest/jobs/queue/retention_worker does.
 */
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

/* Zeroed: nothing ever goes, and whatever comes is taken. */
struct retention_rules {
    int64_t max_age_s;            /* of a run's newest upload; 0: for ever */
    uint64_t quota_bytes;         /* of everything (store_used_bytes); 0: none */
    uint64_t project_quota_bytes; /* of the uploads of a project, as they came; 0: none */
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
    uint64_t size_bytes;   /* of its uploads, as they came */
    bool stays;            /* pinned, or something of it is on its way */
    bool is_gone;          /* removed since the catalogue was read */
};

struct retention_project {
    const char *name; /* "" is a project like the others */
    uint64_t size_bytes;
    size_t newest; /* the index of the run that came last */
};

struct retention_catalogue {
    struct retention_run *runs; /* what came first stands first */
    size_t run_count;
    struct retention_project *projects;
    size_t project_count;
};

/* The index, `from` or above, of the next run that goes for this reason, or run_count. Where a
 * quota is broken the run that came last (in the store; in the project) stays all the same.
 * `used_bytes` counts for RETENTION_QUOTA alone. */
size_t retention_next(const struct retention_catalogue *catalogue,
                      size_t from,
                      enum retention_reason reason,
                      const struct retention_rules *rules,
                      int64_t now_s,
                      uint64_t used_bytes);
/* Notes that the run is no longer there. */
void retention_note_removed(struct retention_catalogue *catalogue, size_t run);

/* A file that wants to come. */
struct retention_upload {
    const char *run;
    const char *project; /* of the run, when this file makes it; NULL: none */
    uint64_t size_bytes; /* 0: not told */
};

/* What quotas are held against. */
struct retention_usage {
    uint64_t used_bytes;
    uint64_t fixed_raw_bytes;     /* blobs of runs that stay: no removal frees them */
    uint64_t project_queue_bytes; /* of unfinished jobs of the upload's project */
};

/* Whether the quotas leave room for the file, counting as free what runs would leave that may go;
 * its own run may not. ERR_NO_SPACE says which quota is in the way and what to do. */
bool retention_admits(const struct retention_catalogue *catalogue,
                      const struct retention_rules *rules,
                      const struct retention_upload *upload,
                      const struct retention_usage *usage,
                      struct err *err) KS_MUST_USE;

/* ---- of the store ---- */

/* What is stored: pages of the database that hold something, and the raw uploads. Pages that a
 * removal has freed do not count, although the file keeps them: the next upload fills them before
 * the file grows. Giving them back to the file system would cost every transaction a map of
 * pointers (auto_vacuum), or a second copy of the database now and then. */
bool store_used_bytes(struct store *store, uint64_t *bytes, struct err *err) KS_MUST_USE;
/* Runs that can be seen, with their projects; texts and rows in the arena. */
bool store_retention_read(struct store *store,
                          struct arena *arena,
                          struct retention_catalogue *out,
                          struct err *err) KS_MUST_USE;
/* Removes the run as store_run_delete does when it still is what the catalogue says: not pinned,
 * nothing new, nothing on its way. *removed tells. Once `stop` is set the rows, invisible by then,
 * stay for the next start. */
bool store_retention_remove(struct store *store,
                            const struct retention_run *run,
                            const _Atomic bool *stop,
                            bool *removed,
                            struct err *err) KS_MUST_USE;
/* retention_admits as things are now. A run that is there keeps its project. */
bool store_retention_admits(struct store *store,
                            const struct retention_rules *rules,
                            const struct retention_upload *upload,
                            struct err *err) KS_MUST_USE;

#endif
