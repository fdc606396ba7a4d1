#include "api/call.h"
#include "api/handlers.h"
#include "api/render.h"
#include "api/rows.h"
#include "api/table_params.h"

#define LIMIT_DEFAULT 1000

enum { GROUP_NAME, GROUP_LAUNCH };

static const char *const groups[] = {
    [GROUP_NAME] = "name",
    [GROUP_LAUNCH] = "launch",
    NULL,
};

static const char *const text_columns[] = {"name", "operator", NULL};

struct table {
    const struct trace_results *results;
    struct table_params params;
    size_t group;
    struct kernel_row *rows; /* of the page, or all of them when the group is "launch" */
    struct kernel_launch_row *launches;
    size_t count;
    int64_t total;
    int64_t sum_calls,
        sum_ns; /* over all kernels of the trace, whatever the grouping and the filter */
};

static bool add_up(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct kernel_row *rows = NULL;
    size_t count = 0;
    int64_t total = 0;
    if (!store_kernels(call->api->store, call_arena(call), id, &all, &rows, &count, &total, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        table->sum_calls = rows_add(table->sum_calls, rows[i].calls);
        table->sum_ns = rows_add(table->sum_ns, rows[i].total_ns);
    }
    return true;
}

static bool load(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    struct store *store = call->api->store;
    struct arena *arena = call_arena(call);
    struct trace_results *results = NULL;
    if (!table_params_choice(call, "group_by", groups, &table->group, err)) {
        return false;
    }
    bool by_name = table->group == GROUP_NAME;
    if (!table_params_read(&table->params, call, text_columns, "total_ns", LIMIT_DEFAULT, err) ||
        !store_overview(store, arena, id, &results, err) || !add_up(table, call, id, err)) {
        return false;
    }
    table->results = results;
    const struct store_page *page = &table->params.page;
    return by_name ? store_kernels(store, arena, id, page, &table->rows, &table->count,
                                   &table->total, err)
                   : store_kernel_launches(store, arena, id, page, &table->launches, &table->count,
                                           &table->total, err);
}

static void write_row(struct field_out *out, const struct table *table, size_t at)
{
    if (table->group == GROUP_NAME) {
        const struct kernel_row *row = &table->rows[at];
        rows_kernel(out, row, rows_share(row->total_ns, table->sum_ns),
                    (int64_t)table->results->step_count);
    } else {
        const struct kernel_launch_row *row = &table->launches[at];
        rows_kernel_launch(out, row, rows_share(row->total_ns, table->sum_ns));
    }
}

static void answer_csv(struct api_call *call, const struct table *table)
{
    struct csv_write csv;
    table_params_begin_csv(call, &csv, "kernels");
    struct field_out out = {.notation = FIELD_CSV_HEADER, .csv = &csv};
    if (table->group == GROUP_NAME) {
        const struct kernel_row blank = {.name = ""};
        rows_kernel(&out, &blank, 0, 1);
    } else {
        const struct kernel_launch_row blank = {.name = ""};
        rows_kernel_launch(&out, &blank, 0);
    }
    out.notation = FIELD_CSV;
    for (size_t i = 0; i < table->count; i++) {
        write_row(&out, table, i);
    }
}

static void write_config_labels(struct json_write *w, bool mlu)
{
    static const char *const labels[2][4] = {
        {"Grid", "Block", "Registers per thread", "Shared memory"},
        {"Kernel type", "Dim", "Tasktopo", "Tasktopo node"},
    };
    jw_key(w, "config_labels");
    jw_array_begin(w);
    for (size_t i = 0; i < 4; i++) {
        jw_string(w, labels[mlu][i]);
    }
    jw_array_end(w);
}

static void answer_json(struct api_call *call, const struct table *table)
{
    struct json_write w = call_json(call, false);
    struct field_out out = {.notation = FIELD_JSON, .json = &w};
    jw_object_begin(&w);
    jw_key(&w, "rows");
    jw_array_begin(&w);
    for (size_t i = 0; i < table->count; i++) {
        write_row(&out, table, i);
    }
    jw_array_end(&w);
    table_params_members(&w, &table->params, table->total, groups[table->group]);
    jw_key(&w, "sums");
    jw_object_begin(&w);
    jw_key_int(&w, "calls", table->sum_calls);
    jw_key_int(&w, "total_ns", table->sum_ns);
    jw_object_end(&w);
    jw_key_bool(&w, "has_blocks_per_sm", table->results->has_blocks_per_sm);
    jw_key_bool(&w, "has_occupancy", table->results->has_occupancy);
    write_config_labels(&w, table->results->mlu);
    jw_key_double(&w, "tensor_core_share", table->results->tensor_pie_used);
    jw_object_end(&w);
}

bool kernels_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct table table = {.count = 0};
    if (!call_trace_id(call, &id, err) || !load(&table, call, id, err)) {
        return false;
    }
    if (table.params.csv) {
        answer_csv(call, &table);
    } else {
        answer_json(call, &table);
    }
    return true;
}
