#include "ingest/jobs/queue/jobs.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/thread.h"
#include "ingest/jobs/queue/internal.h"
#include "ingest/store/store_leases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So long what a job has freed stays with the process: a page that comes from the system costs the
 * next upload a fault and the clearing of it, a fifth of its processor time in all. */
#define KEEP_MEMORY_MS 5000
/* An equal upload may end at another server between a look and the insert. */
#define SETTLE_TRIES 5
#define MEMORY_FALLBACK_BYTES ((uint64_t)2 << 30)

/* ---- the list; lock is held ---- */

struct job *jobs_find(struct jobs *jobs, int64_t id)
{
    struct job *job = jobs->head;
    while (job != NULL && job->id != id) {
        job = job->next;
    }
    return job;
}

bool job_is_unfinished(const struct job *job)
{
    return job->state == JOB_QUEUED || job->state == JOB_RUNNING;
}

bool job_has_name(const struct job *job, const char *run, const char *file_name)
{
    return strcmp(job->file_name, file_name) == 0 && strcmp(job->run, run) == 0;
}

struct pipeline_progress *job_progress(struct job *job)
{
    return job->streaming == NULL ? &job->progress : streaming_ingest_progress(job->streaming);
}

void job_free(struct job *job)
{
    if (job != NULL) {
        streaming_ingest_destroy(job->streaming);
        free(job->run);
        free(job->file_name);
        free(job->marker);
        free(job);
    }
}

void jobs_take_out(struct jobs *jobs, const struct job *job)
{
    struct job **link = &jobs->head;
    while (*link != job) {
        link = &(*link)->next;
    }
    *link = job->next;
    jobs_tell_left(jobs, job->id);
}

void jobs_remove(struct jobs *jobs, struct job *job)
{
    jobs_take_out(jobs, job);
    job_free(job);
}

void jobs_leave_pieces(struct jobs *jobs)
{
    jobs->left_pieces = true;
    jobs->return_at = monotonic_after(KEEP_MEMORY_MS);
}

static void append(struct jobs *jobs, struct job *job)
{
    struct job **link = &jobs->head;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = job;
    (void)pthread_cond_signal(&jobs->work);
}

/* The unfinished job that came last for this name. What is lost must come again. */
static const struct job *
find_by_name(const struct jobs *jobs, const char *run, const char *file_name)
{
    const struct job *found = NULL;
    for (const struct job *job = jobs->head; job != NULL; job = job->next) {
        if (job_is_unfinished(job) && job->arrival != JOB_LOST &&
            job_has_name(job, run, file_name)) {
            found = job;
        }
    }
    return found;
}

static struct job *new_job(const struct store_job *row, uint64_t estimate_bytes)
{
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return NULL;
    }
    job->id = row->id;
    job->run = strdup(row->run);
    job->file_name = strdup(row->file_name);
    job->marker = row->marker == NULL ? NULL : strdup(row->marker);
    job->rank = row->rank;
    job->is_again = row->is_again;
    job->size_bytes = row->size_bytes;
    job->estimate_bytes = estimate_bytes;
    job->state = JOB_QUEUED;
    atomic_init(&job->progress.bytes_done, 0);
    atomic_init(&job->progress.bytes_total, row->size_bytes);
    atomic_init(&job->progress.stage, STAGE_QUEUED);
    bool copied =
        job->run != NULL && job->file_name != NULL && (job->marker != NULL || row->marker == NULL);
    if (!copied || strlen(row->sha256_hex) >= SHA256_HEX_BYTES) {
        job_free(job);
        return NULL;
    }
    memcpy(job->sha256_hex, row->sha256_hex, strlen(row->sha256_hex) + 1);
    return job;
}

/* ---- start and end ---- */

static uint64_t half_of_memory(void)
{
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0) {
        return (uint64_t)pages * (uint64_t)page_bytes / 2;
    }
#endif
    return MEMORY_FALLBACK_BYTES;
}

static unsigned spare_processors(void)
{
#ifdef _SC_NPROCESSORS_ONLN
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors > 2) {
        return (unsigned)processors - 1;
    }
#endif
    return 1;
}

