/* Why streams and devices stood still, and what the host did meanwhile [CAU-1a]. */
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/timeline/common.h"
#include "api/views/causes/common.h"
#include "ingest/jobs/on_request/analyses.h"

#define TOP_DEFAULT 20

static void write_causes(struct json_write *w, const struct idle_lane *lane)
{
    jw_key(w, "causes");
    jw_array_begin(w);
    for (int i = 0; i < IDLE_CAUSE_COUNT; i++) {
        const struct causes_spread *cause = &lane->causes[i];
        jw_object_begin(w);
        jw_key_string(w, "cause", idle_cause_text((enum idle_cause)i));
        jw_key_int(w, "gaps", cause->count);
        jw_key_int(w, "idle_ns", cause->sum_ns);
        causes_known_double(w, "ratio", rows_known_share(cause->sum_ns, lane->idle_ns));
        causes_known_double(w, "mean_ns", cause->mean_ns);
        causes_known_double(w, "std_ns", cause->std_ns);
        causes_known_int(w, "min_ns", cause->min_ns);
        causes_known_double(w, "p25_ns", cause->p25_ns);
        causes_known_double(w, "p50_ns", cause->p50_ns);
        causes_known_double(w, "p75_ns", cause->p75_ns);
        causes_known_int(w, "max_ns", cause->max_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_host(struct json_write *w, const struct idle_lane *lane)
{
    jw_key(w, "host");
    jw_array_begin(w);
    for (int i = 0; i < HOST_KIND_COUNT; i++) {
        jw_object_begin(w);
        jw_key_string(w, "host", host_kind_text((enum host_kind)i));
        jw_key_int(w, "idle_ns", lane->host_ns[i]);
        causes_known_double(w, "ratio", rows_known_share(lane->host_ns[i], lane->idle_ns));
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_lanes(struct json_write *w,
                        const char *key,
                        const struct idle_lane *lanes,
                        size_t count,
                        bool is_stream)
{
    jw_key(w, key);
    jw_array_begin(w);
    for (size_t i = 0; i < count; i++) {
        const struct idle_lane *lane = &lanes[i];
        jw_object_begin(w);
        jw_key_int(w, "device", lane->device);
        if (is_stream) {
            jw_key_int(w, "stream", lane->stream);
            jw_key_int(w, "kernels", lane->work);
        }
        jw_key_int(w, "first_ns", lane->first_ns);
        jw_key_int(w, "last_ns", lane->last_ns);
        jw_key_int(w, "busy_ns", lane->busy_ns);
        jw_key_int(w, "idle_ns", lane->idle_ns);
        write_causes(w, lane);
        write_host(w, lane);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_gap(struct json_write *w, const struct idle_gap *gap)
{
    jw_object_begin(w);
    jw_key_int(w, "device", gap->device);
    jw_key_int(w, "stream", gap->stream);
    jw_key_int(w, "start_ns", gap->start_ns);
    jw_key_int(w, "duration_ns", gap->duration_ns);
    jw_key_string(w, "cause", idle_cause_text(gap->cause));
    jw_key_string(w, "host", host_kind_text(gap->host));
    jw_key_string(w, "host_name", gap->host_name);
    causes_event(w, "host_event", gap->host_event);
    causes_event(w, "previous_event", gap->previous_event);
    causes_event(w, "next_event", gap->next_event);
    causes_event(w, "launch_event", gap->launch_event);
    jw_object_end(w);
}

static void write_longest(struct json_write *w, const struct idle *idle)
{
    jw_key(w, "longest");
    jw_object_begin(w);
    jw_key_int(w, "total", idle->gap_count);
    jw_key(w, "rows");
    jw_array_begin(w);
    for (size_t i = 0; i < idle->longest_count; i++) {
        write_gap(w, &idle->longest[i]);
    }
    jw_array_end(w);
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
    write_lanes(&w, "streams", idle.streams, idle.stream_count, true);
    write_lanes(&w, "devices", idle.devices, idle.device_count, false);
    write_longest(&w, &idle);
    jw_object_end(&w);
    return true;
}
