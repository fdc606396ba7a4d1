/* What both ways of uploading answer with. */
#ifndef KS_API_UPLOAD_ANSWER_H
#define KS_API_UPLOAD_ANSWER_H

#include "api/call.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the client asked for the job instead of the result: `Prefer: respond-async`. */
bool upload_answer_is_async(const struct api_call *call);
/* Waits until the job is over; its failure is the error. */
bool upload_answer_wait(struct api_call *call,
                        int64_t job_id,
                        struct jobs_status *job,
                        struct err *err) KS_MUST_USE;
/* Location of the run that was uploaded to. */
void upload_answer_run_location(struct api_call *call);

#endif
