/* Worker threads: take a job whose memory is free, carry its file through, tell the store. */
#include "ingest/base/memory/heap.h"
#include "ingest/base/monotonic.h"
#include "ingest/base/text/affix.h"
#include "ingest/base/thread.h"
#include "ingest/input/decode.h"
#include "ingest/input/source.h"
#include "ingest/input/tar.h"
#include "ingest/input/zip.h"
#include "ingest/jobs/queue/background.h"
#include "ingest/jobs/queue/internal.h"
#include "ingest/jobs/queue/store_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* So many small jobs may overtake one that waits for memory; then all wait for it. */
#define PASSED_BY_MAX 32
/* Idle workers try so often to note failures that the store could not take. */
#define NOTE_INTERVAL_MS 2000
/* Between two looks for bytes that the objects do not give out. */
#define OBJECTS_PAUSE_S 1
/* After so long another server may have the job. */
#define OBJECTS_AWAY_MS 20000
/* Of a file, to guess what it is: a block of zstd and its head, and some of its text. */
#define LOOK_BYTES ((size_t)256 << 10)
#define LOOK_TEXT_BYTES ((size_t)16 << 10)

/* ---- choosing ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Traces are JSON, also in archives; tables are not. */
static bool holds_a_table(const char *text, size_t len)
{
    size_t at = text_mark_bytes(text, len);
    while (at < len && is_space(text[at])) {
        at++;
    }
    return at < len && text[at] != '{' && text[at] != '[';
}

static uint64_t estimate(uint64_t size_bytes, enum input_container container, bool is_table)
{
    /* A trace takes at most about a quarter of its JSON, half of that its model and the rest what
     * is made of it; a table up to three times its text, which has no keys. gzip makes the text
     * some 12 times and zstd some 15 times smaller. Too low an estimate costs a second reading, too
     * high a one a wait. */
    const uint64_t base_bytes = (uint64_t)16 << 20;
    const uint64_t largest_factor = 45;
    if (size_bytes > (UINT64_MAX - base_bytes) / largest_factor) {
        return UINT64_MAX;
    }
    uint64_t text_bytes = size_bytes * (container == INPUT_GZIP   ? 12
                                        : container == INPUT_ZSTD ? 15
                                                                  : 1);
    return base_bytes + (is_table ? text_bytes * 3 : text_bytes / 4);
}

/* Decodes the first `len` bytes of a file into `text`, which holds LOOK_TEXT_BYTES. What cannot be
 * looked into is taken for a trace. */
static void look_at_head(
    struct worker_look *look, const char *head, size_t len, char *text, uint64_t size_bytes)
{
    struct err ignored = ERR_INIT;
    struct source source;
    struct decode decode;
    size_t text_len = 0;
    source_open_memory(&source, head, len, len);
    if (!decode_open(&decode, &source, &ignored)) {
        return;
    }
    bool known = decode_fill(&decode, text, LOOK_TEXT_BYTES, &text_len, &ignored);
    look->is_archive = known && (tar_recognises(text, text_len) || zip_recognises(text, text_len));
    bool is_table = known && !look->is_archive && holds_a_table(text, text_len);
    look->is_json = known && !look->is_archive && !is_table;
    look->estimate_bytes = estimate(size_bytes, source.container, is_table);
    decode_close(&decode);
    source_close(&source);
}

static size_t read_head(const char *path, char *head, size_t cap)
{
    size_t len = 0;
    ssize_t got = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && len < cap) {
        got = read(fd, head + len, cap - len);
        len += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return len;
}

struct worker_look worker_look_into(const char *path, uint64_t size_bytes)
{
    struct worker_look look = {.estimate_bytes = estimate(size_bytes, INPUT_PLAIN, false)};
    /* On the heap: request threads have little stack. */
    char *head = malloc(LOOK_BYTES + LOOK_TEXT_BYTES);
    size_t len = head == NULL ? 0 : read_head(path, head, LOOK_BYTES);
    if (len > 0) {
        look_at_head(&look, head, len, head + LOOK_BYTES, size_bytes);
    }
    free(head);
    return look;
}

/* What the job may take now; 0 when it has to wait. Each worker has its even share, so that
 * estimates seldom matter; a job alone may always run. */
static uint64_t grant_of(const struct jobs *jobs, const struct job *job)
{
    uint64_t free_bytes = jobs->budget_bytes - jobs->reserved_bytes;
    uint64_t share_bytes = jobs->budget_bytes / jobs->thread_count;
    uint64_t want_bytes = job->estimate_bytes > share_bytes ? job->estimate_bytes : share_bytes;
    if (want_bytes <= free_bytes) {
        return want_bytes;
    }
    if (jobs->running == 0) {
        return jobs->budget_bytes;
    }
    return job->estimate_bytes <= free_bytes ? free_bytes : 0;
}

