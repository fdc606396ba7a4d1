/* Who keeps the rules of retention.h: a thread of the queue that looks at the start, after each
 * upload that was published, and once an hour, because runs grow old. Between that it sleeps;
 * without rules it is not there. What came in since the last look stays until the next one, as does
 * what has a job. Inside of the queue; the outside is jobs.h. */
#ifndef KS_JOBS_QUEUE_RETENTION_WORKER_H
#define KS_JOBS_QUEUE_RETENTION_WORKER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/catalogue/retention.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct job;
struct jobs;

struct retention_worker {
    struct retention_rules rules;
    pthread_t thread;
    bool runs;
    pthread_cond_t wake; /* with the lock of the jobs, as what follows */
    bool is_called;
    struct job *arrivals; /* jobs whose uploads were published since the last look */
    uint64_t removed[RETENTION_REASON_COUNT]; /* runs, since the start of the process */
    _Atomic bool stop;
};

/* Without rules nothing is started. */
bool retention_worker_start(struct jobs *jobs, struct err *err) KS_MUST_USE;
/* A job whose upload was published, taken over and out of the list already; the lock of the jobs is
 * held. Not without a retention worker that runs. */
void retention_worker_wake(struct jobs *jobs, struct job *job);
/* Ends what it does between two transactions; the lock of the jobs is held. */
void retention_worker_stop(struct jobs *jobs);
/* After retention_worker_stop; does nothing when none was started. */
void retention_worker_join(struct jobs *jobs);

#endif
