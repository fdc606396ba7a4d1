#include "ingest/jobs/queue/claims.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/order.h"
#include "ingest/jobs/queue/internal.h"
#include "ingest/store/store_leases.h"
#include "ingest/store/store_nodes.h"

#include <stdlib.h>

/* So often it looks for what others left, while it has room. */
#define LOOK_INTERVAL_MS 1000

bool claims_have_room(const struct jobs *jobs)
{
    unsigned busy = jobs->streaming_count;
    for (const struct job *job = jobs->head; job != NULL; job = job->next) {
        busy += job_is_unfinished(job) && !job->is_for_others;
    }
    return !jobs->stopping && !jobs->claims.is_handed_over && busy < jobs->thread_count;
}

/* ---- claiming ---- */

static void give_back(struct jobs *jobs, int64_t id)
{
    struct err err = ERR_INIT;
    if (!store_leases_give_back(jobs->store, id, &err)) {
        log_write(jobs->log, LOG_DEBUG, "a job is not given back yet: %s", err.msg);
    }
}

/* It may still run here, by an earlier claim: then that goes on, unless it was left. */
static bool is_running_here(struct jobs *jobs, int64_t id)
{
    (void)pthread_mutex_lock(&jobs->lock);
    struct job *job = jobs_find(jobs, id);
    if (job != NULL) {
        atomic_store(&job->is_lost, job->is_left);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return job != NULL;
}

/* False: there is nothing to claim now. A server that does not reach the objects leaves all to the
 * others. */
static bool claim_one(struct jobs *jobs)
{
    struct arena arena;
    struct err err = ERR_INIT;
    struct store_job *row = NULL;
    arena_init(&arena, 0);
    bool ok =
        store_objects_ready(jobs->store, &err) && store_job_claim(jobs->store, &arena, &row, &err);
    if (ok && row != NULL && !is_running_here(jobs, row->id)) {
        ok = jobs_take_up(jobs, &arena, row, &err);
        if (!ok) {
            give_back(jobs, row->id);
        }
    }
    if (!ok) {
        log_write(jobs->log, LOG_DEBUG, "no job is claimed: %s", err.msg);
    }
    ok = ok && row != NULL;
    arena_free(&arena);
    return ok;
}

/* ---- renewing ---- */

/* What waits here is taken out, in a list; what runs is told by its worker. */
static struct job *take_lost(struct jobs *jobs, const int64_t *ids, size_t count)
{
    struct job *lost = NULL;
    (void)pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->head, *next; job != NULL; job = next) {
        next = job->next;
        if (bsearch(&job->id, ids, count, sizeof *ids, order_i64_at) != NULL) {
            continue;
        }
        atomic_store(&job->is_lost, job->state == JOB_RUNNING);
        if (job->state == JOB_QUEUED) {
            jobs_take_out(jobs, job);
            job->next = lost;
            lost = job;
        }
    }
    (void)pthread_cond_broadcast(&jobs->changed);
    (void)pthread_mutex_unlock(&jobs->lock);
    return lost;
}

static bool is_here(struct jobs *jobs, int64_t id)
{
    (void)pthread_mutex_lock(&jobs->lock);
    bool is = jobs_find(jobs, id) != NULL;
    (void)pthread_mutex_unlock(&jobs->lock);
    return is;
}

/* submit_lock is held, so that no job is only half here. */
static void compare(struct jobs *jobs, const int64_t *ids, size_t count)
{
    struct job *lost = take_lost(jobs, ids, count);
    while (lost != NULL) {
        struct job *job = lost;
        lost = job->next;
        log_write(jobs->log, LOG_WARN, "job %lld: another server has it", (long long)job->id);
        job_free(job);
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_here(jobs, ids[i])) {
            give_back(jobs, ids[i]);
        }
    }
}

static void renew(struct jobs *jobs)
{
    struct arena arena;
    struct err err = ERR_INIT;
    int64_t *ids;
    size_t count;
    arena_init(&arena, 0);
    (void)pthread_mutex_lock(&jobs->submit_lock);
    if (store_leases_renew(jobs->store, &arena, &ids, &count, &err)) {
        compare(jobs, ids, count);
    } else {
        log_write(jobs->log, LOG_WARN, "the claims of jobs are not renewed: %s", err.msg);
    }
    (void)pthread_mutex_unlock(&jobs->submit_lock);
    arena_free(&arena);
}

/* ---- the thread ---- */

static bool is_past(const struct timespec *time)
{
    struct timespec now = monotonic_after(0);
    return !monotonic_is_before(&now, time);
}

