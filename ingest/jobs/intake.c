#include "ingest/jobs/intake.h"

#include "ingest/formats/event_relay.h"
#include "ingest/store/store_events.h"
#include "ingest/store/store_timeline.h"

#include <stdlib.h>
#include <string.h>

struct intake {
    struct store_ingest *ingest;
    struct job *job;
    bool has_whole_budget;
    uint64_t events;
    struct arena arena; /* of the failures' members */
    struct store_job_failure *failures;
    size_t failure_count;
    size_t more_failures; /* not in the list */
};

/* ---- events and timelines ---- */

/* These two are called by the relay's thread, while nobody else asks the ingest. */
static bool take_events(void *context,
                        const struct event_log *log,
                        const struct event_batch *batch,
                        struct err *err)
{
    struct intake *intake = context;
    return store_ingest_events(intake->ingest, log, batch, err);
}

static bool end_events(void *context, const struct event_log *log, struct err *err)
{
    struct intake *intake = context;
    return store_ingest_events_end(intake->ingest, log, err);
}

static bool
take_block(void *context, uint32_t level, const struct timeline_block *block, struct err *err)
{
    struct intake *intake = context;
    return store_ingest_timeline_block(intake->ingest, level, block, err);
}

static bool
take_points(void *context, uint32_t level, const struct timeline_points *points, struct err *err)
{
    struct intake *intake = context;
    return store_ingest_timeline_points(intake->ingest, level, points, err);
}

static bool take_flows(
    void *context, bool by_target, const struct timeline_flow *flows, size_t count, struct err *err)
{
    struct intake *intake = context;
    return store_ingest_flows(intake->ingest, by_target, flows, count, err);
}

/* ---- traces and failures ---- */

static bool take_trace(void *context,
                       struct pipeline_item *item,
                       const struct timeline *timeline,
                       struct err *err)
{
    struct intake *intake = context;
    atomic_store(&intake->job->progress.stage, STAGE_STORING);
    intake->events += (uint64_t)item->results->event_count;
    return (timeline == NULL || store_ingest_timeline(intake->ingest, timeline, err)) &&
           store_ingest_trace(intake->ingest, item->worker, item->span_digits, item->format,
                              item->results, err);
}

static bool
keep_failure(struct intake *intake, const char *member, const struct err *error, struct err *err)
{
    if (intake->failure_count == INTAKE_FAILURES_MAX) {
        intake->more_failures++;
        return true;
    }
    if (intake->failures == NULL) {
        /* One more for the number of those that are not in the list. */
        intake->failures = calloc(INTAKE_FAILURES_MAX + 1, sizeof *intake->failures);
    }
    const char *copy = arena_strndup(&intake->arena, member, strlen(member));
    if (copy == NULL || intake->failures == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to tell what could not be read");
    }
    intake->failures[intake->failure_count++] =
        (struct store_job_failure){.member = copy, .error = *error};
    return true;
}

static bool
take_failure(void *context, const char *member, const struct err *error, struct err *err)
{
    struct intake *intake = context;
    if (error->code == ERR_TOO_LARGE && !intake->has_whole_budget) {
        *err = *error;
        return false;
    }
    return store_ingest_drop_events(intake->ingest, err) &&
           keep_failure(intake, member, error, err);
}

/* Before the traces are visible: who finds them done finds the failures, too. */
static bool store_failures(struct jobs *jobs, struct intake *intake, struct err *err)
{
    size_t count = intake->failure_count;
    if (intake->more_failures > 0) {
        struct err more = ERR_INIT;
        (void)err_set(&more, ERR_BAD_INPUT, "%zu further members could not be read",
                      intake->more_failures);
        intake->failures[count++] = (struct store_job_failure){.member = "", .error = more};
    }
    return count == 0 ||
           store_job_set_failures(jobs->store, intake->job->id, intake->failures, count, err);
}

static bool carry_into(struct jobs *jobs,
                       struct intake *intake,
                       struct event_relay *relay,
                       const char *path,
                       struct err *err)
{
    struct job *job = intake->job;
    struct pipeline_sink sink = {.context = intake,
                                 .events = event_relay_sink(relay),
                                 .timeline = {.context = intake,
                                              .take_block = take_block,
                                              .take_points = take_points,
                                              .take_flows = take_flows},
                                 .pack_log = store_pack_log,
                                 .trace = take_trace,
                                 .failed = take_failure};
    struct pipeline_options options = {.memory_budget_bytes = job->grant_bytes,
                                       .input_limits = jobs->input_limits,
                                       .max_events = jobs->max_events,
                                       .marker = job->marker};
    struct err second = ERR_INIT;
    bool ok = pipeline_stream(path, job->file_name, &options, &job->progress, &sink, err);
    bool kept = store_failures(jobs, intake, &second);
    if (ok && !kept) {
        *err = second;
    }
    return ok && kept;
}

/* A thread of its own stores the events while this one reads on. */
static bool
carry_by_relay(struct jobs *jobs, struct intake *intake, const char *path, struct err *err)
{
    const struct event_sink store = {.context = intake, .take = take_events, .end = end_events};
    struct event_relay *relay = event_relay_create(&store);
    if (relay == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store events");
    }
    bool ok = carry_into(jobs, intake, relay, path, err);
    event_relay_destroy(relay);
    return ok;
}

bool intake_run(
    struct jobs *jobs, struct job *job, const char *path, uint64_t *events, struct err *err)
{
    struct intake intake = {.job = job, .has_whole_budget = job->grant_bytes >= jobs->budget_bytes};
    if (!store_ingest_begin(jobs->store, job->id, &intake.ingest, err)) {
        return false;
    }
    arena_init(&intake.arena, 0);
    bool ok = carry_by_relay(jobs, &intake, path, err);
    arena_free(&intake.arena);
    free(intake.failures);
    *events = intake.events;
    if (!ok || !jobs_await_arrival(jobs, job->id, err)) {
        store_ingest_abort(intake.ingest);
        return false;
    }
    atomic_store(&job->progress.stage, STAGE_STORING);
    return store_ingest_publish(intake.ingest, err);
}
