/* Loading files without HTTP. All are handed in first, so that the workers have something to choose
 * from; then their results are printed in the order of the command line. */
#include "api/upload/name.h"
#include "api/upload/project.h"
#include "ingest/jobs/queue/jobs.h"
#include "ingest/store/store.h"
#include "server/cli/commands.h"
#include "server/cli/file_list.h"
#include "server/cli/ingest_progress.h"
#include "server/cli/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES ((size_t)1 << 20)
#define PROGRESS_MS 200
#define LINE_MAX_BYTES ((size_t)64 << 10)

struct ingest {
    const struct options *options;
    struct log log;
    struct store *store;
    struct jobs *jobs;
    struct arena arena;
    char *copy; /* COPY_BYTES */
    bool shows_progress;
    bool any_failed;
};

struct ingest_file {
    const char *path;
    const char *name;
    const char *run;
    struct jobs_submission submission;
    bool submitted;
};

static void fail(struct ingest *in, const char *path, const struct err *err)
{
    text_print_error(stderr, path, err);
    in->any_failed = true;
}

/* `member` is a path in the archive, or "". */
static void
fail_member(struct ingest *in, const char *path, const char *member, const struct err *err)
{
    struct buf place;
    buf_init(&place, LINE_MAX_BYTES);
    buf_puts(&place, path);
    if (member[0] != '\0') {
        buf_puts(&place, ": ");
        buf_puts(&place, member);
    }
    fail(in, place.ptr, err);
    buf_free(&place);
}

/* ---- handing in ---- */

static bool copy_bytes(struct ingest *in,
                       int fd,
                       struct store_blob *blob,
                       struct streaming_feed *follow,
                       struct err *err)
{
    for (;;) {
        ssize_t got = read(fd, in->copy, COPY_BYTES);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return err_set_errno(err, ERR_IO, errno, "the file cannot be read");
        }
        if (got == 0) {
            return true;
        }
        if (!store_blob_write(blob, in->copy, (size_t)got, err)) {
            return false;
        }
        streaming_ingest_feed(follow, blob);
    }
}

static uint64_t size_of_open_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

static bool copy_file(struct ingest *in,
                      const char *path,
                      struct streaming_feed *follow,
                      char sha256_hex[SHA256_HEX_BYTES],
                      uint64_t *size_bytes,
                      struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "the file cannot be opened");
    }
    struct store_blob *blob = NULL;
    follow->size_bytes = size_of_open_file(fd);
    bool ok = store_blob_create(in->store, &blob, err) && copy_bytes(in, fd, blob, follow, err);
    (void)close(fd);
    if (!ok) {
        store_blob_discard(blob);
        return false;
    }
    return store_blob_commit(blob, sha256_hex, size_bytes, err);
}

/* Read while it is copied, where that is worth it. */
static bool receive_file(struct ingest *in,
                         const struct ingest_file *file,
                         struct jobs_hints *hints,
                         char sha256_hex[SHA256_HEX_BYTES],
                         uint64_t *size_bytes,
                         struct err *err)
{
    struct streaming_feed follow = {
        .jobs = in->jobs, .file_name = file->name, .marker = hints->marker};
    bool received = copy_file(in, file->path, &follow, sha256_hex, size_bytes, err);
    hints->streaming = streaming_ingest_end_feed(&follow, received, *size_bytes);
    return received;
}

static bool submit(struct ingest *in, struct ingest_file *file, struct err *err)
{
    file->name = text_file_name(file->path);
    file->run =
        in->options->run != NULL ? in->options->run : file_list_run_of(&in->arena, file->path);
    struct jobs_hints hints = {.marker = in->options->marker, .rank = in->options->rank};
    char sha256_hex[SHA256_HEX_BYTES];
    uint64_t size_bytes = 0;
    const struct upload_project_ask ask = {
        .run = file->run, .project = in->options->run_project, .option = "--project"};
    return upload_name_check_run(file->run, err) && upload_name_check_file(file->name, err) &&
           upload_project_of_run(&hints.project, in->store, &in->arena, &ask, err) &&
           receive_file(in, file, &hints, sha256_hex, &size_bytes, err) &&
           jobs_submit(in->jobs, &in->arena, file->run, file->name, sha256_hex, size_bytes, false,
                       &hints, &file->submission, err);
}

/* ---- results ---- */

static bool wait_for(struct ingest *in,
                     const struct ingest_file *file,
                     struct jobs_status *status,
                     struct err *err)
{
    uint64_t seen = 0;
    for (;;) {
        struct arena scratch;
        arena_init(&scratch, 0);
        int timeout_ms = in->shows_progress ? PROGRESS_MS : -1;
        bool ok =
            jobs_wait(in->jobs, &scratch, file->submission.job_id, seen, timeout_ms, status, err);
        arena_free(&scratch);
        if (!ok || status->state == JOB_DONE || status->state == JOB_FAILED) {
            break;
        }
        seen = status->version;
        ingest_progress_show(stderr, file->name, status);
    }
    if (in->shows_progress) {
        ingest_progress_clear(stderr);
    }
    if (err->code != ERR_NONE) {
        return false;
    }
    if (status->state == JOB_FAILED) {
        *err = status->error;
        return false;
    }
    /* The ids of the last status went with its arena. */
    return jobs_status(in->jobs, &in->arena, file->submission.job_id, status, err);
}

