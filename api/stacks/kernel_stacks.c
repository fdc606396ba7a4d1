/* Device work by what launched it: operator, module and Python stack. */
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "ingest/jobs/on_request/stacks.h"

#define LIMIT_DEFAULT 100

static const char *const module_words[] = {
    [MODULES_BY_TYPE] = "type", [MODULES_APART] = "instance", NULL};

struct table {
    struct table_view view;
    struct kernel_stacks stacks;
};

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_view_members(w, &table->view, NULL);
    jw_key_int(w, "device_ns", table->stacks.device_ns);
}

bool kernel_stacks_get(struct api_call *call, struct err *err)
{
    struct table table = {.view = {.table = &table_kernel_stack,
                                   .stem = "kernel-stacks",
                                   .context = &table,
                                   .write_members = write_members}};
    struct kernel_stacks *stacks = &table.stacks;
    struct store_trace *trace = NULL;
    size_t modules = 0;
    if (!table_params_choice(call, "modules", module_words, &modules, err) ||
        !table_view_read(&table.view, call, "total_ns", LIMIT_DEFAULT, err) ||
        !timeline_trace(&trace, call, err)) {
        return false;
    }
    if (!stacks_read_kernels(call->api->jobs, trace->id, query_string_word(&call->query, "name"),
                             (enum call_paths_modules)modules, call_arena(call), stacks, err)) {
        return timeline_gone(err);
    }
    for (size_t i = 0; i < stacks->count; i++) {
        stacks->rows[i].share = rows_known_share(stacks->rows[i].total_ns, stacks->device_ns);
    }
    return table_view_run(&table.view, call, stacks->rows, stacks->count, err) &&
           table_view_answer(&table.view, call);
}
