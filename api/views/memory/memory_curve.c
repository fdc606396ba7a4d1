/* What was allocated and reserved over time, a curve a device. */
#include "api/handlers.h"
#include "api/views/memory/memory_common.h"
#include "ingest/jobs/on_request/analyses.h"
#include "ingest/query/views/memory.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- as another recorder tells it ---- */

struct point_at {
    const struct recorded_memory_point *point;
};

/* By device, then by time, then as in the file. */
static int compare_points(const void *left, const void *right)
{
    const struct recorded_memory_point *a = ((const struct point_at *)left)->point;
    const struct recorded_memory_point *b = ((const struct point_at *)right)->point;
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static void add_point(struct memory_curve *curve, const struct recorded_memory_point *point)
{
    size_t at = curve->point_count++;
    curve->points[at] =
        (struct memory_point){point->time_ns, point->allocated_bytes, point->reserved_bytes};
    if (point->allocated_bytes > curve->points[curve->peak].allocated_bytes) {
        curve->peak = at;
    }
}

/* Those that name a device, in order. NULL without memory. */
static struct point_at *
sorted_points(const struct recorded *recorded, struct arena *arena, size_t *count)
{
    struct point_at *order = arena_calloc(arena, recorded->point_count + 1, sizeof *order);
    *count = 0;
    for (size_t i = 0; order != NULL && i < recorded->point_count; i++) {
        const struct recorded_memory_point *point = &recorded->points[i];
        if (point->device >= 0 && (uint64_t)point->device < recorded->device_count) {
            order[(*count)++].point = point;
        }
    }
    if (order != NULL) {
        qsort(order, *count, sizeof *order, compare_points);
    }
    return order;
}

/* A curve of each device that has points. False without memory. */
static bool recorded_curves(const struct recorded *recorded,
                            struct arena *arena,
                            struct memory_curve **out,
                            size_t *count)
{
    size_t points;
    const struct point_at *order = sorted_points(recorded, arena, &points);
    struct memory_point *room = arena_calloc(arena, points + 1, sizeof *room);
    *count = 0;
    *out = arena_calloc(arena, recorded->device_count + 1, sizeof **out);
    if (order == NULL || room == NULL || *out == NULL) {
        return false;
    }
    for (size_t i = 0; i < points; i++) {
        const struct recorded_memory_point *point = order[i].point;
        if (i == 0 || point->device != order[i - 1].point->device) {
            (*out)[(*count)++] = (struct memory_curve){
                .device = recorded->devices[point->device].device, .points = room + i};
        }
        add_point(&(*out)[*count - 1], point);
    }
    return true;
}

static bool read_curves(struct api_call *call,
                        int64_t trace_id,
                        struct memory_curve **curves,
                        size_t *count,
                        struct err *err)
{
    struct contents contents = {.device_count = 0};
    struct store_trace *trace = NULL;
    struct arena *arena = call_arena(call);
    if (!store_trace_get(call->snapshot, arena, trace_id, &trace, err)) {
        return false;
    }
    if (strncmp(trace->format, "ascend", strlen("ascend")) != 0) {
        return query_memory_curves(call->snapshot, arena, trace_id, true, curves, count, err);
    }
    return contents_read(call->api->jobs, trace_id, arena, &contents, err) &&
           (recorded_curves(&contents.recorded, arena, curves, count) ||
            err_set(err, ERR_NO_MEMORY, "no memory for the curves of a trace"));
}

bool memory_curve(struct api_call *call, struct err *err)
{
    struct memory_request request;
    struct memory_curve *curves = NULL;
    size_t count = 0;
    int64_t wanted = POINTS_DEFAULT;
    if (!memory_request_read(&request, call, err) ||
        !query_string_int(&call->query, "points", POINTS_MIN, POINTS_MAX, &wanted, err) ||
        !read_curves(call, request.trace_id, &curves, &count, err)) {
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
