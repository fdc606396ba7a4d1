/* What the routes of idle time and launches share. */
#ifndef KS_API_VIEWS_CAUSES_COMMON_H
#define KS_API_VIEWS_CAUSES_COMMON_H

#include "api/call.h"
#include "ingest/jobs/on_request/analyses.h"

/* ?last_step=keep|drop. ERR_BAD_REQUEST. */
bool causes_last_step(const struct api_call *call,
                      enum causes_last_step *last_step,
                      struct err *err) KS_MUST_USE;

/* null for a figure of no values. */
void causes_known_int(struct json_write *w, const char *key, int64_t value);
void causes_known_double(struct json_write *w, const char *key, double value);
/* An event's number; CAUSES_NONE: null. */
void causes_event(struct json_write *w, const char *key, uint32_t event);

#endif
