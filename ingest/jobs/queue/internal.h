/* What jobs.c (the interface) and worker.c (the threads) share. */
#ifndef KS_JOBS_QUEUE_INTERNAL_H
#define KS_JOBS_QUEUE_INTERNAL_H

#include "ingest/jobs/queue/claims.h"
#include "ingest/jobs/queue/jobs.h"
#include "ingest/jobs/queue/ranks_worker.h"
#include "ingest/jobs/queue/retention_worker.h"
#include "ingest/jobs/queue/streaming_ingest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Where the uploaded bytes are: a job may run before they are on disk, but not end. */
enum job_arrival { JOB_ARRIVING, JOB_ARRIVED, JOB_LOST };

/* A job of this process: queued, running, or failed while the store could not record it (a full
 * disk); workers retry that. The store alone knows other finished jobs. */
struct job {
    struct job *next; /* in the order in which they came */
    int64_t id;
    char *run;
    char *file_name;
    char *marker; /* NULL: none */
    int64_t rank; /* STORE_NO_RANK */
    char sha256_hex[SHA256_HEX_BYTES];
    uint64_t size_bytes;
    uint64_t estimate_bytes; /* estimate of what its model will need */
    uint64_t grant_bytes;    /* what it may use while it runs */
    unsigned attempt;
    bool is_again;        /* analyses again what was there: see struct store_job */
    bool is_for_others;   /* only until its bytes have arrived: no worker of ours takes it */
    bool is_left;         /* its worker has left it to others; it is lost from then on */
    _Atomic bool is_lost; /* another server has it: what its worker does changes nothing */
    enum job_state state;
    enum job_arrival arrival;
    struct streaming_ingest *streaming; /* its streaming read; NULL: none */
    struct pipeline_progress progress;
    struct err error; /* JOB_FAILED; the job no longer changes */
};

struct jobs {
    struct store *store;
    const struct kernel_rules *kernel_rules;
    const struct device_peaks_list *device_peaks;
    const struct log *log;
    bool retain_raw;
    uint64_t budget_bytes;
    struct input_limits input_limits;
    uint64_t max_events;
    uint64_t max_queued; /* 0: any number */

    _Atomic uint64_t losses_seen; /* of store_losses: see jobs_mend_losses */

    /* One submission at a time; taken before `lock`. */
    pthread_mutex_t submit_lock;

    pthread_mutex_t lock;   /* guards everything below */
    pthread_cond_t work;    /* a job may be ready to start or to be recorded, or the end */
    pthread_cond_t changed; /* a job has arrived or is finished, or the end */
    struct job *head;
    uint64_t reserved_bytes; /* grants of the running jobs */
    unsigned running;
    unsigned streaming_count; /* streaming reads that have no job yet */
    unsigned passed_by;       /* jobs that overtook the one that waits for memory */
    unsigned waiters;
    struct job_wait *waits;    /* of those in jobs_wait: see watch.c */
    unsigned windows;          /* analyses of windows under way */
    bool derives;              /* one of the windows is a whole trace whose figures are stored */
    bool noting;               /* a worker is recording failures that the store lacks */
    bool left_pieces;          /* jobs or streaming reads ended since free memory was returned */
    struct timespec return_at; /* when to return it, if nothing runs by then */
    struct timespec note_at;   /* when idle workers retry that */
    bool stopping;
    struct jobs_counts counts; /* without queued, running and removed */
    struct retention_worker retention;
    struct ranks_worker ranks;
    struct claims claims;

    pthread_t *threads;
    unsigned thread_count;
    unsigned threads_started;
};

/* Call when a job or a streaming read has ended: its memory stays for the next one, for a short
 * while. The caller holds `lock`. */
void jobs_leave_pieces(struct jobs *jobs);
/* The job of this id, or NULL. The caller holds `lock`. */
struct job *jobs_find(struct jobs *jobs, int64_t id);
bool job_is_unfinished(const struct job *job);
bool job_has_name(const struct job *job, const char *run, const char *file_name);
/* The progress of the job or of its streaming read. The caller holds `lock` or is the job's worker.
 */
struct pipeline_progress *job_progress(struct job *job);
void job_free(struct job *job); /* NULL is allowed */
/* Tells those that wait for the job, which they may not have seen here. The caller holds `lock`,
 * and signals `changed`. */
void jobs_tell_left(struct jobs *jobs, int64_t id);
/* Removes the job from the list, and tells so. The caller holds `lock`. */
void jobs_take_out(struct jobs *jobs, const struct job *job);
/* Queues a job of an earlier process, or one that was just claimed; or fails it, if its bytes are
 * gone. */
bool jobs_take_up(struct jobs *jobs,
                  struct arena *arena,
                  const struct store_job *row,
                  struct err *err) KS_MUST_USE;
/* Removes and frees it. */
void jobs_remove(struct jobs *jobs, struct job *job);

/* Waits until the uploaded bytes are on disk. False (ERR_IO) when they are lost. */
bool jobs_await_arrival(struct jobs *jobs, int64_t id, struct err *err) KS_MUST_USE;

/* What the first bytes of a file say. */
struct worker_look {
    uint64_t estimate_bytes; /* upper estimate of the memory to read it, from its size, its
                                container, and whether it is JSON or a table */
    bool is_archive;         /* false also when the file cannot be read */
    bool is_json;            /* false also when the file cannot be read */
};
struct worker_look worker_look_into(const char *path, uint64_t size_bytes);
/* Runs a worker thread; `argument` is the struct jobs. */
void *worker_run(void *argument);

/* Traces whose model is at most this large get derived data when a request asks for it
 * (pipeline_sink). */
uint64_t jobs_later_bytes(const struct jobs *jobs);

#endif
