#include "ingest/jobs/queue/internal.h"

/* Beside the uploads' budget: two at once take half as much again at the most. */
#define WINDOWS_AT_ONCE 2
#define SHARE_OF_BUDGET 4
/* What is read and analysed on request in less than a tenth of a second: 250,000 events. */
#define LATER_BYTES ((uint64_t)24 << 20)

/* Of a model; half of what the analysis may take then, since events stored are read anew. */
uint64_t jobs_later_bytes(const struct jobs *jobs)
{
    uint64_t half_share_bytes = jobs->budget_bytes / SHARE_OF_BUDGET / 2;
    return half_share_bytes < LATER_BYTES ? half_share_bytes : LATER_BYTES;
}

static bool begin(struct jobs *jobs, bool derives, size_t *memory_budget_bytes, struct err *err)
{
    uint64_t share_bytes = jobs->budget_bytes / SHARE_OF_BUDGET;
    *memory_budget_bytes = share_bytes > SIZE_MAX ? SIZE_MAX : (size_t)share_bytes;
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->waiters++;
    while ((jobs->windows == WINDOWS_AT_ONCE || (derives && jobs->derives)) && !jobs->stopping) {
        (void)pthread_cond_wait(&jobs->changed, &jobs->lock);
    }
    jobs->waiters--;
    bool ok = !jobs->stopping;
    jobs->windows += ok;
    jobs->derives = jobs->derives || (ok && derives);
    if (!ok) {
        (void)pthread_cond_broadcast(&jobs->changed);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return ok || err_set(err, ERR_UNAVAILABLE, "The server is stopping");
}

bool jobs_window_begin(struct jobs *jobs, size_t *memory_budget_bytes, struct err *err)
{
    return begin(jobs, false, memory_budget_bytes, err);
}

bool jobs_derive_begin(struct jobs *jobs, size_t *memory_budget_bytes, struct err *err)
{
    return begin(jobs, true, memory_budget_bytes, err);
}

static void end(struct jobs *jobs, bool derives)
{
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->windows--;
    jobs->derives = jobs->derives && !derives;
    (void)pthread_cond_broadcast(&jobs->changed);
    (void)pthread_mutex_unlock(&jobs->lock);
}

void jobs_window_end(struct jobs *jobs)
{
    end(jobs, false);
}

void jobs_derive_end(struct jobs *jobs)
{
    end(jobs, true);
}
