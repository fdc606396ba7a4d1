/* The hierarchy of modules with what each took, in pre-order. */
#include "api/handlers.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"

struct table {
    struct module_row *rows;
    int64_t *depth;
    size_t count;
    bool is_lightning;
};

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct module_row blank = {.name = ""};
    bool is_blank = at == TABLE_BLANK_ROW;
    const struct module_row *row = is_blank ? &blank : &table->rows[at];
    field_row_begin(out);
    field_text(out, "name", row->name);
    field_int(out, "module_id", row->module_id);
    field_known_int(out, "parent", row->parent == MODULE_NO_PARENT ? INT64_MIN : row->parent);
    field_int(out, "depth", is_blank ? 0 : table->depth[at]);
    field_int(out, "occurrences", row->occurrences);
    field_int(out, "operators", row->operators);
    field_int(out, "host_total_ns", row->host_total);
    field_int(out, "host_self_ns", row->host_self);
    field_int(out, "device_total_ns", row->device_total);
    field_int(out, "device_self_ns", row->device_self);
    field_row_end(out);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    jw_key_string(w, "kind", table->is_lightning ? "lightning" : "module");
    jw_key_int(w, "total", (int64_t)table->count);
}

static bool find_depths(struct table *table, struct api_call *call, struct err *err)
{
    table->depth = arena_calloc(call_arena(call), table->count + 1, sizeof *table->depth);
    if (table->depth == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for %zu modules", table->count);
    }
    for (size_t i = 0; i < table->count; i++) {
        int64_t parent = table->rows[i].parent;
        bool is_below = parent >= 0 && (uint64_t)parent < i;
        table->depth[i] = is_below ? table->depth[parent] + 1 : 0;
    }
    return true;
}

bool modules_get(struct api_call *call, struct err *err)
{
    static const char *const formats[] = {"json", "csv", NULL};
    size_t format = 0;
    int64_t id = 0;
    struct store_trace *trace = NULL;
    struct table table = {.count = 0};
    if (!table_params_choice(call, "format", formats, &format, err) ||
        !call_id(call, "trace", &id, err) ||
        !store_trace_get(call->api->store, call_arena(call), id, &trace, err) ||
        !store_modules(call->api->store, call_arena(call), id, &table.rows, &table.count, err)) {
        return false;
    }
    if (table.count == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "The trace has no module calls: profile with with_stack=True and "
                       "with_modules=True");
    }
    if (!find_depths(&table, call, err)) {
        return false;
    }
    table.is_lightning = (trace->views >> VIEW_LIGHTNING & 1U) != 0;
    const struct table_answer answer = {"modules", &table, table.count, write_row, write_members};
    table_answer(call, format == 1, &answer);
    return true;
}
