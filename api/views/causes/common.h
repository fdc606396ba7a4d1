/* What the routes of idle time and launches share. */
#ifndef KS_API_VIEWS_CAUSES_COMMON_H
#define KS_API_VIEWS_CAUSES_COMMON_H

#include "api/call.h"
#include "ingest/jobs/on_request/analyses.h"

/* ?last_step=keep|drop. ERR_BAD_REQUEST. */
bool causes_last_step(const struct api_call *call,
                      enum causes_last_step *last_step,
                      struct err *err) KS_MUST_USE;

#endif
