#include "api/upload_project.h"

#include "api/scope.h"

#include <string.h>

/* A new run, or one whose project is asked for by name. */
static bool check_asked(const char *asked, const char *readable, struct err *err)
{
    return store_project_check(asked, err) &&
           (store_projects_have(readable, asked) ||
            err_set(err, ERR_FORBIDDEN, "The token does not belong to the project \"%s\"", asked));
}

bool upload_project(const char **project, struct api_call *call, struct err *err)
{
    const char *readable = scope_projects(call);
    const char *asked = query_string_word(&call->query, "project");
    const char *run = call->params[0];
    if ((asked != NULL && !check_asked(asked, readable, err)) ||
        !store_run_project(call->api->store, call_arena(call), run, project, err)) {
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
           err_set(
               err, ERR_CONFLICT,
               "The run \"%.200s\" is in %s%s: PATCH the run to move it, or leave ?project= out",
               run, **project == '\0' ? "no project" : "the project ", *project);
}
