#include "ingest/jobs/queue/ahead.h"

#include "ingest/base/thread.h"
#include "ingest/jobs/queue/background.h"
#include "ingest/jobs/queue/intake.h"
#include "ingest/jobs/queue/internal.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* At once; what they may take of memory all together is a quarter of the jobs' budget, beside it,
 * so that a slow client is in nobody's way. */
#define AHEAD_MAX 2
#define BUDGET_SHARE ((uint64_t)4 * AHEAD_MAX)
/* Smaller uploads are read in less time than a thread takes to begin. */
#define LEAST_BYTES ((uint64_t)64 << 10)

struct ahead {
    struct jobs *jobs;
    char *file_name;
    char *marker; /* NULL: none */
    int fd;
    struct worker_look look;
    struct input_growth growth;
    struct pipeline_progress progress;
    pthread_t thread;
    bool runs;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    uint64_t there_bytes;
    bool is_whole;
    bool is_dropped;
    int64_t job_id; /* 0: there is none yet */

    /* the thread's until it is joined */
    struct store_ingest *ingest;
    uint64_t events;
    bool ok;
};

/* ---- the thread ---- */

static bool is_dropped(struct err *err)
{
    return err_set(err, ERR_CLIENT_GONE, "nobody wants this file any more");
}

static bool await_bytes(void *context, uint64_t read_bytes, uint64_t *there_bytes, struct err *err)
{
    struct ahead *ahead = context;
    (void)pthread_mutex_lock(&ahead->lock);
    while (ahead->there_bytes <= read_bytes && !ahead->is_whole && !ahead->is_dropped) {
        (void)pthread_cond_wait(&ahead->changed, &ahead->lock);
    }
    *there_bytes = ahead->there_bytes;
    bool ok = !ahead->is_dropped;
    (void)pthread_mutex_unlock(&ahead->lock);
    return ok || is_dropped(err);
}

static bool await_job(void *context, int64_t *job_id, struct err *err)
{
    struct ahead *ahead = context;
    (void)pthread_mutex_lock(&ahead->lock);
    while (ahead->job_id == 0 && !ahead->is_dropped) {
        (void)pthread_cond_wait(&ahead->changed, &ahead->lock);
    }
    *job_id = ahead->job_id;
    bool ok = !ahead->is_dropped;
    (void)pthread_mutex_unlock(&ahead->lock);
    return ok || is_dropped(err);
}

static void *run(void *argument)
{
    struct ahead *ahead = argument;
    struct jobs *jobs = ahead->jobs;
    struct store_ingest_owner owner = {.context = ahead, .await = await_job};
    struct intake_file file = {.fd = ahead->fd,
                               .growth = &ahead->growth,
                               .file_name = ahead->file_name,
                               .marker = ahead->marker,
                               .memory_budget_bytes = jobs->budget_bytes / BUDGET_SHARE,
                               .progress = &ahead->progress};
    struct err err = ERR_INIT;
    if (jobs->in_background) {
        background_begin();
    }
    ahead->ok = store_ingest_begin_ahead(jobs->store, &owner, &ahead->ingest, &err) &&
                intake_read(jobs, &file, 0, ahead->ingest, &ahead->events, &err);
    return NULL;
}

/* ---- life ---- */

void ahead_destroy(struct ahead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    if (ahead->runs) {
        (void)pthread_mutex_lock(&ahead->lock);
        ahead->is_dropped = true;
        (void)pthread_cond_broadcast(&ahead->changed);
        (void)pthread_mutex_unlock(&ahead->lock);
        (void)pthread_join(ahead->thread, NULL);
    }
    store_ingest_abort(ahead->ingest);
    if (ahead->fd >= 0) {
        (void)close(ahead->fd);
    }
    (void)pthread_cond_destroy(&ahead->changed);
    (void)pthread_mutex_destroy(&ahead->lock);
    free(ahead->file_name);
    free(ahead->marker);
    free(ahead);
}

