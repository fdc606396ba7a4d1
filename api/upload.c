/* PUT: one file as it is. The body goes straight into the store; a job reads it from there, and the
 * answer waits for the job unless the client prefers not to. */
#include "api/call.h"
#include "api/catalogue_json.h"
#include "api/handlers.h"
#include "api/upload_answer.h"
#include "api/upload_body.h"
#include "api/upload_name.h"

#include <inttypes.h>
#include <strings.h>

static bool answer_traces(
    struct api_call *call, int status, const int64_t *trace_ids, size_t count, struct err *err)
{
    struct json_write w = call_json(call, false);
    call->response->status = status;
    if (count == 1) {
        call_add_location(call, call_format(call, "/api/v1/traces/%" PRId64, trace_ids[0]));
        return catalogue_json_traces(&w, call_arena(call), call->api, trace_ids, 1, err);
    }
    upload_answer_run_location(call);
    jw_object_begin(&w);
    jw_key(&w, "traces");
    jw_array_begin(&w);
    if (!catalogue_json_traces(&w, call_arena(call), call->api, trace_ids, count, err)) {
        return false;
    }
    jw_array_end(&w);
    jw_key(&w, "errors");
    jw_array_begin(&w);
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

static bool answer_job(struct api_call *call, int64_t job_id, struct err *err)
{
    struct jobs_status job;
    if (!jobs_status(call->api->jobs, call_arena(call), job_id, &job, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    catalogue_json_job(&w, call->api, &job);
    call->response->status = 202;
    call_add_location(call, call_format(call, "/api/v1/jobs/%" PRId64, job_id));
    call_add_header(call, "Preference-Applied", "respond-async");
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
    struct upload_file file;
    struct jobs_submission submission;
    const char *marker = NULL;
    if (!upload_name_check_run(call->params[0], err) ||
        !upload_name_check_file(call->params[1], err) || !refuse_form(call, err) ||
        !upload_body_marker(&marker, call, err) || !upload_body_begin(&body, call, err) ||
        !upload_body_receive(&body, call->api->store, &file, err) ||
        !jobs_submit(call->api->jobs, call_arena(call), call->params[0], call->params[1],
                     file.sha256_hex, file.size_bytes, call_flag(call, "replace"), marker,
                     &submission, err)) {
        return false;
    }
    if (submission.already) {
        return answer_traces(call, 200, submission.trace_ids, submission.trace_count, err);
    }
    if (upload_answer_is_async(call)) {
        return answer_job(call, submission.job_id, err);
    }
    struct jobs_status job;
    return upload_answer_wait(call, submission.job_id, &job, err) &&
           answer_traces(call, 201, job.trace_ids, job.trace_count, err);
}
