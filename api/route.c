#include "api/route.h"

#include "api/api.h"
#include "api/handlers.h"
#include "api/tb_plugin/handlers.h"

#include <stdio.h>
#include <string.h>

#define V1 "/api/v1"
#define PLUGIN "/data/plugin/pytorch_profiler"
#define READS false
#define WRITES true
#define KEPT true
#define ANEW false
/* Query parameters that several routes share. */
#define NONE ""
#define PAGE "sort order q limit offset"
#define TABLE PAGE " format"
#define SERIES "metric project tag run kernel operator device"
#define CHANGES "window p min_magnitude rule"
#define UPLOAD "replace marker project rank tag"

static const struct route routes[] = {
    {"GET", V1 "/openapi.json", meta_openapi, "This description", READS, KEPT, TARGET_LIST, NONE},
    {"GET", V1 "/runs", runs_list, "The runs, newest upload first", READS, KEPT, TARGET_LIST,
     PAGE " project tag"},
    {"GET", V1 "/runs/{run}", runs_get, "A run and its traces", READS, KEPT, TARGET_RUN,
     "limit offset"},
    {"PATCH", V1 "/runs/{run}", runs_patch,
     "Sets a run's tags, note and project, pins or unpins it", WRITES, ANEW, TARGET_RUN, NONE},
    {"DELETE", V1 "/runs/{run}", runs_delete, "Deletes a run and its traces", WRITES, ANEW,
     TARGET_RUN, NONE},
    {"GET", V1 "/runs/{run}/notes", notes_of_run, "Notes on a run and its traces", READS, KEPT,
     TARGET_RUN, NONE},
    {"POST", V1 "/runs/{run}/notes", notes_post, "Pins a note", WRITES, ANEW, TARGET_RUN, NONE},
    {"DELETE", V1 "/runs/{run}/notes/{note}", notes_delete, "Removes a note", WRITES, ANEW,
     TARGET_NOTE, NONE},
    {"GET", V1 "/runs/{run}/traces", traces_list, "The traces of a run, newest upload first", READS,
     KEPT, TARGET_RUN, "tag device_type " PAGE " after before"},
    {"POST", V1 "/runs/{run}/traces", upload_post, "Uploads files as a form", WRITES, ANEW,
     TARGET_UPLOAD, UPLOAD},
    {"PUT", V1 "/runs/{run}/traces/{filename}", upload_put, "Uploads a file", WRITES, ANEW,
     TARGET_UPLOAD, UPLOAD},
    {"GET", V1 "/runs/{run}/distributed", distributed_get,
     "Computation and communication of the workers", READS, KEPT, TARGET_RUN, "span"},
    {"GET", V1 "/runs/{run}/collectives", ranks_collectives_get,
     "Collectives matched over the ranks", READS, KEPT, TARGET_RUN,
     "span clock kind group sequence detail parts " TABLE},
    {"GET", V1 "/runs/{run}/clock", ranks_clock_get, "How far the ranks' clocks stand apart", READS,
     KEPT, TARGET_RUN, "span " TABLE},
    {"GET", V1 "/runs/{run}/stragglers", ranks_stragglers_get, "Which rank the others wait for",
     READS, KEPT, TARGET_RUN, "span ranks steps"},
    {"GET", V1 "/runs/{run}/timeline", ranks_timeline_get, "The ranks on one clock", READS, KEPT,
     TARGET_RUN, "span " TABLE},
    {"GET", V1 "/runs/{run}/timeline/window", ranks_timeline_window_get,
     "What the ranks' devices do in a window of time", READS, KEPT, TARGET_RUN,
     "span start_ns end_ns width_px ranks"},
    {"GET", V1 "/runs/{run}/timeline/search", ranks_timeline_search_get,
     "Events that hold a text, by rank", READS, ANEW, TARGET_RUN, "span q ranks limit"},
    {"GET", V1 "/runs/{run}/pipeline", ranks_pipeline_get, "What a pipeline leaves idle", READS,
     KEPT, TARGET_RUN, TABLE},
    {"GET", V1 "/runs/{run}/what-if", ranks_what_if_get,
     "What a training job would take without stragglers", READS, KEPT, TARGET_RUN,
     "dsp_size per_step"},
    {"GET", V1 "/runs/{run}/what-if/timeline", ranks_what_if_timeline_get,
     "A step of a training job as it would be", READS, KEPT, TARGET_RUN,
     "scenario step dp_rank dsp_size " TABLE},
    {"GET", V1 "/traces", traces_list, "The traces, newest upload first", READS, KEPT, TARGET_LIST,
     "run project tag device_type " PAGE " after before"},
    {"GET", V1 "/traces/{id}", traces_get, "A trace", READS, KEPT, TARGET_TRACE, NONE},
    {"PATCH", V1 "/traces/{id}", traces_patch, "Sets a trace's tags and note", WRITES, ANEW,
     TARGET_TRACE, NONE},
    {"DELETE", V1 "/traces/{id}", traces_delete, "Deletes a trace", WRITES, ANEW, TARGET_TRACE,
     NONE},
    {"GET", V1 "/traces/{id}/raw", traces_raw, "The uploaded bytes", READS, ANEW, TARGET_TRACE,
     NONE},
    {"GET", V1 "/traces/{id}/overview", overview_get, "The trace at a glance", READS, KEPT,
     TARGET_TRACE, NONE},
    {"GET", V1 "/traces/{id}/steps", overview_steps, "The profiler steps", READS, KEPT,
     TARGET_TRACE, "sort order limit offset format"},
    {"GET", V1 "/traces/{id}/operators", operators_get, "The operators", READS, KEPT, TARGET_TRACE,
     "group_by name shape " TABLE},
    {"GET", V1 "/traces/{id}/kernels", kernels_get, "The kernels", READS, KEPT, TARGET_TRACE,
     "group_by operator class " TABLE},
    {"GET", V1 "/traces/{id}/flame-graph", flame_graph_get, "Time by what was called from where",
     READS, KEPT, TARGET_TRACE,
     "by weight modules libraries step under against limit depth format"},
    {"GET", V1 "/traces/{id}/kernels/stacks", kernel_stacks_get,
     "Device work by operator, module and Python stack", READS, KEPT, TARGET_TRACE,
     "name modules " TABLE},
    {"GET", V1 "/traces/{id}/notes", notes_of_trace, "Notes on a trace", READS, KEPT, TARGET_TRACE,
     NONE},
    {"GET", V1 "/traces/{id}/device-time", device_time_get, "Device time by class of work", READS,
     KEPT, TARGET_TRACE, "device"},
    {"GET", V1 "/traces/{id}/device-time/kernels", device_time_kernels,
     "Names of device work with their classes", READS, KEPT, TARGET_TRACE, "device " TABLE},
    {"GET", V1 "/traces/{id}/device-time/operators", device_operators_get,
     "Whose the device work is", READS, KEPT, TARGET_TRACE, "companion " TABLE},
    {"GET", V1 "/traces/{id}/engine-steps", engine_steps_get, "Steps of a serving engine", READS,
     KEPT, TARGET_TRACE, "phase engine heads head_dim head_dim_qk head_dim_v " TABLE},
    {"GET", V1 "/traces/{id}/critical-path", critical_path_get, "The critical path of a trace",
     READS, KEPT, TARGET_TRACE,
     "annotation instance launch_edges ends data_loading edges scale top " TABLE},
    {"GET", V1 "/traces/{id}/efficiency", efficiency_get, "How well operators use the device",
     READS, KEPT, TARGET_TRACE, "group_by " TABLE},
    {"GET", V1 "/traces/{id}/power", power_get, "Energy from counters of power", READS, KEPT,
     TARGET_TRACE, "group_by " TABLE},
    {"GET", V1 "/traces/{id}/idle", idle_get, "Why devices stood still", READS, KEPT, TARGET_TRACE,
     "last_step top"},
    {"GET", V1 "/traces/{id}/idle/gaps", idle_gaps_get, "When devices stood still", READS, KEPT,
     TARGET_TRACE, "last_step start_ns end_ns limit next_event"},
    {"GET", V1 "/traces/{id}/launches", launches_get, "Launches, their delays and queues", READS,
     KEPT, TARGET_TRACE, "last_step series " TABLE},
    {"GET", V1 "/traces/{id}/contents", contents_get, "What a trace holds, by role and device",
     READS, KEPT, TARGET_TRACE, NONE},
    {"GET", V1 "/traces/{id}/names", names_get, "Slices of the host by name", READS, KEPT,
     TARGET_TRACE, TABLE},
    {"GET", V1 "/traces/{id}/launches/steps", step_launches_get, "Launches by step and stream",
     READS, KEPT, TARGET_TRACE, TABLE},
    {"GET", V1 "/traces/{id}/slices", slices_get, "Slices by name, track or category", READS, KEPT,
     TARGET_TRACE, "group_by " TABLE},
    {"GET", V1 "/traces/{id}/memory", memory_get, "Memory by operator", READS, KEPT, TARGET_TRACE,
     "device start_ns end_ns " TABLE},
    {"GET", V1 "/traces/{id}/memory/events", memory_events, "Blocks of memory", READS, KEPT,
     TARGET_TRACE, "device start_ns end_ns " TABLE},
    {"GET", V1 "/traces/{id}/memory/curve", memory_curve, "Memory over time", READS, KEPT,
     TARGET_TRACE, "points"},
    {"GET", V1 "/traces/{id}/memory/categories", memory_categories_get,
     "Memory by category over time", READS, KEPT, TARGET_TRACE, "limit"},
    {"GET", V1 "/traces/{id}/memory-snapshot", snapshot_get, "A memory snapshot, by device", READS,
     KEPT, TARGET_TRACE, "device"},
    {"GET", V1 "/traces/{id}/memory-snapshot/frames", snapshot_frames_get,
     "Who holds memory, by source line", READS, KEPT, TARGET_TRACE, "at device baseline " TABLE},
    {"GET", V1 "/traces/{id}/memory-snapshot/blocks", snapshot_blocks_get,
     "Blocks of a memory snapshot", READS, KEPT, TARGET_TRACE, "at device " TABLE},
    {"GET", V1 "/traces/{id}/memory-snapshot/curve", snapshot_curve_get,
     "Allocated and reserved memory, event by event", READS, KEPT, TARGET_TRACE, "device width_px"},
    {"GET", V1 "/traces/{id}/memory-snapshot/lives", snapshot_lives_get,
     "Lives of blocks, to be drawn", READS, KEPT, TARGET_TRACE,
     "device end_event first_event high_bytes limit low_bytes"},
    {"GET", V1 "/traces/{id}/memory-snapshot/segments", snapshot_segments_get,
     "Segments of a memory snapshot, to be drawn", READS, KEPT, TARGET_TRACE, "by device limit"},
    {"GET", V1 "/traces/{id}/modules", modules_get, "The hierarchy of modules", READS, KEPT,
     TARGET_TRACE, "format"},
    {"GET", V1 "/traces/{id}/tree", call_tree_threads, "Threads of the call tree", READS, KEPT,
     TARGET_TRACE, NONE},
    {"GET", V1 "/traces/{id}/tree/{thread}", call_tree_get, "A part of the call tree", READS, KEPT,
     TARGET_TRACE, "node depth limit offset q"},
    {"GET", V1 "/traces/{id}/timeline/tracks", timeline_tracks, "Tracks of the timeline", READS,
     KEPT, TARGET_TRACE, NONE},
    {"GET", V1 "/traces/{id}/timeline", timeline_window, "A window of the timeline", READS, KEPT,
     TARGET_TRACE, "start_ns end_ns width_px tracks"},
    {"GET", V1 "/traces/{id}/events/{event}", timeline_event_get, "An event with all it says",
     READS, KEPT, TARGET_TRACE, NONE},
    {"GET", V1 "/traces/{id}/events/{event}/tensors", event_tensors_get,
     "Tensors of a call, who wrote and who reads them", READS, KEPT, TARGET_TRACE, NONE},
    {"GET", V1 "/traces/{id}/search", search_get, "Names and events that hold a text", READS, KEPT,
     TARGET_TRACE, "q start_ns end_ns limit"},
    {"GET", V1 "/traces/{id}/window", window_get, "Figures of a window of time", READS, KEPT,
     TARGET_TRACE, "start_ns end_ns limit table format"},
    {"GET", V1 "/traces/{id}/trace.json.gz", trace_export_get,
     "The trace, or a window of it, as a file", READS, ANEW, TARGET_TRACE, "start_ns end_ns"},
    {"GET", V1 "/traces/{id}/sql", sql_get, "One SELECT over the tables of a trace", READS, KEPT,
     TARGET_TRACE, "q limit format"},
    {"GET", V1 "/traces/{id}/results.db", results_file_get,
     "The tables of a trace as a SQLite file", READS, ANEW, TARGET_TRACE, NONE},
    {"GET", V1 "/traces/{id}/kernel-utilisation", kernel_utilisation_get,
     "What a kernel table measured, a row a kernel", READS, KEPT, TARGET_TRACE, TABLE},
    {"GET", V1 "/traces/{id}/kernel-utilisation/launches", kernel_utilisation_launches,
     "What a kernel table measured, a row a launch", READS, KEPT, TARGET_TRACE, "name " TABLE},
    {"GET", V1 "/traces/{id}/cycles", cycles_route_get, "What each function took of each cycle",
     READS, KEPT, TARGET_TRACE, "format"},
    {"POST", V1 "/comparisons", compare_post, "Compares the cycles of two sets of traces", WRITES,
     ANEW, TARGET_LIST, NONE},
    {"GET", V1 "/comparisons", compare_list, "The comparisons, newest first", READS, KEPT,
     TARGET_LIST, "q limit offset"},
    {"GET", V1 "/comparisons/{id}", compare_get, "A comparison", READS, KEPT, TARGET_COMPARISON,
     "format q device metric significant sort order limit offset"},
    {"DELETE", V1 "/comparisons/{id}", compare_delete, "Deletes a comparison", WRITES, ANEW,
     TARGET_COMPARISON, NONE},
    {"GET", V1 "/comparisons/{id}/series", compare_series, "A row of a comparison, cycle by cycle",
     READS, KEPT, TARGET_COMPARISON, "function metric device"},
    {"GET", V1 "/diff", diff_get, "Two traces by name", READS, KEPT, TARGET_SIDES,
     "base candidate table per " TABLE},
    {"GET", V1 "/diff/summary", diff_summary_get, "What changed between two traces", READS, KEPT,
     TARGET_SIDES, "base candidate"},
    {"GET", V1 "/diff/causes", diff_causes_get, "Idle causes and efficiency of two traces", READS,
     KEPT, TARGET_SIDES, "base candidate"},
    {"GET", V1 "/diff/tree", diff_tree_get, "Two traces by their call trees", READS, KEPT,
     TARGET_SIDES, "base candidate path"},
    {"GET", V1 "/history", history_get, "A metric over uploads", READS, KEPT, TARGET_LIST,
     SERIES " limit offset"},
    {"GET", V1 "/history/changes", history_changes_get, "Where a metric changed", READS, KEPT,
     TARGET_LIST, SERIES " " CHANGES},
    {"POST", V1 "/history/changes", history_changes_post, "Where numbers of one's own change",
     READS, ANEW, TARGET_LIST, NONE},
    {"GET", V1 "/history/metrics", history_metrics_get, "Metrics that have a history", READS, KEPT,
     TARGET_LIST, "project tag run device q limit"},
    {"GET", V1 "/baseline", history_baseline_get, "A metric since its last change", READS, KEPT,
     TARGET_LIST, SERIES " " CHANGES " exclude_run"},
    {"POST", V1 "/gate", gate_post, "Whether a run is worse than its baseline", READS, ANEW,
     TARGET_LIST, "format"},
    {"GET", V1 "/jobs/{id}", jobs_route_get, "How far an upload is, once or as events", READS, ANEW,
     TARGET_JOB, NONE},
    {"POST", V1 "/reanalyse", reanalyse_post, "Analyses stored uploads again", WRITES, ANEW,
     TARGET_UPLOADS, NONE},
    {"GET", V1 "/me", me_get, "Current user and permissions", READS, ANEW, TARGET_SELF, NONE},
    {"GET", V1 "/tokens", tokens_list, "The tokens, without their secrets", READS, ANEW,
     TARGET_TOKENS, NONE},
    {"POST", V1 "/tokens", tokens_post, "Makes a token", WRITES, ANEW, TARGET_TOKENS, NONE},
    {"DELETE", V1 "/tokens/{name}", tokens_delete, "Revokes a token", WRITES, ANEW, TARGET_TOKENS,
     NONE},
    {"GET", V1 "/webhooks", webhooks_list, "What webhooks were told", READS, ANEW, TARGET_SERVICE,
     "limit offset"},
    {"GET", V1 "/nodes", nodes_list, "The servers that share the catalogue", READS, ANEW,
     TARGET_SERVICE, NONE},
    {"POST", "/mcp", NULL, "The Model Context Protocol", READS, ANEW, TARGET_AGENTS, NULL},
    {"GET", "/skill.md", skill_get, "How an agent uses this server", READS, ANEW, TARGET_OPEN,
     NULL},
    {"GET", "/healthz", meta_healthz, "Whether the process is alive", READS, ANEW, TARGET_OPEN,
     NULL},
    {"GET", "/readyz", meta_readyz, "Whether the database answers", READS, ANEW, TARGET_OPEN, NULL},
    {"GET", "/metrics", meta_metrics, "Figures for Prometheus", READS, ANEW, TARGET_LIST, NULL},
    {"GET", PLUGIN "/runs", plugin_runs, "Names of the runs", READS, KEPT, TARGET_LIST, NULL},
    {"GET", PLUGIN "/views", plugin_views, "Views of a run", READS, KEPT, TARGET_RUN_ARGUMENTS,
     NULL},
    {"GET", PLUGIN "/workers", plugin_workers, "Workers of a run that have a view", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/spans", plugin_spans, "Spans of a worker", READS, KEPT, TARGET_RUN_ARGUMENTS,
     NULL},
    {"GET", PLUGIN "/overview", plugin_overview, "Overview", READS, KEPT, TARGET_RUN_ARGUMENTS,
     NULL},
    {"GET", PLUGIN "/operation", plugin_operation_pies, "Four pies of operators", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/operation/table", plugin_operation_table, "Table of operators", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/operation/stack", plugin_operation_stack, "Call stacks of an operator", READS,
     KEPT, TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/kernel", plugin_kernel_pie, "Pie of kernels", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/kernel/table", plugin_kernel_table, "Table of kernels", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/kernel/tc_pie", plugin_kernel_tc_pie, "Time in Tensor Core kernels", READS,
     KEPT, TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/memory", plugin_memory, "Memory by operator", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/memory_curve", plugin_memory_curve, "Memory over time", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/memory_events", plugin_memory_events, "Blocks of memory", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/module", plugin_module, "Modules", READS, KEPT, TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/trace", plugin_trace, "The trace with counters of its devices", READS, ANEW,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/tree", plugin_tree, "Call tree of the first thread", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/distributed/gpuinfo", plugin_distributed_gpuinfo, "Devices", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/distributed/overlap", plugin_distributed_overlap,
     "Computation and communication by step", READS, KEPT, TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/distributed/waittime", plugin_distributed_waittime,
     "Transfer and waiting by step", READS, KEPT, TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/distributed/commops", plugin_distributed_commops, "Collectives", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/diff", plugin_diff, "Two traces by their call trees", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
    {"GET", PLUGIN "/diffnode", plugin_diffnode, "One node of that and its children", READS, KEPT,
     TARGET_RUN_ARGUMENTS, NULL},
};

/* Longer lists of parameters are cut. */
#define KNOWN_BYTES 256
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

void route_find(const char *method, const char *path, struct route_match *match)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    *match = (struct route_match){.route = NULL};
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (!route_fits(routes[i].pattern, path, match->params)) {
            continue;
        }
        if (strcmp(routes[i].method, wanted) == 0) {
            match->route = &routes[i];
            return;
        }
        allow_add(match->allow, routes[i].method);
        if (strcmp(routes[i].method, "GET") == 0) {
            allow_add(match->allow, "HEAD");
        }
    }
    if (*match->allow != '\0') {
        allow_add(match->allow, "OPTIONS");
    }
}