static unsigned warning_kinds(const struct warnings *warnings)
{
    unsigned kinds = 0;
    for (unsigned code = 0; code < WARNING_CODE_COUNT; code++) {
        kinds += warnings->by_code[code].count != 0;
    }
    return kinds;
}

static void put_amount(struct buf *line, int64_t amount, const char *what)
{
    char figure[TEXT_FIGURE_BYTES];
    text_count(figure, amount);
    buf_printf(line, "%s %s%s", figure, what, amount == 1 ? "" : "s");
}

static bool
print_trace(struct ingest *in, const struct ingest_file *file, int64_t id, struct err *err)
{
    struct store_trace *trace = NULL;
    struct store_snapshot snapshot;
    store_snapshot_init(&snapshot, in->store);
    bool ok = store_trace_get(&snapshot, &in->arena, id, &trace, err);
    store_snapshot_close(&snapshot);
    if (!ok) {
        return false;
    }
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    text_clean(&line, file->path);
    buf_puts(&line, ": ");
    text_clean(&line, trace->run);
    buf_putc(&line, '/');
    text_clean(&line, trace->worker);
    buf_printf(&line, "/%" PRId64 "  ", trace->span);
    if (trace->rank != STORE_NO_RANK) {
        buf_printf(&line, "rank %" PRId64 ", ", trace->rank);
    }
    put_amount(&line, trace->event_count, "event");
    buf_puts(&line, ", ");
    put_amount(&line, trace->step_count, "step");
    buf_puts(&line, ", ");
    put_amount(&line, warning_kinds(&trace->warnings), "warning");
    buf_printf(&line, "  id %" PRId64 "%s\n", trace->id,
               file->submission.already ? " (already there)" : "");
    ok = !line.failed && fwrite(line.ptr, 1, line.len, stdout) == line.len && fflush(stdout) == 0;
    buf_free(&line);
    return ok || err_set_errno(err, ERR_IO, errno, "its line could not be printed");
}

static bool print_results(struct ingest *in, const struct ingest_file *file, struct err *err)
{
    struct jobs_status status = {.trace_ids = file->submission.trace_ids,
                                 .trace_count = file->submission.trace_count,
                                 .failures = file->submission.failures,
                                 .failure_count = file->submission.failure_count};
    if (!file->submission.already && !wait_for(in, file, &status, err)) {
        return false;
    }
    for (size_t i = 0; i < status.trace_count; i++) {
        if (!print_trace(in, file, status.trace_ids[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < status.failure_count; i++) {
        fail_member(in, file->path, status.failures[i].member, &status.failures[i].error);
    }
    return true;
}

/* ---- life ---- */

static bool open_data(struct ingest *in, struct err *err)
{
    const struct jobs_options jobs_options = {
        .workers = in->options->ingest_workers,
        .memory_budget_bytes = in->options->ingest_memory_bytes,
        .input_limits = limits_of_input(&in->options->limits),
        .max_events = in->options->limits.events,
        .retain_raw = in->options->retain_raw,
        .log = &in->log,
    };
    const struct options *options = in->options;
    const struct store_objects objects = {.url = options->objects_url,
                                          .cache_bytes = options->objects_cache_bytes};
    const struct store_place place = {.data_dir = options->data_dir,
                                      .database_url = options->database_url,
                                      .objects = options->objects_url == NULL ? NULL : &objects};
    if (!store_open_at(&in->store, &place, &in->log, err)) {
        if (err->code == ERR_UNAVAILABLE) {
            (void)fprintf(
                stderr, "kinetoscope: a server has this data directory open; hand files to it "
                        "instead:\n  curl -T FILE http://localhost:8080/api/v1/runs/RUN/traces/\n");
        }
        return false;
    }
    return jobs_create(&in->jobs, in->store, &jobs_options, err);
}

static void load(struct ingest *in, struct ingest_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct err err = ERR_INIT;
        files[i].path = in->options->files[i];
        files[i].submitted = submit(in, &files[i], &err);
        if (!files[i].submitted) {
            fail(in, files[i].path, &err);
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct err err = ERR_INIT;
        if (files[i].submitted && !print_results(in, &files[i], &err)) {
            fail(in, files[i].path, &err);
        }
    }
}

int command_ingest(const struct options *options)
{
    struct ingest in = {.options = options,
                        .log = {stderr,
                                options->log_level == LOG_INFO ? LOG_WARN : options->log_level,
                                options->log_format},
                        .copy = malloc(COPY_BYTES),
                        .shows_progress = isatty(STDERR_FILENO) == 1};
    arena_init(&in.arena, 0);
    struct ingest_file *files = arena_calloc(&in.arena, options->file_count, sizeof *files);
    struct err err = ERR_INIT;
    if (files == NULL || in.copy == NULL) {
        (void)err_set(&err, ERR_NO_MEMORY, "no memory to load files");
        fail(&in, options->data_dir, &err);
    } else if (!open_data(&in, &err)) {
        fail(&in, options->data_dir, &err);
    } else {
        load(&in, files, options->file_count);
    }
    jobs_destroy(in.jobs);
    store_close(in.store);
    arena_free(&in.arena);
    free(in.copy);
    return in.any_failed ? EXIT_FAILED : EXIT_DONE;
}
