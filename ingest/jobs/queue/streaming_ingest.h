/* Reading that begins while the bytes of an upload still arrive, so that who sends them waits for
 * the analysis alone. A thread reads what is there, keeps in memory what is to be stored, and waits
 * for the job at the latest when all is read. Before there is the job nothing of it is on disk: a
 * client that goes away costs nothing.
 *
 *     streaming_ingest_feed ... streaming_ingest_end_feed -> jobs_submit (hints.streaming) -> the
 * job's worker: streaming_ingest_finish
 *                                    `-> streaming_ingest_discard
 *
 * It is begun only for traces in JSON, and while a worker has nothing to do. A job without
 * one, or whose reading ahead has failed, is read as ever. */
#ifndef KS_JOBS_QUEUE_STREAMING_INGEST_H
#define KS_JOBS_QUEUE_STREAMING_INGEST_H

#include "ingest/jobs/pipeline/pipeline.h"
#include "ingest/store/store.h"

#include <stdint.h>

struct streaming_ingest;
struct jobs;
struct worker_look;

/* Of who receives a file; one thread. */
struct streaming_feed {
    struct jobs *jobs;
    const char *file_name;
    const char *marker;                 /* as in jobs_hints */
    uint64_t size_bytes;                /* as announced; 0: not, then nothing is begun */
    uint64_t there_bytes;               /* 0 at first */
    struct streaming_ingest *streaming; /* NULL at first */
};

/* To be called after each store_blob_write: begins when the first bytes lie in the file, if it is
 * to be begun at all, and tells it of the later ones. */
void streaming_ingest_feed(struct streaming_feed *follow, struct store_blob *blob);
/* The file is committed, with `size_bytes`, or never will be, which ends the reading. Answers who
 * reads it, for jobs_submit; NULL: nobody. */
struct streaming_ingest *
streaming_ingest_end_feed(struct streaming_feed *follow, bool is_committed, uint64_t size_bytes);
/* There will be no job. Waits until it has ended; NULL is allowed. */
void streaming_ingest_discard(struct streaming_ingest *streaming);

/* ---- for the queue ---- */

/* What the first bytes of the file say. */
struct worker_look ahead_look(const struct streaming_ingest *streaming);
/* It is a job's from now on; the jobs' lock is held. */
void streaming_ingest_attach(struct streaming_ingest *streaming);
/* Tells it its job and waits for its end: the ingest, which is the caller's, with all of the file
 * in it. NULL: it has failed, and why matters to nobody. To be called once. */
struct store_ingest *
streaming_ingest_finish(struct streaming_ingest *streaming, int64_t job_id, uint64_t *events);
/* How far it is; as long as it lives. */
struct pipeline_progress *streaming_ingest_progress(struct streaming_ingest *streaming);
/* Of one that is handed over; NULL is allowed. */
void streaming_ingest_destroy(struct streaming_ingest *streaming);

#endif
