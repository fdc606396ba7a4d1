#include "api/call.h"
#include "api/tb_plugin/common.h"
#include "api/tb_plugin/handlers.h"
#include "ingest/base/order.h"

#include <stdlib.h>

enum { GROUP_OPERATION, GROUP_SHAPE };

static const char *const groups[] = {
    [GROUP_OPERATION] = "Operation",
    [GROUP_SHAPE] = "OperationAndInputShape",
    NULL,
};

/* Rows sorted by one of their times, longest first; equal ones keep their order [TB-11b] [TB-11c].
 */
struct sorted_row {
    const struct operator_row *row;
    int64_t time_ns;
    size_t index;
};

ORDER_BY(compare_rows, struct sorted_row, ORDER_DOWN(time_ns), ORDER_UP(index))

static int64_t device_total(const struct operator_row *row)
{
    return row->device_total_ns;
}

static int64_t device_self(const struct operator_row *row)
{
    return row->device_self_ns;
}

static int64_t host_total(const struct operator_row *row)
{
    return row->host_total_ns;
}

static int64_t host_self(const struct operator_row *row)
{
    return row->host_self_ns;
}

struct table {
    const struct trace_results *results;
    const struct operator_row *rows;
    size_t count;
    struct sorted_row *sorted; /* `count` of them, sorted anew for each use */
};

static void sort_rows(struct table *table, int64_t (*time_of)(const struct operator_row *row))
{
    for (size_t i = 0; i < table->count; i++) {
        table->sorted[i] = (struct sorted_row){
            .row = &table->rows[i],
            .time_ns = time_of(&table->rows[i]),
            .index = i,
        };
    }
    if (table->count > 1) {
        qsort(table->sorted, table->count, sizeof table->sorted[0], compare_rows);
    }
}

static bool load(struct table *table,
                 struct api_call *call,
                 const struct plugin_request *request,
                 enum operator_group group,
                 const char *name,
                 const char *shape,
                 struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct operator_row *rows = NULL;
    int64_t total = 0;
    if (!store_operators(call->snapshot, call_arena(call), request->figures_id, group, name, shape,
                         &all, &rows, &table->count, &total, err)) {
        return false;
    }
    table->results = request->results;
    table->rows = rows;
    table->sorted = arena_calloc(call_arena(call), table->count + 1, sizeof *table->sorted);
    return table->sorted != NULL ||
           err_set(err, ERR_NO_MEMORY, "No memory to sort %zu operators", table->count);
}

static void put_pie(struct json_write *w,
                    struct table *table,
                    const char *key,
                    const char *title,
                    int64_t (*time_of)(const struct operator_row *row))
{
    sort_rows(table, time_of);
    jw_key(w, key);
    if (table->count == 0 || table->sorted[0].time_ns <= 0) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_string(w, "title", title);
    plugin_begin_pie_rows(w);
    for (size_t i = 0; i < table->count && table->sorted[i].time_ns > 0; i++) {
        jw_array_begin(w);
        jw_string(w, table->sorted[i].row->name);
        plugin_put_us(w, plugin_ticks(table->results), table->sorted[i].time_ns);
        jw_array_end(w);
    }
    jw_array_end(w);
    jw_object_end(w);
}

