/* Figures of a window of a trace: where its time goes, its operators and its kernels. The whole is
 * answered from what is stored; a part is analysed when it is asked for. */
#include "ingest/jobs/on_request/window.h"

#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "api/timeline/common.h"
#include "ingest/base/order.h"
#include "ingest/model/tables.h"

#include <stdlib.h>

#define LIMIT_DEFAULT 100

enum table_name { TABLE_BOTH, TABLE_OPERATORS, TABLE_KERNELS };
static const char *const table_names[] = {"", "operators", "kernels", NULL};

/* What is sorted in the place of the rows. */
struct operator_ref {
    const struct operator_row *row;
};
struct kernel_ref {
    const struct kernel_row *row;
};

struct figures {
    int64_t start_ns;
    int64_t end_ns;
    bool is_whole;
    size_t operator_limit;
    size_t kernel_limit;
    const struct trace_results *results;
    struct operator_ref *operators; /* sorted */
    size_t operator_count;
    struct kernel_ref *kernels; /* sorted */
    size_t kernel_count;
    int64_t self_ns;   /* of all operators: on the device where one did anything */
    int64_t kernel_ns; /* of all kernels */
};

/* ---- sorting ---- */

/* Rows lie in one array, so that their places tell who came first. */
ORDER_BY(compare_operators,
         struct operator_ref,
         ORDER_DOWN(row->device_self_ns),
         ORDER_DOWN(row->host_self_ns),
         ORDER_UP(row))

ORDER_BY(compare_kernels, struct kernel_ref, ORDER_DOWN(row->total_ns), ORDER_UP(row))

static bool sort_rows(struct figures *figures, struct arena *arena, struct err *err)
{
    const struct trace_results *results = figures->results;
    figures->operator_count = results->operator_count[OPERATOR_BY_NAME];
    figures->kernel_count = results->kernel_count;
    figures->operators =
        arena_calloc(arena, figures->operator_count + 1, sizeof *figures->operators);
    figures->kernels = arena_calloc(arena, figures->kernel_count + 1, sizeof *figures->kernels);
    if (figures->operators == NULL || figures->kernels == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the figures of a window");
    }
    for (size_t i = 0; i < figures->operator_count; i++) {
        const struct operator_row *row = &results->operators[OPERATOR_BY_NAME][i];
        figures->operators[i].row = row;
        figures->self_ns =
            rows_add(figures->self_ns,
                     results->operators_have_device ? row->device_self_ns : row->host_self_ns);
    }
    for (size_t i = 0; i < figures->kernel_count; i++) {
        figures->kernels[i].row = &results->kernels[i];
        figures->kernel_ns = rows_add(figures->kernel_ns, results->kernels[i].total_ns);
    }
    qsort(figures->operators, figures->operator_count, sizeof *figures->operators,
          compare_operators);
    qsort(figures->kernels, figures->kernel_count, sizeof *figures->kernels, compare_kernels);
    return true;
}

/* ---- rows ---- */

static void write_operator(struct field_out *out, const void *figures_void, size_t at)
{
    const struct figures *figures = figures_void;
    struct operator_row row = {.name = ""};
    if (at != TABLE_BLANK_ROW) {
        row = *figures->operators[at].row;
    }
    bool by_device = figures->results->operators_have_device;
    row.share = rows_share(by_device ? row.device_self_ns : row.host_self_ns, figures->self_ns);
    field_row(out, &table_operator, &row, 0);
}

static void write_kernel(struct field_out *out, const void *figures_void, size_t at)
{
    const struct figures *figures = figures_void;
    struct kernel_row row = {.name = ""};
    if (at != TABLE_BLANK_ROW) {
        row = *figures->kernels[at].row;
    }
    int64_t steps = (int64_t)results_step_count(figures->results);
    row.share = rows_share(row.total_ns, figures->kernel_ns);
    row.calls_per_step = (double)row.calls / (double)(steps > 0 ? steps : 1);
    field_row(out, &table_kernel, &row, 0);
}

static size_t shown(size_t count, size_t limit)
{
    return limit == 0 || limit > count ? count : limit;
}

static void write_table(struct json_write *w,
                        const char *key,
                        const struct figures *figures,
                        size_t count,
                        size_t limit,
                        void (*write_row)(struct field_out *out, const void *table, size_t at))
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key_object_begin(w, key);
    jw_key_int(w, "total", (int64_t)count);
    jw_key_array_begin(w, "rows");
    for (size_t i = 0; i < shown(count, limit); i++) {
        write_row(&out, figures, i);
    }
    jw_array_end(w);
    jw_object_end(w);
}

/* All add up to the window: what belongs to no role, or lies outside of all events, is Other. */
static void write_roles(struct json_write *w, const struct figures *figures)
{
    int64_t rest_ns = rows_sub(figures->end_ns, figures->start_ns);
    jw_key_object_begin(w, "roles");
    for (int role = 0; role < TIME_OTHER; role++) {
        int64_t role_ns = figures->results->role_ns[role];
        jw_key_int(w, time_category_name((enum time_category)role), role_ns);
        rest_ns = rows_sub(rest_ns, role_ns);
    }
    jw_key_int(w, time_category_name(TIME_OTHER), rest_ns);
    jw_key_int(w, "total", rows_sub(figures->end_ns, figures->start_ns));
    jw_object_end(w);
}

