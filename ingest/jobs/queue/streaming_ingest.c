#include "ingest/jobs/queue/streaming_ingest.h"

#include "ingest/base/thread.h"
#include "ingest/jobs/queue/internal.h"
#include "ingest/jobs/queue/store_sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* At once; what they may take of memory all together is a quarter of the jobs' budget, beside it,
 * so that a slow client is in nobody's way. */
#define STREAMING_INGESTS_MAX 2
#define BUDGET_SHARE ((uint64_t)4 * STREAMING_INGESTS_MAX)
/* Smaller uploads are read in less time than a thread takes to begin. */
#define LEAST_BYTES ((uint64_t)64 << 10)

struct streaming_ingest {
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
    struct streaming_ingest *streaming = context;
    (void)pthread_mutex_lock(&streaming->lock);
    while (streaming->there_bytes <= read_bytes && !streaming->is_whole && !streaming->is_dropped) {
        (void)pthread_cond_wait(&streaming->changed, &streaming->lock);
    }
    *there_bytes = streaming->there_bytes;
    bool ok = !streaming->is_dropped;
    (void)pthread_mutex_unlock(&streaming->lock);
    return ok || is_dropped(err);
}

static bool await_job(void *context, int64_t *job_id, struct err *err)
{
    struct streaming_ingest *streaming = context;
    (void)pthread_mutex_lock(&streaming->lock);
    while (streaming->job_id == 0 && !streaming->is_dropped) {
        (void)pthread_cond_wait(&streaming->changed, &streaming->lock);
    }
    *job_id = streaming->job_id;
    bool ok = !streaming->is_dropped;
    (void)pthread_mutex_unlock(&streaming->lock);
    return ok || is_dropped(err);
}

static void *run(void *argument)
{
    struct streaming_ingest *streaming = argument;
    struct jobs *jobs = streaming->jobs;
    struct store_ingest_owner owner = {.context = streaming, .await = await_job};
    struct store_sink_file file = {.fd = streaming->fd,
                                   .growth = &streaming->growth,
                                   .file_name = streaming->file_name,
                                   .marker = streaming->marker,
                                   .memory_budget_bytes = jobs->budget_bytes / BUDGET_SHARE,
                                   .progress = &streaming->progress};
    struct err err = ERR_INIT;
    streaming->ok = store_ingest_begin_streaming(jobs->store, &owner, &streaming->ingest, &err) &&
                    store_sink_read(jobs, &file, 0, streaming->ingest, &streaming->events, &err);
    return NULL;
}

/* ---- life ---- */

void streaming_ingest_destroy(struct streaming_ingest *streaming)
{
    if (streaming == NULL) {
        return;
    }
    if (streaming->runs) {
        (void)pthread_mutex_lock(&streaming->lock);
        streaming->is_dropped = true;
        (void)pthread_cond_broadcast(&streaming->changed);
        (void)pthread_mutex_unlock(&streaming->lock);
        (void)pthread_join(streaming->thread, NULL);
    }
    store_ingest_abort(streaming->ingest);
    if (streaming->fd >= 0) {
        (void)close(streaming->fd);
    }
    (void)pthread_cond_destroy(&streaming->changed);
    (void)pthread_mutex_destroy(&streaming->lock);
    free(streaming->file_name);
    free(streaming->marker);
    free(streaming);
}

static struct streaming_ingest *
create(const struct streaming_feed *follow, const char *path, const struct worker_look *look)
{
    bool has_marker = follow->marker != NULL && *follow->marker != '\0';
    struct streaming_ingest *streaming = calloc(1, sizeof *streaming);
    if (streaming == NULL || pthread_mutex_init(&streaming->lock, NULL) != 0) {
        free(streaming);
        return NULL;
    }
    if (pthread_cond_init(&streaming->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&streaming->lock);
        free(streaming);
        return NULL;
    }
    streaming->jobs = follow->jobs;
    streaming->look = *look;
    streaming->growth = (struct input_growth){
        .context = streaming, .wait = await_bytes, .total_bytes = follow->size_bytes};
    streaming->file_name = strdup(follow->file_name);
    streaming->marker = has_marker ? strdup(follow->marker) : NULL;
    streaming->fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_ready = streaming->file_name != NULL && (streaming->marker != NULL || !has_marker) &&
                    streaming->fd >= 0;
    streaming->runs = is_ready && thread_start(&streaming->thread, run, streaming) == 0;
    if (!streaming->runs) {
        streaming_ingest_destroy(streaming);
        return NULL;
    }
    return streaming;
}

