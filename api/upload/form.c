/* POST: several files as multipart/form-data. A part that came whole is handed to the jobs at once,
 * so that it is read while the next one arrives; what goes wrong with one file leaves the others
 * alone. */
#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/handlers.h"
#include "api/problem.h"
#include "api/upload/answer.h"
#include "api/upload/body.h"
#include "api/upload/multipart.h"
#include "api/upload/name.h"
#include "ingest/jobs/pipeline/rank_name.h"

#include <string.h>

#define FILES_MAX 1024
#define RANK_TEXT_MAX_BYTES 32

struct form_file {
    const char *file_name;
    bool failed;
    struct err error;
    struct jobs_submission submission;
    const int64_t *trace_ids; /* when the job is over, or of what was there already */
    size_t trace_count;
    const struct store_job_failure *failures; /* the same */
    size_t failure_count;
};

struct form {
    struct api_call *call;
    struct upload_body body;
    struct multipart *multipart;
    struct form_file *files; /* FILES_MAX, in the arena */
    size_t count;
    const char *project;    /* of the run */
    const char *tags;       /* for the run; NULL: none */
    const char *marker;     /* of the files to come; NULL: none */
    int64_t rank;           /* of the next file; STORE_NO_RANK */
    bool has_one_rank;      /* as a parameter: there may be one file only, which waits until the
                               form has ended */
    struct upload_file one; /* that file, when files[0] has not failed */
};

static int64_t read_source(void *state, void *bytes, size_t len)
{
    return upload_body_read(state, bytes, len);
}

/* Errors of the connection end the request, those of a file only the file. */
static bool copy_part(struct form *form, struct store_blob *blob, bool *written, struct err *err)
{
    *written = false;
    const char *bytes = NULL;
    size_t len = 0;
    uint64_t size_bytes = 0;
    struct err *file_error = &form->files[form->count - 1].error;
    do {
        if (!multipart_data(form->multipart, &bytes, &len, err)) {
            return false;
        }
        size_bytes += len;
        if (len > 0 && !store_blob_write(blob, bytes, len, file_error)) {
            return true;
        }
    } while (len > 0);
    *written = size_bytes > 0;
    if (!*written) {
        (void)err_set(file_error, ERR_BAD_REQUEST, "The file is empty");
    }
    return true;
}

static bool store_part(struct form *form, struct upload_file *stored, bool *kept, struct err *err)
{
    *kept = false;
    struct err *file_error = &form->files[form->count - 1].error;
    struct store_blob *blob = NULL;
    if (!store_blob_create(form->call->api->store, &blob, file_error)) {
        return true;
    }
    bool written = false;
    bool connected = copy_part(form, blob, &written, err);
    if (!connected || !written) {
        store_blob_discard(blob);
        return connected;
    }
    *kept = store_blob_commit(blob, stored->sha256_hex, &stored->size_bytes, file_error);
    return true;
}

static void submit_file(struct form *form, struct form_file *file, const struct upload_file *stored)
{
    struct api_call *call = form->call;
    struct jobs_hints hints = {
        .marker = form->marker, .rank = form->rank, .project = form->project, .tags = form->tags};
    struct jobs_submission *submission = &file->submission;
    form->rank = STORE_NO_RANK;
    file->failed = !jobs_submit(call->api->jobs, call_arena(call), call->params[0], file->file_name,
                                stored->sha256_hex, stored->size_bytes, call_flag(call, "replace"),
                                &hints, submission, &file->error);
    if (!file->failed) {
        file->trace_ids = submission->trace_ids;
        file->trace_count = submission->trace_count;
        file->failures = submission->failures;
        file->failure_count = submission->failure_count;
    }
}

static bool refuse_second_file(struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "The parameter \"rank\" is for one file: put a field \"rank\" before each file, "
                   "or the rank into the file names (worker_rank3.pt.trace.json)");
}

static bool take_part(struct form *form, const struct multipart_part *part, struct err *err)
{
    struct api_call *call = form->call;
    if (form->has_one_rank && form->count == 1) {
        return refuse_second_file(err);
    }
    if (form->count == FILES_MAX) {
        return err_set(err, ERR_BAD_REQUEST, "A form may have at most %d files", FILES_MAX);
    }
    struct form_file *file = &form->files[form->count++];
    *file = (struct form_file){.failed = true, .error = ERR_INIT};
    file->file_name = arena_strdup(call_arena(call), part->file_name);
    if (file->file_name == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the names of the files");
    }
    if (!upload_name_check_file(file->file_name, &file->error)) {
        return true;
    }
    struct upload_file stored;
    bool kept = false;
    if (!store_part(form, &stored, &kept, err)) {
        return false;
    }
    if (kept && form->has_one_rank) {
        form->one = stored;
        file->failed = false;
    } else if (kept) {
        submit_file(form, file, &stored);
    }
    return true;
}

