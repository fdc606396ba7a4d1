/* Streaming ingest: reads a file while its bytes arrive, so that the client waits for the analysis
 * alone. A thread reads what is there, keeps in memory what is to be stored, and waits for the job
 * at the latest when it has read everything. Until there is a job it writes nothing to the store,
 * so a client that disconnects costs nothing.
 *
 *     streaming_ingest_feed ... streaming_ingest_end_feed -> jobs_submit (hints.streaming) -> the
 * job's worker: streaming_ingest_finish
 *                                    `-> streaming_ingest_discard
 *
 * It starts only for traces in JSON, and only while a worker is idle. A job without one, or whose
 * streaming read failed, reads the file from its beginning. */
#ifndef KS_JOBS_QUEUE_STREAMING_INGEST_H
#define KS_JOBS_QUEUE_STREAMING_INGEST_H

#include "ingest/jobs/pipeline/pipeline.h"
#include "ingest/store/store.h"

#include <stdint.h>

struct streaming_ingest;
struct jobs;
struct worker_look;

/* The receiver's side. One thread. */
struct streaming_feed {
    struct jobs *jobs;
    const char *file_name;
    const char *marker;                 /* as in jobs_hints */
    uint64_t size_bytes;                /* as announced; 0: unknown, then nothing starts */
    uint64_t there_bytes;               /* 0 at first */
    struct streaming_ingest *streaming; /* NULL at first */
};

/* Call it after each store_blob_write: starts the read when the first bytes are in the file, if it
 * should start at all, and announces later bytes. */
void streaming_ingest_feed(struct streaming_feed *follow, struct store_blob *blob);
/* Call it at the end: the file is committed with `size_bytes`, or never will be, which ends the
 * read. Returns the read for jobs_submit; NULL: none. */
struct streaming_ingest *
streaming_ingest_end_feed(struct streaming_feed *follow, bool is_committed, uint64_t size_bytes);
/* Call it when there will be no job: waits for the end of the read. NULL is allowed. */
void streaming_ingest_discard(struct streaming_ingest *streaming);

/* ---- for the queue ---- */

/* What the first bytes of the file say. */
struct worker_look ahead_look(const struct streaming_ingest *streaming);
/* Gives the read to a job. The caller holds the lock of the jobs. */
void streaming_ingest_attach(struct streaming_ingest *streaming);
/* Names the job and waits for the end of the read. Returns the ingest with the whole file, which
 * the caller owns. NULL: the read failed; the job then reads the file itself. Call it once. */
struct store_ingest *
streaming_ingest_finish(struct streaming_ingest *streaming, int64_t job_id, uint64_t *events);
/* Its progress; lives as long as the read. */
struct pipeline_progress *streaming_ingest_progress(struct streaming_ingest *streaming);
/* Frees a read that was given to a job. NULL is allowed. */
void streaming_ingest_destroy(struct streaming_ingest *streaming);

#endif