static void write_json(struct api_call *call, const struct figures *figures)
{
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "start_ns", figures->start_ns);
    jw_key_int(&w, "end_ns", figures->end_ns);
    jw_key_int(&w, "duration_ns", rows_sub(figures->end_ns, figures->start_ns));
    jw_key_bool(&w, "whole", figures->is_whole);
    jw_key_int(&w, "events", figures->results->event_count);
    write_roles(&w, figures);
    write_table(&w, "operators", figures, figures->operator_count, figures->operator_limit,
                write_operator);
    write_table(&w, "kernels", figures, figures->kernel_count, figures->kernel_limit, write_kernel);
    jw_object_end(&w);
}

static void write_csv(struct api_call *call, const struct figures *figures, enum table_name table)
{
    bool has_kernels = table == TABLE_KERNELS;
    const struct table_answer answer = {
        .stem = has_kernels ? "kernels" : "operators",
        .table = figures,
        .count = has_kernels ? shown(figures->kernel_count, figures->kernel_limit)
                             : shown(figures->operator_count, figures->operator_limit),
        .write_row = has_kernels ? write_kernel : write_operator,
    };
    table_answer(call, true, &answer);
}

/* ---- figures ---- */

static bool
load_stored(struct api_call *call, int64_t id, struct trace_results **results, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    int64_t total = 0;
    return store_overview(snapshot, arena, id, results, err) &&
           store_operators(snapshot, arena, id, OPERATOR_BY_NAME, NULL, NULL, &all,
                           &(*results)->operators[OPERATOR_BY_NAME],
                           &(*results)->operator_count[OPERATOR_BY_NAME], &total, err) &&
           store_kernels(snapshot, arena, id, &all, &(*results)->kernels, &(*results)->kernel_count,
                         &total, err);
}

static bool analyse(struct api_call *call,
                    int64_t id,
                    const struct figures *figures,
                    struct trace_results **results,
                    struct err *err)
{
    size_t budget_bytes = 0;
    if (!jobs_window_begin(call->api->jobs, &budget_bytes, err)) {
        return false;
    }
    bool ok = window_results(call->api->store, jobs_kernel_rules(call->api->jobs), id,
                             figures->start_ns, figures->end_ns, budget_bytes, results, err);
    jobs_window_end(call->api->jobs);
    return ok || timeline_gone(err);
}

static bool
answer(struct api_call *call, struct figures *figures, size_t table, bool csv, struct err *err)
{
    if (!sort_rows(figures, call_arena(call), err)) {
        return false;
    }
    if (csv) {
        write_csv(call, figures, (enum table_name)table);
    } else {
        write_json(call, figures);
    }
    return true;
}

static bool read_params(
    struct figures *figures, size_t *table, bool *csv, struct api_call *call, struct err *err)
{
    static const char *const formats[] = {"json", "csv", NULL};
    size_t format = 0;
    if (!table_params_choice(call, "format", formats, &format, err) ||
        !table_params_choice(call, "table", table_names + 1, table, err)) {
        return false;
    }
    bool names_table = query_string_word(&call->query, "table") != NULL;
    *csv = format == 1;
    *table = names_table ? *table + 1 : TABLE_BOTH;
    if (*csv != names_table) {
        return err_set(err, ERR_BAD_REQUEST,
                       "table= (operators or kernels) and format=csv go together: JSON has both "
                       "tables");
    }
    int64_t limit = *csv ? 0 : LIMIT_DEFAULT;
    if (!query_string_int(&call->query, "limit", 0, INT64_MAX, &limit, err)) {
        return false;
    }
    figures->operator_limit = (size_t)limit;
    figures->kernel_limit = (size_t)limit;
    return true;
}

bool window_get(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct timeline *timeline = NULL;
    struct trace_results *stored = NULL;
    struct trace_results *analysed = NULL;
    struct figures figures = {.start_ns = 0};
    size_t table = TABLE_BOTH;
    bool csv = false;
    if (!timeline_load(&trace, &timeline, call, err)) {
        return false;
    }
    figures.end_ns = trace->duration_ns;
    if (!timeline_range(&figures.start_ns, &figures.end_ns, true, call, err) ||
        !read_params(&figures, &table, &csv, call, err)) {
        return false;
    }
    figures.is_whole = figures.start_ns <= 0 && figures.end_ns >= trace->duration_ns;
    bool ok = figures.is_whole ? load_stored(call, trace->id, &stored, err)
                               : analyse(call, trace->id, &figures, &analysed, err);
    figures.results = figures.is_whole ? stored : analysed;
    ok = ok && answer(call, &figures, table, csv, err);
    results_destroy(analysed);
    return ok;
}