enum access_role route_role(const struct route *route)
{
    if (route->target == TARGET_OPEN || route->target == TARGET_SELF) {
        return ACCESS_ROLE_NOBODY;
    }
    if (route->target == TARGET_TOKENS || route->target == TARGET_SERVICE ||
        route->target == TARGET_UPLOADS ||
        (strcmp(route->method, "DELETE") == 0 && route->target != TARGET_NOTE)) {
        return ACCESS_ROLE_ADMIN;
    }
    return route->writes ? ACCESS_ROLE_UPLOADER : ACCESS_ROLE_VIEWER;
}

static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, name, len) == 0) {
            return true;
        }
        at += word;
        at += strspn(at, " ");
    }
    return false;
}

/* "sort order" becomes "sort, order". */
static void list_known(char known[KNOWN_BYTES], const char *list)
{
    size_t len = 0;
    for (; *list != '\0' && len + 2 < KNOWN_BYTES; list++) {
        if (*list == ' ') {
            known[len++] = ',';
        }
        known[len++] = *list;
    }
    known[len] = '\0';
}

bool route_knows(const struct route *route, const struct query_string *query, struct err *err)
{
    for (size_t i = 0; route->query != NULL && i < query->count; i++) {
        const char *name = query->params[i].name;
        if (is_listed(route->query, name)) {
            continue;
        }
        if (*route->query == '\0') {
            return err_set(err, ERR_BAD_REQUEST,
                           "Unknown parameter \"%.60s\": this resource takes no parameters", name);
        }
        char known[KNOWN_BYTES];
        list_known(known, route->query);
        return err_set(err, ERR_BAD_REQUEST, "Unknown parameter \"%.60s\": known are %s", name,
                       known);
    }
    return true;
}

const char *route_action(const struct route *route)
{
    bool of_tokens = route->target == TARGET_TOKENS;
    if (!route->writes) {
        return NULL;
    }
    if (strcmp(route->method, "DELETE") == 0) {
        return of_tokens ? "revoke token" : "delete";
    }
    if (of_tokens) {
        return "add token";
    }
    return route->target == TARGET_UPLOAD        ? "upload"
           : route->target == TARGET_UPLOADS     ? "analyse again"
           : strcmp(route->method, "PATCH") == 0 ? "change"
           : route->target == TARGET_RUN         ? "note"
                                                 : "compare";
}

static bool has_prefix(const char *path, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(path, prefix, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

bool api_owns_path(const char *path)
{
    return has_prefix(path, "/api") || has_prefix(path, PLUGIN) || strcmp(path, "/healthz") == 0 ||
           strcmp(path, "/mcp") == 0 || strcmp(path, "/skill.md") == 0 ||
           strcmp(path, "/readyz") == 0 || strcmp(path, "/metrics") == 0;
}
