/* The thread that applies the rules of retention.h. It runs at the start, after each published
 * upload, and once an hour, because runs age; without rules it does not exist. What arrived since
 * its last pass, and what has a job, stays until the next pass. Internal to the queue; callers use
 * jobs.h. */
#ifndef KS_JOBS_QUEUE_RETENTION_WORKER_H
#define KS_JOBS_QUEUE_RETENTION_WORKER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/thread.h"
#include "ingest/store/catalogue/retention.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct job;
struct jobs;

struct retention_worker {
    struct retention_rules rules;
    struct thread_sleeper thread;
    bool is_called;       /* guarded by the lock of the jobs, as is what follows */
    struct job *arrivals; /* jobs published since the last pass */
    uint64_t removed[RETENTION_REASON_COUNT]; /* runs, since the process started */
    _Atomic bool stop;
};

/* Starts nothing when there are no rules. */
bool retention_worker_start(struct jobs *jobs, struct err *err) KS_MUST_USE;
/* Hands over a published job, already out of the list. The caller holds the lock of the jobs. Only
 * while the thread runs. */
void retention_worker_wake(struct jobs *jobs, struct job *job);
/* Stops the thread after its current transaction. The caller holds the lock of the jobs. */
void retention_worker_stop(struct jobs *jobs);
/* Waits for its end; call it after retention_worker_stop. Does nothing when none was started. */
void retention_worker_join(struct jobs *jobs);

#endif
