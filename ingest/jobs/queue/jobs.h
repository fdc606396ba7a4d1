/* The queue and its workers: each job reads, analyses, stores and publishes one received file.
 * Thread-safe. jobs_create resumes jobs that a crash interrupted. */
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
struct kernel_rules;
struct device_peaks_list;

struct jobs_options {
    unsigned workers; /* 0: one less than the processors, at least 1 */
    uint64_t
        memory_budget_bytes; /* for all models in memory together; 0: half of the machine's memory
                              */
    struct input_limits input_limits; /* of each file, as in pipeline_options */
    uint64_t max_events;
    uint64_t max_queued; /* queued jobs at most, of all servers together; 0: no limit */
    bool retain_raw;
    struct retention_rules
        retention; /* applied by a thread of its own (retention_worker.h); zeroed: none */
    /* Of one's own, for analyses on request; NULL: none. */
    const struct kernel_rules *kernel_rules;
    const struct device_peaks_list *device_peaks;
    const struct log *log;
};

bool jobs_create(struct jobs **out,
                 struct store *store,
                 const struct jobs_options *options,
                 struct err *err) KS_MUST_USE;
/* At the begin of a shutdown: where other servers share the catalogue, this one takes no more jobs,
 * and those that wait here go to them at once. */
void jobs_hand_over(struct jobs *jobs);
/* Starts no further job; callers that wait for a queued job get ERR_UNAVAILABLE, so that request
 * threads end. Call it at shutdown, before jobs_destroy. */
void jobs_stop(struct jobs *jobs);
/* Call after jobs_stop: waits up to `timeout_ms` until no job runs. False when one still runs; the
 * store lists it as unfinished, and the next process resumes it. */
bool jobs_drain(struct jobs *jobs, int timeout_ms) KS_MUST_USE;
/* Finishes running jobs; queued ones stay for the next start. NULL is allowed. */
void jobs_destroy(struct jobs *jobs);

/* What jobs_create got. */
const struct retention_rules *jobs_retention(const struct jobs *jobs);
const struct kernel_rules *jobs_kernel_rules(const struct jobs *jobs);
const struct device_peaks_list *jobs_device_peaks(const struct jobs *jobs);
/* Of each file that is read. */
const struct input_limits *jobs_input_limits(const struct jobs *jobs);
struct store *jobs_store(const struct jobs *jobs);
/* Checks the quotas for a file; call it before receiving its bytes. ERR_NO_SPACE says what is in
 * the way. */
bool jobs_admit(struct jobs *jobs,
                const struct retention_upload *upload,
                struct err *err) KS_MUST_USE;

/* The outcome of submitting a file. */
struct jobs_submission {
    int64_t job_id; /* 0 when `already` */
    bool is_archive;
    bool already;       /* the same bytes are stored under the same run and name */
    int64_t *trace_ids; /* of the stored traces; in the caller's arena, as are the failures */
    size_t trace_count;
    struct store_job_failure *failures; /* of the job that read it */
    size_t failure_count;
};

/* What a client may say about a file. */
struct jobs_hints {
    const char *marker; /* see pipeline_options; NULL, "": none */
    int64_t rank;       /* of the process that wrote the trace; STORE_NO_RANK */
    const char
        *project; /* project of the run: an existing run must have it, a new run gets it; NULL: none
                   */
    const char *tags; /* for the run, beside those that it has: JSON array of strings; NULL: none */
    /* The streaming read of this file (streaming_ingest.h); jobs_submit takes it over, also on
     * false. NULL: none. */
    struct streaming_ingest *streaming;
};

