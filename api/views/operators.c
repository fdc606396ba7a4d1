#include "api/call.h"
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"

#define LIMIT_DEFAULT 1000

static const char *const groups[] = {
    [OPERATOR_BY_NAME] = "name",
    [OPERATOR_BY_NAME_SHAPE] = "name_shape",
    [OPERATOR_BY_NAME_STACK] = "name_stack",
    [OPERATOR_BY_NAME_SHAPE_STACK] = "name_shape_stack",
    [OPERATOR_GROUP_COUNT] = NULL,
};

static const uint32_t parts_of_group[OPERATOR_GROUP_COUNT] = {
    [OPERATOR_BY_NAME_SHAPE] = WHEN_SHAPE,
    [OPERATOR_BY_NAME_STACK] = WHEN_STACK,
    [OPERATOR_BY_NAME_SHAPE_STACK] = WHEN_SHAPE | WHEN_STACK,
};

struct sums {
    int64_t calls, host_self_ns, device_self_ns;
};

struct table {
    struct table_view view;
    const struct trace_results *results;
    size_t group;
    struct operator_row *rows;
    struct sums sums;
};

/* Whether the page has every operator by name. */
static bool has_all_by_name(const struct table *table, const struct api_call *call)
{
    return table->group == OPERATOR_BY_NAME && table->view.params.page.q == NULL &&
           query_string_get(&call->query, "name") == NULL &&
           query_string_get(&call->query, "shape") == NULL &&
           table->view.count == (size_t)table->view.total;
}

/* Over all operators of the trace, whatever the grouping and the filter: every call is in one row
 * by name. Most answers have all of these; only others need them read once more. */
static bool add_up(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    const struct store_page all = {.limit = 0};
    const struct operator_row *rows = table->rows;
    size_t count = table->view.count;
    if (!has_all_by_name(table, call)) {
        struct operator_row *read = NULL;
        int64_t total = 0;
        if (!store_operators(call->api->store, call_arena(call), id, OPERATOR_BY_NAME, NULL, NULL,
                             &all, &read, &count, &total, err)) {
            return false;
        }
        rows = read;
    }
    struct sums *sums = &table->sums;
    for (size_t i = 0; i < count; i++) {
        sums->calls = rows_add(sums->calls, rows[i].calls);
        sums->host_self_ns = rows_add(sums->host_self_ns, rows[i].host_self_ns);
        sums->device_self_ns = rows_add(sums->device_self_ns, rows[i].device_self_ns);
    }
    return true;
}

static bool load(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    struct trace_results *results = NULL;
    if (!table_params_choice(call, "group_by", groups, &table->group, err) ||
        !store_overview(call->api->store, call_arena(call), id, &results, err)) {
        return false;
    }
    table->results = results;
    const char *self = results->operators_have_device ? "device_self_ns" : "host_self_ns";
    if (!table_view_read(&table->view, call, self, LIMIT_DEFAULT, err)) {
        return false;
    }
    return store_operators(call->api->store, call_arena(call), id,
                           (enum operator_group)table->group,
                           query_string_get(&call->query, "name"),
                           query_string_get(&call->query, "shape"), &table->view.params.page,
                           &table->rows, &table->view.count, &table->view.total, err) &&
           add_up(table, call, id, err);
}

static void set_shares(struct table *table)
{
    bool by_device = table->results->operators_have_device;
    for (size_t i = 0; i < table->view.count; i++) {
        struct operator_row *row = &table->rows[i];
        row->share = by_device ? rows_share(row->device_self_ns, table->sums.device_self_ns)
                               : rows_share(row->host_self_ns, table->sums.host_self_ns);
    }
}

/* What no operator launched makes up for the rest of the device's time. */
static void write_device_time(struct json_write *w, const struct table *table)
{
    int64_t device_ns = table->results->device_ns;
    if (device_ns == RESULTS_UNKNOWN) {
        jw_key_null(w, "device_ns");
        jw_key_null(w, "unattributed_device_ns");
        return;
    }
    jw_key_int(w, "device_ns", device_ns);
    jw_key_int(w, "unattributed_device_ns", rows_add(device_ns, -table->sums.device_self_ns));
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_view_members(w, &table->view, groups[table->group]);
    jw_key_bool(w, "has_device", table->results->operators_have_device);
    jw_key(w, "sums");
    jw_object_begin(w);
    jw_key_int(w, "calls", table->sums.calls);
    jw_key_int(w, "host_self_ns", table->sums.host_self_ns);
    jw_key_int(w, "device_self_ns", table->sums.device_self_ns);
    write_device_time(w, table);
    jw_object_end(w);
}

bool operators_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct table table = {
        .view = {.table = &table_operator, .stem = "operators", .write_members = write_members}};
    if (!call_trace_id(call, &id, err) || !load(&table, call, id, err)) {
        return false;
    }
    set_shares(&table);
    table.view.rows = table.rows;
    table.view.context = &table;
    table.view.parts = parts_of_group[table.group];
    table_view_answer(&table.view, call);
    return true;
}
