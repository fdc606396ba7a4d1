#include "ingest/jobs/queue/internal.h"

/* Where the catalogue is on a server, the jobs are claimed one by one. */
static bool take_up(struct jobs *jobs,
                    struct arena *arena,
                    const struct store_again_batch *batch,
                    struct err *err)
{
    struct store_snapshot snapshot;
    struct store_job *row = NULL;
    bool ok = true;
    if (store_is_on_server(jobs->store)) {
        (void)pthread_mutex_lock(&jobs->lock);
        claims_wake(jobs);
        (void)pthread_mutex_unlock(&jobs->lock);
        return true;
    }
    store_snapshot_init(&snapshot, jobs->store);
    for (size_t i = 0; ok && i < batch->count; i++) {
        ok = store_job_get(&snapshot, arena, batch->job_ids[i], &row, err) &&
             jobs_take_up(jobs, arena, row, err);
    }
    store_snapshot_close(&snapshot);
    return ok;
}

/* New uploads come in between two batches. */
static bool queue_batch(struct jobs *jobs,
                        const struct store_again *which,
                        struct store_again_batch *batch,
                        struct err *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    (void)pthread_mutex_lock(&jobs->submit_lock);
    bool ok = store_queue_again(jobs->store, &arena, which, batch, err) &&
              take_up(jobs, &arena, batch, err);
    (void)pthread_mutex_unlock(&jobs->submit_lock);
    arena_free(&arena);
    return ok;
}

static bool is_stopping(struct jobs *jobs)
{
    (void)pthread_mutex_lock(&jobs->lock);
    bool stopping = jobs->stopping;
    (void)pthread_mutex_unlock(&jobs->lock);
    return stopping;
}

bool jobs_analyse_again(struct jobs *jobs,
                        const struct store_again *which,
                        struct jobs_again *out,
                        struct err *err)
{
    struct store_again_batch batch = {0};
    *out = (struct jobs_again){0};
    while (!batch.is_last) {
        if (is_stopping(jobs)) {
            return err_set(err, ERR_UNAVAILABLE, "the server stops; ask again when it is back");
        }
        if (!queue_batch(jobs, which, &batch, err)) {
            return false;
        }
        out->queued += batch.count;
        out->left += batch.left;
    }
    return true;
}

void jobs_mend_losses(struct jobs *jobs)
{
    const struct store_again which = {.lost_only = true};
    struct jobs_again again;
    struct err err = ERR_INIT;
    uint64_t losses = store_losses(jobs->store);
    if (atomic_exchange(&jobs->losses_seen, losses) == losses) {
        return;
    }
    if (!jobs_analyse_again(jobs, &which, &again, &err)) {
        log_write(jobs->log, LOG_WARN, "lost results are made again at the next start: %s",
                  err.msg);
    } else if (again.queued > 0) {
        log_write(jobs->log, LOG_INFO,
                  "files of results are missing or cut off: %llu uploads are analysed again",
                  (unsigned long long)again.queued);
    }
}