/* Uploads of one name are stored in the order in which they came. */
static bool waits_for_its_name(const struct jobs *jobs, const struct job *job)
{
    for (const struct job *earlier = jobs->head; earlier != job; earlier = earlier->next) {
        if (job_is_unfinished(earlier) && job_has_name(earlier, job->run, job->file_name)) {
            return true;
        }
    }
    return false;
}

/* Of uploads, or of what is analysed again. *passes: one of them waits for memory. */
static struct job *pick_of(struct jobs *jobs, bool is_again, bool *passes)
{
    for (struct job *job = jobs->head; job != NULL; job = job->next) {
        if (job->state != JOB_QUEUED || job->is_again != is_again || job->is_for_others ||
            waits_for_its_name(jobs, job)) {
            continue;
        }
        job->grant_bytes = grant_of(jobs, job);
        if (job->grant_bytes > 0) {
            jobs->passed_by = *passes ? jobs->passed_by + 1 : 0;
            return job;
        }
        *passes = true;
        if (jobs->passed_by >= PASSED_BY_MAX) {
            return NULL;
        }
    }
    return NULL;
}

/* The next job with its grant, or NULL. `lock` is held. */
static struct job *pick(struct jobs *jobs)
{
    bool passes = false;
    struct job *job = pick_of(jobs, false, &passes);
    bool is_held = passes && jobs->passed_by >= PASSED_BY_MAX;
    return job != NULL || is_held ? job : pick_of(jobs, true, &passes);
}

/* ---- carrying out ---- */

static bool bytes_are_gone(struct err *err)
{
    return err->code == ERR_GONE &&
           err_set(err, ERR_GONE,
                   "the uploaded bytes of this job are missing or damaged; upload the file "
                   "again");
}

/* The bytes of an acknowledged upload that the objects do not give out now are not lost: the job
 * waits for them, and so does a stop, until its time is over. Where another server serves, which
 * may reach them, the job is left to it. */
