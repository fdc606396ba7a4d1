#include "api/call.h"
#include "api/tb_plugin/common.h"
#include "api/tb_plugin/handlers.h"
#include "ingest/base/text/num.h"

enum { GROUP_KERNEL, GROUP_LAUNCH };

static const char *const groups[] = {
    [GROUP_KERNEL] = "Kernel",
    [GROUP_LAUNCH] = "KernelNameAndOpName",
    NULL,
};

static const char uses_tooltip[] = "Whether the kernel runs on Tensor Cores.";
static const char eligible_tooltip[] =
    "Whether Tensor Cores can do the work of the operator that launched the kernel.";
static const char blocks_tooltip[] =
    "Blocks of a launch divided by the number of multiprocessors, as a mean weighted by the "
    "launches' "
    "durations. Below 1 a launch cannot keep the whole device busy.";
static const char occupancy_tooltip[] =
    "Active warps as a share of those that fit on a multiprocessor, estimated from the launch "
    "configuration, as a mean weighted by the launches' durations. More helps where memory "
    "bandwidth "
    "is the limit.";

static void begin_pie(struct json_write *w)
{
    jw_object_begin(w);
    jw_key_object_begin(w, "total");
    plugin_begin_pie_rows(w);
}

static void end_pie(struct json_write *w)
{
    jw_array_end(w);
    jw_object_end(w);
    jw_object_end(w);
}

static bool load_kernels(struct api_call *call,
                         const struct plugin_request *request,
                         struct kernel_row **rows,
                         size_t *count,
                         struct err *err)
{
    const struct store_page all = {.limit = 0};
    int64_t total = 0;
    return store_kernels(call->snapshot, call_arena(call), request->figures_id, &all, rows, count,
                         &total, err);
}

