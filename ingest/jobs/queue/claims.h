/* The thread that claims jobs for this server, and renews its claims, where several share a
 * catalogue (store_leases.h); else it does not exist, and all jobs are those of this server.
 * Internal to the queue; callers use jobs.h. */
#ifndef KS_JOBS_QUEUE_CLAIMS_H
#define KS_JOBS_QUEUE_CLAIMS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/thread.h"

#include <stdbool.h>

struct job;
struct jobs;

struct claims {
    struct thread_sleeper thread;
    bool is_called;      /* guarded by the lock of the jobs, as is what follows */
    bool is_handed_over; /* nothing new is taken */
    bool stop;
};

bool claims_start(struct jobs *jobs, struct err *err) KS_MUST_USE;
/* A place is free, or a job has come. The caller holds the lock of the jobs. */
void claims_wake(struct jobs *jobs);
/* Whether a worker would take one more job at once. The caller holds the lock of the jobs. */
bool claims_have_room(const struct jobs *jobs);
/* Gives a running job back whose bytes this server does not reach, so that another does it. False:
 * there is no other, or its bytes still come in here. */
bool claims_leave(struct jobs *jobs, struct job *job);
/* Waits for its end; what this server still has is given back. Call it when no worker runs. */
void claims_end(struct jobs *jobs);

#endif