static bool find_raw(
    struct jobs *jobs, struct job *job, struct arena *arena, const char **path, struct err *err)
{
    const struct timespec pause = {.tv_sec = OBJECTS_PAUSE_S};
    int64_t leave_at_ms = monotonic_ms() + OBJECTS_AWAY_MS;
    while (
        !store_blob_checked_path(jobs->store, arena, job->sha256_hex, job->size_bytes, path, err)) {
        if (err->code != ERR_UNAVAILABLE) {
            return bytes_are_gone(err);
        }
        if (monotonic_ms() >= leave_at_ms) {
            if (claims_leave(jobs, job)) {
                return false;
            }
            leave_at_ms += OBJECTS_AWAY_MS;
        }
        *err = (struct err)ERR_INIT;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

static bool run_job(struct jobs *jobs, struct job *job, uint64_t *events, struct err *err)
{
    struct arena arena;
    const char *path;
    arena_init(&arena, 0);
    bool ok =
        find_raw(jobs, job, &arena, &path, err) && store_sink_run(jobs, job, path, events, err);
    arena_free(&arena);
    return ok;
}

struct run_behind {
    struct jobs *jobs;
    struct job *job;
    uint64_t *events;
    struct err *err;
    bool ok;
};

static void *run_behind(void *argument)
{
    struct run_behind *run = argument;
    background_begin();
    run->ok = run_job(run->jobs, run->job, run->events, run->err);
    return NULL;
}

/* An upload's client waits for it as others wait for their views, so it has the same priority.
 * Nobody waits for what is analysed again. A thread may lower its priority, but not raise it. */
static bool run_by_priority(struct jobs *jobs, struct job *job, uint64_t *events, struct err *err)
{
    struct run_behind behind = {.jobs = jobs, .job = job, .events = events, .err = err};
    if (job->is_again && thread_call(run_behind, &behind) == 0) {
        return behind.ok;
    }
    return run_job(jobs, job, events, err);
}

/* A job fails only once its bytes have arrived or are lost, so that who hands them in finds it. */
static void await_bytes(struct jobs *jobs, const struct job *job, struct err *error)
{
    struct err lost = ERR_INIT;
    if (!jobs_await_arrival(jobs, job->id, &lost)) {
        *error = lost;
    }
}

/* The trace did not fit into its share of the memory, but may fit when it has all of it. */
static bool
deserves_more_memory(const struct jobs *jobs, const struct job *job, const struct err *err)
{
    return err->code == ERR_TOO_LARGE && job->grant_bytes < jobs->budget_bytes;
}

/* The database's server went away in the middle: what it acknowledged it still has, and the job
 * waits for it, as it does for the objects. */
static bool lost_server(const struct jobs *jobs, const struct err *err)
{
    const struct timespec pause = {.tv_sec = OBJECTS_PAUSE_S};
    bool lost = err->code == ERR_UNAVAILABLE && store_is_on_server(jobs->store);
    if (lost) {
        (void)nanosleep(&pause, NULL);
    }
    return lost;
}

static void forget_raw(struct jobs *jobs, const struct job *job)
{
    struct err err = ERR_INIT;
    if (!jobs->retain_raw && !store_blob_forget(jobs->store, job->sha256_hex, &err)) {
        log_write(jobs->log, LOG_WARN, "job %lld: the raw file stays: %s", (long long)job->id,
                  err.msg);
    }
}

/* What the store has to know of the end. False when it could not note a failure: see
 * note_failures. */
static bool settle(struct jobs *jobs, struct job *job, bool ok, const struct err *error)
{
    struct err err = ERR_INIT;
    if (!ok && job->is_left) {
        return true;
    }
    if (!ok && !store_job_failed(jobs->store, job->id, error, &err)) {
        bool is_lost = err.code == ERR_NOT_FOUND && store_is_on_server(jobs->store);
        atomic_store(&job->is_lost, is_lost);
        if (is_lost) {
            log_write(jobs->log, LOG_WARN, "job %lld: another server has it", (long long)job->id);
            return true;
        }
        log_write(jobs->log, LOG_ERROR, "job %lld: cannot note its failure yet: %s",
                  (long long)job->id, err.msg);
        return false;
    }
    forget_raw(jobs, job);
    return true;
}

/* Names and messages are fields: a name may hold anything. */
static void
log_end(const struct jobs *jobs, const struct job *job, bool ok, const struct err *error)
{
    const struct log_field fields[] = {
        {.name = "job", .kind = LOG_FIELD_INT, .number = job->id},
        {.name = "run", .kind = LOG_FIELD_TEXT, .text = job->run},
        {.name = "file", .kind = LOG_FIELD_TEXT, .text = job->file_name},
        {.name = "error", .kind = LOG_FIELD_TEXT, .text = ok ? NULL : error->msg},
    };
    log_record(jobs->log, ok ? LOG_INFO : LOG_WARN, ok ? "job done" : "job failed", fields,
               sizeof fields / sizeof fields[0]);
}

/* `lock` is held. */
static void requeue(struct jobs *jobs, struct job *job)
{
    job->state = JOB_QUEUED;
    job->attempt++;
    job->estimate_bytes = jobs->budget_bytes;
    atomic_store(&job->progress.bytes_done, 0);
    atomic_store(&job->progress.stage, STAGE_QUEUED);
}

/* `lock` is held. */
static void finish(struct jobs *jobs,
                   struct job *job,
                   bool ok,
                   bool noted,
                   uint64_t events,
                   const struct err *error)
{
    if (!ok && atomic_load(&job->is_lost)) {
        jobs_remove(jobs, job);
        return;
    }
    if (ok) {
        jobs->counts.done++;
        jobs->counts.bytes_ingested += job->size_bytes;
        jobs->counts.events_ingested += events;
        ranks_worker_note(jobs, job->run);
    } else {
        jobs->counts.failed++;
    }
    if (ok && jobs->retention.thread.runs) {
        jobs_take_out(jobs, job);
        retention_worker_wake(jobs, job);
    } else if (noted) {
        jobs_remove(jobs, job);
    } else {
        job->state = JOB_FAILED;
        job->error = *error;
        jobs->note_at = monotonic_after(NOTE_INTERVAL_MS);
    }
}

/* ---- failures that the store could not note ---- */

/* The oldest; `lock` is held. */
static struct job *find_unnoted(const struct jobs *jobs)
{
    struct job *job = jobs->head;
    while (job != NULL && job->state != JOB_FAILED) {
        job = job->next;
    }
    return job;
}

/* Else such a job, which its client was told has failed, would run again at the next start. Ends
 * at the first that fails again. `lock` is held, but not while the store writes; only the worker
 * that has set `noting` removes a failed job. */
static void note_failures(struct jobs *jobs)
{
    struct job *job = jobs->noting ? NULL : find_unnoted(jobs);
    while (job != NULL) {
        struct err ignored = ERR_INIT;
        jobs->noting = true;
        (void)pthread_mutex_unlock(&jobs->lock);
        /* When the store knows of no such unfinished job, only the blob was still there. */
        bool noted = store_job_failed(jobs->store, job->id, &job->error, &ignored) ||
                     (ignored.code == ERR_NOT_FOUND &&
                      store_blob_release(jobs->store, job->sha256_hex, &ignored));
        if (noted) {
            log_write(jobs->log, LOG_INFO, "job %lld: its failure is noted", (long long)job->id);
            forget_raw(jobs, job);
        }
        (void)pthread_mutex_lock(&jobs->lock);
        jobs->noting = false;
        jobs->note_at = monotonic_after(NOTE_INTERVAL_MS);
        if (noted) {
            jobs_remove(jobs, job);
        } else {
            (void)pthread_cond_broadcast(&jobs->work);
        }
        job = noted ? find_unnoted(jobs) : NULL;
    }
}

const uint32_t jobs_duration_bounds_ms[JOBS_DURATIONS - 1] = {100,   500,   1000,   5000,   10000,
                                                              30000, 60000, 300000, 1800000};

/* `lock` is held. */
static void note_duration(struct jobs *jobs, uint64_t took_us)
{
    size_t at = 0;
    while (at < JOBS_DURATIONS - 1 && took_us > (uint64_t)jobs_duration_bounds_ms[at] * 1000) {
        at++;
    }
    jobs->counts.durations[at]++;
    jobs->counts.took_us += took_us;
}

/* `lock` is held, but not while the job runs. */
static void run_one(struct jobs *jobs, struct job *job)
{
    uint64_t grant_bytes = job->grant_bytes;
    uint64_t events = 0;
    struct err error = ERR_INIT;
    const struct timespec begin = monotonic_after(0);
    job->state = JOB_RUNNING;
    jobs->reserved_bytes += grant_bytes;
    jobs->running++;
    (void)pthread_mutex_unlock(&jobs->lock);

    bool ok = run_by_priority(jobs, job, &events, &error);
    bool again = !ok && !atomic_load(&job->is_lost) &&
                 (deserves_more_memory(jobs, job, &error) || lost_server(jobs, &error));
    if (!ok && !again) {
        await_bytes(jobs, job, &error);
    }
    bool noted = again || settle(jobs, job, ok, &error);
    if (ok || !(again || atomic_load(&job->is_lost))) {
        log_end(jobs, job, ok, &error);
    }

    (void)pthread_mutex_lock(&jobs->lock);
    jobs->reserved_bytes -= grant_bytes;
    jobs->running--;
    jobs_leave_pieces(jobs);
    if (again) {
        requeue(jobs, job);
    } else {
        note_duration(jobs, monotonic_us_since(&begin));
        finish(jobs, job, ok, noted, events, &error);
    }
    (void)pthread_cond_broadcast(&jobs->work);
    (void)pthread_cond_broadcast(&jobs->changed);
    claims_wake(jobs);
    if (noted) {
        note_failures(jobs);
    }
}

/* `lock` is held, but not while the memory goes. */
static void return_memory(struct jobs *jobs)
{
    jobs->left_pieces = false;
    (void)pthread_mutex_unlock(&jobs->lock);
    heap_return_free_pieces();
    (void)pthread_mutex_lock(&jobs->lock);
}

/* `lock` is held. */
static bool is_idle(const struct jobs *jobs)
{
    return jobs->running == 0 && jobs->streaming_count == 0;
}

/* `lock` is held, but not while the thread sleeps. */
static void sleep_until_work(struct jobs *jobs)
{
    bool notes = !jobs->noting && find_unnoted(jobs) != NULL;
    bool returns = jobs->left_pieces && is_idle(jobs);
    bool notes_first = notes && (!returns || monotonic_is_before(&jobs->note_at, &jobs->return_at));
    if (!notes && !returns) {
        (void)pthread_cond_wait(&jobs->work, &jobs->lock);
    } else if (pthread_cond_timedwait(&jobs->work, &jobs->lock,
                                      notes_first ? &jobs->note_at : &jobs->return_at) !=
               ETIMEDOUT) {
        return;
    } else if (notes_first) {
        note_failures(jobs);
    } else if (jobs->left_pieces && is_idle(jobs)) {
        return_memory(jobs);
    }
}

/* Its client has his answer. `lock` is held, but not while the disk works. */
static void tidy_up(struct jobs *jobs)
{
    (void)pthread_mutex_unlock(&jobs->lock);
    store_checkpoint(jobs->store);
    (void)pthread_mutex_lock(&jobs->lock);
}

void *worker_run(void *argument)
{
    struct jobs *jobs = argument;
    (void)pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping) {
        struct job *job = pick(jobs);
        if (job != NULL) {
            run_one(jobs, job);
            tidy_up(jobs);
        } else {
            sleep_until_work(jobs);
        }
    }
    note_failures(jobs);
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}
