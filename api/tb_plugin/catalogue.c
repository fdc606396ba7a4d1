/* runs, views, workers, spans: what there is to ask for [TB-2]. */
#include "api/authorize.h"
#include "api/call.h"
#include "api/table/table_params.h"
#include "api/tb_plugin/common.h"
#include "api/tb_plugin/handlers.h"
#include "ingest/base/order.h"
#include "ingest/tb_plugin/run_views.h"

#include <stdlib.h>
#include <string.h>

bool plugin_runs(struct api_call *call, struct err *err)
{
    const struct store_page page = {.sort = "name", .projects = authorize_projects(call)};
    struct store_run *runs = NULL;
    size_t count = 0;
    struct store_total total;
    struct jobs_counts jobs;
    if (!store_runs(call->snapshot, call_arena(call), &page, &runs, &count, &total, err) ||
        !jobs_counts(call->api->jobs, &jobs, err)) {
        return false;
    }
    struct json_write w = call_json(call, true);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "runs");
    for (size_t i = 0; i < count; i++) {
        jw_string(&w, runs[i].name);
    }
    jw_array_end(&w);
    jw_key_bool(&w, "loading", jobs.queued + jobs.running > 0);
    jw_object_end(&w);
    return true;
}

bool plugin_views(struct api_call *call, struct err *err)
{
    struct plugin_run run;
    if (!plugin_find_run(call, &run, err) || !plugin_find_views(call, &run, err)) {
        return false;
    }
    uint32_t views = run_views_of(run.traces, run.communication, run.count);
    struct json_write w = call_json(call, true);
    jw_array_begin(&w);
    for (unsigned view = 0; view < VIEW_PROFILER_COUNT; view++) {
        if ((views >> view & 1U) != 0) {
            jw_string(&w, view_label((enum view)view));
        }
    }
    jw_array_end(&w);
    return true;
}

/* The bit of `view=`; all bits when it is absent. */
static bool read_view(const struct api_call *call, uint32_t *wanted, struct err *err)
{
    const char *labels[VIEW_PROFILER_COUNT + 1] = {NULL};
    const char *name = query_string_get(&call->query, "view");
    size_t view = 0;
    for (unsigned i = 0; i < VIEW_PROFILER_COUNT; i++) {
        labels[i] = view_label((enum view)i);
    }
    if (!table_params_choice(call, "view", labels, &view, err)) {
        return false;
    }
    *wanted = name == NULL || *name == '\0' ? UINT32_MAX : 1U << view;
    return true;
}

bool plugin_workers(struct api_call *call, struct err *err)
{
    struct plugin_run run;
    uint32_t wanted = 0;
    if (!plugin_find_run(call, &run, err) || !read_view(call, &wanted, err) ||
        !plugin_find_views(call, &run, err)) {
        return false;
    }
    struct json_write w = call_json(call, true);
    jw_array_begin(&w);
    if (wanted == 1U << VIEW_DISTRIBUTED) {
        if ((run_views_of(run.traces, run.communication, run.count) & wanted) != 0) {
            jw_string(&w, "All");
        }
    } else {
        const char *last = NULL;
        for (size_t i = 0; i < run.count; i++) {
            const struct store_trace *trace = &run.traces[i];
            bool is_new = last == NULL || strcmp(last, trace->worker) != 0;
            if (is_new && (trace->views & wanted) != 0) {
                jw_string(&w, trace->worker);
                last = trace->worker;
            }
        }
    }
    jw_array_end(&w);
    return true;
}

static bool unknown_worker(struct api_call *call, const struct plugin_run *run, struct err *err)
{
    const struct store_trace *none = NULL;
    return plugin_find_trace(call, run, &none, err);
}

bool plugin_spans(struct api_call *call, struct err *err)
{
    struct plugin_run run;
    if (!plugin_find_run(call, &run, err)) {
        return false;
    }
    const char *worker = query_string_get(&call->query, "worker");
    bool all = worker != NULL && strcmp(worker, "All") == 0;
    const char **spans = arena_calloc(call_arena(call), run.count, sizeof *spans);
    size_t count = 0;
    if (spans == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to list the spans");
    }
    for (size_t i = 0; i < run.count; i++) {
        if (all || (worker != NULL && strcmp(run.traces[i].worker, worker) == 0)) {
            spans[count++] = plugin_span_text(call, &run.traces[i]);
        }
    }
    if (count == 0) {
        return unknown_worker(call, &run, err);
    }
    qsort(spans, count, sizeof *spans, order_text_at);
    struct json_write w = call_json(call, true);
    jw_array_begin(&w);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(spans[i], spans[i - 1]) != 0) {
            jw_string(&w, spans[i]);
        }
    }
    jw_array_end(&w);
    return true;
}
