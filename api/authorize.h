/* What the one who asks may read: a run in a project of others is for him not there, and neither
 * are its traces, jobs, comparisons and workers. */
#ifndef KS_API_AUTHORIZE_H
#define KS_API_AUTHORIZE_H

#include "api/call.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the handler: whatever of the store the request names by path or query may be read. Else
 * the same error as for what is not there (ERR_NOT_FOUND). A request that names nothing, or badly,
 * is for the handler to refuse. */
bool authorize_request(struct api_call *call,
                       enum route_target target,
                       struct err *err) KS_MUST_USE;
/* For lists: struct store_page, `projects`. NULL: everything. */
const char *authorize_projects(const struct api_call *call);
/* For what stands in a body. */
bool authorize_run(const struct api_call *call, const char *name, struct err *err) KS_MUST_USE;
bool authorize_trace(const struct api_call *call, int64_t id, struct err *err) KS_MUST_USE;

#endif
