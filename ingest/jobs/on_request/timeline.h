/* Builds the timeline of a stored trace that has none yet, when it is first wanted. Few uploads are
 * looked at that closely, and a timeline is a fifth of the work of taking in a trace. */
#ifndef KS_JOBS_ON_REQUEST_TIMELINE_H
#define KS_JOBS_ON_REQUEST_TIMELINE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/jobs/queue/jobs.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the trace from its event log, builds the timeline and stores it: some 60 ms for 200,000
 * events. Does nothing where there is a timeline or no log. Requests take turns
 * (jobs_derive_begin), so that a second one finds what the first has stored. ERR_NOT_FOUND;
 * ERR_TOO_LARGE; ERR_UNAVAILABLE while the server stops; those of the store. */
bool timeline_on_request(struct jobs *jobs, int64_t trace_id, struct err *err) KS_MUST_USE;

#endif
