/* Store sink: writes what the pipeline produces into the store. */
#ifndef KS_JOBS_QUEUE_STORE_SINK_H
#define KS_JOBS_QUEUE_STORE_SINK_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/jobs/queue/internal.h"

#include <stdbool.h>
#include <stdint.h>

/* Beyond this many failed members of an archive, only their number is stored. */
#define STORE_SINK_FAILURES_MAX 1000u

/* A file, and how to read it. */
struct store_sink_file {
    const char *path; /* or, with `growth`, `fd`: pipeline_growing */
    int fd;
    const struct input_growth *growth;
    const char *file_name;
    const char *marker;           /* NULL: none */
    uint64_t memory_budget_bytes; /* 0: no bound */
    bool is_last_try;             /* no larger budget is possible */
    struct pipeline_progress *progress;
};

/* Reads the file into the ingest, which the caller keeps. *events counts the events of all traces.
 * Failed members of an archive are stored with the job (job_id 0: not an archive). A member that
 * exceeds the memory budget ends the read with ERR_TOO_LARGE, unless is_last_try. */
bool store_sink_read(struct jobs *jobs,
                     const struct store_sink_file *file,
                     int64_t job_id,
                     struct store_ingest *ingest,
                     uint64_t *events,
                     struct err *err) KS_MUST_USE;

/* Runs a job whose upload is at `path`: reads it, or takes its streaming read, and publishes it.
 * Stores nothing on false. */
bool store_sink_run(struct jobs *jobs,
                    struct job *job,
                    const char *path,
                    uint64_t *events,
                    struct err *err) KS_MUST_USE;

#endif
