/* Kernels by name or by launch configuration, and beside them what a kernel table of the run says
 * of each. The store pages and sorts; what it does not know (the table's columns, the operator) is
 * filtered and sorted here, over all rows. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/table/render.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "ingest/jobs/on_request/analyses.h"
#include "ingest/query/views/kernel_match.h"

#include <string.h>

#define LIMIT_DEFAULT 1000
#define UNMATCHED_MAX 1000 /* names in a list; all are counted */

enum { GROUP_NAME, GROUP_LAUNCH, GROUP_OP_TYPE, GROUP_METRIC };

static const char *const groups[] = {
    [GROUP_NAME] = "name",
    [GROUP_LAUNCH] = "launch",
    [GROUP_OP_TYPE] = "op_type",
    [GROUP_METRIC] = "metric",
    NULL,
};

struct table {
    struct table_view view;
    const struct trace_results *results;
    size_t group;
    const char *operator_name; /* only launches of it; NULL: any */
    const char *class;         /* only kernels of it; NULL: any */
    bool sorts_here;           /* by a column that the store does not know */
    struct kernel_match match;
    struct kernel_row *rows; /* of the page, or all of them when they are chosen here */
    struct kernel_launch_row *launches;
    size_t loaded;
    int64_t sum_calls,
        sum_ns; /* over all kernels of the trace, whatever the grouping and the filter */
};

/* ---- loading ---- */

static bool has_all_by_name(const struct table *table)
{
    return table->group == GROUP_NAME && table->view.params.page.q == NULL &&
           table->loaded == (size_t)table->view.total;
}

