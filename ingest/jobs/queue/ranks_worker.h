/* The thread that makes the views of a run of many ranks when its uploads have come to an end, so
 * that who opens the run first does not wait for them. Internal to the queue; callers use jobs.h.
 */
#ifndef KS_JOBS_QUEUE_RANKS_WORKER_H
#define KS_JOBS_QUEUE_RANKS_WORKER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Runs that wait at once; of more, the oldest are made when they are asked for. */
#define RANKS_WORKER_RUNS_MAX 64

struct jobs;

struct ranks_worker {
    struct thread_sleeper thread;
    struct ranks_due { /* guarded by the lock of the jobs, as is what follows */
        char *run;
        struct timespec at;
    } due[RANKS_WORKER_RUNS_MAX]; /* by time */
    size_t due_count;
};

bool ranks_worker_start(struct jobs *jobs, struct err *err) KS_MUST_USE;
/* A trace of the run was published: its views are made once nothing of it has come, and none of its
 * jobs is left, for ten seconds. The caller holds the lock of the jobs. */
void ranks_worker_note(struct jobs *jobs, const char *run);
/* Waits for the thread, which ends once `stopping` is set, after the views that it makes. Does
 * nothing when none was started. */
void ranks_worker_join(struct jobs *jobs);

#endif
