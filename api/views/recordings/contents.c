/* What a trace holds, by role and device [FMT-0.2]; slices of the host by name [FMT-0.3]. */
#include "api/handlers.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "ingest/base/saturating.h"
#include "ingest/jobs/on_request/analyses.h"

#define LIMIT_DEFAULT 100

/* ---- contents ---- */

static void write_roles(struct json_write *w, const struct contents *contents)
{
    jw_key_object_begin(w, "roles");
    for (int role = 0; role < ROLE_COUNT; role++) {
        const struct role_sums *sums = &contents->roles[role];
        if (sums->count > 0) {
            jw_key_object_begin(w, record_role_name((enum record_role)role));
            jw_key_int(w, "count", sums->count);
            jw_key_int(w, "total_ns", sums->total_ns);
            jw_object_end(w);
        }
    }
    jw_object_end(w);
}

static void write_skipped(struct json_write *w, const struct recorded *recorded)
{
    jw_key_array_begin(w, "skipped");
    for (size_t i = 0; i < recorded->skipped_count; i++) {
        const struct skipped_records *skipped = &recorded->skipped[i];
        jw_object_begin(w);
        jw_key_string(w, "what", skipped->what);
        jw_key_int(w, "count", skipped->count);
        jw_key_string(w, "reason", skipped->reason);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_collectives(struct json_write *w, const struct recorded *recorded)
{
    jw_key_array_begin(w, "collectives");
    for (size_t i = 0; i < recorded->collective_count; i++) {
        const struct collective_times *times = &recorded->collectives[i];
        jw_object_begin(w);
        jw_key_string(w, "name", times->name);
        jw_key_int(w, "start_ns", times->start_ns);
        jw_key_int(w, "elapse_ns", times->elapse_ns);
        jw_key_int(w, "transit_ns", times->transit_ns);
        jw_key_int(w, "wait_ns", times->wait_ns);
        jw_key_int(w, "synchronization_ns", times->synchronization_ns);
        jw_key_int(w, "idle_ns", times->idle_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* A file without events (a table, a snapshot) has a format, and no records. */
bool contents_get(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct contents contents = {.device_count = 0};
    int64_t id = 0;
    if (!call_id(call, "trace", &id, err) ||
        !store_trace_get(call->snapshot, call_arena(call), id, &trace, err) ||
        (trace->has_events &&
         !contents_read(call->api->jobs, id, call_arena(call), &contents, err) &&
         !timeline_gone(err))) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_string(&w, "format", trace->format);
    jw_key_string(&w, "recorder", contents.recorded.recorder);
    jw_key_string(&w, "format_version", contents.recorded.format_version);
    write_roles(&w, &contents);
    field_rows(&w, "devices", &table_device_contents, contents.devices, contents.device_count);
    jw_key_object_begin(&w, "links");
    jw_key_int(&w, "device_activities", contents.device_activities);
    jw_key_int(&w, "linked", contents.linked);
    jw_object_end(&w);
    write_skipped(&w, &contents.recorded);
    write_collectives(&w, &contents.recorded);
    jw_object_end(&w);
    return true;
}

/* ---- names, and types of kernels ---- */

static bool read_recorded(struct table_view *view,
                          struct api_call *call,
                          const char *sort,
                          struct contents *contents,
                          struct err *err)
{
    struct store_trace *trace = NULL;
    return table_view_read(view, call, sort, LIMIT_DEFAULT, err) &&
           timeline_trace(&trace, call, err) &&
           (contents_read(call->api->jobs, trace->id, call_arena(call), contents, err) ||
            timeline_gone(err));
}

struct op_types {
    struct table_view view;
    struct contents contents;
};

/* Over all rows [FMT-0.1f]. */
static void write_op_type_members(struct json_write *w, const void *context)
{
    const struct op_types *types = context;
    const struct recorded *recorded = &types->contents.recorded;
    int64_t calls = 0;
    int64_t total_ns = 0;
    for (size_t i = 0; i < recorded->op_type_count; i++) {
        calls = saturating_add(calls, recorded->op_types[i].calls);
        total_ns = saturating_add(total_ns, recorded->op_types[i].total_ns);
    }
    table_view_members(w, &types->view, "op_type");
    jw_key_object_begin(w, "sums");
    jw_key_int(w, "calls", calls);
    jw_key_int(w, "total_ns", total_ns);
    jw_object_end(w);
}

/* [FMT-1.3] */
bool op_types_get(struct api_call *call, struct err *err)
{
    struct op_types types = {.view = {.table = &table_op_type,
                                      .stem = "op_types",
                                      .write_members = write_op_type_members}};
    const struct recorded *recorded = &types.contents.recorded;
    types.view.context = &types;
    return read_recorded(&types.view, call, "total_ns", &types.contents, err) &&
           table_view_run(&types.view, call, recorded->op_types, recorded->op_type_count, err) &&
           table_view_answer(&types.view, call);
}

/* [FMT-0.7] */
bool kernel_metrics_get(struct api_call *call, struct err *err)
{
    struct table_view view = {
        .table = &table_kernel_metric, .stem = "metrics", .group_by = "metric"};
    struct contents contents = {.device_count = 0};
    return read_recorded(&view, call, "name", &contents, err) &&
           table_view_run(&view, call, contents.recorded.metrics, contents.recorded.metric_count,
                          err) &&
           table_view_answer(&view, call);
}

bool names_get(struct api_call *call, struct err *err)
{
    struct table_view view = {.table = &table_named, .stem = "names"};
    struct named_rows names = {.count = 0};
    struct store_trace *trace = NULL;
    return table_view_read(&view, call, "total_ns", LIMIT_DEFAULT, err) &&
           timeline_trace(&trace, call, err) &&
           (names_read(call->api->jobs, trace->id, call_arena(call), &names, err) ||
            timeline_gone(err)) &&
           table_view_run(&view, call, names.rows, names.count, err) &&
           table_view_answer(&view, call);
}

/* ---- memory by category ---- */

#define POINTS_DEFAULT 1000

static void write_point(struct json_write *w, const struct memory_point_by_category *point)
{
    jw_key_int(w, "t_ns", point->t_ns);
    jw_key_object_begin(w, "bytes");
    for (size_t i = 0; i < MEMORY_CATEGORIES; i++) {
        jw_key_int(w, memory_category_name(i), point->bytes[i]);
    }
    jw_object_end(w);
    jw_key_int(w, "total_bytes", point->total_bytes);
}

static void
write_categories(struct json_write *w, const struct memory_categories *memory, size_t limit)
{
    jw_object_begin(w);
    jw_key_int(w, "total_points", (int64_t)memory->count);
    jw_key_array_begin(w, "points");
    for (size_t i = 0; i < memory->count && (limit == 0 || i < limit); i++) {
        jw_object_begin(w);
        write_point(w, &memory->points[i]);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_key_object_begin(w, "peak");
    jw_key_int(w, "point", (int64_t)memory->peak);
    write_point(w, &memory->points[memory->peak]);
    jw_object_end(w);
    jw_object_end(w);
}

/* [FMT-7] */
bool memory_categories_get(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct memory_categories memory = {.count = 0};
    int64_t limit = POINTS_DEFAULT;
    if (!query_string_int(&call->query, "limit", 0, INT64_MAX, &limit, err) ||
        !timeline_trace(&trace, call, err) ||
        !(memory_categories_read(call->api->jobs, trace->id, call_arena(call), &memory, err) ||
          timeline_gone(err))) {
        return false;
    }
    if (memory.count == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "The trace has no memory by category: upload what export_memory_timeline "
                       "wrote as .raw.json.gz");
    }
    struct json_write w = call_json_long(call, false);
    write_categories(&w, &memory, (size_t)limit);
    return true;
}
