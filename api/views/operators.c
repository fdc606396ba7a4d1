#include "api/call.h"
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "ingest/jobs/on_request/stacks.h"

#include <string.h>

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
    struct trace_results *stacks; /* owns the rows of a request for stacks; else NULL */
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
        if (!store_operators(call->snapshot, call_arena(call), id, OPERATOR_BY_NAME, NULL, NULL,
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

static void set_shares(struct table *table)
{
    bool by_device = table->results->operators_have_device;
    for (size_t i = 0; i < table->view.count; i++) {
        struct operator_row *row = &table->rows[i];
        row->share = by_device ? rows_share(row->device_self_ns, table->sums.device_self_ns)
                               : rows_share(row->host_self_ns, table->sums.host_self_ns);
    }
}

/* ---- stacks of traces whose Python frames are events of their own ---- */

/* Whether the stored rows lack stacks, which the events may have. */
static bool needs_stacks(
    const struct table *table, struct api_call *call, int64_t id, bool *needed, struct err *err)
{
    const struct store_page first = {.limit = 1};
    struct store_trace *trace = NULL;
    struct operator_row *rows = NULL;
    size_t count = 0;
    int64_t total = 0;
    *needed = false;
    if ((parts_of_group[table->group] & WHEN_STACK) == 0) {
        return true;
    }
    if (!store_trace_get(call->snapshot, call_arena(call), id, &trace, err) ||
        !store_operators(call->snapshot, call_arena(call), id, (enum operator_group)table->group,
                         NULL, NULL, &first, &rows, &count, &total, err)) {
        return false;
    }
    *needed = total == 0 && trace->has_events;
    return true;
}

static bool passes(const char *wanted, const char *text)
{
    return wanted == NULL || (text != NULL && strcmp(wanted, text) == 0);
}

/* Keeps the rows that the parameters name and shape ask for. */
static void filter_stacks(struct table *table, const struct api_call *call)
{
    const char *name = query_string_get(&call->query, "name");
    const char *shape = query_string_get(&call->query, "shape");
    struct operator_row *rows = table->stacks->operators[table->group];
    size_t kept = 0;
    for (size_t i = 0; i < table->stacks->operator_count[table->group]; i++) {
        rows[kept] = rows[i];
        kept += passes(name, rows[i].name) && passes(shape, rows[i].input_shape);
    }
    table->rows = rows;
    table->view.count = kept;
}

/* A trace without stored events has the stacks that are stored. */
static bool load_stacks(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    table->stacks = results_create();
    if (table->stacks == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for call stacks");
    }
    if (!stacks_read_operators(call->api->jobs, id, (enum operator_group)table->group,
                               table->stacks, err)) {
        if (err->code != ERR_GONE) {
            return false;
        }
        *err = (struct err)ERR_INIT;
    }
    filter_stacks(table, call);
    if (!add_up(table, call, id, err)) {
        return false;
    }
    set_shares(table);
    return table_view_run(&table->view, call, table->rows, table->view.count, err);
}

/* ---- the table ---- */

static bool load_stored(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    if (!store_operators(call->snapshot, call_arena(call), id, (enum operator_group)table->group,
                         query_string_get(&call->query, "name"),
                         query_string_get(&call->query, "shape"), &table->view.params.page,
                         &table->rows, &table->view.count, &table->view.total, err) ||
        !add_up(table, call, id, err)) {
        return false;
    }
    set_shares(table);
    table->view.rows = table->rows;
    return true;
}

static bool load(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    struct trace_results *results = NULL;
    bool needed = false;
    if (!table_params_choice(call, "group_by", groups, &table->group, err) ||
        !store_overview(call->snapshot, call_arena(call), id, &results, err)) {
        return false;
    }
    table->results = results;
    const char *self = results->operators_have_device ? "device_self_ns" : "host_self_ns";
    table->view.parts = parts_of_group[table->group];
    return table_view_read(&table->view, call, self, LIMIT_DEFAULT, err) &&
           needs_stacks(table, call, id, &needed, err) &&
           (needed ? load_stacks(table, call, id, err) : load_stored(table, call, id, err));
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
    jw_key_object_begin(w, "sums");
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
    bool ok = call_trace_id(call, &id, err) && load(&table, call, id, err);
    if (ok) {
        table.view.context = &table;
        table_view_answer(&table.view, call);
    }
    results_destroy(table.stacks);
    return ok;
}
