/* Why streams and devices stood still, and what the host did meanwhile [CAU-1a]. */
#include "api/handlers.h"
#include "api/table/columns.h"
#include "api/table/field.h"
#include "api/table/rows.h"
#include "api/timeline/common.h"
#include "api/views/causes/common.h"
#include "ingest/jobs/on_request/analyses.h"

#define TOP_DEFAULT 20
#define GAPS_DEFAULT 100000
#define GAPS_MAX 1000000

static void write_causes(struct json_write *w, const struct idle_lane *lane)
{
    jw_key_array_begin(w, "causes");
    for (int i = 0; i < IDLE_CAUSE_COUNT; i++) {
        const struct causes_spread *cause = &lane->causes[i];
        jw_object_begin(w);
        jw_key_string(w, "cause", idle_cause_text((enum idle_cause)i));
        jw_key_int(w, "gaps", cause->count);
        jw_key_int(w, "idle_ns", cause->sum_ns);
        jw_key_double(w, "ratio", rows_known_share(cause->sum_ns, lane->idle_ns));
        field_members(w, &table_causes_spread, cause, WHEN_QUARTILES);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_host(struct json_write *w,
                       const char *key,
                       const int64_t host_ns[HOST_KIND_COUNT],
                       int64_t idle_ns)
{
    jw_key_array_begin(w, key);
    for (int i = 0; i < HOST_KIND_COUNT; i++) {
        jw_object_begin(w);
        jw_key_string(w, "host", host_kind_text((enum host_kind)i));
        jw_key_int(w, "idle_ns", host_ns[i]);
        jw_key_double(w, "ratio", rows_known_share(host_ns[i], idle_ns));
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_lanes(struct json_write *w,
                        const char *key,
                        const struct idle_lane *lanes,
                        size_t count,
                        uint32_t parts)
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < count; i++) {
        const struct idle_lane *lane = &lanes[i];
        jw_object_begin(w);
        field_members(w, &table_idle_lane, lane, parts);
        write_causes(w, lane);
        write_host(w, "host", lane->host_ns, lane->idle_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_longest(struct json_write *w, const struct idle *idle)
{
    jw_key_object_begin(w, "longest");
    jw_key_int(w, "total", idle->gap_count);
    field_rows(w, "rows", &table_idle_gap, idle->longest, idle->longest_count);
    jw_object_end(w);
}

bool idle_get(struct api_call *call, struct err *err)
{
    struct idle idle;
    struct store_trace *trace = NULL;
    enum causes_last_step last_step;
    int64_t top = TOP_DEFAULT;
    if (!causes_last_step(call, &last_step, err) ||
        !query_string_int(&call->query, "top", 1, IDLE_TOP_MAX, &top, err) ||
        !timeline_trace(&trace, call, err) ||
        !(idle_read(call->api->jobs, trace->id, last_step, (size_t)top, call_arena(call), &idle,
                    err) ||
          timeline_gone(err))) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "threshold_ns", IDLE_THRESHOLD_NS);
    write_lanes(&w, "streams", idle.streams, idle.stream_count, WHEN_STREAM);
    write_lanes(&w, "devices", idle.devices, idle.device_count, 0);
    write_longest(&w, &idle);
    jw_object_end(&w);
    return true;
}

/* ---- gaps of devices ---- */

static void write_device(struct json_write *w, const struct idle_device_gaps *device)
{
    jw_object_begin(w);
    field_members(w, &table_idle_lane, &device->lane, 0);
    columns_ints(w, "start_ns", device->start_ns, device->count);
    columns_ints(w, "duration_ns", device->duration_ns, device->count);
    jw_key_array_begin(w, "cause");
    for (size_t i = 0; i < device->count; i++) {
        jw_int(w, (int64_t)device->causes[i]);
    }
    jw_array_end(w);
    columns_uints(w, "next_event", device->next_event, device->count);
    jw_object_end(w);
}

static void write_gaps(struct json_write *w, const struct idle_gaps *gaps)
{
    jw_object_begin(w);
    jw_key_int(w, "total", gaps->total);
    jw_key_object_begin(w, "left_out");
    jw_key_int(w, "gaps", gaps->left_out);
    jw_key_int(w, "idle_ns", gaps->left_out_ns);
    jw_object_end(w);
    jw_key_array_begin(w, "causes");
    for (int i = 0; i < IDLE_CAUSE_COUNT; i++) {
        jw_string(w, idle_cause_text((enum idle_cause)i));
    }
    jw_array_end(w);
    jw_key_array_begin(w, "devices");
    for (size_t i = 0; i < gaps->device_count; i++) {
        write_device(w, &gaps->devices[i]);
    }
    jw_array_end(w);
    if (gaps->has_chosen) {
        jw_key_object_begin(w, "gap");
        field_members(w, &table_idle_gap, &gaps->chosen, 0);
        write_host(w, "host_kinds", gaps->chosen_host_ns, gaps->chosen.duration_ns);
        jw_object_end(w);
    } else {
        jw_key_null(w, "gap");
    }
    jw_object_end(w);
}

bool idle_gaps_get(struct api_call *call, struct err *err)
{
    struct idle_gaps gaps;
    struct store_trace *trace = NULL;
    struct idle_gaps_request request = {.start_ns = INT64_MIN, .end_ns = INT64_MAX};
    int64_t limit = GAPS_DEFAULT;
    int64_t next_event = CAUSES_NONE;
    if (!causes_last_step(call, &request.last_step, err) ||
        !timeline_range(&request.start_ns, &request.end_ns, false, call, err) ||
        !query_string_int(&call->query, "limit", 0, GAPS_MAX, &limit, err) ||
        !query_string_int(&call->query, "next_event", 0, CAUSES_NONE, &next_event, err)) {
        return false;
    }
    request.limit = (size_t)limit;
    request.next_event = (uint32_t)next_event;
    if (!timeline_trace(&trace, call, err) ||
        !(idle_gaps_read(call->api->jobs, trace->id, &request, call_arena(call), &gaps, err) ||
          timeline_gone(err))) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    write_gaps(&w, &gaps);
    return true;
}