/* Most answers have all rows; only others need them read once more. */
static bool add_up(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct kernel_row *rows = table->rows;
    size_t count = table->loaded;
    int64_t total = 0;
    if (!has_all_by_name(table) &&
        !store_kernels(call->snapshot, call_arena(call), id, &all, &rows, &count, &total, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        table->sum_calls = rows_add(table->sum_calls, rows[i].calls);
        table->sum_ns = rows_add(table->sum_ns, rows[i].total_ns);
    }
    return true;
}

static bool read_params(struct table *table, const struct api_call *call, struct err *err)
{
    if (!table_params_choice(call, "group_by", groups, &table->group, err)) {
        return false;
    }
    table->view.table = table->group == GROUP_NAME ? &table_kernel : &table_kernel_launch;
    if (!table_view_read(&table->view, call, "total_ns", LIMIT_DEFAULT, err)) {
        return false;
    }
    table->operator_name = query_string_word(&call->query, "operator");
    table->class = query_string_word(&call->query, "class");
    if (table->operator_name != NULL && table->group != GROUP_LAUNCH) {
        return err_set(err, ERR_BAD_REQUEST,
                       "operator= picks launches: it needs group_by=launch beside it");
    }
    return true;
}

/* Classes follow the rules of today, so the store has none. */
static bool filters_here(const struct table *table)
{
    return table->operator_name != NULL || table->class != NULL;
}

static bool chooses_here(const struct table *table)
{
    return table->sorts_here || filters_here(table);
}

static bool load_rows(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    struct store_page page = table->view.params.page;
    if (chooses_here(table)) {
        page.limit = 0;
        page.offset = 0;
    }
    if (table->sorts_here) {
        page.sort = "total_ns";
        page.descending = true;
    }
    bool loaded = table->group == GROUP_NAME
                      ? store_kernels(snapshot, arena, id, &page, &table->rows, &table->loaded,
                                      &table->view.total, err)
                      : store_kernel_launches(snapshot, arena, id, &page, &table->launches,
                                              &table->loaded, &table->view.total, err);
    table->view.rows = table->group == GROUP_NAME ? (void *)table->rows : (void *)table->launches;
    table->view.count = table->loaded;
    return loaded;
}

/* ---- columns that the store does not have ---- */

#define SET_MATCH(row, match)                                                                      \
    do {                                                                                           \
        const struct kernel_match_use use_ = (match);                                              \
        (row)->tensor = use_.tensor;                                                               \
        (row)->dram = use_.dram;                                                                   \
        (row)->sm = use_.sm;                                                                       \
        (row)->use = use_.use;                                                                     \
        (row)->headroom_ns = use_.headroom_ns;                                                     \
        (row)->utilisation_match = use_.launches == 0 ? NULL : use_.by_launch ? "launch" : "name"; \
    } while (0)

/* By the rules of today, one's own before the built-in ones; the list of kernels on Tensor Cores
 * counts too. */
#define SET_CLASS(row, found)                                                                 \
    do {                                                                                      \
        (row)->class = (found)->name;                                                         \
        (row)->matrix_unit =                                                                  \
            (row)->tensor_used ? (uint32_t)MATRIX_UNIT_USED : (uint32_t)(found)->matrix_unit; \
        (row)->communication_kind = (found)->communication_kind;                              \
    } while (0)

static bool is_asked(const struct table *table, const char *class)
{
    return table->class == NULL || strcmp(class, table->class) == 0;
}

/* Keeps those of the class that is asked for. */
static bool fill_kernels(struct table *table, const struct kernel_rules *own)
{
    struct kernel_class class;
    int64_t steps = (int64_t)results_step_count(table->results);
    size_t kept = 0;
    for (size_t i = 0; i < table->loaded; i++) {
        struct kernel_row *row = &table->rows[kept];
        *row = table->rows[i];
        if (!kernel_class_of(own, row->name, &class)) {
            return false;
        }
        if (!is_asked(table, class.name)) {
            continue;
        }
        kept++;
        row->share = rows_share(row->total_ns, table->sum_ns);
        row->calls_per_step = (double)row->calls / (double)(steps > 0 ? steps : 1);
        SET_CLASS(row, &class);
        if (table->match.available) {
            SET_MATCH(row, query_kernel_match_name(&table->match, row->name, row->total_ns));
        }
    }
    table->loaded = kept;
    return true;
}

static bool is_by_operator(const struct table *table, const char *name)
{
    return table->operator_name == NULL || strcmp(name, table->operator_name) == 0;
}

/* Keeps those of the operator and of the class that are asked for. */
static bool fill_launches(struct table *table, const struct kernel_rules *own)
{
    struct kernel_class class;
    size_t kept = 0;
    for (size_t i = 0; i < table->loaded; i++) {
        struct kernel_launch_row *row = &table->launches[kept];
        *row = table->launches[i];
        if (!is_by_operator(table, row->operator_name)) {
            continue;
        }
        if (!kernel_class_of(own, row->name, &class)) {
            return false;
        }
        if (!is_asked(table, class.name)) {
            continue;
        }
        kept++;
        row->share = rows_share(row->total_ns, table->sum_ns);
        SET_CLASS(row, &class);
        if (table->match.available) {
            SET_MATCH(row, query_kernel_match_launch(&table->match, row->name, row->config[0],
                                                     row->config[1], row->total_ns));
        }
    }
    table->loaded = kept;
    return true;
}

static bool choose_page(struct table *table, struct api_call *call, struct err *err)
{
    if (table->sorts_here) {
        return table_view_run(&table->view, call, table->view.rows, table->loaded, err);
    }
    if (filters_here(table)) {
        table_view_slice(&table->view, table->view.rows, table->loaded);
    }
    return true;
}

static bool load(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    struct trace_results *results = NULL;
    struct store_snapshot *snapshot = call->snapshot;
    if (!read_params(table, call, err) ||
        !store_overview(snapshot, call_arena(call), id, &results, err) ||
        !query_kernel_match(snapshot, call_arena(call), id, table->group == GROUP_LAUNCH,
                            &table->match, err)) {
        return false;
    }
    table->results = results;
    const struct table_column *column =
        table_column_find(table->view.table, table->view.params.page.sort);
    table->view.parts = WHEN_CLASSED | (table->match.available ? (uint32_t)WHEN_MATCHED : 0);
    table->sorts_here = column != NULL && table_column_is_shown(column, table->view.parts) &&
                        !table_column_sorts(column) && (column->flags & UNSORTED) == 0;
    if (!load_rows(table, call, id, err) || !add_up(table, call, id, err)) {
        return false;
    }
    const struct kernel_rules *own = jobs_kernel_rules(call->api->jobs);
    if (!(table->group == GROUP_NAME ? fill_kernels(table, own) : fill_launches(table, own))) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the classes of kernels");
    }
    return choose_page(table, call, err);
}

