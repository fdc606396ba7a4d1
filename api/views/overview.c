#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/handlers.h"
#include "api/table/render.h"
#include "api/table/table_view.h"

#define LIMIT_DEFAULT 1000

/* Operators by name and kernels are few: names, not calls. */
static bool
add_names(struct api_call *call, int64_t id, struct trace_results *results, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    int64_t total = 0;
    return store_operators(snapshot, arena, id, OPERATOR_BY_NAME, NULL, NULL, &all,
                           &results->operators[OPERATOR_BY_NAME],
                           &results->operator_count[OPERATOR_BY_NAME], &total, err) &&
           store_kernels(snapshot, arena, id, &all, &results->kernels, &results->kernel_count,
                         &total, err);
}

bool overview_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct store_trace *trace = NULL;
    struct trace_results *results = NULL;
    struct arena *arena = call_arena(call);
    if (!call_id(call, "trace", &id, err) ||
        !store_trace_get(call->snapshot, arena, id, &trace, err) ||
        !store_overview(call->snapshot, arena, id, &results, err) ||
        !add_names(call, id, results, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key(&w, "trace");
    if (!catalogue_json_trace(&w, call, trace, err)) {
        return false;
    }
    render_overview(&w, results);
    jw_object_end(&w);
    return true;
}

static void write_steps_members(struct json_write *w, const void *results_void)
{
    const struct trace_results *results = results_void;
    jw_key_int(w, "total", (int64_t)results_step_count(results));
    jw_key(w, "roles");
    render_roles(w, results);
}

bool overview_steps(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct trace_results *results = NULL;
    struct table_view view = {
        .table = &table_step, .stem = "steps", .write_members = write_steps_members};
    if (!call_trace_id(call, &id, err) ||
        !table_view_read(&view, call, "start_ns", LIMIT_DEFAULT, err) ||
        !store_overview(call->snapshot, call_arena(call), id, &results, err)) {
        return false;
    }
    render_fill_steps(results);
    view.params.page.q = NULL; /* steps have numbers, no names */
    view.context = results;
    return table_view_run(&view, call, results->steps, results_step_count(results), err) &&
           table_view_answer(&view, call);
}
