#include "ingest/jobs/queue/store_sink.h"

#include "ingest/store/store_events.h"
#include "ingest/store/store_timeline.h"

#include <stdlib.h>

struct store_sink {
    struct store_ingest *ingest;
    const struct store_sink_file *file;
    uint64_t events;
    struct arena arena; /* of the failures' members */
    struct store_job_failure *failures;
    size_t failure_count;
    size_t more_failures; /* not in the list */
};

/* ---- events and timelines ---- */

static bool take_events(void *context,
                        const struct event_log *log,
                        const struct event_batch *batch,
                        struct err *err)
{
    struct store_sink *sink = context;
    return store_ingest_events(sink->ingest, log, batch, err);
}

static bool end_events(void *context, const struct event_log *log, struct err *err)
{
    struct store_sink *sink = context;
    return store_ingest_events_end(sink->ingest, log, err);
}

static bool
take_block(void *context, uint32_t level, const struct timeline_block *block, struct err *err)
{
    struct store_sink *sink = context;
    return store_ingest_timeline_block(sink->ingest, level, block, err);
}

static bool
take_points(void *context, uint32_t level, const struct timeline_points *points, struct err *err)
{
    struct store_sink *sink = context;
    return store_ingest_timeline_points(sink->ingest, level, points, err);
}

static bool take_flows(
    void *context, bool by_target, const struct timeline_flow *flows, size_t count, struct err *err)
{
    struct store_sink *sink = context;
    return store_ingest_flows(sink->ingest, by_target, flows, count, err);
}

/* ---- traces and failures ---- */

static bool take_tables(void *context, const struct pipeline_item *item, struct err *err)
{
    struct store_sink *sink = context;
    return store_ingest_tables(sink->ingest, item->worker, item->span_digits, item->format,
                               item->results, err);
}

static bool take_trace(void *context,
                       struct pipeline_item *item,
                       const struct timeline *timeline,
                       struct err *err)
{
    struct store_sink *sink = context;
    atomic_store(&sink->file->progress->stage, STAGE_STORING);
    sink->events += (uint64_t)item->results->event_count;
    return (timeline == NULL || store_ingest_timeline(sink->ingest, timeline, err)) &&
           store_ingest_trace(sink->ingest, item->worker, item->span_digits, item->format,
                              item->results, err);
}

static bool
keep_failure(struct store_sink *sink, const char *member, const struct err *error, struct err *err)
{
    if (sink->failure_count == STORE_SINK_FAILURES_MAX) {
        sink->more_failures++;
        return true;
    }
    if (sink->failures == NULL) {
        /* One more for the number of those that are not in the list. */
        sink->failures = calloc(STORE_SINK_FAILURES_MAX + 1, sizeof *sink->failures);
    }
    const char *copy = arena_strdup(&sink->arena, member);
    if (copy == NULL || sink->failures == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to tell what could not be read");
    }
    sink->failures[sink->failure_count++] =
        (struct store_job_failure){.member = copy, .error = *error};
    return true;
}

static bool
take_failure(void *context, const char *member, const struct err *error, struct err *err)
{
    struct store_sink *sink = context;
    if (error->code == ERR_TOO_LARGE && !sink->file->is_last_try) {
        *err = *error;
        return false;
    }
    return store_ingest_drop_events(sink->ingest, err) && keep_failure(sink, member, error, err);
}

/* Before the traces are visible: who finds them done finds the failures, too. */
static bool
store_failures(struct jobs *jobs, struct store_sink *sink, int64_t job_id, struct err *err)
{
    size_t count = sink->failure_count;
    if (sink->more_failures > 0) {
        struct err more = ERR_INIT;
        (void)err_set(&more, ERR_BAD_INPUT, "%zu further members could not be read",
                      sink->more_failures);
        sink->failures[count++] = (struct store_job_failure){.member = "", .error = more};
    }
    return count == 0 || store_job_set_failures(jobs->store, job_id, sink->failures, count, err);
}

static bool carry(const struct jobs *jobs, struct store_sink *sink, struct err *err)
{
    const struct store_sink_file *file = sink->file;
    struct pipeline_sink to = {.context = sink,
                               .events = {.context = sink, .take = take_events, .end = end_events},
                               .timeline = {.context = sink,
                                            .take_block = take_block,
                                            .take_points = take_points,
                                            .take_flows = take_flows},
                               .timeline_later_bytes = jobs_later_bytes(jobs),
                               .pack_log = store_encode_log,
                               .tables = take_tables,
                               .trace = take_trace,
                               .failed = take_failure};
    struct pipeline_options options = {.memory_budget_bytes = file->memory_budget_bytes,
                                       .input_limits = jobs->input_limits,
                                       .max_events = jobs->max_events,
                                       .kernel_rules = jobs->kernel_rules,
                                       .marker = file->marker};
    return file->growth == NULL
               ? pipeline_stream(file->path, file->file_name, &options, file->progress, &to, err)
               : pipeline_growing(file->fd, file->growth, file->file_name, &options, file->progress,
                                  &to, err);
}

bool store_sink_read(struct jobs *jobs,
                     const struct store_sink_file *file,
                     int64_t job_id,
                     struct store_ingest *ingest,
                     uint64_t *events,
                     struct err *err)
{
    struct store_sink sink = {.ingest = ingest, .file = file};
    struct err second = ERR_INIT;
    arena_init(&sink.arena, 0);
    bool ok = carry(jobs, &sink, err);
    bool kept = store_failures(jobs, &sink, job_id, &second);
    if (ok && !kept) {
        *err = second;
    }
    arena_free(&sink.arena);
    free(sink.failures);
    *events = sink.events;
    return ok && kept;
}

/* ---- jobs ---- */

/* What reading ahead has brought, or NULL: then the job is one without it. */
static struct store_ingest *finish_streaming(struct jobs *jobs, struct job *job, uint64_t *events)
{
    if (job->streaming == NULL) {
        return NULL;
    }
    struct store_ingest *ingest = streaming_ingest_finish(job->streaming, job->id, events);
    (void)pthread_mutex_lock(&jobs->lock);
    struct streaming_ingest *failed = ingest == NULL ? job->streaming : NULL;
    job->streaming = ingest == NULL ? NULL : job->streaming;
    jobs->counts.streamed += ingest != NULL;
    (void)pthread_mutex_unlock(&jobs->lock);
    streaming_ingest_destroy(failed);
    return ingest;
}

static bool read_raw(struct jobs *jobs,
                     struct job *job,
                     const char *path,
                     struct store_ingest **ingest,
                     uint64_t *events,
                     struct err *err)
{
    const struct store_sink_file file = {.path = path,
                                         .file_name = job->file_name,
                                         .marker = job->marker,
                                         .memory_budget_bytes = job->grant_bytes,
                                         .is_last_try = job->grant_bytes >= jobs->budget_bytes,
                                         .progress = &job->progress};
    if (!store_ingest_begin(jobs->store, job->id, ingest, err)) {
        *ingest = NULL;
        return false;
    }
    return store_sink_read(jobs, &file, job->id, *ingest, events, err);
}

bool store_sink_run(
    struct jobs *jobs, struct job *job, const char *path, uint64_t *events, struct err *err)
{
    struct store_ingest *ingest = finish_streaming(jobs, job, events);
    bool ok = ingest != NULL || read_raw(jobs, job, path, &ingest, events, err);
    if (!ok || !jobs_await_arrival(jobs, job->id, err)) {
        store_ingest_abort(ingest);
        return false;
    }
    atomic_store(&job_progress(job)->stage, STAGE_STORING);
    return store_ingest_publish(ingest, err);
}