/* Submits a committed blob. Compares it with what is stored, or being read, under the same run and
 * name:
 *
 *     same bytes, same hints            `already`, or the job that is reading them
 *     other bytes, or other hints       ERR_CONFLICT, unless `replace`: then reads the file and
 *                                       replaces the stored traces
 *
 * A hint that the caller omits without `replace` counts as equal; tags are added in any case. The
 * job stores its hints, also for the next process. A worker may start at once; meanwhile this call
 * waits until the bytes are on disk (ERR_IO: they are lost). Deletes the blob if nothing needs it.
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

/* What jobs_analyse_again did. */
struct jobs_again {
    uint64_t queued;
    uint64_t left; /* stay as they are: their bytes were not kept */
};
/* Queues stored uploads again (store_queue_again), behind new ones. ERR_UNAVAILABLE: the server
 * stops. */
bool jobs_analyse_again(struct jobs *jobs,
                        const struct store_again *which,
                        struct jobs_again *out,
                        struct err *err) KS_MUST_USE;
/* Queues those again whose results were found lost since the last call. Costs nothing while there
 * are none; call it after requests. */
void jobs_mend_losses(struct jobs *jobs);

/* Waits until the job, as submitted, is on disk. Call it before answering 202: a client that does
 * not poll must not lose its job to a crash. */
bool jobs_sync(struct jobs *jobs, int64_t id, struct err *err) KS_MUST_USE;

struct jobs_status {
    int64_t id;
    enum job_state state;
    enum pipeline_stage stage;
    uint64_t bytes_done, bytes_total;
    uint64_t version;   /* changes with every change of state or stage */
    int64_t *trace_ids; /* JOB_DONE; in the caller's arena, as are the failures */
    size_t trace_count;
    /* JOB_DONE, JOB_FAILED: the members of the archive `file_name` that became no trace. */
    struct store_job_failure *failures;
    size_t failure_count;
    const char *file_name; /* set where there are failures */
    struct err error;      /* JOB_FAILED */
};

/* ERR_NOT_FOUND for an unknown id. Also knows finished jobs of earlier processes. */
bool jobs_status(struct jobs *jobs,
                 struct arena *arena,
                 int64_t id,
                 struct jobs_status *out,
                 struct err *err) KS_MUST_USE;
/* Waits until the job is done or failed, its version differs from `seen_version`, or the time is
 * over; then fills *out. `timeout_ms` < 0: waits until done or failed, whatever the version, or
 * until the catalogue has been away for so long that nobody waits for it. */
bool jobs_wait(struct jobs *jobs,
               struct arena *arena,
               int64_t id,
               uint64_t seen_version,
               int timeout_ms,
               struct jobs_status *out,
               struct err *err) KS_MUST_USE;

/* Admits an analysis outside the queue (window.h): waits while two are running.
 * *memory_budget_bytes is what it may use: a quarter of the uploads' budget, in addition to that
 * budget. ERR_UNAVAILABLE while the server stops. End each one with jobs_window_end. */
bool jobs_window_begin(struct jobs *jobs, size_t *memory_budget_bytes, struct err *err) KS_MUST_USE;
void jobs_window_end(struct jobs *jobs);
/* The same for figures that are derived from a stored trace and then kept: one at a time, so that
 * two requests do not derive the same. Ends with jobs_derive_end. */
bool jobs_derive_begin(struct jobs *jobs, size_t *memory_budget_bytes, struct err *err) KS_MUST_USE;
void jobs_derive_end(struct jobs *jobs);

#define JOBS_DURATIONS 10
/* Upper bounds of the histogram of durations; the last bin has none. */
extern const uint32_t jobs_duration_bounds_ms[JOBS_DURATIONS - 1];

struct jobs_counts {
    /* queued: here, or for whichever server has room; done, failed: since the start of the process
     */
    uint64_t queued, running, done, failed;
    uint64_t bytes_ingested;
    uint64_t events_ingested;
    uint64_t streamed;                        /* done jobs whose file was read while it arrived */
    uint64_t durations[JOBS_DURATIONS];       /* done and failed jobs by running time */
    uint64_t took_us;                         /* running time of all of them */
    uint64_t removed[RETENTION_REASON_COUNT]; /* runs that retention removed */
};
bool jobs_counts(struct jobs *jobs, struct jobs_counts *out, struct err *err) KS_MUST_USE;

#endif
