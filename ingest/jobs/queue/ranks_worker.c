#include "ingest/jobs/queue/ranks_worker.h"

#include "ingest/base/memory/arena.h"
#include "ingest/base/monotonic.h"
#include "ingest/jobs/queue/background.h"
#include "ingest/jobs/queue/internal.h"
#include "ingest/query/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

#define QUIET_MS 10000

/* ---- which runs, and when; the lock is held ---- */

static void take_out(struct ranks_worker *worker, size_t index)
{
    free(worker->due[index].run);
    worker->due_count--;
    memmove(&worker->due[index], &worker->due[index + 1],
            (worker->due_count - index) * sizeof worker->due[0]);
}

void ranks_worker_note(struct jobs *jobs, const char *run)
{
    struct ranks_worker *worker = &jobs->ranks;
    for (size_t i = 0; i < worker->due_count; i++) {
        if (strcmp(worker->due[i].run, run) == 0) {
            take_out(worker, i);
        }
    }
    if (worker->due_count == RANKS_WORKER_RUNS_MAX) {
        take_out(worker, 0);
    }
    char *copy = strdup(run);
    if (copy != NULL) {
        worker->due[worker->due_count++] = (struct ranks_due){copy, monotonic_after(QUIET_MS)};
    }
    thread_sleeper_wake(&worker->thread);
}

static bool has_job(const struct jobs *jobs, const char *run)
{
    for (const struct job *job = jobs->head; job != NULL; job = job->next) {
        if (job_is_unfinished(job) && strcmp(job->run, run) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- making them; the lock is not held ---- */

static bool make_missing(struct jobs *jobs,
                         struct store_snapshot *snapshot,
                         struct arena *arena,
                         const struct query_ranks *ranks,
                         struct err *err)
{
    size_t budget_bytes;
    struct ranks_verdict *kept = NULL;
    struct query_ranks_made *made = arena_calloc(arena, 1, sizeof *made);
    store_snapshot_close(snapshot); /* not held while others work */
    if (made == NULL || !jobs_window_begin(jobs, &budget_bytes, err)) {
        return made != NULL || err_set(err, ERR_NO_MEMORY, "no memory");
    }
    bool ok = query_ranks_find_verdict(snapshot, arena, ranks, &kept, err) &&
              (kept != NULL || query_ranks_make(snapshot, arena, ranks, false, false, made, err));
    jobs_window_end(jobs);
    return ok;
}

static void make(struct jobs *jobs, const char *run)
{
    struct store_snapshot snapshot;
    struct arena arena;
    struct query_ranks ranks;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    store_snapshot_init(&snapshot, jobs->store);
    bool ok = query_ranks_open(&snapshot, &arena, run, 0, &ranks, &err) &&
              (ranks.trace_count < 2 || make_missing(jobs, &snapshot, &arena, &ranks, &err));
    store_snapshot_close(&snapshot);
    arena_free(&arena);
    if (!ok && err.code != ERR_NOT_FOUND && err.code != ERR_UNAVAILABLE) {
        log_write(jobs->log, LOG_WARN, "the ranks of %s are compared when they are asked for: %s",
                  run, err.msg);
    }
}

/* ---- the thread ---- */

/* The lock is held, but not while it works. */
static void work(struct jobs *jobs)
{
    struct ranks_worker *worker = &jobs->ranks;
    char *run = worker->due[0].run;
    worker->due[0].run = NULL;
    take_out(worker, 0);
    if (has_job(jobs, run)) {
        ranks_worker_note(jobs, run);
    } else {
        (void)pthread_mutex_unlock(&jobs->lock);
        make(jobs, run);
        (void)pthread_mutex_lock(&jobs->lock);
    }
    free(run);
}

static void *ranks_worker_run(void *argument)
{
    struct jobs *jobs = argument;
    struct ranks_worker *worker = &jobs->ranks;
    background_begin();
    (void)pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping) {
        struct timespec now = monotonic_after(0);
        if (worker->due_count == 0) {
            (void)pthread_cond_wait(&worker->thread.wake, &jobs->lock);
        } else if (monotonic_is_before(&now, &worker->due[0].at)) {
            struct timespec at = worker->due[0].at;
            (void)pthread_cond_timedwait(&worker->thread.wake, &jobs->lock, &at);
        } else {
            work(jobs);
        }
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

bool ranks_worker_start(struct jobs *jobs, struct err *err)
{
    return thread_sleeper_start(&jobs->ranks.thread, ranks_worker_run, jobs,
                                "no resources for the views of ranks", err);
}

void ranks_worker_join(struct jobs *jobs)
{
    thread_sleeper_join(&jobs->ranks.thread, &jobs->lock);
    /* Jobs that ended after it have left some. */
    while (jobs->ranks.due_count > 0) {
        take_out(&jobs->ranks, 0);
    }
}
