#include "ingest/jobs/queue/janitor.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/thread.h"
#include "ingest/base/wall_clock.h"
#include "ingest/jobs/queue/internal.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_INTERVAL_MS INT64_C(3600000)

/* One look through everything. */
struct look {
    struct jobs *jobs;
    struct arena arena;
    const char **busy; /* runs that have a job or an upload that just came */
    size_t busy_count;
    struct retention_catalogue catalogue;
    int64_t now_s;
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
        const char *name = arena_strndup(&look->arena, job->run, strlen(job->run));
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
    size_t count = count_jobs(jobs->head) + count_jobs(jobs->janitor.arrivals);
    look->busy = arena_calloc(&look->arena, count, sizeof *look->busy);
    bool ok =
        look->busy != NULL && add_busy(look, jobs->head) && add_busy(look, jobs->janitor.arrivals);
    return ok || err_set(err, ERR_NO_MEMORY, "no memory to look through the jobs");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void keep_busy(struct look *look)
{
    qsort(look->busy, look->busy_count, sizeof *look->busy, compare_names);
    for (size_t i = 0; i < look->catalogue.run_count; i++) {
        struct retention_run *run = &look->catalogue.runs[i];
        run->stays = run->stays || bsearch(&run->name, look->busy, look->busy_count,
                                           sizeof *look->busy, compare_names) != NULL;
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
    jobs->janitor.removed[reason]++;
    (void)pthread_mutex_unlock(&jobs->lock);
}

/* Only the quota of everything has to be measured anew each time: the database tells no run's part
 * of it. */
static bool
measure(struct look *look, enum retention_reason reason, uint64_t *used_bytes, struct err *err)
{
    *used_bytes = 0;
    return reason != RETENTION_QUOTA || look->jobs->janitor.rules.quota_bytes == 0 ||
           store_used_bytes(look->jobs->store, used_bytes, err);
}

static bool remove_for(struct look *look, enum retention_reason reason, struct err *err)
{
    struct janitor *janitor = &look->jobs->janitor;
    uint64_t used_bytes = 0;
    size_t at = 0;
    while (!atomic_load(&janitor->stop)) {
        bool removed = false;
        if (!measure(look, reason, &used_bytes, err)) {
            return false;
        }
        at = retention_next(&look->catalogue, at, reason, &janitor->rules, look->now_s, used_bytes);
        if (at == look->catalogue.run_count) {
            break;
        }
        if (!store_retention_remove(look->jobs->store, &look->catalogue.runs[at], &janitor->stop,
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
    struct janitor *janitor = &jobs->janitor;
    while (janitor->arrivals != NULL) {
        struct job *job = janitor->arrivals;
        janitor->arrivals = job->next;
        job_free(job);
    }
}

/* The lock is held, but not while it looks. */
static void work(struct jobs *jobs)
{
    struct look look = {.jobs = jobs, .now_s = wall_clock_s()};
    struct err err = ERR_INIT;
    arena_init(&look.arena, 0);
    bool ok = read_busy(&look, &err);
    free_arrivals(jobs);
    jobs->janitor.is_called = false;
    (void)pthread_mutex_unlock(&jobs->lock);

    ok = ok && look_through(&look, &err);
    if (!ok) {
        log_write(jobs->log, LOG_WARN, "old runs stay until the next look: %s", err.msg);
    }
    arena_free(&look.arena);
    (void)pthread_mutex_lock(&jobs->lock);
}

static void *janitor_run(void *argument)
{
    struct jobs *jobs = argument;
    struct janitor *janitor = &jobs->janitor;
    (void)pthread_mutex_lock(&jobs->lock);
    while (!atomic_load(&janitor->stop)) {
        work(jobs);
        struct timespec next = monotonic_after(LOOK_INTERVAL_MS);
        int waited = 0;
        while (!janitor->is_called && !atomic_load(&janitor->stop) && waited == 0) {
            waited = pthread_cond_timedwait(&janitor->wake, &jobs->lock, &next);
        }
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

bool janitor_start(struct jobs *jobs, struct err *err)
{
    struct janitor *janitor = &jobs->janitor;
    if (!retention_has_rules(&janitor->rules)) {
        return true;
    }
    if (!monotonic_cond_init(&janitor->wake)) {
        return err_set(err, ERR_NO_MEMORY, "no resources for the keeping of quotas and ages");
    }
    janitor->runs = thread_start(&janitor->thread, janitor_run, jobs) == 0;
    if (!janitor->runs) {
        (void)pthread_cond_destroy(&janitor->wake);
        return err_set(err, ERR_NO_MEMORY, "no resources for the keeping of quotas and ages");
    }
    return true;
}

void janitor_call(struct jobs *jobs, struct job *job)
{
    struct janitor *janitor = &jobs->janitor;
    job->next = janitor->arrivals;
    janitor->arrivals = job;
    janitor->is_called = true;
    (void)pthread_cond_signal(&janitor->wake);
}

void janitor_stop(struct jobs *jobs)
{
    atomic_store(&jobs->janitor.stop, true);
    if (jobs->janitor.runs) {
        (void)pthread_cond_signal(&jobs->janitor.wake);
    }
}

void janitor_join(struct jobs *jobs)
{
    struct janitor *janitor = &jobs->janitor;
    if (!janitor->runs) {
        return;
    }
    (void)pthread_join(janitor->thread, NULL);
    (void)pthread_cond_destroy(&janitor->wake);
    janitor->runs = false;
    free_arrivals(jobs);
}
