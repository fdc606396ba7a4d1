/* What was allocated and reserved over time, a curve a device. */
#include "api/handlers.h"
#include "api/views/memory/memory_common.h"
#include "ingest/query/views/memory.h"

#define POINTS_DEFAULT 2000
#define POINTS_MIN 4
#define POINTS_MAX 100000

static bool put_points(struct json_write *w,
                       struct api_call *call,
                       const struct memory_curve *curve,
                       size_t wanted,
                       struct err *err)
{
    size_t *chosen = NULL;
    size_t count = 0;
    if (!query_sample_memory(call_arena(call), curve, wanted, &chosen, &count, err)) {
        return false;
    }
    jw_key(w, "points");
    jw_array_begin(w);
    for (size_t i = 0; i < count; i++) {
        const struct memory_point *point = &curve->points[chosen[i]];
        jw_array_begin(w);
        jw_int(w, point->ts);
        jw_int(w, point->allocated_bytes);
        jw_int(w, point->reserved_bytes);
        jw_array_end(w);
    }
    jw_array_end(w);
    return true;
}

static bool put_curve(struct json_write *w,
                      struct api_call *call,
                      const struct memory_curve *curve,
                      size_t wanted,
                      struct err *err)
{
    const struct memory_point *peak = &curve->points[curve->peak];
    jw_object_begin(w);
    jw_key_string(w, "device", curve->device);
    if (!put_points(w, call, curve, wanted, err)) {
        return false;
    }
    jw_key_int(w, "total_points", (int64_t)curve->point_count);
    jw_key(w, "peak");
    jw_array_begin(w);
    jw_int(w, peak->ts);
    jw_int(w, peak->allocated_bytes);
    jw_array_end(w);
    jw_key_bool(w, "since_start", curve->since_start);
    jw_object_end(w);
    return true;
}

bool memory_curve(struct api_call *call, struct err *err)
{
    struct memory_request request;
    struct memory_curve *curves = NULL;
    size_t count = 0;
    int64_t wanted = POINTS_DEFAULT;
    if (!memory_request_read(&request, call, err) ||
        !query_string_int(&call->query, "points", POINTS_MIN, POINTS_MAX, &wanted, err) ||
        !query_memory_curves(call->snapshot, call_arena(call), request.trace_id, true, &curves,
                             &count, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key(&w, "devices");
    jw_array_begin(&w);
    for (size_t i = 0; i < count; i++) {
        if (!put_curve(&w, call, &curves[i], (size_t)wanted, err)) {
            return false;
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}
