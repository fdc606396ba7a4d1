/* The project of an upload's run. */
#ifndef KS_API_UPLOAD_PROJECT_H
#define KS_API_UPLOAD_PROJECT_H

#include "api/call.h"

#include <stdbool.h>

struct upload_project_ask {
    const char *run;
    const char *project;  /* asked for; NULL: not */
    const char *readable; /* what the sender may read, as in store_projects_have */
    const char *option;   /* what errors call the way to ask */
};

/* The rule, whoever hands in: see below. */
bool upload_project_of_run(const char **project,
                           struct store *store,
                           struct arena *arena,
                           const struct upload_project_ask *ask,
                           struct err *err) KS_MUST_USE;
/* Of the run in params[0]: the one that it has, or for a new name `?project=`, or none. Before the
 * first byte of the body. ERR_FORBIDDEN: the run is in a project of others, of which no more is
 * said than that the name cannot be had, or the sender may not read the project that he names;
 * ERR_CONFLICT: the run is in another one that he reads. */
bool upload_project(const char **project, struct api_call *call, struct err *err) KS_MUST_USE;

#endif
