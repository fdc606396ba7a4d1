#include "api/authorize.h"
#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/catalogue/patch_body.h"
#include "api/handlers.h"
#include "api/table/table_params.h"

static const char *const text_columns[] = {"name", NULL};

#define LIMIT_DEFAULT 100

bool runs_list(struct api_call *call, struct err *err)
{
    struct table_params params;
    struct store_run *runs = NULL;
    size_t count = 0;
    int64_t total = 0;
    struct store_snapshot *snapshot = call->snapshot;
    if (!table_params_read(&params, call, text_columns, "uploaded_at", LIMIT_DEFAULT, err)) {
        return false;
    }
    params.page.tag = query_string_word(&call->query, "tag");
    params.page.project = query_string_word(&call->query, "project");
    if (!store_runs(snapshot, call_arena(call), &params.page, &runs, &count, &total, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key(&w, "runs");
    jw_array_begin(&w);
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(&w);
        catalogue_json_run_members(&w, call_arena(call), call->api, &runs[i]);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_key_int(&w, "total", total);
    jw_object_end(&w);
    return true;
}

static bool answer_run(struct api_call *call, bool with_traces, struct err *err)
{
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    struct store_run *run = NULL;
    struct store_trace *traces = NULL;
    size_t count = 0;
    if (!store_run_get(snapshot, arena, call->params[0], &run, err) ||
        (with_traces && !store_traces(snapshot, arena, call->params[0], &traces, &count, err))) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    catalogue_json_run_members(&w, arena, call->api, run);
    if (with_traces) {
        jw_key(&w, "trace_list");
        jw_array_begin(&w);
        for (size_t i = 0; i < count; i++) {
            if (!catalogue_json_trace(&w, call, &traces[i], err)) {
                return false;
            }
        }
        jw_array_end(&w);
    }
    jw_object_end(&w);
    return true;
}

bool runs_get(struct api_call *call, struct err *err)
{
    return answer_run(call, true, err);
}

/* Who moves a run reads where it is, and has to read where it goes. */
static bool move_run(const struct api_call *call, const char *project, struct err *err)
{
    if (project == NULL) {
        return true;
    }
    return (store_projects_have(authorize_projects(call), project) ||
            err_set(err, ERR_FORBIDDEN, "The token does not belong to the project \"%s\"",
                    project)) &&
           store_run_move(call->api->store, call->params[0], project, err);
}

bool runs_patch(struct api_call *call, struct err *err)
{
    struct patch_body patch;
    return patch_body_read(&patch, PATCH_RUN, call->request, call_arena(call), err) &&
           move_run(call, patch.project, err) &&
           store_run_patch(call->api->store, call->params[0], patch.tags, patch.note,
                           patch.has_pinned ? &patch.pinned : NULL, err) &&
           answer_run(call, false, err);
}

bool runs_delete(struct api_call *call, struct err *err)
{
    if (!store_run_delete(call->api->store, call->params[0], err)) {
        return false;
    }
    call->response->status = 204;
    return true;
}
