/* PUT: one file as it is. The body goes straight into the store; a job reads it from there, and the
 * answer waits for the job unless the client prefers not to. */
#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/handlers.h"
#include "api/upload/answer.h"
#include "api/upload/body.h"
#include "api/upload/name.h"

#include <inttypes.h>
#include <strings.h>

/* What there is to tell of a file. */
struct outcome {
    const int64_t *trace_ids;
    size_t trace_count;
    const struct store_job_failure *failures;
    size_t failure_count;
};

static bool answer_list(struct api_call *call, const struct outcome *outcome, struct err *err)
{
    struct json_write w = call_json(call, false);
    upload_answer_run_location(call);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "traces");
    if (!catalogue_json_traces(&w, call, outcome->trace_ids, outcome->trace_count, err)) {
        return false;
    }
    jw_array_end(&w);
    jw_key_array_begin(&w, "errors");
    catalogue_json_failures(&w, call->params[1], outcome->failures, outcome->failure_count);
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

static bool answer_traces(struct api_call *call,
                          int status,
                          bool is_archive,
                          const struct outcome *outcome,
                          struct err *err)
{
    bool ok;
    if (is_archive || outcome->trace_count != 1) {
        ok = answer_list(call, outcome, err);
    } else {
        struct json_write w = call_json(call, false);
        call_add_location(call,
                          call_format(call, "/api/v1/traces/%" PRId64, outcome->trace_ids[0]));
        ok = catalogue_json_traces(&w, call, outcome->trace_ids, 1, err);
    }
    call->response->status = status; /* call_json has set 200 */
    return ok;
}

/* 202, whether or not that was asked for. */
static bool answer_job(struct api_call *call, int64_t job_id, struct err *err)
{
    struct jobs_status job;
    if (!jobs_sync(call->api->jobs, job_id, err) ||
        !jobs_status(call->api->jobs, call_arena(call), job_id, &job, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    catalogue_json_job(&w, call->api, &job);
    call->response->status = 202;
    call_add_location(call, call_format(call, "/api/v1/jobs/%" PRId64, job_id));
    if (upload_answer_is_async(call)) {
        call_add_header(call, "Preference-Applied", "respond-async");
    }
    return true;
}

static bool refuse_form(const struct api_call *call, struct err *err)
{
    if (strncasecmp(call_header(call, "Content-Type"), "multipart/", 10) != 0) {
        return true;
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "PUT takes the file itself (curl -T FILE): send forms (curl -F file=@FILE) with "
                   "POST to the address that ends in /traces");
}

bool upload_put(struct api_call *call, struct err *err)
{
    struct upload_body body;
    struct upload_file file = {.size_bytes = 0};
    struct jobs_submission submission;
    struct jobs_hints hints;
    if (!upload_name_check_run(call->params[0], err) ||
        !upload_name_check_file(call->params[1], err) || !refuse_form(call, err) ||
        !upload_body_hints(&hints, call, err) ||
        !upload_body_begin(&body, call, hints.project, err) ||
        !upload_body_receive(&body, call, call->params[1], &hints, &file, err) ||
        !jobs_submit(call->api->jobs, call_arena(call), call->params[0], call->params[1],
                     file.sha256_hex, file.size_bytes, call_flag(call, "replace"), &hints,
                     &submission, err)) {
        return false;
    }
    if (submission.already) {
        struct outcome there = {submission.trace_ids, submission.trace_count, submission.failures,
                                submission.failure_count};
        return answer_traces(call, 200, submission.is_archive, &there, err);
    }
    if (upload_answer_is_async(call)) {
        return answer_job(call, submission.job_id, err);
    }
    struct jobs_status job;
    if (!upload_answer_wait(call, submission.job_id, &job, err)) {
        return false;
    }
    if (job.state != JOB_DONE) { /* the catalogue is away, and has the job */
        return answer_job(call, submission.job_id, err);
    }
    struct outcome made = {job.trace_ids, job.trace_count, job.failures, job.failure_count};
    return answer_traces(call, 201, submission.is_archive, &made, err);
}
