/* The plugin's memory routes [TB-13]. */
#include "ingest/query/views/memory.h"

#include "api/table/table_params.h"
#include "api/tb_plugin/common.h"
#include "api/tb_plugin/handlers.h"
#include "ingest/base/order.h"
#include "ingest/base/text/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURVE_POINTS_MAX 10240
#define COLUMN_BYTES 48

/* In the order of their factors. */
static const char *const kb_first[] = {"KB", "B", "MB", "GB", "TB", NULL};
static const char *const mb_first[] = {"MB", "B", "KB", "GB", "TB", NULL};
static const char *const time_units[] = {"ms", "us", "s", NULL};

struct memory_units {
    const char *memory;
    const char *time;
    double memory_factor; /* to one of bytes */
    double time_factor;   /* to one of microseconds */
};

static bool read_units(struct api_call *call,
                       const char *const *memory_units,
                       struct memory_units *units,
                       struct err *err)
{
    size_t memory = 0;
    size_t time = 0;
    if (!table_params_choice(call, "memory_metric", memory_units, &memory, err) ||
        !table_params_choice(call, "time_metric", time_units, &time, err)) {
        return false;
    }
    static const char *const by_power[] = {"B", "KB", "MB", "GB", "TB"};
    static const double time_factors[] = {0.001, 1.0, 1e-6};
    *units = (struct memory_units){.memory = memory_units[memory],
                                   .time = time_units[time],
                                   .time_factor = time_factors[time]};
    for (int power = 0; power < 5; power++) {
        if (strcmp(by_power[power], units->memory) == 0) {
            units->memory_factor = ldexp(1.0, -10 * power);
        }
    }
    return true;
}

/* Microseconds as the trace has them, absolute; "", null and undefined: none. */
static bool
read_bound(struct api_call *call, const char *name, double *us, bool *given, struct err *err)
{
    const char *text = query_string_get(&call->query, name);
    char *end = NULL;
    *given = text != NULL && *text != '\0' && strcmp(text, "null") != 0 &&
             strcmp(text, "undefined") != 0;
    if (!*given) {
        return true;
    }
    *us = strtod(text, &end);
    return (*end == '\0' && isfinite(*us)) ||
           err_set(err, ERR_BAD_REQUEST, "%s=%.60s is no time in microseconds", name, text);
}

static int64_t clamp_ticks(double ticks)
{
    const double most = 4e18;
    return ticks > most ? INT64_MAX : ticks < -most ? INT64_MIN : (int64_t)ticks;
}

/* Both ends belong to the window [TB-13c]. */
static bool read_window(struct api_call *call,
                        const struct trace_results *results,
                        struct memory_window *window,
                        struct err *err)
{
    double bounds_us[2] = {0, 0};
    bool given[2];
    double start_us = plugin_us(plugin_ns(results), results->first_event_ns);
    if (!read_bound(call, "start_ts", &bounds_us[0], &given[0], err) ||
        !read_bound(call, "end_ts", &bounds_us[1], &given[1], err)) {
        return false;
    }
    double per_us = (double)plugin_ticks(results).per_us;
    window->start = given[0] ? clamp_ticks(ceil((bounds_us[0] - start_us) * per_us)) : INT64_MIN;
    window->end = given[1] ? clamp_ticks(floor((bounds_us[1] - start_us) * per_us)) : INT64_MAX;
    return true;
}

/* ---- shared parts ---- */

static bool is_accelerator(const char *device)
{
    return strncmp(device, "GPU", 3) == 0 || strncmp(device, "MLU", 3) == 0;
}

/* The first accelerator by name, else the CPU [TB-13.2]. */
static const char *better_default(const char *now, const char *device)
{
    bool is_first = !is_accelerator(now) || strcmp(device, now) < 0;
    return is_accelerator(device) && is_first ? device : now;
}

static void put_number(struct json_write *w, const char *name, const char *tooltip)
{
    jw_object_begin(w);
    jw_key_string(w, "name", name);
    jw_key_string(w, "type", "number");
    if (tooltip != NULL) {
        jw_key_string(w, "tooltip", tooltip);
    }
    jw_object_end(w);
}

static void
put_unit_number(struct json_write *w, const char *name, const char *unit, const char *tooltip)
{
    char text[COLUMN_BYTES];
    (void)snprintf(text, sizeof text, "%s (%s)", name, unit);
    put_number(w, text, tooltip);
}

/* ---- memory ---- */

