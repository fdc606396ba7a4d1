#include "api/upload/answer.h"

#include <string.h>
#include <strings.h>

bool upload_answer_is_async(const struct api_call *call)
{
    static const char wanted[] = "respond-async";
    const char *prefer = call_header(call, "Prefer");
    while (*prefer != '\0') {
        prefer += strspn(prefer, " \t,");
        size_t len = strcspn(prefer, " \t,;");
        if (len == sizeof wanted - 1 && strncasecmp(prefer, wanted, len) == 0) {
            return true;
        }
        prefer += strcspn(prefer, ",");
    }
    return false;
}

bool upload_answer_wait(struct api_call *call,
                        int64_t job_id,
                        struct jobs_status *job,
                        struct err *err)
{
    if (!jobs_wait(call->api->jobs, call_arena(call), job_id, 0, -1, job, err)) {
        return false;
    }
    if (job->state == JOB_FAILED) {
        *err = job->error;
        return false;
    }
    return true;
}

void upload_answer_run_location(struct api_call *call)
{
    const char *encoded = query_string_encode(call_arena(call), call->params[0]);
    if (encoded != NULL) {
        call_add_location(call, call_format(call, "/api/v1/runs/%s", encoded));
    }
}