bool plugin_kernel_pie(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    struct kernel_row *rows = NULL;
    size_t count = 0;
    if (!plugin_begin(call, "kernel", groups, &request, err) || request.answered) {
        return request.answered;
    }
    if (!load_kernels(call, &request, &rows, &count, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, true);
    begin_pie(&w);
    for (size_t i = 0; i < count; i++) {
        jw_array_begin(&w);
        jw_string(&w, rows[i].name);
        plugin_put_sum_us(&w, plugin_ns(request.results), rows[i].total_ns);
        jw_array_end(&w);
    }
    end_pie(&w);
    return true;
}

bool plugin_kernel_tc_pie(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    if (!plugin_begin(call, "kernel/tc_pie", NULL, &request, err) || request.answered) {
        return request.answered;
    }
    double used = request.results->tensor_pie_used;
    struct json_write w = call_json_long(call, true);
    begin_pie(&w);
    jw_array_begin(&w);
    jw_string(&w, "Using Tensor Cores");
    jw_double(&w, used);
    jw_array_end(&w);
    jw_array_begin(&w);
    jw_string(&w, "Not Using Tensor Cores");
    jw_double(&w, 1.0 - used);
    jw_array_end(&w);
    end_pie(&w);
    return true;
}

static void begin_table(struct json_write *w)
{
    jw_object_begin(w);
    jw_key_object_begin(w, "metadata");
    jw_key_string(w, "sort", "Total Duration (us)");
    jw_object_end(w);
    jw_key_object_begin(w, "data");
    jw_key_array_begin(w, "columns");
}

static void begin_rows(struct json_write *w)
{
    jw_array_end(w);
    jw_key_array_begin(w, "rows");
}

static void end_table(struct json_write *w)
{
    jw_array_end(w);
    jw_object_end(w);
    jw_object_end(w);
}

static void put_measure_columns(struct json_write *w, const struct trace_results *results)
{
    plugin_put_column(w, "number", "Calls", NULL);
    plugin_put_column(w, "number", "Total Duration (us)", NULL);
    plugin_put_column(w, "number", "Mean Duration (us)", NULL);
    plugin_put_column(w, "number", "Max Duration (us)", NULL);
    plugin_put_column(w, "number", "Min Duration (us)", NULL);
    if (results->has_blocks_per_sm) {
        plugin_put_column(w, "number", "Mean Blocks Per SM", blocks_tooltip);
    }
    if (results->has_occupancy) {
        plugin_put_column(w, "number", "Mean Est. Achieved Occupancy (%)", occupancy_tooltip);
    }
}

/* Over launches without any length: 0.0 by kernel, the integer 0 by kernel and operator [TB-1.4].
 */
static void put_weighted(struct json_write *w, double value, bool is_integer)
{
    if (is_integer) {
        jw_int(w, 0);
    } else {
        jw_double(w, num_round_digits(value, 2));
    }
}

static void put_weighted_means(struct json_write *w,
                               const struct trace_results *results,
                               double blocks_per_sm,
                               double occupancy_pct,
                               bool are_integers)
{
    if (results->has_blocks_per_sm) {
        put_weighted(w, blocks_per_sm, are_integers);
    }
    if (results->has_occupancy) {
        put_weighted(w, occupancy_pct, are_integers);
    }
}

static double mean_us(struct plugin_unit unit, int64_t total_ticks, int64_t calls)
{
    return calls == 0 ? 0 : plugin_us(unit, total_ticks) / (double)calls;
}

static bool
answer_by_kernel(struct api_call *call, const struct plugin_request *request, struct err *err)
{
    const struct trace_results *results = request->results;
    const struct plugin_unit unit = plugin_ns(results);
    struct kernel_row *rows = NULL;
    size_t count = 0;
    if (!load_kernels(call, request, &rows, &count, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, true);
    begin_table(&w);
    plugin_put_column(&w, "string", "Name", NULL);
    plugin_put_column(&w, "string", "Tensor Cores Used", uses_tooltip);
    put_measure_columns(&w, results);
    begin_rows(&w);
    for (size_t i = 0; i < count; i++) {
        const struct kernel_row *row = &rows[i];
        jw_array_begin(&w);
        jw_string(&w, row->name);
        jw_string(&w, row->tensor_used ? "Yes" : "No");
        jw_int(&w, row->calls);
        plugin_put_rounded_us(&w, unit, row->total_ns);
        plugin_put_rounded(&w, mean_us(unit, row->total_ns, row->calls));
        plugin_put_rounded_us(&w, unit, row->max_ns);
        plugin_put_rounded_us(&w, unit, row->min_ns);
        put_weighted_means(&w, results, row->blocks_per_sm, row->occupancy_pct, false);
        jw_array_end(&w);
    }
    end_table(&w);
    return true;
}

static void put_launch_columns(struct json_write *w, const struct trace_results *results)
{
    plugin_put_column(w, "string", "Name", NULL);
    plugin_put_column(w, "string", "Operator", NULL);
    plugin_put_column(w, "string", results->mlu ? "Kernel Type" : "Grid", NULL);
    plugin_put_column(w, "string", results->mlu ? "Dim" : "Block", NULL);
    plugin_put_column(w, "number", results->mlu ? "Tasktopo" : "Register Per Thread", NULL);
    plugin_put_column(w, "number", results->mlu ? "Tasktopo_node" : "Shared Memory", NULL);
    plugin_put_column(w, "string", "Kernel Uses Tensor Cores", uses_tooltip);
    plugin_put_column(w, "string", "Op is Tensor Cores eligible", eligible_tooltip);
    put_measure_columns(w, results);
}

static void put_launch(struct json_write *w,
                       const struct trace_results *results,
                       const struct kernel_launch_row *row)
{
    const struct plugin_unit unit = plugin_ticks(results);
    jw_array_begin(w);
    jw_string(w, row->name);
    jw_string(w, row->operator_name);
    for (size_t i = 0; i < 4; i++) {
        jw_string(w, row->config[i]);
    }
    jw_string(w, row->tensor_used ? "Yes" : "No");
    jw_string(w, row->op_tensor_eligible ? "Yes" : "No");
    jw_int(w, row->calls);
    plugin_put_sum_us(w, unit, row->total_ns);
    plugin_put_rounded(w, mean_us(unit, row->total_ns, row->calls));
    plugin_put_us(w, unit, row->max_ns); /* the plugin begins with the integer 0 */
    plugin_put_sum_us(w, unit, row->min_ns);
    put_weighted_means(w, results, row->blocks_per_sm, row->occupancy_pct, row->total_ns == 0);
    jw_array_end(w);
}

static bool
answer_by_launch(struct api_call *call, const struct plugin_request *request, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct kernel_launch_row *rows = NULL;
    size_t count = 0;
    int64_t total = 0;
    if (!store_kernel_launches(call->snapshot, call_arena(call), request->figures_id, &all, &rows,
                               &count, &total, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, true);
    begin_table(&w);
    put_launch_columns(&w, request->results);
    begin_rows(&w);
    for (size_t i = 0; i < count; i++) {
        put_launch(&w, request->results, &rows[i]);
    }
    end_table(&w);
    return true;
}

bool plugin_kernel_table(struct api_call *call, struct err *err)
{
    struct plugin_request request;
    if (!plugin_begin(call, "kernel/table", groups, &request, err) || request.answered) {
        return request.answered;
    }
    return request.group == GROUP_LAUNCH ? answer_by_launch(call, &request, err)
                                         : answer_by_kernel(call, &request, err);
}