static void put_stat_columns(struct json_write *w, const char *unit)
{
    jw_key_array_begin(w, "columns");
    jw_object_begin(w);
    jw_key_string(w, "name", "Operator Name");
    jw_key_string(w, "type", "string");
    jw_object_end(w);
    put_number(w, "Calls", "How often the operator ran.");
    put_unit_number(w, "Size Increase", unit,
                    "What the operator and the operators it called took and kept.");
    put_unit_number(w, "Self Size Increase", unit, "The same without the operators it called.");
    put_number(w, "Allocation Count", "Blocks taken, those of called operators included.");
    put_number(w, "Self Allocation Count", "The same without the operators it called.");
    put_unit_number(w, "Allocation Size", unit,
                    "Everything taken, whether kept or not, called operators included.");
    put_unit_number(w, "Self Allocation Size", unit, "The same without the operators it called.");
    jw_array_end(w);
}

static void put_bytes(struct json_write *w, int64_t bytes, double factor)
{
    jw_double(w, num_round_display((double)bytes * factor));
}

static void put_stat_row(struct json_write *w,
                         const struct memory_stat_row *row,
                         const struct memory_units *units)
{
    jw_array_begin(w);
    jw_string(w, row->name);
    jw_int(w, row->calls);
    put_bytes(w, row->size_bytes, units->memory_factor);
    put_bytes(w, row->self_size_bytes, units->memory_factor);
    jw_int(w, row->allocations);
    jw_int(w, row->self_allocations);
    put_bytes(w, row->allocated_bytes, units->memory_factor);
    put_bytes(w, row->self_allocated_bytes, units->memory_factor);
    jw_array_end(w);
}

ORDER_BY(compare_first_records,
         struct memory_stat_device,
         ORDER_UP(first_call),
         ORDER_UP(first_record))

static void
put_stats(struct api_call *call, const struct memory_stats *stats, const struct memory_units *units)
{
    struct json_write w = call_json_long(call, true);
    const char *device = "CPU";
    char sort[COLUMN_BYTES];
    for (size_t i = 0; i < stats->device_count; i++) {
        device = better_default(device, stats->devices[i].device);
    }
    (void)snprintf(sort, sizeof sort, "Self Size Increase (%s)", units->memory);
    jw_object_begin(&w);
    jw_key_object_begin(&w, "metadata");
    jw_key_string(&w, "title", "Memory View");
    jw_key_string(&w, "default_device", device);
    jw_key_string(&w, "search", "Operator Name");
    jw_key_string(&w, "sort", sort);
    jw_object_end(&w);
    put_stat_columns(&w, units->memory);
    jw_key_object_begin(&w, "rows");
    for (size_t i = 0; i < stats->device_count; i++) {
        jw_key_array_begin(&w, stats->devices[i].device);
        for (size_t j = 0; j < stats->devices[i].row_count; j++) {
            put_stat_row(&w, &stats->devices[i].rows[j], units);
        }
        jw_array_end(&w);
    }
    jw_object_end(&w);
    jw_object_end(&w);
}

bool plugin_memory(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct memory_units units;
    struct memory_window window;
    struct memory_stats stats;
    if (!plugin_begin(call, "memory", NULL, &request, err) || request.answered) {
        return request.answered;
    }
    if (!read_units(call, kb_first, &units, err) ||
        !read_window(call, request.results, &window, err) ||
        !query_memory_stats(call->snapshot, call_arena(call), request.figures_id, window, &stats,
                            err)) {
        return false;
    }
    if (stats.device_count > 1) { /* [TB-13.8] */
        qsort(stats.devices, stats.device_count, sizeof *stats.devices, compare_first_records);
    }
    put_stats(call, &stats, &units);
    return true;
}

/* ---- memory_curve ---- */

/* Scaled points; with a step before each but the first, so that lines stand still between records
 * [TB-13d]. */
struct scaled_curve {
    double *x;
    double *allocated;
    double *reserved;
    size_t count;
};

static bool scale_curve(struct api_call *call,
                        const struct memory_curve *curve,
                        const struct memory_units *units,
                        struct plugin_unit ticks,
                        bool with_steps,
                        struct scaled_curve *out,
                        struct err *err)
{
    size_t room = curve->point_count * 2;
    out->x = arena_calloc(call_arena(call), room + 1, sizeof *out->x);
    out->allocated = arena_calloc(call_arena(call), room + 1, sizeof *out->allocated);
    out->reserved = arena_calloc(call_arena(call), room + 1, sizeof *out->reserved);
    out->count = 0;
    if (out->x == NULL || out->allocated == NULL || out->reserved == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a curve of %zu points", room);
    }
    for (size_t i = 0; i < curve->point_count; i++) {
        const struct memory_point *point = &curve->points[i];
        double x = plugin_us(ticks, point->ts) * units->time_factor;
        if (with_steps && i > 0) {
            out->x[out->count] = x;
            out->allocated[out->count] = out->allocated[out->count - 1];
            out->reserved[out->count] = out->reserved[out->count - 1];
            out->count++;
        }
        out->x[out->count] = x;
        out->allocated[out->count] = (double)point->allocated_bytes * units->memory_factor;
        out->reserved[out->count++] = (double)point->reserved_bytes * units->memory_factor;
    }
    return true;
}

