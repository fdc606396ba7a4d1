#include "api/upload/project.h"

#include "api/authorize.h"

#include <string.h>

/* A new run, or one whose project is asked for by name. */
static bool check_asked(const char *asked, const char *readable, struct err *err)
{
    return store_project_check(asked, err) &&
           (store_projects_have(readable, asked) ||
            err_set(err, ERR_FORBIDDEN, "The token does not belong to the project \"%s\"", asked));
}

bool upload_project_of_run(const char **project,
                           struct store *store,
                           struct arena *arena,
                           const struct upload_project_ask *ask,
                           struct err *err)
{
    const char *readable = ask->readable;
    const char *asked = ask->project;
    const char *run = ask->run;
    if ((asked != NULL && !check_asked(asked, readable, err)) ||
        !store_run_project(store, arena, run, project, err)) {
        return false;
    }
    if (*project == NULL) {
        *project = asked == NULL ? "" : asked;
        return true;
    }
    if (!store_projects_have(readable, *project)) {
        return err_set(err, ERR_FORBIDDEN,
                       "The name \"%.200s\" is not available; give the run another one", run);
    }
    return asked == NULL || strcmp(asked, *project) == 0 ||
           err_set(err, ERR_CONFLICT,
                   "The run \"%.200s\" is in %s%s: PATCH the run to move it, or leave %s out", run,
                   **project == '\0' ? "no project" : "the project ", *project, ask->option);
}

bool upload_project(const char **project, struct api_call *call, struct err *err)
{
    const struct upload_project_ask ask = {.run = call->params[0],
                                           .project = query_string_word(&call->query, "project"),
                                           .readable = authorize_projects(call),
                                           .option = "?project="};
    return upload_project_of_run(project, call->api->store, call_arena(call), &ask, err);
}
