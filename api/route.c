#include "api/route.h"

#include "api/handlers.h"

#include <stdio.h>
#include <string.h>

#define V1 "/api/v1"
#define PLUGIN "/data/plugin/pytorch_profiler"

static const struct route routes[] = {
    {"GET", V1 "/openapi.json", false, meta_openapi, "This description"},
    {"GET", V1 "/runs", false, runs_list, "The runs, newest upload first"},
    {"GET", V1 "/runs/{run}", false, runs_get, "A run and its traces"},
    {"PATCH", V1 "/runs/{run}", true, runs_patch, "Sets a run's tags and note"},
    {"DELETE", V1 "/runs/{run}", true, runs_delete, "Deletes a run and its traces"},
    {"POST", V1 "/runs/{run}/traces", true, upload_post, "Uploads files as a form"},
    {"PUT", V1 "/runs/{run}/traces/{filename}", true, upload_put, "Uploads a file"},
    {"GET", V1 "/runs/{run}/distributed", false, distributed_get,
     "Computation and communication of the workers"},
    {"GET", V1 "/traces/{id}", false, traces_get, "A trace"},
    {"PATCH", V1 "/traces/{id}", true, traces_patch, "Sets a trace's tags and note"},
    {"DELETE", V1 "/traces/{id}", true, traces_delete, "Deletes a trace"},
    {"GET", V1 "/traces/{id}/raw", false, traces_raw, "The uploaded bytes"},
    {"GET", V1 "/traces/{id}/overview", false, overview_get, "The trace at a glance"},
    {"GET", V1 "/traces/{id}/steps", false, overview_steps, "The profiler steps"},
    {"GET", V1 "/traces/{id}/operators", false, operators_get, "The operators"},
    {"GET", V1 "/traces/{id}/kernels", false, kernels_get, "The kernels"},
    {"GET", V1 "/traces/{id}/memory", false, memory_get, "Memory by operator"},
    {"GET", V1 "/traces/{id}/memory/events", false, memory_events, "Blocks of memory"},
    {"GET", V1 "/traces/{id}/memory/curve", false, memory_curve, "Memory over time"},
    {"GET", V1 "/traces/{id}/modules", false, modules_get, "The hierarchy of modules"},
    {"GET", V1 "/traces/{id}/tree", false, call_tree_threads, "Threads of the call tree"},
    {"GET", V1 "/traces/{id}/tree/{thread}", false, call_tree_get, "A part of the call tree"},
    {"GET", V1 "/traces/{id}/timeline/tracks", false, timeline_tracks, "Tracks of the timeline"},
    {"GET", V1 "/traces/{id}/timeline", false, timeline_window, "A window of the timeline"},
    {"GET", V1 "/traces/{id}/events/{event}", false, timeline_event_get,
     "An event with all it says"},
    {"GET", V1 "/traces/{id}/search", false, search_get, "Names and events that hold a text"},
    {"GET", V1 "/traces/{id}/window", false, window_get, "Figures of a window of time"},
    {"GET", V1 "/traces/{id}/trace.json.gz", false, trace_export_get,
     "The trace, or a window of it, as a file"},
    {"GET", V1 "/traces/{id}/kernel-utilisation", false, kernel_utilisation_get,
     "What a kernel table measured, a row a kernel"},
    {"GET", V1 "/traces/{id}/kernel-utilisation/launches", false, kernel_utilisation_launches,
     "What a kernel table measured, a row a launch"},
    {"GET", V1 "/traces/{id}/cycles", false, cycles_route_get,
     "What each function took of each cycle"},
    {"POST", V1 "/comparisons", true, compare_post, "Compares the cycles of two sets of traces"},
    {"GET", V1 "/comparisons", false, compare_list, "The comparisons, newest first"},
    {"GET", V1 "/comparisons/{id}", false, compare_get, "A comparison"},
    {"DELETE", V1 "/comparisons/{id}", true, compare_delete, "Deletes a comparison"},
    {"GET", V1 "/comparisons/{id}/series", false, compare_series,
     "A row of a comparison, cycle by cycle"},
    {"GET", V1 "/diff", false, diff_get, "Two traces by name"},
    {"GET", V1 "/diff/tree", false, diff_tree_get, "Two traces by their call trees"},
    {"GET", V1 "/jobs/{id}", false, jobs_route_get, "How far an upload is, once or as events"},
    {"GET", "/healthz", false, meta_healthz, "Whether the process is alive"},
    {"GET", "/readyz", false, meta_readyz, "Whether the database answers"},
    {"GET", "/metrics", false, meta_metrics, "Figures for Prometheus"},
    {"GET", PLUGIN "/runs", false, plugin_runs, "Names of the runs"},
    {"GET", PLUGIN "/views", false, plugin_views, "Views of a run"},
    {"GET", PLUGIN "/workers", false, plugin_workers, "Workers of a run that have a view"},
    {"GET", PLUGIN "/spans", false, plugin_spans, "Spans of a worker"},
    {"GET", PLUGIN "/overview", false, plugin_overview, "Overview"},
    {"GET", PLUGIN "/operation", false, plugin_operation_pies, "Four pies of operators"},
    {"GET", PLUGIN "/operation/table", false, plugin_operation_table, "Table of operators"},
    {"GET", PLUGIN "/operation/stack", false, plugin_operation_stack, "Call stacks of an operator"},
    {"GET", PLUGIN "/kernel", false, plugin_kernel_pie, "Pie of kernels"},
    {"GET", PLUGIN "/kernel/table", false, plugin_kernel_table, "Table of kernels"},
    {"GET", PLUGIN "/kernel/tc_pie", false, plugin_kernel_tc_pie, "Time in Tensor Core kernels"},
    {"GET", PLUGIN "/memory", false, plugin_memory, "Memory by operator"},
    {"GET", PLUGIN "/memory_curve", false, plugin_memory_curve, "Memory over time"},
    {"GET", PLUGIN "/memory_events", false, plugin_memory_events, "Blocks of memory"},
    {"GET", PLUGIN "/module", false, plugin_module, "Modules"},
    {"GET", PLUGIN "/trace", false, plugin_trace, "The trace with counters of its devices"},
    {"GET", PLUGIN "/tree", false, plugin_tree, "Call tree of the first thread"},
    {"GET", PLUGIN "/distributed/gpuinfo", false, plugin_distributed_gpuinfo, "Devices"},
    {"GET", PLUGIN "/distributed/overlap", false, plugin_distributed_overlap,
     "Computation and communication by step"},
    {"GET", PLUGIN "/distributed/waittime", false, plugin_distributed_waittime,
     "Transfer and waiting by step"},
    {"GET", PLUGIN "/distributed/commops", false, plugin_distributed_commops, "Collectives"},
    {"GET", PLUGIN "/diff", false, plugin_diff, "Two traces by their call trees"},
    {"GET", PLUGIN "/diffnode", false, plugin_diffnode, "One node of that and its children"},
};