/* All locks or none. */
static bool init_locks(struct jobs *jobs)
{
    if (pthread_mutex_init(&jobs->submit_lock, NULL) != 0) {
        return false;
    }
    if (pthread_mutex_init(&jobs->lock, NULL) != 0) {
        (void)pthread_mutex_destroy(&jobs->submit_lock);
        return false;
    }
    if (!monotonic_cond_init(&jobs->work)) {
        (void)pthread_mutex_destroy(&jobs->lock);
        (void)pthread_mutex_destroy(&jobs->submit_lock);
        return false;
    }
    if (!monotonic_cond_init(&jobs->changed)) {
        (void)pthread_cond_destroy(&jobs->work);
        (void)pthread_mutex_destroy(&jobs->lock);
        (void)pthread_mutex_destroy(&jobs->submit_lock);
        return false;
    }
    return true;
}

bool jobs_take_up(struct jobs *jobs,
                  struct arena *arena,
                  const struct store_job *row,
                  struct err *err)
{
    const char *path = "";
    struct err gone = ERR_INIT;
    bool kept = false;
    if (!store_blob_is_kept(jobs->store, row->sha256_hex, &kept, err)) {
        return false;
    }
    /* What is an object, and not here, is fetched when its turn comes. */
    if (!store_blob_path(jobs->store, arena, row->sha256_hex, &path, &gone) && !kept) {
        (void)err_set(&gone, ERR_GONE,
                      "the server stopped before this upload was stored and its bytes are missing; "
                      "upload the file again");
        return store_job_failed(jobs->store, row->id, &gone, err);
    }
    struct job *job = new_job(row, worker_look_into(path, row->size_bytes).estimate_bytes);
    if (job == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the jobs that are still to be done");
    }
    job->arrival = JOB_ARRIVED;
    (void)pthread_mutex_lock(&jobs->lock);
    append(jobs, job);
    (void)pthread_mutex_unlock(&jobs->lock);
    return true;
}

static bool take_up_all(struct jobs *jobs, struct err *err)
{
    struct arena arena;
    struct store_job *rows;
    size_t count = 0;
    arena_init(&arena, 0);
    /* On a server they are claimed one by one. */
    bool ok = store_is_on_server(jobs->store) ||
              store_jobs_unfinished(jobs->store, &arena, &rows, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = jobs_take_up(jobs, &arena, &rows[i], err);
    }
    if (ok && count > 0) {
        log_write(jobs->log, LOG_INFO, "%zu unfinished jobs taken up again", count);
    }
    arena_free(&arena);
    return ok;
}

static bool start_threads(struct jobs *jobs, struct err *err)
{
    /* First: the workers look whether there is a retention worker. */
    bool ok = retention_worker_start(jobs, err) && ranks_worker_start(jobs, err) &&
              claims_start(jobs, err);
    while (ok && jobs->threads_started < jobs->thread_count &&
           thread_start(&jobs->threads[jobs->threads_started], worker_run, jobs) == 0) {
        jobs->threads_started++;
    }
    return ok && (jobs->threads_started > 0 ||
                  err_set(err, ERR_NO_MEMORY, "no resources for a worker thread"));
}

bool jobs_create(struct jobs **out,
                 struct store *store,
                 const struct jobs_options *options,
                 struct err *err)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the queue of jobs");
    }
    jobs->store = store;
    jobs->log = options->log;
    jobs->kernel_rules = options->kernel_rules;
    jobs->device_peaks = options->device_peaks;
    jobs->retain_raw = options->retain_raw;
    jobs->retention.rules = options->retention;
    jobs->input_limits = options->input_limits;
    jobs->max_events = options->max_events;
    jobs->max_queued = options->max_queued;
    jobs->budget_bytes =
        options->memory_budget_bytes > 0 ? options->memory_budget_bytes : half_of_memory();
    jobs->thread_count = options->workers > 0 ? options->workers : spare_processors();
    jobs->threads = calloc(jobs->thread_count, sizeof *jobs->threads);
    if (jobs->threads == NULL || !init_locks(jobs)) {
        free(jobs->threads);
        free(jobs);
        return err_set(err, ERR_NO_MEMORY, "no resources for the queue of jobs");
    }
    if (!take_up_all(jobs, err) || !start_threads(jobs, err)) {
        jobs_destroy(jobs);
        return false;
    }
    *out = jobs;
    return true;
}