static bool read_field(struct form *form, struct buf *text, struct err *err)
{
    const char *bytes = NULL;
    size_t len = 0;
    do {
        if (!multipart_data(form->multipart, &bytes, &len, err)) {
            return false;
        }
        if (len > 0) {
            buf_append(text, bytes, len);
        }
    } while (len > 0);
    return true;
}

static bool keep_marker(struct form *form, const struct buf *text, struct err *err)
{
    if (text->failed || strlen(text->ptr) != text->len) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The field \"marker\" must be the name of a function: at most %d bytes",
                       UPLOAD_MARKER_MAX_BYTES);
    }
    if (text->len == 0) {
        form->marker = NULL;
        return true;
    }
    if (!upload_name_check_marker(text->ptr, err)) {
        return false;
    }
    form->marker = arena_strndup(call_arena(form->call), text->ptr, text->len);
    return form->marker != NULL || err_set(err, ERR_NO_MEMORY, "No memory for the marker");
}

/* The field "marker": as the parameter, for the files behind it. */
static bool take_marker(struct form *form, struct err *err)
{
    struct buf text;
    buf_init(&text, UPLOAD_MARKER_MAX_BYTES);
    bool ok = read_field(form, &text, err) && keep_marker(form, &text, err);
    buf_free(&text);
    return ok;
}

static bool keep_rank(struct form *form, const struct buf *text, struct err *err)
{
    struct query_param param = {.name = "rank", .value = text->len == 0 ? "" : text->ptr};
    struct query_string query = {.params = &param, .count = 1};
    form->rank = STORE_NO_RANK;
    if (text->failed || strlen(param.value) != text->len) {
        return err_set(err, ERR_BAD_REQUEST, "The field \"rank\" must be a number");
    }
    return query_string_int(&query, "rank", 0, RANK_MAX, &form->rank, err);
}

/* The field "rank": of the next file alone. */
static bool take_rank(struct form *form, struct err *err)
{
    struct buf text;
    buf_init(&text, RANK_TEXT_MAX_BYTES);
    bool ok = read_field(form, &text, err) && keep_rank(form, &text, err);
    buf_free(&text);
    return ok;
}

static bool is_file(const struct multipart_part *part)
{
    /* A file field that was left empty has an empty file name. */
    return part->file_name != NULL && *part->file_name != '\0';
}

static bool is_field(const struct multipart_part *part, const char *name)
{
    return part->file_name == NULL && strcmp(part->name, name) == 0;
}

static bool take_any_part(struct form *form, const struct multipart_part *part, struct err *err)
{
    if (is_file(part)) {
        return take_part(form, part, err);
    }
    if (is_field(part, "marker")) {
        return take_marker(form, err);
    }
    return !is_field(part, "rank") || take_rank(form, err);
}

static bool receive_form(struct form *form, struct err *err)
{
    struct multipart_part part;
    bool has_part = false;
    do {
        if (!multipart_next(form->multipart, &part, &has_part, err)) {
            return false;
        }
        if (has_part && !take_any_part(form, &part, err)) {
            return false;
        }
    } while (has_part);
    if (form->count == 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The form holds no file: each part needs a file name (curl -F file=@NAME)");
    }
    return true;
}

/* The file that waited for the form's end, if there is one. */
static void settle_one(struct form *form, bool received)
{
    if (!form->has_one_rank || form->count == 0 || form->files[0].failed) {
        return;
    }
    if (received) {
        submit_file(form, &form->files[0], &form->one);
    } else {
        struct err ignored = ERR_INIT;
        bool released = store_blob_release(form->call->api->store, form->one.sha256_hex, &ignored);
        (void)released; /* or it goes at the next start */
    }
}