static bool put_curve(struct json_write *w,
                      struct api_call *call,
                      const struct scaled_curve *curve,
                      struct err *err)
{
    size_t *chosen = arena_calloc(call_arena(call), CURVE_POINTS_MAX, sizeof *chosen);
    if (chosen == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a curve");
    }
    size_t count =
        query_sample_curve(curve->x, curve->allocated, curve->count, CURVE_POINTS_MAX, chosen);
    jw_array_begin(w);
    for (size_t i = 0; i < count; i++) {
        jw_array_begin(w);
        jw_double(w, curve->x[chosen[i]]);
        jw_double(w, curve->allocated[chosen[i]]);
        jw_double(w, curve->reserved[chosen[i]]);
        jw_array_end(w);
    }
    jw_array_end(w);
    return true;
}

static bool put_device_names(struct json_write *w,
                             struct api_call *call,
                             const struct memory_curve *curves,
                             size_t count)
{
    const char **names = arena_calloc(call_arena(call), count + 1, sizeof *names);
    const char *device = "CPU";
    if (names == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = curves[i].device;
        device = better_default(device, curves[i].device);
    }
    qsort((void *)names, count, sizeof *names, order_text_at);
    jw_key_string(w, "default_device", device);
    jw_key_array_begin(w, "devices");
    for (size_t i = 0; i < count; i++) {
        jw_string(w, names[i]);
    }
    jw_array_end(w);
    return true;
}

static void put_curve_metadata(struct json_write *w,
                               const struct memory_curve *curves,
                               size_t count,
                               const struct memory_units *units,
                               const struct trace_results *results)
{
    jw_key_object_begin(w, "peaks");
    for (size_t i = 0; i < count; i++) {
        char text[COLUMN_BYTES + 64];
        const struct memory_point *peak = &curves[i].points[curves[i].peak];
        (void)snprintf(text, sizeof text, "Peak Memory Usage: %.1f%s",
                       (double)peak->allocated_bytes * units->memory_factor, units->memory);
        jw_key_string(w, curves[i].device, text);
    }
    jw_object_end(w);
    jw_key_object_begin(w, "totals");
    jw_object_end(w);
    jw_key(w, "first_ts");
    plugin_put_us(w, plugin_ns(results), results->first_event_ns);
    jw_key_string(w, "time_metric", units->time);
    jw_key_string(w, "memory_metric", units->memory);
    jw_key_double(w, "time_factor", units->time_factor);
    jw_key_double(w, "memory_factor", units->memory_factor);
}

static void put_curve_columns(struct json_write *w, const struct memory_units *units)
{
    jw_key_array_begin(w, "columns");
    put_unit_number(w, "Time", units->time, "Since the profiler began.");
    put_unit_number(w, "Allocated", units->memory, "In use.");
    put_unit_number(w, "Reserved", units->memory, "In use, or kept for the next allocation.");
    jw_array_end(w);
}

static bool put_curves(struct api_call *call,
                       const struct memory_curve *curves,
                       size_t count,
                       const struct memory_units *units,
                       const struct trace_results *results,
                       struct err *err)
{
    const char *patch = query_string_get(&call->query, "patch_for_step_plot");
    bool with_steps = patch == NULL || strcmp(patch, "False") != 0;
    struct json_write w = call_json_long(call, true);
    jw_object_begin(&w);
    jw_key_object_begin(&w, "metadata");
    if (!put_device_names(&w, call, curves, count)) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the names of the devices");
    }
    put_curve_metadata(&w, curves, count, units, results);
    jw_object_end(&w);
    put_curve_columns(&w, units);
    jw_key_object_begin(&w, "rows");
    for (size_t i = 0; i < count; i++) {
        struct scaled_curve scaled;
        jw_key(&w, curves[i].device);
        if (!scale_curve(call, &curves[i], units, plugin_ticks(results), with_steps, &scaled,
                         err) ||
            !put_curve(&w, call, &scaled, err)) {
            return false;
        }
    }
    jw_object_end(&w);
    jw_object_end(&w);
    return true;
}

