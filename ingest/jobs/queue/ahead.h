/* Streaming ingest: reads a file while its bytes arrive, so that the client waits for the analysis
 * alone. A thread reads what is there, keeps in memory what is to be stored, and waits for the job
 * at the latest when it has read everything. Until there is a job it writes nothing to the store,
 * so a client that disconnects costs nothing.
 *
 *     ahead_follow ... ahead_followed -> jobs_submit (hints.ahead) -> the job's worker: ahead_take
 *                                    `-> ahead_drop
 *
 * It starts only for traces in JSON, and only while a worker is idle. A job without one, or whose
 * streaming read failed, reads the file from its beginning. */
#ifndef KS_JOBS_QUEUE_AHEAD_H
#define KS_JOBS_QUEUE_AHEAD_H

#include "ingest/jobs/pipeline/pipeline.h"
#include "ingest/store/store.h"

#include <stdint.h>

struct ahead;
struct jobs;
struct worker_look;

/* The receiver's side. One thread. */
struct ahead_follow {
    struct jobs *jobs;
    const char *file_name;
    const char *marker;   /* as in jobs_hints */
    uint64_t size_bytes;  /* as announced; 0: unknown, then nothing starts */
    uint64_t there_bytes; /* 0 at first */
    struct ahead *ahead;  /* NULL at first */
};

/* Call it after each store_blob_write: starts the read when the first bytes are in the file, if it
 * should start at all, and announces later bytes. */
void ahead_follow(struct ahead_follow *follow, struct store_blob *blob);
/* Call it at the end: the file is committed with `size_bytes`, or never will be, which ends the
 * read. Returns the read for jobs_submit; NULL: none. */
struct ahead *ahead_followed(struct ahead_follow *follow, bool is_committed, uint64_t size_bytes);
/* Call it when there will be no job: waits for the end of the read. NULL is allowed. */
void ahead_drop(struct ahead *ahead);

/* ---- for the queue ---- */

/* What the first bytes of the file say. */
struct worker_look ahead_look(const struct ahead *ahead);
/* Gives the read to a job. The caller holds the lock of the jobs. */
void ahead_hand_over(struct ahead *ahead);
/* Names the job and waits for the end of the read. Returns the ingest with the whole file, which
 * the caller owns. NULL: the read failed; the job then reads the file itself. Call it once. */
struct store_ingest *ahead_take(struct ahead *ahead, int64_t job_id, uint64_t *events);
/* Its progress; lives as long as the read. */
struct pipeline_progress *ahead_progress(struct ahead *ahead);
/* Frees a read that was given to a job. NULL is allowed. */
void ahead_destroy(struct ahead *ahead);

#endif
