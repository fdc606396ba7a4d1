/* The hierarchy of modules with what each took, in pre-order. */
#include "api/handlers.h"
#include "api/table/table_view.h"

struct table {
    struct table_view view;
    bool is_lightning;
};

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    jw_key_string(w, "kind", table->is_lightning ? "lightning" : "module");
    jw_key_int(w, "total", table->view.total);
}

/* A parent that is no row above is none. */
static void find_depths(struct module_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t parent = rows[i].parent;
        bool is_below = parent >= 0 && (uint64_t)parent < i;
        rows[i].depth = is_below ? rows[parent].depth + 1 : 0;
        rows[i].shown_parent = parent == MODULE_NO_PARENT ? INT64_MIN : parent;
    }
}

bool modules_get(struct api_call *call, struct err *err)
{
    static const char *const formats[] = {"json", "csv", NULL};
    size_t format = 0;
    int64_t id = 0;
    struct store_trace *trace = NULL;
    struct module_row *rows = NULL;
    size_t count = 0;
    struct table table = {
        .view = {.table = &table_module, .stem = "modules", .write_members = write_members}};
    if (!table_params_choice(call, "format", formats, &format, err) ||
        !call_id(call, "trace", &id, err) ||
        !store_trace_get(call->snapshot, call_arena(call), id, &trace, err) ||
        !store_modules(call->snapshot, call_arena(call), id, &rows, &count, err)) {
        return false;
    }
    if (count == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "The trace has no module calls: profile with with_stack=True and "
                       "with_modules=True");
    }
    find_depths(rows, count);
    table.is_lightning = (trace->views >> VIEW_LIGHTNING & 1U) != 0;
    table.view.params.csv = format == 1;
    table.view.context = &table;
    table_view_slice(&table.view, rows, count);
    return table_view_answer(&table.view, call);
}
