/* Kernels by name or by launch configuration, and beside them what a kernel table of the run says
 * of each. The store pages and sorts; what it does not know (the table's columns, the operator) is
 * filtered and sorted here, over all rows. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "ingest/query/views/kernel_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 1000
#define UNMATCHED_MAX 1000 /* names in a list; all are counted */

enum { GROUP_NAME, GROUP_LAUNCH };

static const char *const groups[] = {
    [GROUP_NAME] = "name",
    [GROUP_LAUNCH] = "launch",
    NULL,
};

static const char *const text_columns[] = {"name", "operator", "class", "utilisation_match", NULL};

/* Columns that come from a kernel table. */
enum match_column {
    MATCH_TENSOR,
    MATCH_DRAM,
    MATCH_SM,
    MATCH_CLASS,
    MATCH_HEADROOM,
    MATCH_HOW,
    MATCH_COLUMN_COUNT
};
static const char *const match_columns[MATCH_COLUMN_COUNT] = {
    "tensor", "dram", "sm", "class", "headroom_ns", "utilisation_match",
};

struct table {
    const struct trace_results *results;
    struct table_params params;
    size_t group;
    const char *operator_name; /* only launches of it; NULL: any */
    enum match_column sort;    /* MATCH_COLUMN_COUNT: the store sorts */
    struct kernel_match match;
    struct kernel_row *rows; /* of the page, or all of them when they are sorted here */
    struct kernel_launch_row *launches;
    size_t loaded;
    size_t *shown; /* indices of the page's rows; NULL: they are those that were loaded */
    size_t count;
    int64_t total;
    int64_t sum_calls,
        sum_ns; /* over all kernels of the trace, whatever the grouping and the filter */
};

/* ---- loading ---- */

static bool has_all_by_name(const struct table *table)
{
    return table->group == GROUP_NAME && table->params.page.q == NULL &&
           table->loaded == (size_t)table->total;
}

