/* Device time of a trace by the class of its work [DEV-2]: in total, by device, kernel by kernel.
 */
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "api/views/device_time/members.h"

#include <math.h>
#include <string.h>

#define LIMIT_DEFAULT 100

static bool read_times(struct api_call *call, struct device_time *times, struct err *err)
{
    struct store_trace *trace = NULL;
    int64_t device = INT64_MIN;
    return timeline_trace(&trace, call, err) &&
           query_string_int(&call->query, "device", INT64_MIN + 1, INT64_MAX, &device, err) &&
           (device_read_times(call->api->jobs, trace->id, device == INT64_MIN ? NULL : &device,
                              call_arena(call), times, err) ||
            timeline_gone(err));
}

/* ---- in total ---- */

static void
write_block(struct json_write *w, const char *key, const struct device_time_block *block)
{
    int64_t total_ns = rows_sub(block->end_ns, block->start_ns);
    jw_key(w, key);
    if (!block->is_there) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_int(w, "start_ns", block->start_ns);
    jw_key_int(w, "end_ns", block->end_ns);
    jw_key_int(w, "total_ns", total_ns);
    jw_key_int(w, "busy_ns", block->busy_ns);
    jw_key_int(w, "computation_ns", block->computation_ns);
    jw_key_int(w, "communication_ns", block->communication_ns);
    jw_key_int(w, "exposed_communication_ns", block->exposed_communication_ns);
    jw_key_int(w, "memcpy_ns", block->memcpy_ns);
    jw_key_int(w, "exposed_memcpy_ns", block->exposed_memcpy_ns);
    jw_key_int(w, "idle_ns", rows_sub(total_ns, block->busy_ns));
    jw_key_int(w, "events", block->events);
    jw_key_double(w, "utilisation", rows_known_share(block->busy_ns, total_ns));
    jw_object_end(w);
}

static void write_blocks(struct json_write *w, const struct device_time_blocks *blocks)
{
    write_block(w, "window", &blocks->window);
    write_block(w, "launched", &blocks->launched);
    write_block(w, "steps", &blocks->steps);
}

static void write_classes(struct json_write *w, const struct device_time *times)
{
    jw_key_array_begin(w, "classes");
    for (size_t i = 0; i < times->class_count; i++) {
        const struct device_time_class *class = &times->classes[i];
        jw_object_begin(w);
        jw_key_string(w, "class", class->name);
        jw_key_int(w, "events", class->events);
        jw_key_int(w, "device_ns", class->device_ns);
        jw_key_double(w, "share", rows_known_share(class->device_ns, times->device_ns));
        jw_key_int(w, "busy_ns", class->busy_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_kinds(struct json_write *w, const struct device_time *times)
{
    jw_key_array_begin(w, "communication_kinds");
    for (size_t i = 0; i < times->kind_count; i++) {
        const struct device_time_class *kind = &times->kinds[i];
        jw_object_begin(w);
        jw_key_string(w, "kind", kind->name);
        jw_key_int(w, "events", kind->events);
        jw_key_int(w, "device_ns", kind->device_ns);
        jw_key_int(w, "busy_ns", kind->busy_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_devices(struct json_write *w, const struct device_time *times)
{
    jw_key_array_begin(w, "devices");
    for (size_t i = 0; i < times->device_count; i++) {
        const struct device_time_device *device = &times->devices[i];
        jw_object_begin(w);
        jw_key_known_int(w, "device", device->device);
        jw_key_int(w, "device_ns", device->device_ns);
        write_blocks(w, &device->blocks);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void device_time_members(struct json_write *w, const struct device_time *times)
{
    write_blocks(w, &times->blocks);
    jw_key_int(w, "device_ns", times->device_ns);
    jw_key_int(w, "matrix_unit_ns", times->matrix_unit_ns);
    write_classes(w, times);
    write_kinds(w, times);
    write_devices(w, times);
}

bool device_time_get(struct api_call *call, struct err *err)
{
    struct device_time times;
    if (!read_times(call, &times, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    device_time_members(&w, &times);
    jw_object_end(&w);
    return true;
}

/* ---- kernel by kernel ---- */

struct table {
    struct table_view view;
    struct device_time times;
};

/* NaN of what counts nowhere. */
static double share_of(const struct device_time *times, const struct device_time_kernel *kernel)
{
    bool is_work = strcmp(kernel->class.name, KERNEL_CLASS_SYNC) != 0;
    return is_work ? rows_known_share(kernel->device_ns, times->device_ns) : (double)NAN;
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_view_members(w, &table->view, NULL);
    jw_key_int(w, "device_ns", table->times.device_ns);
}

bool device_time_kernels(struct api_call *call, struct err *err)
{
    struct table table = {.view = {.table = &table_device_time_kernel,
                                   .stem = "device-time-kernels",
                                   .write_members = write_members}};
    struct device_time *times = &table.times;
    if (!table_view_read(&table.view, call, "device_ns", LIMIT_DEFAULT, err) ||
        !read_times(call, times, err)) {
        return false;
    }
    for (size_t i = 0; i < times->kernel_count; i++) {
        times->kernels[i].share = share_of(times, &times->kernels[i]);
    }
    table.view.context = &table;
    return table_view_run(&table.view, call, times->kernels, times->kernel_count, err) &&
           table_view_answer(&table.view, call);
}
