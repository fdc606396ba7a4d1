/* Authorizes requests: what a subject may not read does not exist for it. That holds for runs in
 * projects of others and for their traces, jobs, comparisons and workers. */
#ifndef KS_API_SCOPE_H
#define KS_API_SCOPE_H

#include "api/call.h"

#include <stdbool.h>
#include <stdint.h>

/* Checks every object that the request names in its path or query; call it before the handler.
 * ERR_NOT_FOUND, exactly as for an object that does not exist. A request that names nothing, or
 * names it badly, passes: its handler refuses it. */
bool scope_check(struct api_call *call, enum route_scope scope, struct err *err) KS_MUST_USE;
/* For lists: the `projects` of struct store_page. NULL: everything. */
const char *scope_projects(const struct api_call *call);
/* Checks objects that a request body names. */
bool scope_run(const struct api_call *call, const char *name, struct err *err) KS_MUST_USE;
bool scope_trace(const struct api_call *call, int64_t id, struct err *err) KS_MUST_USE;

#endif
