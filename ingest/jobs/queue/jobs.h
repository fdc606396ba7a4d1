/* The queue and the workers that carry one received file through everything: read, analyse, store,
 * publish. Thread-safe. Jobs that a crash interrupted are taken up again by jobs_create. */
#ifndef KS_JOBS_QUEUE_JOBS_H
#define KS_JOBS_QUEUE_JOBS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/log.h"
#include "ingest/base/memory/arena.h"
#include "ingest/jobs/pipeline/pipeline.h"
#include "ingest/jobs/queue/streaming_ingest.h"
#include "ingest/store/catalogue/retention.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct jobs;

struct jobs_options {
    unsigned workers; /* 0: one less than the processors, at least 1 */
    uint64_t
        memory_budget_bytes; /* of all models in memory at once; 0: half of the machine's memory */
    struct input_limits input_limits; /* of each file, as in pipeline_options */
    uint64_t max_events;
    uint64_t max_queued; /* jobs that may wait; 0: any number */
    bool retain_raw;
    bool in_background; /* workers come after the other threads of the process: background.h */
    struct retention_rules
        retention; /* kept by a thread of its own (retention_worker.h); zeroed: none */
    const struct log *log;
};

bool jobs_create(struct jobs **out,
                 struct store *store,
                 const struct jobs_options *options,
                 struct err *err) KS_MUST_USE;
/* No further job is begun; who waits for a queued one gets ERR_UNAVAILABLE, so that request threads
 * come to their end. For the server's shutdown, before jobs_destroy. */
void jobs_stop(struct jobs *jobs);
/* After jobs_stop: waits until no job runs any more, but not longer than `timeout_ms`. False when
 * one still does; the store knows it as unfinished, so that the next process takes it up again. */
bool jobs_drain(struct jobs *jobs, int timeout_ms) KS_MUST_USE;
/* Running jobs are finished, queued ones stay for the next start. NULL is allowed. */
void jobs_destroy(struct jobs *jobs);

/* As given at the creation. */
const struct retention_rules *jobs_retention(const struct jobs *jobs);
/* Whether the quotas have room for a file, to be asked before its bytes come. ERR_NO_SPACE says
 * what is in the way. */
bool jobs_admit(struct jobs *jobs,
                const struct retention_upload *upload,
                struct err *err) KS_MUST_USE;

/* What came of handing in a file. */
struct jobs_submission {
    int64_t job_id; /* 0 when `already` */
    bool is_archive;
    bool already;       /* the same is there under the same run and name */
    int64_t *trace_ids; /* of what is there; in the caller's arena, as are the failures */
    size_t trace_count;
    struct store_job_failure *failures; /* of the job that read it */
    size_t failure_count;
};

/* What a client may tell of a file. */
struct jobs_hints {
    const char *marker; /* see pipeline_options; NULL, "": none */
    int64_t rank;       /* of the process that wrote the trace; STORE_NO_RANK */
    const char
        *project; /* of its run: the one it has, else that which this file gives it; NULL: none */
    /* Who has begun to read it (streaming_ingest.h): taken over by jobs_submit, whatever comes of
     * it; NULL: nobody. */
    struct streaming_ingest *streaming;
};

/* Takes a committed blob. Same bytes and same hints under the same run and name: `already`, or the
 * job that is reading them. Other bytes, or the same with other hints: ERR_CONFLICT unless
 * `replace`, which has the file read and then put in the place of what is there. A hint that is not
 * given, without `replace`, is taken as it was, whatever it was. The hints are kept with the job,
 * also for the next process. A worker may take the job at once; meanwhile this call waits until the
 * bytes are on disk (ERR_IO: they are lost). The blob is dropped where nothing needs it.
 * ERR_BAD_REQUEST: a rank for an archive, where ranks come from names; ERR_UNAVAILABLE: max_queued
 * jobs wait. */
bool jobs_submit(struct jobs *jobs,
                 struct arena *arena,
                 const char *run,
                 const char *file_name,
                 const char *sha256_hex,
                 uint64_t size_bytes,
                 bool replace,
                 const struct jobs_hints *hints, /* NULL: none */
                 struct jobs_submission *out,
                 struct err *err) KS_MUST_USE;

/* What a client is told that does not wait for the end has to survive everything: waits until the
 * job, as it was handed in, is on disk. */
bool jobs_sync(struct jobs *jobs, int64_t id, struct err *err) KS_MUST_USE;

struct jobs_status {
    int64_t id;
    enum job_state state;
    enum pipeline_stage stage;
    uint64_t bytes_done, bytes_total;
    uint64_t version;   /* another one with every change of state or stage */
    int64_t *trace_ids; /* JOB_DONE; in the caller's arena, as are the failures */
    size_t trace_count;
    /* JOB_DONE, JOB_FAILED: what of the archive `file_name` gave no trace. */
    struct store_job_failure *failures;
    size_t failure_count;
    const char *file_name; /* set where there are failures */
    struct err error;      /* JOB_FAILED */
};

/* ERR_NOT_FOUND for an unknown id; finished jobs of earlier starts are known too. */
bool jobs_status(struct jobs *jobs,
                 struct arena *arena,
                 int64_t id,
                 struct jobs_status *out,
                 struct err *err) KS_MUST_USE;
/* Waits until the job is done or failed, or the stage changes from `seen_version`, or the time is
 * over. The status is as it is then. `timeout_ms` < 0: until done or failed, whatever the version.
 */
bool jobs_wait(struct jobs *jobs,
               struct arena *arena,
               int64_t id,
               uint64_t seen_version,
               int timeout_ms,
               struct jobs_status *out,
               struct err *err) KS_MUST_USE;

/* A turn for an analysis outside of the queue (window.h): waits while two are under way. It may
 * take *memory_budget_bytes, a quarter of the uploads' budget and beside it. ERR_UNAVAILABLE while
 * the server stops. Each turn is given back with jobs_window_end. */
bool jobs_window_begin(struct jobs *jobs, size_t *memory_budget_bytes, struct err *err) KS_MUST_USE;
void jobs_window_end(struct jobs *jobs);
/* The same for figures that are derived from a stored trace and then kept: one at a time, so that
 * two requests do not derive the same. Ends with jobs_derive_end. */
bool jobs_derive_begin(struct jobs *jobs, size_t *memory_budget_bytes, struct err *err) KS_MUST_USE;
void jobs_derive_end(struct jobs *jobs);

#define JOBS_DURATIONS 10
/* The upper bounds of the classes of duration; the last class has none. */
extern const uint32_t jobs_duration_bounds_ms[JOBS_DURATIONS - 1];

struct jobs_counts {
    uint64_t queued, running, done, failed; /* done, failed: since the start of the process */
    uint64_t bytes_ingested;
    uint64_t events_ingested;
    uint64_t streamed;                  /* of those done, files that were read as they arrived */
    uint64_t durations[JOBS_DURATIONS]; /* jobs that are done or failed, by how long they ran */
    uint64_t took_us;                   /* all of them together */
    uint64_t removed[RETENTION_REASON_COUNT]; /* runs that went by themselves, as done */
};
void jobs_counts(struct jobs *jobs, struct jobs_counts *out);

#endif