static void *claims_run(void *argument)
{
    struct jobs *jobs = argument;
    struct claims *claims = &jobs->claims;
    struct timespec renew_at = monotonic_after(STORE_RENEW_MS);
    struct timespec look_at = monotonic_after(0);
    (void)pthread_mutex_lock(&jobs->lock);
    while (!claims->stop) {
        if (is_past(&renew_at)) {
            renew_at = monotonic_after(STORE_RENEW_MS);
            (void)pthread_mutex_unlock(&jobs->lock);
            renew(jobs);
            (void)pthread_mutex_lock(&jobs->lock);
        } else if (!claims_have_room(jobs)) {
            (void)pthread_cond_timedwait(&claims->thread.wake, &jobs->lock, &renew_at);
        } else if (claims->is_called || is_past(&look_at)) {
            claims->is_called = false;
            (void)pthread_mutex_unlock(&jobs->lock);
            look_at = monotonic_after(claim_one(jobs) ? 0 : LOOK_INTERVAL_MS);
            (void)pthread_mutex_lock(&jobs->lock);
        } else {
            (void)pthread_cond_timedwait(&claims->thread.wake, &jobs->lock,
                                         monotonic_is_before(&look_at, &renew_at) ? &look_at
                                                                                  : &renew_at);
        }
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

bool claims_start(struct jobs *jobs, struct err *err)
{
    return !store_is_on_server(jobs->store) ||
           thread_sleeper_start(&jobs->claims.thread, claims_run, jobs,
                                "no resources to claim jobs", err);
}

void claims_wake(struct jobs *jobs)
{
    jobs->claims.is_called = true;
    thread_sleeper_wake(&jobs->claims.thread);
}

void claims_end(struct jobs *jobs)
{
    struct claims *claims = &jobs->claims;
    if (!claims->thread.runs) {
        return;
    }
    (void)pthread_mutex_lock(&jobs->lock);
    claims->stop = true;
    (void)pthread_mutex_unlock(&jobs->lock);
    thread_sleeper_join(&claims->thread, &jobs->lock);
    give_back(jobs, 0);
}

/* ---- the end ---- */

/* Alone, this server does in the time that is left what it can. */
static bool others_serve(struct jobs *jobs)
{
    struct arena arena;
    struct store_snapshot snapshot;
    struct err err = ERR_INIT;
    struct store_node *rows;
    size_t count;
    bool others = false;
    arena_init(&arena, 0);
    store_snapshot_init(&snapshot, jobs->store);
    bool ok = store_nodes(&snapshot, &arena, &rows, &count, &err);
    for (size_t i = 0; ok && i < count; i++) {
        others = others ||
                 (!rows[i].is_this && !rows[i].is_draining && rows[i].silent_s < STORE_NODE_GONE_S);
    }
    store_snapshot_close(&snapshot);
    arena_free(&arena);
    return others;
}

bool claims_leave(struct jobs *jobs, struct job *job)
{
    if (!jobs->claims.thread.runs || !others_serve(jobs)) {
        return false;
    }
    (void)pthread_mutex_lock(&jobs->lock);
    job->is_left = job->arrival == JOB_ARRIVED;
    atomic_store(&job->is_lost, job->is_left);
    (void)pthread_mutex_unlock(&jobs->lock);
    if (job->is_left) {
        log_write(jobs->log, LOG_WARN,
                  "job %lld: left to another server, as this one does not reach its bytes",
                  (long long)job->id);
        give_back(jobs, job->id);
    }
    return job->is_left;
}

/* What is read while it arrives is done here. */
static struct job *take_waiting(struct jobs *jobs)
{
    struct job *taken = NULL;
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->claims.is_handed_over = true;
    for (struct job *job = jobs->head, *next; job != NULL; job = next) {
        next = job->next;
        if (job->state == JOB_QUEUED && job->arrival == JOB_ARRIVED && job->streaming == NULL) {
            jobs_take_out(jobs, job);
            job->next = taken;
            taken = job;
        }
    }
    (void)pthread_cond_broadcast(&jobs->changed);
    (void)pthread_mutex_unlock(&jobs->lock);
    return taken;
}

void jobs_hand_over(struct jobs *jobs)
{
    struct err err = ERR_INIT;
    if (!jobs->claims.thread.runs) {
        return;
    }
    if (!store_node_drain(jobs->store, &err)) {
        log_write(jobs->log, LOG_WARN, "the other servers do not know of the end: %s", err.msg);
    }
    if (!others_serve(jobs)) {
        return;
    }
    (void)pthread_mutex_lock(&jobs->submit_lock);
    struct job *taken = take_waiting(jobs);
    while (taken != NULL) {
        struct job *job = taken;
        taken = job->next;
        give_back(jobs, job->id);
        job_free(job);
    }
    (void)pthread_mutex_unlock(&jobs->submit_lock);
}