bool plugin_operation_pies(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct table table;
    if (!plugin_begin(call, "operation", groups, &request, err) || request.answered) {
        return request.answered;
    }
    enum operator_group group =
        request.group == GROUP_SHAPE ? OPERATOR_BY_NAME_SHAPE : OPERATOR_BY_NAME;
    if (!load(&table, call, &request, group, NULL, NULL, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, true);
    jw_object_begin(&w);
    put_pie(&w, &table, "device_total_time", "Device Total Time (us)", device_total);
    put_pie(&w, &table, "device_self_time", "Device Self Time (us)", device_self);
    put_pie(&w, &table, "host_total_time", "Host Total Time (us)", host_total);
    put_pie(&w, &table, "host_self_time", "Host Self Time (us)", host_self);
    jw_object_end(&w);
    return true;
}

static void
put_ratio(struct json_write *w, const char *key, int64_t part_ticks, int64_t whole_ticks)
{
    if (whole_ticks == 0) {
        jw_key_int(w, key, 0);
    } else {
        jw_key_double(w, key, plugin_percent((double)part_ticks, (double)whole_ticks));
    }
}

static void
put_duration(struct json_write *w, const char *key, const struct table *table, int64_t ticks)
{
    jw_key(w, key);
    plugin_put_rounded_us(w, plugin_ticks(table->results), ticks);
}

static void put_row(struct json_write *w, const struct table *table, const struct operator_row *row)
{
    jw_object_begin(w);
    jw_key_string(w, "name", row->name);
    if (row->input_shape != NULL) {
        jw_key_string(w, "input_shape", row->input_shape);
    }
    jw_key_int(w, "calls", row->calls);
    if (table->results->operators_have_device) {
        put_duration(w, "device_self_duration", table, row->device_self_ns);
        put_duration(w, "device_total_duration", table, row->device_total_ns);
    }
    put_duration(w, "host_self_duration", table, row->host_self_ns);
    put_duration(w, "host_total_duration", table, row->host_total_ns);
    jw_key_string(w, "tc_eligible", row->tensor_eligible ? "Yes" : "No");
    put_ratio(w, "tc_self_ratio", row->tensor_self_ns, row->device_self_ns);
    put_ratio(w, "tc_total_ratio", row->tensor_total_ns, row->device_total_ns);
    if (row->call_stack != NULL) {
        jw_key_string(w, "call_stack", row->call_stack);
    } else {
        jw_key_bool(w, "has_call_stack", row->has_call_stack);
    }
    jw_object_end(w);
}

static void answer_table(struct api_call *call, struct table *table)
{
    bool device = table->results->operators_have_device;
    sort_rows(table, device ? device_self : host_self);
    struct json_write w = call_json_long(call, true);
    jw_object_begin(&w);
    jw_key_object_begin(&w, "metadata");
    jw_key_string(&w, "sort", device ? "device_self_duration" : "host_self_duration");
    jw_key_object_begin(&w, "tooltips");
    jw_key_string(&w, "tc_eligible", "Whether Tensor Cores can do the work of this operator.");
    jw_key_string(&w, "tc_self_ratio",
                  "Share of Tensor Core kernels in the time of the operator's own kernels.");
    jw_key_string(&w, "tc_total_ratio",
                  "Share of Tensor Core kernels in the time of all kernels below the operator.");
    jw_object_end(&w);
    jw_object_end(&w);
    jw_key_array_begin(&w, "data");
    for (size_t i = 0; i < table->count; i++) {
        put_row(&w, table, table->sorted[i].row);
    }
    jw_array_end(&w);
    jw_object_end(&w);
}

bool plugin_operation_table(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct table table;
    if (!plugin_begin(call, "operation/table", groups, &request, err) || request.answered) {
        return request.answered;
    }
    enum operator_group group =
        request.group == GROUP_SHAPE ? OPERATOR_BY_NAME_SHAPE : OPERATOR_BY_NAME;
    if (!load(&table, call, &request, group, NULL, NULL, err)) {
        return false;
    }
    answer_table(call, &table);
    return true;
}

bool plugin_operation_stack(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct table table;
    const char *name = query_string_get(&call->query, "op_name");
    const char *shape = query_string_get(&call->query, "input_shape");
    if (name == NULL) {
        return err_set(err, ERR_BAD_REQUEST, "The parameter op_name= is missing");
    }
    if (!plugin_begin(call, "operation/stack", groups, &request, err) || request.answered) {
        return request.answered;
    }
    bool by_shape = request.group == GROUP_SHAPE;
    if (by_shape && shape == NULL) {
        return err_set(err, ERR_BAD_REQUEST, "The parameter input_shape= is missing");
    }
    if (!load(&table, call, &request,
              by_shape ? OPERATOR_BY_NAME_SHAPE_STACK : OPERATOR_BY_NAME_STACK, name,
              by_shape ? shape : NULL, err)) {
        return false;
    }
    answer_table(call, &table);
    return true;
}