/* ---- answering ---- */

/* Cores of NPUs and TPUs are given no grid of blocks: those of NPUs a count of them, where the file
 * says it. */
static bool has_core_configs(const struct table *table)
{
    bool has = false;
    for (size_t i = 0; table->group == GROUP_LAUNCH && i < table->loaded; i++) {
        const char *const *config = table->launches[i].config;
        has = has || (config[0][0] != '\0' && strcmp(config[0], "None") != 0) ||
              (config[1][0] != '\0' && strcmp(config[1], "None") != 0);
    }
    return has;
}

static void write_config_labels(struct json_write *w, const struct table *table)
{
    static const char *const labels[3][4] = {
        {"Grid", "Block", "Registers per thread", "Shared memory"},
        {"Kernel type", "Dim", "Tasktopo", "Tasktopo node"},
        {"Core", "Block dim", "Input shapes", "Output shapes"},
    };
    const char *type = table->results->device_type == NULL ? "" : table->results->device_type;
    bool is_npu = strcmp(type, "NPU") == 0;
    bool has_any = is_npu ? has_core_configs(table) : strcmp(type, "TPU") != 0;
    const char *const *names = labels[is_npu ? 2 : table->results->mlu];
    jw_key_array_begin(w, "config_labels");
    for (size_t i = 0; i < 4 && has_any; i++) {
        jw_string(w, names[i]);
    }
    jw_array_end(w);
}

static void
write_names(struct json_write *w, const char *key, const char *const *names, size_t count)
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < count && i < UNMATCHED_MAX; i++) {
        jw_string(w, names[i]);
    }
    jw_array_end(w);
}

static void write_match(struct json_write *w, const struct kernel_match *match)
{
    jw_key(w, "utilisation");
    if (!match->available) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_array_begin(w, "tables");
    for (size_t i = 0; i < match->table_count; i++) {
        jw_int(w, match->table_ids[i]);
    }
    jw_array_end(w);
    jw_key_int(w, "matched_kernels", match->matched_kernels);
    jw_key_int(w, "unmatched_kernels", (int64_t)match->unmatched_count);
    jw_key_int(w, "unmatched_in_table_kernels", (int64_t)match->unmatched_in_table_count);
    write_names(w, "unmatched", match->unmatched, match->unmatched_count);
    write_names(w, "unmatched_in_table", match->unmatched_in_table,
                match->unmatched_in_table_count);
    jw_object_end(w);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_view_members(w, &table->view, groups[table->group]);
    jw_key_object_begin(w, "sums");
    jw_key_int(w, "calls", table->sum_calls);
    jw_key_int(w, "total_ns", table->sum_ns);
    jw_object_end(w);
    jw_key_bool(w, "has_blocks_per_sm", table->results->has_blocks_per_sm);
    jw_key_bool(w, "has_occupancy", table->results->has_occupancy);
    write_config_labels(w, table);
    jw_key_double(w, "tensor_core_share", table->results->tensor_pie_used);
    jw_key_string(w, "matrix_units", results_matrix_units(table->results));
    write_match(w, &table->match);
}

bool kernels_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct table table = {.view = {.stem = "kernels", .write_members = write_members}};
    size_t group = 0;
    if (table_params_choice(call, "group_by", groups, &group, err) && group >= GROUP_OP_TYPE) {
        return group == GROUP_METRIC ? kernel_metrics_get(call, err) : op_types_get(call, err);
    }
    if (err->code != ERR_NONE || !call_trace_id(call, &id, err) || !load(&table, call, id, err)) {
        return false;
    }
    table.view.context = &table;
    return table_view_answer(&table.view, call);
}