/* Most answers have all rows; only others need them read once more. */
static bool add_up(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct kernel_row *rows = table->rows;
    size_t count = table->loaded;
    int64_t total = 0;
    if (!has_all_by_name(table) &&
        !store_kernels(call->api->store, call_arena(call), id, &all, &rows, &count, &total, err)) {
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
    if (!table_params_choice(call, "group_by", groups, &table->group, err) ||
        !table_params_read(&table->params, call, text_columns, "total_ns", LIMIT_DEFAULT, err)) {
        return false;
    }
    table->operator_name = query_string_word(&call->query, "operator");
    if (table->operator_name != NULL && table->group != GROUP_LAUNCH) {
        return err_set(err, ERR_BAD_REQUEST,
                       "operator= picks launches: it needs group_by=launch beside it");
    }
    return true;
}

static enum match_column match_column_of(const char *name)
{
    unsigned at = 0;
    while (at < MATCH_COLUMN_COUNT && strcmp(match_columns[at], name) != 0) {
        at++;
    }
    return (enum match_column)at;
}

static bool sorts_here(const struct table *table)
{
    return table->sort != MATCH_COLUMN_COUNT || table->operator_name != NULL;
}

static bool load_rows(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    struct store *store = call->api->store;
    struct arena *arena = call_arena(call);
    struct store_page page = table->params.page;
    if (sorts_here(table)) {
        page.limit = 0;
        page.offset = 0;
    }
    if (table->sort != MATCH_COLUMN_COUNT) {
        page.sort = "total_ns";
        page.descending = true;
    }
    bool loaded = table->group == GROUP_NAME
                      ? store_kernels(store, arena, id, &page, &table->rows, &table->loaded,
                                      &table->total, err)
                      : store_kernel_launches(store, arena, id, &page, &table->launches,
                                              &table->loaded, &table->total, err);
    table->count = table->loaded;
    return loaded;
}

/* ---- filtering and sorting ---- */

static struct kernel_match_use use_of(const struct table *table, size_t at)
{
    if (table->group == GROUP_NAME) {
        const struct kernel_row *row = &table->rows[at];
        return query_kernel_match_name(&table->match, row->name, row->total_ns);
    }
    const struct kernel_launch_row *row = &table->launches[at];
    return query_kernel_match_launch(&table->match, row->name, row->config[0], row->config[1],
                                     row->total_ns);
}

struct sorted_row {
    size_t index;
    double number; /* NaN: comes last whatever the order */
    bool descending;
};

static double key_of(const struct kernel_match_use *use, enum match_column column)
{
    switch (column) {
    case MATCH_TENSOR:
        return use->tensor;
    case MATCH_DRAM:
        return use->dram;
    case MATCH_SM:
        return use->sm;
    case MATCH_HEADROOM:
        return use->headroom_ns;
    case MATCH_CLASS:
        return use->use == USE_UNKNOWN ? (double)NAN : (double)use->use;
    case MATCH_HOW:
        return use->launches == 0 ? (double)NAN : (double)!use->by_launch;
    case MATCH_COLUMN_COUNT:
        break;
    }
    return 0;
}

static int compare_rows(const void *a_void, const void *b_void)
{
    const struct sorted_row *a = a_void;
    const struct sorted_row *b = b_void;
    if (isnan(a->number) != isnan(b->number)) {
        return isnan(a->number) ? 1 : -1;
    }
    int order = (a->number > b->number) - (a->number < b->number);
    order = a->descending ? -order : order;
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static size_t sort_rows(const struct table *table, struct sorted_row *sorted)
{
    size_t count = 0;
    for (size_t i = 0; i < table->loaded; i++) {
        if (table->operator_name != NULL &&
            strcmp(table->launches[i].operator_name, table->operator_name) != 0) {
            continue;
        }
        sorted[count] =
            (struct sorted_row){.index = i, .descending = table->params.page.descending};
        if (table->sort != MATCH_COLUMN_COUNT) {
            const struct kernel_match_use use = use_of(table, i);
            sorted[count].number = key_of(&use, table->sort);
        }
        count++;
    }
    if (table->sort != MATCH_COLUMN_COUNT) {
        qsort(sorted, count, sizeof *sorted, compare_rows);
    }
    return count;
}

static bool sort_page(struct table *table, struct api_call *call, struct err *err)
{
    struct sorted_row *sorted = arena_calloc(call_arena(call), table->loaded + 1, sizeof *sorted);
    table->shown = arena_calloc(call_arena(call), table->loaded + 1, sizeof *table->shown);
    if (sorted == NULL || table->shown == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory to sort the kernels");
    }
    size_t count = sort_rows(table, sorted);
    size_t offset = 0;
    table->count = table_params_slice(&table->params.page, count, &offset);
    table->total = (int64_t)count;
    for (size_t i = 0; i < table->count; i++) {
        table->shown[i] = sorted[offset + i].index;
    }
    return true;
}

static bool load(struct table *table, struct api_call *call, int64_t id, struct err *err)
{
    struct trace_results *results = NULL;
    struct store *store = call->api->store;
    if (!read_params(table, call, err) ||
        !store_overview(store, call_arena(call), id, &results, err) ||
        !query_kernel_match(store, call_arena(call), id, table->group == GROUP_LAUNCH,
                            &table->match, err)) {
        return false;
    }
    table->results = results;
    table->sort =
        table->match.available ? match_column_of(table->params.page.sort) : MATCH_COLUMN_COUNT;
    return load_rows(table, call, id, err) && add_up(table, call, id, err) &&
           (!sorts_here(table) || sort_page(table, call, err));
}

/* ---- answering ---- */

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct kernel_row blank = {.name = ""};
    const struct kernel_launch_row blank_launch = {.name = ""};
    struct kernel_match_use use = {.launches = 0};
    bool is_blank = at == TABLE_BLANK_ROW;
    if (!is_blank) {
        at = table->shown == NULL ? at : table->shown[at];
        use = use_of(table, at);
    }
    const struct kernel_match_use *joined = table->match.available ? &use : NULL;
    if (table->group == GROUP_NAME) {
        const struct kernel_row *row = is_blank ? &blank : &table->rows[at];
        rows_kernel(out, row, rows_share(row->total_ns, table->sum_ns),
                    (int64_t)table->results->step_count, joined);
    } else {
        const struct kernel_launch_row *row = is_blank ? &blank_launch : &table->launches[at];
        rows_kernel_launch(out, row, rows_share(row->total_ns, table->sum_ns), joined);
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

static void
write_names(struct json_write *w, const char *key, const char *const *names, size_t count)
{
    jw_key(w, key);
    jw_array_begin(w);
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
    jw_key(w, "tables");
    jw_array_begin(w);
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
    table_params_members(w, &table->params.page, table->total, groups[table->group]);
    jw_key(w, "sums");
    jw_object_begin(w);
    jw_key_int(w, "calls", table->sum_calls);
    jw_key_int(w, "total_ns", table->sum_ns);
    jw_object_end(w);
    jw_key_bool(w, "has_blocks_per_sm", table->results->has_blocks_per_sm);
    jw_key_bool(w, "has_occupancy", table->results->has_occupancy);
    write_config_labels(w, table->results->mlu);
    jw_key_double(w, "tensor_core_share", table->results->tensor_pie_used);
    write_match(w, &table->match);
}

bool kernels_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct table table = {.count = 0};
    if (!call_trace_id(call, &id, err) || !load(&table, call, id, err)) {
        return false;
    }
    const struct table_answer answer = {"kernels", &table, table.count, write_row, write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}
