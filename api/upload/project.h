/* Decides the project of an upload's run. */
#ifndef KS_API_UPLOAD_PROJECT_H
#define KS_API_UPLOAD_PROJECT_H

#include "api/call.h"

#include <stdbool.h>

struct upload_project_ask {
    const char *run;
    const char *project;  /* requested; NULL: none */
    const char *readable; /* what the sender may read, as in store_projects_have */
    const char *option;   /* how errors name the parameter or option */
};

/* The rule that the command line and the API share; see upload_project. */
bool upload_project_of_run(const char **project,
                           struct store *store,
                           struct arena *arena,
                           const struct upload_project_ask *ask,
                           struct err *err) KS_MUST_USE;
/* The project of the run in params[0]: its own; for a new run `?project=`, or none. Call it before
 * the first byte of the body. ERR_FORBIDDEN: the run is in a project of others (the message says
 * only that the name is taken), or the sender may not read the requested project. ERR_CONFLICT: the
 * run is in another project that the sender may read. */
bool upload_project(const char **project, struct api_call *call, struct err *err) KS_MUST_USE;

#endif
