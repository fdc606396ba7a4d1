/* Authorizes requests: what a subject may not read does not exist for it. That holds for runs in
 * projects of others and for their traces, jobs, comparisons and workers. */
#ifndef KS_API_AUTHORIZE_H
#define KS_API_AUTHORIZE_H

#include "api/call.h"

#include <stdbool.h>
#include <stdint.h>

/* Checks every object that the request names in its path or query; call it before the handler.
 * ERR_NOT_FOUND, exactly as for an object that does not exist. A request that names nothing, or
 * names it badly, passes: its handler refuses it. */
bool authorize_request(struct api_call *call,
                       enum route_target target,
                       struct err *err) KS_MUST_USE;
/* For lists: the `projects` of struct store_page. NULL: everything. */
const char *authorize_projects(const struct api_call *call);
/* Checks objects that a request body names. */
bool authorize_run(const struct api_call *call, const char *name, struct err *err) KS_MUST_USE;
bool authorize_trace(const struct api_call *call, int64_t id, struct err *err) KS_MUST_USE;
/* ERR_NOT_FOUND for a run that is not there, or not for the one who asks, with the names of those
 * that are. Returns false. */
bool authorize_unknown_run(struct api_call *call, const char *name, struct err *err);

#endif
