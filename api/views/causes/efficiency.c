/* How well operators use the device: operations, bytes, rates and the roofline [CAU-4]. */
#include "api/handlers.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "api/views/causes/common.h"
#include "ingest/jobs/on_request/analyses.h"

#include <string.h>

#define LIMIT_DEFAULT 100

static const char *const groups[] = {"operator", "shape", "module", "step", NULL};

struct table {
    struct table_view view;
    const char *group_by;
    struct efficiency efficiency;
};

static void
write_peaks(struct json_write *w, const struct device_peaks *device, enum formula_unit unit)
{
    jw_key_object_begin(w, formula_unit_text(unit));
    for (int i = 0; i < FORMULA_PRECISION_COUNT; i++) {
        if ((device->listed[unit] >> i & 1U) != 0) {
            jw_key_double(w, formula_precision_text((enum formula_precision)i),
                          device->peak[unit][i]);
        }
    }
    jw_object_end(w);
}

static void write_device(struct json_write *w, const struct device_peaks *device)
{
    jw_key(w, "device");
    if (device->name == NULL) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_string(w, "name", device->name);
    jw_key_string(w, "source", device->source);
    jw_key_double(w, "bandwidth_bytes_per_second", device->bandwidth_bytes_per_second);
    write_peaks(w, device, FORMULA_MATRIX);
    write_peaks(w, device, FORMULA_VECTOR);
    jw_object_end(w);
}

static void write_wide(struct json_write *w, const char *key, wide_int value)
{
    char text[WIDE_TEXT_BYTES];
    const char *digits = wide_text(value, text);
    jw_key(w, key);
    jw_raw(w, digits, strlen(digits));
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    const struct efficiency *efficiency = &table->efficiency;
    write_device(w, &efficiency->device);
    table_view_members(w, &table->view, table->group_by);
    jw_key_object_begin(w, "totals");
    jw_key_int(w, "calls", efficiency->calls);
    write_wide(w, "flops", efficiency->flops);
    write_wide(w, "matrix_flops", efficiency->matrix_flops);
    write_wide(w, "bytes", efficiency->bytes);
    jw_key_int(w, "time_ns", efficiency->time_ns);
    jw_key_double(w, "mfu", efficiency->mfu);
    jw_object_end(w);
    jw_key_object_begin(w, "outside_operators");
    jw_key_int(w, "events", efficiency->outside_events);
    jw_key_int(w, "time_ns", efficiency->outside_time_ns);
    jw_object_end(w);
    jw_key_int(w, "modelled_time_ns", efficiency->modelled_time_ns);
}

bool efficiency_get(struct api_call *call, struct err *err)
{
    struct table table = {
        .view = {.table = &table_efficiency, .stem = "efficiency", .write_members = write_members}};
    struct store_trace *trace = NULL;
    size_t group = 0;
    if (!table_view_read(&table.view, call, "time_ns", LIMIT_DEFAULT, err) ||
        !table_params_choice(call, "group_by", groups, &group, err) ||
        !timeline_trace(&trace, call, err) ||
        !(efficiency_read(call->api->jobs, trace->id, (enum efficiency_group)group,
                          call_arena(call), &table.efficiency, err) ||
          timeline_gone(err)) ||
        !table_view_run(&table.view, call, table.efficiency.rows, table.efficiency.count, err)) {
        return false;
    }
    table.group_by = groups[group];
    table.view.context = &table;
    table_view_answer(&table.view, call);
    return true;
}
