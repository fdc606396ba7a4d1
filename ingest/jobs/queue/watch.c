/* Watching a job: of this server, or of another one that shares the catalogue. */
#include "ingest/base/monotonic.h"
#include "ingest/jobs/queue/internal.h"

#include <errno.h>

/* The pipeline changes the stage without telling anybody: who waits for that looks this often. */
#define LOOK_INTERVAL_MS 50
/* Between two looks for a job of another server. */
#define LEAST_PAUSE_MS 100
#define MOST_PAUSE_MS 1000
/* Versions of live jobs count attempts and stages; a finished job is above all of them. */
#define VERSIONS_AN_ATTEMPT 16
#define VERSION_FINISHED UINT64_MAX

/* Whoever reads ahead: a job that no worker has taken waits. */
static enum pipeline_stage stage_of(struct job *job)
{
    return job->state == JOB_QUEUED ? STAGE_QUEUED
                                    : (enum pipeline_stage)atomic_load(&job_progress(job)->stage);
}

static uint64_t version_of(struct job *job)
{
    return (uint64_t)job->attempt * VERSIONS_AN_ATTEMPT + 1 + (uint64_t)stage_of(job);
}

static void read_live(struct job *job, struct jobs_status *out)
{
    bool failed = job->state == JOB_FAILED;
    const struct pipeline_progress *progress = job_progress(job);
    *out = (struct jobs_status){
        .id = job->id,
        .state = job->state,
        .bytes_done = atomic_load(&progress->bytes_done),
        .bytes_total = atomic_load(&progress->bytes_total),
        .error = ERR_INIT,
    };
    out->stage = failed ? STAGE_DONE : stage_of(job);
    out->version = failed ? VERSION_FINISHED : version_of(job);
    if (failed) {
        out->error = job->error;
    }
}

/* Jobs that are no longer, or were never, in this process's list. */
static bool read_stored(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t id,
                        struct jobs_status *out,
                        struct err *err)
{
    struct store_job *row;
    if (!store_job_get(snapshot, arena, id, &row, err)) {
        return false;
    }
    bool finished = row->state == JOB_DONE || row->state == JOB_FAILED;
    *out = (struct jobs_status){
        .id = id,
        .state = row->state,
        .stage = finished ? STAGE_DONE : STAGE_QUEUED,
        .bytes_done = row->state == JOB_DONE ? row->size_bytes : 0,
        .bytes_total = row->size_bytes,
        .version = finished ? VERSION_FINISHED : row->state == JOB_RUNNING,
        .file_name = row->file_name,
        .error = ERR_INIT,
    };
    if (row->state == JOB_FAILED) {
        (void)err_set_at(&out->error, row->error_code, row->error_offset, "%s",
                         row->error_message == NULL ? "" : row->error_message);
    }
    return (row->state != JOB_DONE ||
            store_job_traces(snapshot, arena, id, &out->trace_ids, &out->trace_count, err)) &&
           (!finished ||
            store_job_failures(snapshot, arena, id, &out->failures, &out->failure_count, err));
}

static bool find_stored(
    struct jobs *jobs, struct arena *arena, int64_t id, struct jobs_status *out, struct err *err)
{
    struct store_snapshot snapshot;
    store_snapshot_init(&snapshot, jobs->store);
    bool ok = read_stored(&snapshot, arena, id, out, err);
    store_snapshot_close(&snapshot);
    return ok;
}

