/* The answer of both upload routes. */
#ifndef KS_API_UPLOAD_ANSWER_H
#define KS_API_UPLOAD_ANSWER_H

#include "api/call.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the client wants the job instead of the result: `Prefer: respond-async`. */
bool upload_answer_is_async(const struct api_call *call);
/* Waits for the end of the job, unless the catalogue is away: then it is neither done nor failed.
 * False: the error is that of the job. */
bool upload_answer_wait(struct api_call *call,
                        int64_t job_id,
                        struct jobs_status *job,
                        struct err *err) KS_MUST_USE;
/* Adds the Location of the run. */
void upload_answer_run_location(struct api_call *call);

#endif
