/* Energy from counters of power, by device, step or class of device work [CAU-7]. */
#include "api/handlers.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "api/views/causes/common.h"
#include "ingest/jobs/on_request/analyses.h"

#define LIMIT_DEFAULT 100

static const char *const groups[] = {"device", "step", "class", NULL};

struct table {
    struct table_view view;
    const char *group_by;
    struct power power;
};

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    const struct power *power = &table->power;
    table_view_members(w, &table->view, table->group_by);
    field_rows(w, "counters", &table_power_counter, power->counters, power->counter_count);
    jw_key_object_begin(w, "totals");
    jw_key_double(w, "energy_j", power->energy_j);
    jw_key_int(w, "sampled_ns", power->sampled_ns);
    jw_key_int(w, "tokens", power->tokens);
    jw_key_double(w, "energy_per_token_j", power->token_j);
    jw_object_end(w);
}

bool power_get(struct api_call *call, struct err *err)
{
    struct table table = {
        .view = {.table = &table_power, .stem = "power", .write_members = write_members}};
    struct store_trace *trace = NULL;
    size_t group = 0;
    if (!table_view_read(&table.view, call, "energy_j", LIMIT_DEFAULT, err) ||
        !table_params_choice(call, "group_by", groups, &group, err) ||
        !timeline_trace(&trace, call, err) ||
        !(power_read(call->api->jobs, trace->id, (enum power_group)group, call_arena(call),
                     &table.power, err) ||
          timeline_gone(err)) ||
        !table_view_run(&table.view, call, table.power.rows, table.power.count, err)) {
        return false;
    }
    table.group_by = groups[group];
    table.view.context = &table;
    table_view_answer(&table.view, call);
    return true;
}
