/* Slices of any trace by name, track or category [DEV-5]. */
#include "api/handlers.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "api/views/device_time/members.h"

#define LIMIT_DEFAULT 100

static const char *const groups[] = {
    [SLICES_BY_NAME] = "name",
    [SLICES_BY_TRACK] = "track",
    [SLICES_BY_CATEGORY] = "category",
    NULL,
};
static const uint32_t parts[] = {
    [SLICES_BY_NAME] = WHEN_NAME,
    [SLICES_BY_TRACK] = WHEN_TRACK,
    [SLICES_BY_CATEGORY] = WHEN_CATEGORY,
};

struct table {
    struct table_view view;
    struct slices slices;
    size_t by;
};

void slices_row(struct field_out *out, enum slices_group by, const struct slices_row *row)
{
    field_row(out, &table_slices, row, parts[by]);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_view_members(w, &table->view, groups[table->by]);
    jw_key_int(w, "slices", table->slices.slice_count);
    jw_key_int(w, "duration_ns", table->slices.duration_ns);
}

bool slices_get(struct api_call *call, struct err *err)
{
    struct table table = {
        .view = {.table = &table_slices, .stem = "slices", .write_members = write_members}};
    struct store_trace *trace = NULL;
    if (!table_view_read(&table.view, call, "total_ns", LIMIT_DEFAULT, err) ||
        !table_params_choice(call, "group_by", groups, &table.by, err) ||
        !timeline_trace(&trace, call, err) ||
        !(slices_read(call->api->jobs, trace->id, (enum slices_group)table.by, call_arena(call),
                      &table.slices, err) ||
          timeline_gone(err))) {
        return false;
    }
    table.view.parts = parts[table.by];
    table.view.context = &table;
    return table_view_run(&table.view, call, table.slices.rows, table.slices.count, err) &&
           table_view_answer(&table.view, call);
}