static struct ahead *
create(const struct ahead_follow *follow, const char *path, const struct worker_look *look)
{
    bool has_marker = follow->marker != NULL && *follow->marker != '\0';
    struct ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL || pthread_mutex_init(&ahead->lock, NULL) != 0) {
        free(ahead);
        return NULL;
    }
    if (pthread_cond_init(&ahead->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&ahead->lock);
        free(ahead);
        return NULL;
    }
    ahead->jobs = follow->jobs;
    ahead->look = *look;
    ahead->growth = (struct input_growth){
        .context = ahead, .wait = await_bytes, .total_bytes = follow->size_bytes};
    ahead->file_name = strdup(follow->file_name);
    ahead->marker = has_marker ? strdup(follow->marker) : NULL;
    ahead->fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_ready =
        ahead->file_name != NULL && (ahead->marker != NULL || !has_marker) && ahead->fd >= 0;
    ahead->runs = is_ready && thread_start(&ahead->thread, run, ahead) == 0;
    if (!ahead->runs) {
        ahead_destroy(ahead);
        return NULL;
    }
    return ahead;
}

/* ---- places ---- */

/* True when a worker would take the job at once, were it there. */
static bool take_place(struct jobs *jobs)
{
    (void)pthread_mutex_lock(&jobs->lock);
    unsigned busy = jobs->aheads;
    for (const struct job *job = jobs->head; job != NULL; job = job->next) {
        busy += job_is_unfinished(job);
    }
    bool has_place = !jobs->stopping && jobs->aheads < AHEAD_MAX && busy < jobs->thread_count;
    jobs->aheads += has_place;
    (void)pthread_mutex_unlock(&jobs->lock);
    return has_place;
}

static void leave_place(struct jobs *jobs)
{
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->aheads--;
    jobs_leave_pieces(jobs);
    (void)pthread_cond_signal(&jobs->work);
    (void)pthread_mutex_unlock(&jobs->lock);
}

static bool is_worth_it(const struct jobs *jobs, const struct worker_look *look)
{
    return look->is_json && look->estimate_bytes <= jobs->budget_bytes / BUDGET_SHARE;
}

static void begin(struct ahead_follow *follow, struct store_blob *blob)
{
    const char *path = store_blob_incoming(blob);
    if (path == NULL || follow->size_bytes < LEAST_BYTES || !take_place(follow->jobs)) {
        return;
    }
    struct worker_look look = worker_look_into(path, follow->size_bytes);
    if (is_worth_it(follow->jobs, &look)) {
        follow->ahead = create(follow, path, &look);
    }
    if (follow->ahead == NULL) {
        leave_place(follow->jobs);
    }
}

static void tell(struct ahead *ahead, uint64_t there_bytes, bool is_whole)
{
    (void)pthread_mutex_lock(&ahead->lock);
    ahead->there_bytes = there_bytes;
    ahead->is_whole = is_whole;
    (void)pthread_cond_broadcast(&ahead->changed);
    (void)pthread_mutex_unlock(&ahead->lock);
}

void ahead_follow(struct ahead_follow *follow, struct store_blob *blob)
{
    uint64_t there_bytes = store_blob_there_bytes(blob);
    if (there_bytes == follow->there_bytes) {
        return;
    }
    if (follow->there_bytes == 0) {
        begin(follow, blob);
    }
    follow->there_bytes = there_bytes;
    if (follow->ahead != NULL) {
        tell(follow->ahead, there_bytes, false);
    }
}

struct ahead *ahead_followed(struct ahead_follow *follow, bool is_committed, uint64_t size_bytes)
{
    struct ahead *ahead = follow->ahead;
    follow->ahead = NULL;
    if (!is_committed) {
        ahead_drop(ahead);
        return NULL;
    }
    if (ahead != NULL) {
        tell(ahead, size_bytes, true);
    }
    return ahead;
}

void ahead_drop(struct ahead *ahead)
{
    if (ahead != NULL) {
        struct jobs *jobs = ahead->jobs;
        ahead_destroy(ahead);
        leave_place(jobs);
    }
}

/* ---- for the queue ---- */

void ahead_hand_over(struct ahead *ahead)
{
    ahead->jobs->aheads--;
}

struct store_ingest *ahead_take(struct ahead *ahead, int64_t job_id, uint64_t *events)
{
    (void)pthread_mutex_lock(&ahead->lock);
    ahead->job_id = job_id;
    (void)pthread_cond_broadcast(&ahead->changed);
    (void)pthread_mutex_unlock(&ahead->lock);
    (void)pthread_join(ahead->thread, NULL);
    ahead->runs = false;
    if (!ahead->ok) {
        return NULL;
    }
    struct store_ingest *ingest = ahead->ingest;
    ahead->ingest = NULL;
    *events = ahead->events;
    return ingest;
}

struct worker_look ahead_look(const struct ahead *ahead)
{
    return ahead->look;
}

struct pipeline_progress *ahead_progress(struct ahead *ahead)
{
    return &ahead->progress;
}
