/* The sink that puts what the pipeline hands on into the store. */
#ifndef KS_JOBS_QUEUE_STORE_SINK_H
#define KS_JOBS_QUEUE_STORE_SINK_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/jobs/queue/internal.h"

#include <stdbool.h>
#include <stdint.h>

/* Of more members that could not be read, the number alone is kept. */
#define STORE_SINK_FAILURES_MAX 1000u

/* A file, and how it is to be read. */
struct store_sink_file {
    const char *path; /* or, with `growth`, `fd`: pipeline_growing */
    int fd;
    const struct input_growth *growth;
    const char *file_name;
    const char *marker;           /* NULL: none */
    uint64_t memory_budget_bytes; /* 0: no bound */
    bool is_last_try;             /* no more memory can be given to it */
    struct pipeline_progress *progress;
};

/* Reads it into the ingest, which stays the caller's. *events counts those of all traces. What of
 * an archive could not be read stays with the job (0: it is no archive). A member that does not fit
 * into the memory ends the whole with ERR_TOO_LARGE, unless it is the last try. */
bool store_sink_read(struct jobs *jobs,
                     const struct store_sink_file *file,
                     int64_t job_id,
                     struct store_ingest *ingest,
                     uint64_t *events,
                     struct err *err) KS_MUST_USE;

/* The whole way of a job whose blob is at `path`: read, or taken from who read ahead, and
 * published, or nothing on false. */
bool store_sink_run(struct jobs *jobs,
                    struct job *job,
                    const char *path,
                    uint64_t *events,
                    struct err *err) KS_MUST_USE;

#endif
