/* The project of an upload's run. */
#ifndef KS_API_UPLOAD_PROJECT_H
#define KS_API_UPLOAD_PROJECT_H

#include "api/call.h"

#include <stdbool.h>

/* Of the run in params[0]: the one that it has, or for a new name `?project=`, or none. Before the
 * first byte of the body. ERR_FORBIDDEN: the run is in a project of others, of which no more is
 * said than that the name cannot be had, or the sender may not read the project that he names;
 * ERR_CONFLICT: the run is in another one that he reads. */
bool upload_project(const char **project, struct api_call *call, struct err *err) KS_MUST_USE;

#endif
