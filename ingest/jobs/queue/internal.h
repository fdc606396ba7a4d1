/* What jobs.c (the outside) and worker.c (the inside) share. */
#ifndef KS_JOBS_QUEUE_INTERNAL_H
#define KS_JOBS_QUEUE_INTERNAL_H

#include "ingest/jobs/queue/jobs.h"
#include "ingest/jobs/queue/retention_worker.h"
#include "ingest/jobs/queue/streaming_ingest.h"

#include <pthread.h>
#include <time.h>

/* What has become of the uploaded bytes: a job may run, but not end, before they have arrived. */
enum job_arrival { JOB_ARRIVING, JOB_ARRIVED, JOB_LOST };

/* A job of this process: queued, running, or failed without the store having been able to note it
 * (a full disk), which the workers try again until it is. Other finished jobs are known by the
 * store alone. */
struct job {
    struct job *next; /* ascending ids */
    int64_t id;
    char *run;
    char *file_name;
    char *marker; /* NULL: none */
    int64_t rank; /* STORE_NO_RANK */
    char sha256_hex[SHA256_HEX_BYTES];
    uint64_t size_bytes;
    uint64_t estimate_bytes; /* what its model will probably take */
    uint64_t grant_bytes;    /* what it may take, while it runs */
    unsigned attempt;
    enum job_state state;
    enum job_arrival arrival;
    struct streaming_ingest *streaming; /* who has begun to read it; NULL: nobody */
    struct pipeline_progress progress;
    struct err error; /* JOB_FAILED; from then on nothing of the job changes */
};

struct jobs {
    struct store *store;
    const struct log *log;
    bool retain_raw;
    bool in_background;
    uint64_t budget_bytes;
    struct input_limits input_limits;
    uint64_t max_events;
    uint64_t max_queued; /* 0: any number */

    /* One submission at a time; taken before `lock`. */
    pthread_mutex_t submit_lock;

    pthread_mutex_t lock;   /* guards everything below */
    pthread_cond_t work;    /* something may have become startable or notable, or the end */
    pthread_cond_t changed; /* a job has arrived or is finished, or the end */
    struct job *head;
    uint64_t reserved_bytes; /* grants of the running jobs */
    unsigned running;
    unsigned streaming_count; /* readings ahead of those who have no job yet */
    unsigned passed_by;       /* jobs that overtook the one that waits for memory */
    unsigned waiters;
    unsigned windows; /* analyses of windows under way */
    bool derives;     /* one of the windows is a whole trace whose figures will be kept */
    bool noting;      /* a worker is at the failures that the store does not know */
    bool left_pieces; /* jobs or readings ahead have ended since free memory was given back */
    struct timespec return_at; /* when it is, if nothing runs by then */
    struct timespec note_at;   /* when idle workers try that again */
    bool stopping;
    struct jobs_counts counts; /* without queued, running and removed */
    struct retention_worker retention;

    pthread_t *threads;
    unsigned thread_count;
    unsigned threads_started;
};

/* A job or a reading ahead has ended: its memory stays for the next one, but not for long. `lock`
 * is held. */
void jobs_leave_pieces(struct jobs *jobs);
/* The job of this id, or NULL; `lock` is held. */
struct job *jobs_find(struct jobs *jobs, int64_t id);
bool job_is_unfinished(const struct job *job);
bool job_has_name(const struct job *job, const char *run, const char *file_name);
/* Its own, or that of who reads ahead for it; `lock` is held, or the worker asks. */
struct pipeline_progress *job_progress(struct job *job);
void job_free(struct job *job); /* NULL is allowed */
/* Takes it out of the list; `lock` is held. */
void jobs_take_out(struct jobs *jobs, const struct job *job);
/* The same and frees it. */
void jobs_remove(struct jobs *jobs, struct job *job);

/* Waits until the uploaded bytes are on disk. False (ERR_IO) when they are lost. */
bool jobs_await_arrival(struct jobs *jobs, int64_t id, struct err *err) KS_MUST_USE;

/* What the first bytes of a file tell. */
struct worker_look {
    uint64_t estimate_bytes; /* what reading it will take at the most, going by its size, its
                                container and whether it is JSON or a table */
    bool is_archive;         /* false also for what cannot be looked into */
    bool is_json;            /* the same */
};
struct worker_look worker_look_into(const char *path, uint64_t size_bytes);
/* The body of a worker thread; `argument` is the jobs. */
void *worker_run(void *argument);

#endif