bool jobs_status(
    struct jobs *jobs, struct arena *arena, int64_t id, struct jobs_status *out, struct err *err)
{
    (void)pthread_mutex_lock(&jobs->lock);
    struct job *job = jobs_find(jobs, id);
    bool is_live = job != NULL;
    if (is_live) {
        read_live(job, out);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return is_live || find_stored(jobs, arena, id, out, err);
}

/* What a waiting thread is after. */
struct job_wait {
    struct job_wait *next;
    int64_t id;
    bool has_left; /* since the last look the job was in this process's list, and is no longer */
    uint64_t seen_version;
    bool for_ever;
    struct timespec until;
};

void jobs_tell_left(struct jobs *jobs, int64_t id)
{
    for (struct job_wait *wait = jobs->waits; wait != NULL; wait = wait->next) {
        wait->has_left = wait->has_left || wait->id == id;
    }
}

/* `lock` is held. */
static void end_wait(struct jobs *jobs, const struct job_wait *wait)
{
    struct job_wait **link = &jobs->waits;
    while (*link != wait) {
        link = &(*link)->next;
    }
    *link = wait->next;
}

/* Sleeps until the next look for a job that is not here, whatever else changes meanwhile, or until
 * it is or was here. False when there is nothing more to wait for; `lock` is held. */
static bool wait_elsewhere(struct jobs *jobs, const struct job_wait *wait, int pause_ms)
{
    struct timespec look = monotonic_after(pause_ms);
    struct timespec now = monotonic_after(0);
    if (jobs->stopping || (!wait->for_ever && !monotonic_is_before(&now, &wait->until))) {
        return false;
    }
    bool is_sooner = wait->for_ever || monotonic_is_before(&look, &wait->until);
    const struct timespec *until = is_sooner ? &look : &wait->until;
    while (!jobs->stopping && !wait->has_left && jobs_find(jobs, wait->id) == NULL &&
           pthread_cond_timedwait(&jobs->changed, &jobs->lock, until) != ETIMEDOUT) {
    }
    return true;
}

/* Sleeps once. False when there is nothing more to wait for; `lock` is held. */
static bool wait_once(struct jobs *jobs, const struct job_wait *wait)
{
    struct job *job = jobs_find(jobs, wait->id);
    if (job == NULL || job->state == JOB_FAILED) {
        return false;
    }
    bool will_not_run = jobs->stopping && job->state == JOB_QUEUED;
    if (wait->for_ever) {
        const struct timespec look = monotonic_after(MOST_PAUSE_MS);
        bool waits = !will_not_run && !store_is_given_up(jobs->store);
        if (waits) {
            (void)pthread_cond_timedwait(&jobs->changed, &jobs->lock, &look);
        }
        return waits;
    }
    struct timespec now = monotonic_after(0);
    if (will_not_run || version_of(job) != wait->seen_version ||
        !monotonic_is_before(&now, &wait->until)) {
        return false;
    }
    struct timespec look = monotonic_after(LOOK_INTERVAL_MS);
    (void)pthread_cond_timedwait(&jobs->changed, &jobs->lock,
                                 monotonic_is_before(&look, &wait->until) ? &look : &wait->until);
    return true;
}

bool jobs_wait(struct jobs *jobs,
               struct arena *arena,
               int64_t id,
               uint64_t seen_version,
               int timeout_ms,
               struct jobs_status *out,
               struct err *err)
{
    struct job_wait wait = {.id = id,
                            .seen_version = seen_version,
                            .for_ever = timeout_ms < 0,
                            .until = monotonic_after(timeout_ms < 0 ? 0 : timeout_ms)};
    bool ok = true;
    bool waits = true;
    int pause_ms = LEAST_PAUSE_MS;
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->waiters++;
    wait.next = jobs->waits;
    jobs->waits = &wait;
    while (ok && waits) {
        while (wait_once(jobs, &wait)) {
        }
        struct job *job = jobs_find(jobs, id);
        if (job != NULL) {
            read_live(job, out);
            break;
        }
        wait.has_left = false;
        (void)pthread_mutex_unlock(&jobs->lock);
        ok = find_stored(jobs, arena, id, out, err);
        (void)pthread_mutex_lock(&jobs->lock);
        waits = ok && (out->state == JOB_QUEUED || out->state == JOB_RUNNING) &&
                (wait.for_ever || out->version == seen_version) &&
                wait_elsewhere(jobs, &wait, pause_ms);
        pause_ms = pause_ms * 2 < MOST_PAUSE_MS ? pause_ms * 2 : MOST_PAUSE_MS;
    }
    end_wait(jobs, &wait);
    bool is_stopping = jobs->stopping;
    (void)pthread_mutex_unlock(&jobs->lock);

    if (ok && is_stopping && wait.for_ever &&
        (out->state == JOB_QUEUED || out->state == JOB_RUNNING)) {
        ok =
            jobs_sync(jobs, id, err) &&
            err_set(err, ERR_UNAVAILABLE,
                    "the server is stopping; job %lld goes on when it starts again", (long long)id);
    }
    /* Only now: jobs_destroy waits for those that still use the store. */
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->waiters--;
    (void)pthread_cond_broadcast(&jobs->changed);
    (void)pthread_mutex_unlock(&jobs->lock);
    return ok;
}
