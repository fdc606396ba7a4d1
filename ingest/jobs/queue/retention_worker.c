#include "ingest/jobs/queue/retention_worker.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/order.h"
#include "ingest/jobs/queue/internal.h"
#include "ingest/store/store_nodes.h"

#include <stdlib.h>

#define LOOK_INTERVAL_MS INT64_C(3600000)
/* Where uploads of other servers do not call. */
#define SHARED_LOOK_INTERVAL_MS 60000

/* One look through everything. */
struct look {
    struct jobs *jobs;
    struct arena arena;
    const char **busy; /* runs that have a job or an upload that just came */
    size_t busy_count;
    struct retention_catalogue catalogue;
};

/* ---- what stays for now ---- */

static size_t count_jobs(const struct job *head)
{
    size_t count = 0;
    for (const struct job *job = head; job != NULL; job = job->next) {
        count++;
    }
    return count;
}

static bool add_busy(struct look *look, const struct job *head)
{
    for (const struct job *job = head; job != NULL; job = job->next) {
        const char *name = arena_strdup(&look->arena, job->run);
        if (name == NULL) {
            return false;
        }
        look->busy[look->busy_count++] = name;
    }
    return true;
}

/* Before the catalogue is read: what is published by then is among these. The lock is held. */
static bool read_busy(struct look *look, struct err *err)
{
    struct jobs *jobs = look->jobs;
    size_t count = count_jobs(jobs->head) + count_jobs(jobs->retention.arrivals);
    look->busy = arena_calloc(&look->arena, count, sizeof *look->busy);
    bool ok = look->busy != NULL && add_busy(look, jobs->head) &&
              add_busy(look, jobs->retention.arrivals);
    return ok || err_set(err, ERR_NO_MEMORY, "no memory to look through the jobs");
}

static void keep_busy(struct look *look)
{
    qsort(look->busy, look->busy_count, sizeof *look->busy, order_text_at);
    for (size_t i = 0; i < look->catalogue.run_count; i++) {
        struct retention_run *run = &look->catalogue.runs[i];
        run->stays = run->stays || bsearch(&run->name, look->busy, look->busy_count,
                                           sizeof *look->busy, order_text_at) != NULL;
    }
}

/* ---- removing ---- */

static void note_removed(struct look *look, size_t at, enum retention_reason reason)
{
    struct jobs *jobs = look->jobs;
    const struct retention_run *run = &look->catalogue.runs[at];
    const char *project = look->catalogue.projects[run->project].name;
    const struct log_field fields[] = {
        {.name = "run", .kind = LOG_FIELD_TEXT, .text = run->name},
        {.name = "project", .kind = LOG_FIELD_TEXT, .text = project[0] == '\0' ? NULL : project},
        {.name = "reason", .kind = LOG_FIELD_TEXT, .text = retention_reason_text(reason)},
        {.name = "size_bytes", .kind = LOG_FIELD_INT, .number = (int64_t)run->size_bytes},
    };
    log_record(jobs->log, LOG_INFO, "run removed", fields, sizeof fields / sizeof fields[0]);
    retention_note_removed(&look->catalogue, at);
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->retention.removed[reason]++;
    (void)pthread_mutex_unlock(&jobs->lock);
}

/* Only the quota of everything has to be measured anew each time: the database tells no run's part
 * of it. */
static bool
measure(struct look *look, enum retention_reason reason, uint64_t *used_bytes, struct err *err)
{
    *used_bytes = 0;
    return reason != RETENTION_QUOTA || look->jobs->retention.rules.quota_bytes == 0 ||
           store_used_bytes(look->jobs->store, used_bytes, err);
}

static bool remove_for(struct look *look, enum retention_reason reason, struct err *err)
{
    struct retention_worker *retention = &look->jobs->retention;
    uint64_t used_bytes = 0;
    size_t at = 0;
    while (!atomic_load(&retention->stop)) {
        bool removed = false;
        if (!measure(look, reason, &used_bytes, err)) {
            return false;
        }
        at = retention_next(&look->catalogue, at, reason, &retention->rules, look->catalogue.now_s,
                            used_bytes);
        if (at == look->catalogue.run_count) {
            break;
        }
        if (!store_retention_remove(look->jobs->store, &look->catalogue.runs[at], &retention->stop,
                                    &removed, err)) {
            return false;
        }
        if (removed) {
            note_removed(look, at, reason);
        }
        at++;
    }
    return true;
}

static bool look_through(struct look *look, struct err *err)
{
    if (!store_retention_read(look->jobs->store, &look->arena, &look->catalogue, err)) {
        return false;
    }
    keep_busy(look);
    return remove_for(look, RETENTION_AGE, err) && remove_for(look, RETENTION_PROJECT_QUOTA, err) &&
           remove_for(look, RETENTION_QUOTA, err);
}

/* ---- the thread ---- */

static void free_arrivals(struct jobs *jobs)
{
    struct retention_worker *retention = &jobs->retention;
    while (retention->arrivals != NULL) {
        struct job *job = retention->arrivals;
        retention->arrivals = job->next;
        job_free(job);
    }
}

/* The lock is held, but not while it looks. */
static void work(struct jobs *jobs)
{
    struct look look = {.jobs = jobs};
    struct err err = ERR_INIT;
    arena_init(&look.arena, 0);
    bool ok = read_busy(&look, &err);
    free_arrivals(jobs);
    jobs->retention.is_called = false;
    (void)pthread_mutex_unlock(&jobs->lock);

    ok = ok && (!store_has_duty(jobs->store, STORE_DUTY_RETENTION) || look_through(&look, &err));
    if (!ok) {
        log_write(jobs->log, LOG_WARN, "old runs stay until the next look: %s", err.msg);
    }
    arena_free(&look.arena);
    (void)pthread_mutex_lock(&jobs->lock);
}

static void *retention_worker_run(void *argument)
{
    struct jobs *jobs = argument;
    struct retention_worker *retention = &jobs->retention;
    (void)pthread_mutex_lock(&jobs->lock);
    while (!atomic_load(&retention->stop)) {
        work(jobs);
        struct timespec next = monotonic_after(
            store_is_on_server(jobs->store) ? SHARED_LOOK_INTERVAL_MS : LOOK_INTERVAL_MS);
        int waited = 0;
        while (!retention->is_called && !atomic_load(&retention->stop) && waited == 0) {
            waited = pthread_cond_timedwait(&retention->thread.wake, &jobs->lock, &next);
        }
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

bool retention_worker_start(struct jobs *jobs, struct err *err)
{
    return !retention_has_rules(&jobs->retention.rules) ||
           thread_sleeper_start(&jobs->retention.thread, retention_worker_run, jobs,
                                "no resources for the keeping of quotas and ages", err);
}

void retention_worker_wake(struct jobs *jobs, struct job *job)
{
    struct retention_worker *retention = &jobs->retention;
    job->next = retention->arrivals;
    retention->arrivals = job;
    retention->is_called = true;
    thread_sleeper_wake(&retention->thread);
}

void retention_worker_stop(struct jobs *jobs)
{
    atomic_store(&jobs->retention.stop, true);
    thread_sleeper_wake(&jobs->retention.thread);
}

void retention_worker_join(struct jobs *jobs)
{
    thread_sleeper_join(&jobs->retention.thread, &jobs->lock);
    free_arrivals(jobs);
}