/* ---- places ---- */

/* True when a worker would take the job at once, were it there. */
static bool take_place(struct jobs *jobs)
{
    (void)pthread_mutex_lock(&jobs->lock);
    bool has_place = jobs->streaming_count < STREAMING_INGESTS_MAX && claims_have_room(jobs);
    jobs->streaming_count += has_place;
    (void)pthread_mutex_unlock(&jobs->lock);
    return has_place;
}

static void leave_place(struct jobs *jobs)
{
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->streaming_count--;
    jobs_leave_pieces(jobs);
    (void)pthread_cond_signal(&jobs->work);
    (void)pthread_mutex_unlock(&jobs->lock);
}

static bool is_worth_it(const struct jobs *jobs, const struct worker_look *look)
{
    return look->is_json && look->estimate_bytes <= jobs->budget_bytes / BUDGET_SHARE;
}

static void begin(struct streaming_feed *follow, struct store_blob *blob)
{
    const char *path = store_blob_incoming(blob);
    if (path == NULL || follow->size_bytes < LEAST_BYTES || !take_place(follow->jobs)) {
        return;
    }
    struct worker_look look = worker_look_into(path, follow->size_bytes);
    if (is_worth_it(follow->jobs, &look)) {
        follow->streaming = create(follow, path, &look);
    }
    if (follow->streaming == NULL) {
        leave_place(follow->jobs);
    }
}

static void tell(struct streaming_ingest *streaming, uint64_t there_bytes, bool is_whole)
{
    (void)pthread_mutex_lock(&streaming->lock);
    streaming->there_bytes = there_bytes;
    streaming->is_whole = is_whole;
    (void)pthread_cond_broadcast(&streaming->changed);
    (void)pthread_mutex_unlock(&streaming->lock);
}

void streaming_ingest_feed(struct streaming_feed *follow, struct store_blob *blob)
{
    uint64_t there_bytes = store_blob_there_bytes(blob);
    if (there_bytes == follow->there_bytes) {
        return;
    }
    if (follow->there_bytes == 0) {
        begin(follow, blob);
    }
    follow->there_bytes = there_bytes;
    if (follow->streaming != NULL) {
        tell(follow->streaming, there_bytes, false);
    }
}

struct streaming_ingest *
streaming_ingest_end_feed(struct streaming_feed *follow, bool is_committed, uint64_t size_bytes)
{
    struct streaming_ingest *streaming = follow->streaming;
    follow->streaming = NULL;
    if (!is_committed) {
        streaming_ingest_discard(streaming);
        return NULL;
    }
    if (streaming != NULL) {
        tell(streaming, size_bytes, true);
    }
    return streaming;
}

void streaming_ingest_discard(struct streaming_ingest *streaming)
{
    if (streaming != NULL) {
        struct jobs *jobs = streaming->jobs;
        streaming_ingest_destroy(streaming);
        leave_place(jobs);
    }
}

/* ---- for the queue ---- */

void streaming_ingest_attach(struct streaming_ingest *streaming)
{
    streaming->jobs->streaming_count--;
}

struct store_ingest *
streaming_ingest_finish(struct streaming_ingest *streaming, int64_t job_id, uint64_t *events)
{
    (void)pthread_mutex_lock(&streaming->lock);
    streaming->job_id = job_id;
    (void)pthread_cond_broadcast(&streaming->changed);
    (void)pthread_mutex_unlock(&streaming->lock);
    (void)pthread_join(streaming->thread, NULL);
    streaming->runs = false;
    if (!streaming->ok) {
        return NULL;
    }
    struct store_ingest *ingest = streaming->ingest;
    streaming->ingest = NULL;
    *events = streaming->events;
    return ingest;
}

struct worker_look ahead_look(const struct streaming_ingest *streaming)
{
    return streaming->look;
}

struct pipeline_progress *streaming_ingest_progress(struct streaming_ingest *streaming)
{
    return &streaming->progress;
}