#define ROUTE_COUNT (sizeof routes / sizeof routes[0])

const struct route *route_table(size_t *count)
{
    *count = ROUTE_COUNT;
    return routes;
}

bool route_fits(const char *pattern, const char *path, struct route_param params[ROUTE_PARAMS_MAX])
{
    size_t param = 0;
    memset(params, 0, ROUTE_PARAMS_MAX * sizeof params[0]);
    while (*pattern != '\0') {
        if (*pattern == '{') {
            pattern = strchr(pattern, '}') + 1;
            size_t len = strcspn(path, "/");
            params[param++] = (struct route_param){path, len};
            path += len;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

/* The lists in `allow` stay far below its size: a path has at most four methods. */
static void allow_add(char allow[ROUTE_ALLOW_BYTES], const char *method)
{
    size_t len = strlen(allow);
    (void)snprintf(allow + len, ROUTE_ALLOW_BYTES - len, "%s%s", len == 0 ? "" : ", ", method);
}

const struct route *route_find(const char *method,
                               const char *path,
                               struct route_param params[ROUTE_PARAMS_MAX],
                               char allow[ROUTE_ALLOW_BYTES])
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    allow[0] = '\0';
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (!route_fits(routes[i].pattern, path, params)) {
            continue;
        }
        if (strcmp(routes[i].method, wanted) == 0) {
            return &routes[i];
        }
        allow_add(allow, routes[i].method);
        if (strcmp(routes[i].method, "GET") == 0) {
            allow_add(allow, "HEAD");
        }
    }
    if (*allow != '\0') {
        allow_add(allow, "OPTIONS");
    }
    return NULL;
}
