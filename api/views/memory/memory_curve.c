/* What was allocated and reserved over time, a curve a device and component. */
#include "api/handlers.h"
#include "api/views/memory/memory_common.h"
#include "ingest/base/order.h"
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
    jw_key_array_begin(w, "points");
    for (size_t i = 0; i < count; i++) {
        const struct memory_point *point = &curve->points[chosen[i]];
        jw_array_begin(w);
        jw_int(w, point->ts);
        jw_known_int(w, point->allocated_bytes);
        jw_int(w, point->reserved_bytes);
        jw_array_end(w);
    }
    jw_array_end(w);
    return true;
}

/* The members of a curve in the open object at hand. */
static bool put_curve(struct json_write *w,
                      struct api_call *call,
                      const struct memory_curve *curve,
                      size_t wanted,
                      struct err *err)
{
    const struct memory_point *peak = &curve->points[curve->peak];
    jw_key_string(w, "component", curve->component);
    if (!put_points(w, call, curve, wanted, err)) {
        return false;
    }
    jw_key_int(w, "total_points", (int64_t)curve->point_count);
    jw_key_array_begin(w, "peak");
    jw_int(w, peak->ts);
    jw_int(w, memory_point_bytes(peak));
    jw_array_end(w);
    jw_key_bool(w, "since_start", curve->since_start);
    return true;
}

/* A device's curve, which is the first, and those of its other components. */
static bool put_device(struct json_write *w,
                       struct api_call *call,
                       const struct memory_curve *curves,
                       size_t count,
                       size_t wanted,
                       struct err *err)
{
    jw_object_begin(w);
    jw_key_string(w, "device", curves->device);
    bool ok = put_curve(w, call, curves, wanted, err);
    jw_key_array_begin(w, "components");
    for (size_t i = 1; ok && i < count; i++) {
        jw_object_begin(w);
        ok = put_curve(w, call, &curves[i], wanted, err);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_object_end(w);
    return ok;
}

/* ---- as another recorder tells it ---- */

/* A component of a device by its place in the file, or a point by that of its component. */
struct placed {
    const struct recorded_device_memory *of;
    const struct recorded_memory_point *point;
    size_t place;
};

static bool is_allocator(const struct recorded_device_memory *of)
{
    return of->component != NULL && strcmp(of->component, RECORDED_ALLOCATOR) == 0;
}

/* By name of the device; its allocator first, then as in the file. */
ORDER_BY(compare_components,
         struct placed,
         ORDER_TEXT(of->device),
         ORDER_KEY(is_allocator(b->of) - is_allocator(a->of)),
         ORDER_UP(of))

/* By component, then by time, then as in the file. */
ORDER_BY(compare_points, struct placed, ORDER_UP(place), ORDER_UP(point->time_ns), ORDER_UP(point))

static void add_point(struct memory_curve *curve, const struct recorded_memory_point *point)
{
    size_t at = curve->point_count++;
    curve->points[at] =
        (struct memory_point){point->time_ns, point->allocated_bytes, point->reserved_bytes};
    if (memory_point_bytes(&curve->points[at]) > memory_point_bytes(&curve->points[curve->peak])) {
        curve->peak = at;
    }
}

/* Those that name a device, each with the place of its component in `components`. */
static size_t place_points(const struct recorded *recorded,
                           const struct placed *components,
                           size_t *place_of,
                           struct placed *points)
{
    size_t count = 0;
    for (size_t i = 0; i < recorded->device_count; i++) {
        place_of[components[i].of - recorded->devices] = i;
    }
    for (size_t i = 0; i < recorded->point_count; i++) {
        const struct recorded_memory_point *point = &recorded->points[i];
        if (point->device >= 0 && (uint64_t)point->device < recorded->device_count) {
            points[count++] = (struct placed){.point = point, .place = place_of[point->device]};
        }
    }
    qsort(points, count, sizeof *points, compare_points);
    return count;
}

/* A curve of each component of a device that has points. False without memory. */
static bool recorded_curves(const struct recorded *recorded,
                            struct arena *arena,
                            struct memory_curve **out,
                            size_t *count)
{
    size_t devices = recorded->device_count;
    struct placed *components = arena_calloc(arena, devices + 1, sizeof *components);
    size_t *place_of = arena_calloc(arena, devices + 1, sizeof *place_of);
    struct placed *order = arena_calloc(arena, recorded->point_count + 1, sizeof *order);
    struct memory_point *room = arena_calloc(arena, recorded->point_count + 1, sizeof *room);
    *count = 0;
    *out = arena_calloc(arena, devices + 1, sizeof **out);
    if (components == NULL || place_of == NULL || order == NULL || room == NULL || *out == NULL) {
        return false;
    }
    for (size_t i = 0; i < devices; i++) {
        components[i].of = &recorded->devices[i];
    }
    qsort(components, devices, sizeof *components, compare_components);
    size_t points = place_points(recorded, components, place_of, order);
    for (size_t i = 0; i < points; i++) {
        if (i == 0 || order[i].place != order[i - 1].place) {
            const struct recorded_device_memory *of = components[order[i].place].of;
            (*out)[(*count)++] = (struct memory_curve){
                .device = of->device, .component = of->component, .points = room + i};
        }
        add_point(&(*out)[*count - 1], order[i].point);
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
    jw_key_array_begin(&w, "devices");
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && strcmp(curves[end].device, curves[i].device) == 0;) {
            end++;
        }
        if (!put_device(&w, call, &curves[i], end - i, (size_t)wanted, err)) {
            return false;
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}
