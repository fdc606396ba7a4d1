/* Device work by what launched it: operator, module and Python stack. */
#include "api/handlers.h"
#include "api/table/row_query.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "api/timeline/common.h"
#include "ingest/jobs/on_request/stacks.h"

#define LIMIT_DEFAULT 100

enum column {
    COLUMN_NAME,
    COLUMN_OPERATOR,
    COLUMN_MODULE,
    COLUMN_STACK,
    COLUMN_CALLS,
    COLUMN_MEAN,
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_TOTAL,
    COLUMN_SHARE,
    COLUMN_COUNT
};

static const char *const columns[COLUMN_COUNT + 1] = {
    "name",   "operator", "module",   "call_stack", "calls", "mean_ns",
    "min_ns", "max_ns",   "total_ns", "share",      NULL,
};
static const char *const text_columns[] = {"name", "operator", "module", "call_stack", NULL};

static const char *const module_words[] = {
    [MODULES_BY_TYPE] = "type", [MODULES_APART] = "instance", NULL};

struct table {
    struct kernel_stacks stacks;
    struct table_params params;
    struct row_query_page shown;
};

static const char *name_of(const void *rows, size_t at)
{
    return ((const struct kernel_stacks *)rows)->rows[at].name;
}

static double mean_of(const struct kernel_stack *row)
{
    return rows_share(row->total_ns, row->calls);
}

static struct row_query_value value_of(const void *rows, size_t at, size_t column)
{
    const struct kernel_stack *row = &((const struct kernel_stacks *)rows)->rows[at];
    switch ((enum column)column) {
    case COLUMN_NAME:
        return row_query_text(row->name);
    case COLUMN_OPERATOR:
        return row_query_text(row->operator_name);
    case COLUMN_MODULE:
        return row_query_text(row->module);
    case COLUMN_STACK:
        return row_query_text(row->call_stack);
    case COLUMN_CALLS:
        return row_query_number(row->calls);
    case COLUMN_MEAN:
        return row_query_real(mean_of(row));
    case COLUMN_MIN:
        return row_query_number(row->min_ns);
    case COLUMN_MAX:
        return row_query_number(row->max_ns);
    case COLUMN_TOTAL:
    case COLUMN_SHARE: /* of a sum that all rows have in common */
    case COLUMN_COUNT:
        break;
    }
    return row_query_number(row->total_ns);
}

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct kernel_stack blank = {.name = ""};
    const struct kernel_stack *row =
        at == TABLE_BLANK_ROW ? &blank : &table->stacks.rows[table->shown.rows[at]];
    field_row_begin(out);
    field_text(out, "name", row->name);
    field_text(out, "operator", row->operator_name);
    field_text(out, "module", row->module);
    field_text(out, "call_stack", row->call_stack);
    field_int(out, "calls", row->calls);
    field_int(out, "total_ns", row->total_ns);
    field_double(out, "share", rows_known_share(row->total_ns, table->stacks.device_ns));
    field_double(out, "mean_ns", mean_of(row));
    field_int(out, "min_ns", row->min_ns);
    field_int(out, "max_ns", row->max_ns);
    field_row_end(out);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_params_members(w, &table->params.page, table->shown.total, NULL);
    jw_key_int(w, "device_ns", table->stacks.device_ns);
}

bool kernel_stacks_get(struct api_call *call, struct err *err)
{
    struct table table = {.shown.count = 0};
    struct store_trace *trace = NULL;
    size_t modules = 0;
    if (!table_params_choice(call, "modules", module_words, &modules, err) ||
        !table_params_read(&table.params, call, text_columns, "total_ns", LIMIT_DEFAULT, err) ||
        !timeline_trace(&trace, call, err)) {
        return false;
    }
    if (!stacks_read_kernels(call->api->jobs, trace->id, query_string_word(&call->query, "name"),
                             (enum call_paths_modules)modules, call_arena(call), &table.stacks,
                             err)) {
        return timeline_gone(err);
    }
    const struct row_query_source source = {&table.stacks, table.stacks.count, columns, name_of,
                                            value_of};
    if (!row_query_run(&table.shown, call, &table.params.page, &source, err)) {
        return false;
    }
    const struct table_answer answer = {"kernel-stacks", &table, table.shown.count, write_row,
                                        write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}