static void wait_for_jobs(struct form *form)
{
    for (size_t i = 0; i < form->count; i++) {
        struct form_file *file = &form->files[i];
        struct jobs_status job = {0};
        if (file->failed || file->submission.already) {
            continue;
        }
        file->failed =
            !upload_answer_wait(form->call, file->submission.job_id, &job, &file->error) ||
            (job.state != JOB_DONE &&
             !err_set(&file->error, ERR_UNAVAILABLE,
                      "The database does not answer: the file is kept, and job %lld reads it later",
                      (long long)file->submission.job_id));
        file->trace_ids = job.trace_ids;
        file->trace_count = job.trace_count;
        file->failures = job.failures;
        file->failure_count = job.failure_count;
    }
}

static void write_errors(struct json_write *w, const struct form *form)
{
    jw_key_array_begin(w, "errors");
    for (size_t i = 0; i < form->count; i++) {
        if (form->files[i].failed) {
            jw_object_begin(w);
            jw_key_string(w, "file_name", form->files[i].file_name);
            problem_members(w, &form->files[i].error);
            jw_object_end(w);
        }
        catalogue_json_failures(w, form->files[i].file_name, form->files[i].failures,
                                form->files[i].failure_count);
    }
    jw_array_end(w);
}

static bool write_traces(struct json_write *w, const struct form *form, struct err *err)
{
    jw_key_array_begin(w, "traces");
    for (size_t i = 0; i < form->count; i++) {
        const struct form_file *file = &form->files[i];
        if (!file->failed &&
            !catalogue_json_traces(w, form->call, file->trace_ids, file->trace_count, err)) {
            return false;
        }
    }
    jw_array_end(w);
    return true;
}

/* Files whose job is not waited for: those that were there already stand among the traces. */
static bool write_jobs(struct json_write *w, const struct form *form, struct err *err)
{
    jw_key_array_begin(w, "jobs");
    for (size_t i = 0; i < form->count; i++) {
        const struct form_file *file = &form->files[i];
        if (file->failed || file->submission.already) {
            continue;
        }
        struct jobs_status job;
        if (!jobs_sync(form->call->api->jobs, file->submission.job_id, err) ||
            !jobs_status(form->call->api->jobs, call_arena(form->call), file->submission.job_id,
                         &job, err)) {
            return false;
        }
        catalogue_json_job(w, form->call->api, &job);
    }
    jw_array_end(w);
    return true;
}

static bool is_new(const struct form_file *file)
{
    return !file->failed && !file->submission.already;
}

/* When every file failed the answer is a problem too: the first one's, with the list beside it. */
static bool answer_form(struct form *form, bool async, struct err *err)
{
    size_t failed = 0;
    size_t added = 0;
    for (size_t i = 0; i < form->count; i++) {
        failed += form->files[i].failed;
        added += is_new(&form->files[i]);
    }
    struct json_write w = call_json(form->call, false);
    jw_object_begin(&w);
    if (failed == form->count) {
        form->call->response->status = err_http_status(form->files[0].error.code);
        form->call->response->content_type = "application/problem+json";
        problem_members(&w, &form->files[0].error);
    } else {
        form->call->response->status = added == 0 ? 200 : async ? 202 : 201;
        upload_answer_run_location(form->call);
    }
    if (async && !write_jobs(&w, form, err)) {
        return false;
    }
    if (!write_traces(&w, form, err)) {
        return false;
    }
    write_errors(&w, form);
    jw_object_end(&w);
    return true;
}

bool upload_post(struct api_call *call, struct err *err)
{
    struct form form = {.call = call};
    struct jobs_hints hints;
    if (!upload_name_check_run(call->params[0], err) || !upload_body_hints(&hints, call, err) ||
        !upload_body_begin(&form.body, call, hints.project, err)) {
        return false;
    }
    form.marker = hints.marker;
    form.rank = hints.rank;
    form.project = hints.project;
    form.tags = hints.tags;
    form.has_one_rank = hints.rank != STORE_NO_RANK;
    struct multipart_source source = {.read = read_source, .state = &form.body};
    form.files = arena_calloc(call_arena(call), FILES_MAX, sizeof *form.files);
    if (form.files == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to receive the form");
    }
    if (!multipart_create(&form.multipart, call_header(call, "Content-Type"), source, err)) {
        return false;
    }
    bool received = receive_form(&form, err);
    multipart_destroy(form.multipart);
    settle_one(&form, received);
    if (!received) {
        return form.body.cut || form.body.too_large ? upload_body_error(&form.body, err) : false;
    }
    bool async = upload_answer_is_async(call);
    if (!async) {
        wait_for_jobs(&form);
    }
    return answer_form(&form, async, err);
}