void jobs_stop(struct jobs *jobs)
{
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->stopping = true;
    retention_worker_stop(jobs);
    (void)pthread_cond_broadcast(&jobs->work);
    (void)pthread_cond_broadcast(&jobs->changed);
    (void)pthread_mutex_unlock(&jobs->lock);
}

bool jobs_drain(struct jobs *jobs, int timeout_ms)
{
    struct timespec until = monotonic_after(timeout_ms);
    int waited = 0;
    (void)pthread_mutex_lock(&jobs->lock);
    while (jobs->running > 0 && waited == 0) {
        waited = pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until);
    }
    bool drained = jobs->running == 0;
    (void)pthread_mutex_unlock(&jobs->lock);
    return drained;
}

void jobs_destroy(struct jobs *jobs)
{
    if (jobs == NULL) {
        return;
    }
    jobs_stop(jobs);
    for (unsigned i = 0; i < jobs->threads_started; i++) {
        (void)pthread_join(jobs->threads[i], NULL);
    }
    retention_worker_join(jobs);
    ranks_worker_join(jobs);
    claims_end(jobs);
    (void)pthread_mutex_lock(&jobs->lock);
    while (jobs->waiters > 0) {
        (void)pthread_cond_wait(&jobs->changed, &jobs->lock);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    while (jobs->head != NULL) {
        jobs_remove(jobs, jobs->head);
    }
    (void)pthread_cond_destroy(&jobs->changed);
    (void)pthread_cond_destroy(&jobs->work);
    (void)pthread_mutex_destroy(&jobs->lock);
    (void)pthread_mutex_destroy(&jobs->submit_lock);
    free(jobs->threads);
    free(jobs);
}

/* ---- handing in ---- */

const struct retention_rules *jobs_retention(const struct jobs *jobs)
{
    return &jobs->retention.rules;
}

const struct kernel_rules *jobs_kernel_rules(const struct jobs *jobs)
{
    return jobs->kernel_rules;
}

const struct device_peaks_list *jobs_device_peaks(const struct jobs *jobs)
{
    return jobs->device_peaks;
}

const struct input_limits *jobs_input_limits(const struct jobs *jobs)
{
    return &jobs->input_limits;
}

struct store *jobs_store(const struct jobs *jobs)
{
    return jobs->store;
}

bool jobs_admit(struct jobs *jobs, const struct retention_upload *upload, struct err *err)
{
    return store_retention_admits(jobs->store, &jobs->retention.rules, upload, err);
}

/* A twin: the same upload is queued at another server, at the same time. */
enum decision { DECIDED_QUEUE, DECIDED_ANSWER, DECIDED_TWIN, DECIDED_REFUSE };

/* How a file that is handed in stands to one that has its name. */
enum likeness { LIKE_ALL, LIKE_BUT_MARKER, LIKE_BUT_RANK, LIKE_NOTHING };

/* Who hands in the same bytes again and asks for nothing takes them as they were read. */
static enum likeness
likeness_of(const struct store_job *row, const char *sha256_hex, const char *marker, int64_t rank)
{
    if (strcmp(sha256_hex, row->sha256_hex) != 0) {
        return LIKE_NOTHING;
    }
    bool same_marker = marker == NULL || row->marker == NULL ? marker == row->marker
                                                             : strcmp(marker, row->marker) == 0;
    bool takes_marker = same_marker || (row->marker == NULL && !row->replace);
    bool takes_rank = rank == row->rank || (row->rank == STORE_NO_RANK && !row->replace);
    return !takes_marker ? LIKE_BUT_MARKER : !takes_rank ? LIKE_BUT_RANK : LIKE_ALL;
}

static enum decision
refuse(const struct store_job *row, enum likeness likeness, const char *state, struct err *err)
{
    switch (likeness) {
    case LIKE_BUT_MARKER:
        (void)err_set(err, ERR_CONFLICT,
                      "the same file %s under the name \"%s\" in run \"%s\", but not with the "
                      "marker \"%s\"; use ?replace=1 to read it again with this one",
                      state, row->file_name, row->run, row->marker == NULL ? "" : row->marker);
        break;
    case LIKE_BUT_RANK:
        (void)err_set(err, ERR_CONFLICT,
                      "the same file %s under the name \"%s\" in run \"%s\", but not with the "
                      "rank %lld; use ?replace=1 to read it again with this one",
                      state, row->file_name, row->run, (long long)row->rank);
        break;
    case LIKE_NOTHING:
    case LIKE_ALL:
        (void)err_set(err, ERR_CONFLICT,
                      "other content %s under the name \"%s\" in run \"%s\"; use another name, or "
                      "?replace=1 to replace it",
                      state, row->file_name, row->run);
        break;
    }
    return DECIDED_REFUSE;
}

/* The same bytes are there or on their way; they may bring new tags for their run. */
static bool
tag_again(struct jobs *jobs, int64_t job_id, const struct store_job *row, struct err *err)
{
    return row->tags == NULL || store_job_tag(jobs->store, job_id, row->tags, err);
}

/* What is on its way decides before what is there, because it will be there. submit_lock is held,
 * so that a job can end meanwhile, but none can begin. */
static enum decision decide(struct jobs *jobs,
                            struct arena *arena,
                            const struct store_job *row,
                            struct jobs_submission *out,
                            struct err *err)
{
    enum likeness likeness = LIKE_NOTHING;
    int64_t live_id = 0;
    (void)pthread_mutex_lock(&jobs->lock);
    const struct job *live = find_by_name(jobs, row->run, row->file_name);
    if (live != NULL) {
        live_id = live->id;
        likeness = likeness_of(row, live->sha256_hex, live->marker, live->rank);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    struct store_job *elsewhere = NULL;
    if (live_id == 0 && store_is_on_server(jobs->store) &&
        !store_job_unfinished(jobs->store, arena, row->run, row->file_name, &elsewhere, err)) {
        return DECIDED_REFUSE;
    }
    if (elsewhere != NULL) {
        likeness = likeness_of(row, elsewhere->sha256_hex, elsewhere->marker, elsewhere->rank);
        live_id = elsewhere->id;
    }
    if (live_id != 0) {
        out->job_id = likeness == LIKE_ALL ? live_id : 0;
        if (likeness == LIKE_ALL) {
            return tag_again(jobs, live_id, row, err) ? DECIDED_ANSWER : DECIDED_REFUSE;
        }
        return row->replace ? DECIDED_QUEUE : refuse(row, likeness, "is being read", err);
    }
    struct store_file there;
    if (!store_find_file(jobs->store, arena, row->run, row->file_name, &there, err)) {
        return DECIDED_REFUSE;
    }
    if (there.sha256_hex == NULL) {
        return DECIDED_QUEUE;
    }
    likeness = likeness_of(row, there.sha256_hex, there.marker, there.rank);
    if (likeness == LIKE_ALL) {
        out->already = true;
        out->trace_ids = there.trace_ids;
        out->trace_count = there.trace_count;
        struct store_snapshot snapshot;
        store_snapshot_init(&snapshot, jobs->store);
        bool ok = store_job_failures(&snapshot, arena, there.job_id, &out->failures,
                                     &out->failure_count, err);
        store_snapshot_close(&snapshot);
        ok = ok && tag_again(jobs, there.job_id, row, err);
        return ok ? DECIDED_ANSWER : DECIDED_REFUSE;
    }
    return row->replace ? DECIDED_QUEUE : refuse(row, likeness, "is there", err);
}

static bool has_room(struct jobs *jobs, struct err *err)
{
    uint64_t queued = 0;
    uint64_t again = 0;
    if (jobs->max_queued == 0) {
        return true;
    }
    if (!store_jobs_unclaimed(jobs->store, &queued, &again, err)) {
        return false;
    }
    (void)pthread_mutex_lock(&jobs->lock);
    for (const struct job *job = jobs->head; job != NULL; job = job->next) {
        queued += job->state == JOB_QUEUED && !job->is_again;
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return queued < jobs->max_queued ||
           err_set(err, ERR_UNAVAILABLE,
                   "%" PRIu64 " files wait for their analysis, as many as may "
                   "(--max-queued-jobs); try again when some are done",
                   queued);
}

/* An earlier one of this name whose bytes are lost does not end by itself at once. */
static bool has_lost(const struct jobs *jobs, const struct store_job *row)
{
    bool has = false;
    for (const struct job *job = jobs->head; job != NULL; job = job->next) {
        has = has || (job->arrival == JOB_LOST && job_has_name(job, row->run, row->file_name));
    }
    return has;
}

/* *is_new is false where another server had the same first: out->job_id is its job, or 0 if that
 * has ended. */
static bool enqueue(struct jobs *jobs,
                    uint64_t estimate_bytes,
                    struct store_job *row,
                    struct streaming_ingest *streaming,
                    struct jobs_submission *out,
                    bool *is_new,
                    struct err *err)
{
    *is_new = false;
    struct job *job = new_job(row, estimate_bytes);
    if (job == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a job");
    }
    (void)pthread_mutex_lock(&jobs->lock);
    row->is_for_others = jobs->claims.thread.runs && streaming == NULL && !claims_have_room(jobs);
    row->may_have_twin = has_lost(jobs, row);
    (void)pthread_mutex_unlock(&jobs->lock);
    job->is_for_others = row->is_for_others;
    bool ok = store_job_add(jobs->store, row, &job->id, is_new, err);
    out->job_id = ok ? job->id : 0;
    if (!ok || !*is_new) {
        job_free(job);
        return ok;
    }
    (void)pthread_mutex_lock(&jobs->lock);
    if (streaming != NULL) {
        streaming_ingest_attach(streaming);
        job->streaming = streaming;
    }
    append(jobs, job);
    (void)pthread_mutex_unlock(&jobs->lock);
    return true;
}

/* What the file itself decides. */
static bool look_into(const char *path,
                      const struct store_job *row,
                      const struct streaming_ingest *streaming,
                      struct worker_look *look,
                      struct err *err)
{
    *look = streaming != NULL ? ahead_look(streaming) : worker_look_into(path, row->size_bytes);
    if (!look->is_archive || row->rank == STORE_NO_RANK) {
        return true;
    }
    return err_set(
        err, ERR_BAD_REQUEST,
        "a rank can be given for one trace only: in an archive ranks come from the names "
        "of its files and directories (rank3/..., worker_rank3.pt.trace.json)");
}

/* While the job may be running already. */
static bool arrive(struct jobs *jobs, int64_t job_id, const char *sha256_hex, struct err *err)
{
    bool ok = store_job_arrived(jobs->store, job_id, sha256_hex, err);
    (void)pthread_mutex_lock(&jobs->lock);
    struct job *job = jobs_find(jobs, job_id);
    if (job != NULL) {
        job->arrival = ok ? JOB_ARRIVED : JOB_LOST;
    }
    if (job != NULL && job->is_for_others) {
        jobs_remove(jobs, job);
        claims_wake(jobs);
    }
    (void)pthread_cond_broadcast(&jobs->changed);
    (void)pthread_mutex_unlock(&jobs->lock);
    return ok;
}

bool jobs_await_arrival(struct jobs *jobs, int64_t id, struct err *err)
{
    (void)pthread_mutex_lock(&jobs->lock);
    const struct job *job = jobs_find(jobs, id);
    while (job != NULL && job->arrival == JOB_ARRIVING) {
        (void)pthread_cond_wait(&jobs->changed, &jobs->lock);
        job = jobs_find(jobs, id);
    }
    bool lost = job != NULL && job->arrival == JOB_LOST;
    (void)pthread_mutex_unlock(&jobs->lock);
    return !lost || err_set(err, ERR_IO,
                            "the upload could not be written to the disk; check the "
                            "server's disk, then send the file again");
}

bool jobs_sync(struct jobs *jobs, int64_t id, struct err *err)
{
    return jobs_await_arrival(jobs, id, err) && store_sync(jobs->store, err);
}

/* Nothing is queued. What stays all the same has to be on disk. One error is on the stack at a
 * time: that of a request has little. NULL: the caller has another one to tell. */
static bool drop_blob(struct jobs *jobs, const char *sha256_hex, struct err *err)
{
    struct err failure = ERR_INIT;
    bool kept = store_blob_sync(jobs->store, sha256_hex, &failure);
    if (!kept && err != NULL) {
        *err = failure;
    }
    failure = (struct err)ERR_INIT;
    bool ok = store_blob_release(jobs->store, sha256_hex, &failure) &&
              (jobs->retain_raw || store_blob_forget(jobs->store, sha256_hex, &failure));
    if (!ok) {
        log_write(jobs->log, LOG_WARN, "a raw file stays until the next start: %s", failure.msg);
    }
    return kept;
}

/* Until it is queued, or answered. submit_lock is held. */
static enum decision settle(struct jobs *jobs,
                            struct arena *arena,
                            uint64_t estimate_bytes,
                            struct store_job *row,
                            struct streaming_ingest *streaming,
                            struct jobs_submission *out,
                            struct err *err)
{
    for (int tries = 0; tries < SETTLE_TRIES; tries++) {
        bool is_new;
        enum decision decision = decide(jobs, arena, row, out, err);
        if (decision != DECIDED_QUEUE) {
            return decision;
        }
        if (!has_room(jobs, err) ||
            !enqueue(jobs, estimate_bytes, row, streaming, out, &is_new, err)) {
            return DECIDED_REFUSE;
        }
        if (is_new || out->job_id != 0) {
            return is_new ? DECIDED_QUEUE : DECIDED_TWIN;
        }
    }
    (void)err_set(err, ERR_UNAVAILABLE, "this upload meets an equal one all the time; try again");
    return DECIDED_REFUSE;
}

bool jobs_submit(struct jobs *jobs,
                 struct arena *arena,
                 const char *run,
                 const char *file_name,
                 const char *sha256_hex,
                 uint64_t size_bytes,
                 bool replace,
                 const struct jobs_hints *hints,
                 struct jobs_submission *out,
                 struct err *err)
{
    bool has_marker = hints != NULL && hints->marker != NULL && hints->marker[0] != '\0';
    struct store_job row = {.run = run,
                            .file_name = file_name,
                            .sha256_hex = sha256_hex,
                            .size_bytes = size_bytes,
                            .replace = replace,
                            .marker = has_marker ? hints->marker : NULL,
                            .rank = hints == NULL ? STORE_NO_RANK : hints->rank,
                            .project = hints == NULL ? NULL : hints->project,
                            .tags = hints == NULL ? NULL : hints->tags};
    struct streaming_ingest *streaming = hints == NULL ? NULL : hints->streaming;
    const char *path = NULL;
    *out = (struct jobs_submission){0};
    struct worker_look look = {.is_archive = false};
    bool known = store_blob_path(jobs->store, arena, sha256_hex, &path, err) &&
                 look_into(path, &row, streaming, &look, err);
    out->is_archive = look.is_archive;
    (void)pthread_mutex_lock(&jobs->submit_lock);
    enum decision decision =
        known ? settle(jobs, arena, look.estimate_bytes, &row, streaming, out, err)
              : DECIDED_REFUSE;
    (void)pthread_mutex_unlock(&jobs->submit_lock);
    if (decision == DECIDED_QUEUE) {
        return arrive(jobs, out->job_id, sha256_hex, err);
    }
    streaming_ingest_discard(streaming);
    if (decision == DECIDED_TWIN) {
        /* Whatever becomes of the other server, these bytes are there. */
        return store_job_arrived(jobs->store, out->job_id, sha256_hex, err) &&
               tag_again(jobs, out->job_id, &row, err);
    }
    bool is_answered = decision == DECIDED_ANSWER;
    bool dropped = drop_blob(jobs, sha256_hex, is_answered ? err : NULL);
    return is_answered && dropped;
}

bool jobs_counts(struct jobs *jobs, struct jobs_counts *out, struct err *err)
{
    uint64_t uploads;
    uint64_t again;
    if (!store_jobs_unclaimed(jobs->store, &uploads, &again, err)) {
        return false;
    }
    (void)pthread_mutex_lock(&jobs->lock);
    *out = jobs->counts;
    out->queued = uploads + again;
    memcpy(out->removed, jobs->retention.removed, sizeof out->removed);
    for (const struct job *job = jobs->head; job != NULL; job = job->next) {
        out->queued += job->state == JOB_QUEUED;
        out->running += job->state == JOB_RUNNING;
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return true;
}
