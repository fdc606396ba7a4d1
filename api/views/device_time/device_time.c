/* Device time of a trace by the class of its work [DEV-2]: in total, by device, kernel by kernel.
 */
#include "api/handlers.h"
#include "api/table/row_query.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
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
    if (total_ns == 0) {
        jw_key_null(w, "utilisation");
    } else {
        jw_key_double(w, "utilisation", (double)block->busy_ns / (double)total_ns);
    }
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
    jw_key(w, "classes");
    jw_array_begin(w);
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
    jw_key(w, "communication_kinds");
    jw_array_begin(w);
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
    jw_key(w, "devices");
    jw_array_begin(w);
    for (size_t i = 0; i < times->device_count; i++) {
        const struct device_time_device *device = &times->devices[i];
        jw_object_begin(w);
        if (device->device == TRACE_NO_ID) {
            jw_key_null(w, "device");
        } else {
            jw_key_int(w, "device", device->device);
        }
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

enum column {
    COLUMN_NAME,
    COLUMN_CLASS,
    COLUMN_KIND,
    COLUMN_EVENTS,
    COLUMN_TIME,
    COLUMN_SHARE,
    COLUMN_COUNT
};

static const char *const columns[COLUMN_COUNT + 1] = {
    "name", "class", "communication_kind", "events", "device_ns", "share", NULL,
};
static const char *const text_columns[] = {"name", "class", "communication_kind", NULL};

struct table {
    struct device_time times;
    struct table_params params;
    struct row_query_page shown;
};

/* NaN of what counts nowhere. */
static double share_of(const struct device_time *times, const struct device_time_kernel *kernel)
{
    bool is_work = strcmp(kernel->class.name, KERNEL_CLASS_SYNC) != 0;
    return is_work ? rows_known_share(kernel->device_ns, times->device_ns) : (double)NAN;
}

static const char *name_of(const void *rows, size_t at)
{
    return ((const struct device_time *)rows)->kernels[at].name;
}

static struct row_query_value value_of(const void *rows, size_t at, size_t column)
{
    const struct device_time *times = rows;
    const struct device_time_kernel *kernel = &times->kernels[at];
    switch ((enum column)column) {
    case COLUMN_NAME:
        return row_query_text(kernel->name);
    case COLUMN_CLASS:
        return row_query_text(kernel->class.name);
    case COLUMN_KIND:
        return row_query_text(kernel->class.communication_kind);
    case COLUMN_EVENTS:
        return row_query_number(kernel->events);
    case COLUMN_TIME:
        return row_query_number(kernel->device_ns);
    case COLUMN_SHARE:
    case COLUMN_COUNT:
        break;
    }
    return row_query_real(share_of(times, kernel));
}

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct device_time_kernel blank = {.name = "", .class = {.name = ""}};
    const struct device_time_kernel *kernel =
        at == TABLE_BLANK_ROW ? &blank : &table->times.kernels[table->shown.rows[at]];
    field_row_begin(out);
    field_text(out, "name", kernel->name);
    field_text(out, "class", kernel->class.name);
    if (kernel->class.matrix_unit == MATRIX_UNIT_UNKNOWN) {
        field_null(out, "matrix_unit");
    } else {
        field_bool(out, "matrix_unit", kernel->class.matrix_unit == MATRIX_UNIT_USED);
    }
    field_text(out, "communication_kind", kernel->class.communication_kind);
    field_int(out, "events", kernel->events);
    field_int(out, "device_ns", kernel->device_ns);
    field_double(out, "share", share_of(&table->times, kernel));
    field_row_end(out);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_params_members(w, &table->params.page, table->shown.total, NULL);
    jw_key_int(w, "device_ns", table->times.device_ns);
}

bool device_time_kernels(struct api_call *call, struct err *err)
{
    struct table table = {.shown.count = 0};
    if (!table_params_read(&table.params, call, text_columns, "device_ns", LIMIT_DEFAULT, err) ||
        !read_times(call, &table.times, err)) {
        return false;
    }
    const struct row_query_source source = {&table.times, table.times.kernel_count, columns,
                                            name_of, value_of};
    if (!row_query_run(&table.shown, call, &table.params.page, &source, err)) {
        return false;
    }
    const struct table_answer answer = {"device-time-kernels", &table, table.shown.count, write_row,
                                        write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}