bool plugin_memory_curve(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct memory_units units;
    struct memory_curve *curves = NULL;
    size_t count = 0;
    if (!plugin_begin(call, "memory_curve", NULL, &request, err) || request.answered) {
        return request.answered;
    }
    return read_units(call, mb_first, &units, err) &&
           query_memory_curves(call->snapshot, call_arena(call), request.figures_id, false, &curves,
                               &count, err) &&
           put_curves(call, curves, count, &units, request.results, err);
}

/* ---- memory_events ---- */

static void
put_time(struct json_write *w, int64_t ticks, bool known, struct plugin_unit unit, double factor)
{
    if (known) {
        jw_double(w, num_round_display(plugin_us(unit, ticks) * factor));
    } else {
        jw_null(w);
    }
}

static void put_block(struct json_write *w,
                      const struct memory_block *block,
                      const struct memory_units *units,
                      struct plugin_unit ticks)
{
    bool has_start = block->allocated_at != MEMORY_NO_TIME;
    bool has_end = block->released_at != MEMORY_NO_TIME;
    jw_array_begin(w);
    jw_string(w, block->name);
    put_bytes(w, block->size_bytes, units->memory_factor);
    put_time(w, block->allocated_at, has_start, ticks, units->time_factor);
    put_time(w, block->released_at, has_end, ticks, units->time_factor);
    put_time(w, has_start && has_end ? block->released_at - block->allocated_at : 0,
             has_start && has_end, ticks, units->time_factor);
    jw_array_end(w);
}

static void put_block_columns(struct json_write *w, const struct memory_units *units)
{
    jw_key_array_begin(w, "columns");
    jw_object_begin(w);
    jw_key_string(w, "name", "Operator");
    jw_key_string(w, "type", "string");
    jw_key_string(w, "tooltip", "");
    jw_object_end(w);
    put_unit_number(w, "Size", units->memory, "");
    put_unit_number(w, "Allocation Time", units->time, "");
    put_unit_number(w, "Release Time", units->time, "");
    put_unit_number(w, "Duration", units->time, "");
    jw_array_end(w);
}

/* Names of the devices in the order of their first blocks; answers their number [TB-13.5]. */
static size_t list_devices(const char *devices[MEMORY_DEVICES_MAX],
                           const struct memory_block *blocks,
                           size_t count)
{
    size_t device_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < device_count && strcmp(devices[at], blocks[i].device) != 0) {
            at++;
        }
        if (at == device_count && device_count < MEMORY_DEVICES_MAX) {
            devices[device_count++] = blocks[i].device;
        }
    }
    return device_count;
}

static void put_block_rows(struct json_write *w,
                           const struct memory_block *blocks,
                           size_t count,
                           const struct memory_units *units,
                           struct plugin_unit ticks)
{
    const char *devices[MEMORY_DEVICES_MAX];
    size_t device_count = list_devices(devices, blocks, count);
    for (size_t d = 0; d < device_count; d++) {
        jw_key_array_begin(w, devices[d]);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(blocks[i].device, devices[d]) == 0) {
                put_block(w, &blocks[i], units, ticks);
            }
        }
        jw_array_end(w);
    }
}

static void put_blocks(struct api_call *call,
                       const struct memory_block *blocks,
                       size_t count,
                       const struct memory_units *units,
                       const struct trace_results *results)
{
    struct json_write w = call_json_long(call, true);
    const char *device = "CPU";
    for (size_t i = 0; i < count; i++) {
        device = better_default(device, blocks[i].device);
    }
    jw_object_begin(&w);
    jw_key_object_begin(&w, "metadata");
    jw_key_string(&w, "title", "Memory Events");
    jw_key_string(&w, "default_device", device);
    jw_object_end(&w);
    put_block_columns(&w, units);
    jw_key_object_begin(&w, "rows");
    put_block_rows(&w, blocks, count, units, plugin_ticks(results));
    jw_object_end(&w);
    jw_object_end(&w);
}

bool plugin_memory_events(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct memory_units units;
    struct memory_window window;
    struct memory_block *blocks = NULL;
    size_t count = 0;
    if (!plugin_begin(call, "memory_events", NULL, &request, err) || request.answered) {
        return request.answered;
    }
    if (!read_units(call, kb_first, &units, err) ||
        !read_window(call, request.results, &window, err) ||
        !query_memory_blocks(call->snapshot, call_arena(call), request.figures_id, window, &blocks,
                             &count, err)) {
        return false;
    }
    put_blocks(call, blocks, count, &units, request.results);
    return true;
}
