/* What a kernel table measured: over all, a row a kernel, a row a launch. */
#include "api/call.h"
#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "ingest/base/order.h"
#include "ingest/jobs/on_request/analyses.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#define LIMIT_DEFAULT 1000

static bool
read_table(struct api_call *call, int64_t *id, struct trace_results **results, struct err *err)
{
    if (!call_trace_id(call, id, err) ||
        !store_overview(call->snapshot, call_arena(call), *id, results, err)) {
        return false;
    }
    return (*results)->has_kernel_use ||
           err_set(err, ERR_NOT_FOUND,
                   "Trace %" PRId64 " has no kernel utilisation: upload what ncu --csv prints, a "
                   "table of kernel, latency, tensor and DRAM use, or an Nsight Systems export "
                   "(nsys stats --format csv, or the .sqlite file)",
                   *id);
}

/* ---- kernels ---- */

struct kernel_table {
    struct table_view view;
    const struct trace_results *results;
    struct kernel_utilisation_row *rows;
    struct kernel_utilisation_metric_row *metrics; /* by kernel, then name */
    size_t metric_count;
};

ORDER_BY(compare_metrics,
         struct kernel_utilisation_metric_row,
         ORDER_UP(kernel),
         ORDER_TEXT(metric))

/* How many come before those of the kernel; `or_at`: and with them. */
static size_t metrics_below(const struct kernel_table *table, int64_t kernel, bool or_at)
{
    return order_i64_below(table->metrics, table->metric_count, sizeof *table->metrics,
                           offsetof(struct kernel_utilisation_metric_row, kernel), kernel, or_at);
}

static void write_metrics(struct field_out *out, const void *table_void, const void *row)
{
    const struct kernel_table *table = table_void;
    if (out->notation != FIELD_JSON) {
        return;
    }
    int64_t kernel = ((const struct kernel_utilisation_row *)row)->position;
    size_t first = metrics_below(table, kernel, false);
    size_t end = metrics_below(table, kernel, true);
    field_rows(out->json, "metrics", &table_kernel_utilisation_metric,
               end == first ? NULL : &table->metrics[first], end - first);
}

static void write_classes(struct json_write *w, const struct kernel_utilisation_totals *totals)
{
    jw_key_array_begin(w, "classes");
    for (unsigned use = 0; use < USE_CLASS_COUNT; use++) {
        jw_object_begin(w);
        jw_key_string(w, "class", use_class_name((enum use_class)use));
        jw_key_int(w, "launches", totals->class_launches[use]);
        jw_key_int(w, "total_ns", totals->class_ns[use]);
        jw_key_double(w, "share", rows_share(totals->class_ns[use], totals->total_ns));
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_totals(struct json_write *w, const void *table_void)
{
    const struct kernel_table *table = table_void;
    const struct trace_results *results = table->results;
    const struct kernel_utilisation_totals *totals = &results->kernel_utilisation_totals;
    table_view_members(w, &table->view, NULL);
    jw_key_int(w, "launches", totals->launches);
    jw_key_int(w, "kernels", totals->kernels);
    jw_key_int(w, "total_ns", totals->total_ns);
    jw_key_double(w, "tensor", totals->tensor);
    jw_key_double(w, "dram", totals->dram);
    jw_key_double(w, "sm", totals->sm);
    jw_key_double(w, "headroom_ns", totals->headroom_ns);
    write_classes(w, totals);
    field_rows(w, "transfers", &table_transfer, results->transfers, results->transfer_count);
    jw_key_array_begin(w, "bad_rows");
    for (size_t i = 0; i < results->bad_row_count; i++) {
        jw_string(w, results->bad_rows[i]);
    }
    jw_array_end(w);
    jw_key_bool(w, "has_launches", results->kernel_utilisation_launch_count > 0);
}

bool kernel_utilisation_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct trace_results *results = NULL;
    struct kernel_table table = {.view = {.table = &table_kernel_utilisation,
                                          .stem = "kernel-utilisation",
                                          .write_row_end = write_metrics,
                                          .write_members = write_totals}};
    struct table_view *view = &table.view;
    if (!table_view_read(view, call, "total_ns", LIMIT_DEFAULT, err) ||
        !read_table(call, &id, &results, err) ||
        !store_kernel_utilisation(call->snapshot, call_arena(call), id, &view->params.page,
                                  &table.rows, &view->count, &view->total, err)) {
        return false;
    }
    for (size_t i = 0; i < view->count; i++) {
        table.rows[i].share =
            rows_share(table.rows[i].total_ns, results->kernel_utilisation_totals.total_ns);
        struct kernel_class class;
        if (!kernel_class_of(jobs_kernel_rules(call->api->jobs), table.rows[i].full_name, &class)) {
            return err_set(err, ERR_NO_MEMORY, "No memory for the classes of kernels");
        }
        table.rows[i].kernel_class = class.name;
    }
    table.results = results;
    table.metrics = results->kernel_utilisation_metrics;
    table.metric_count = results->kernel_utilisation_metric_count;
    if (table.metric_count > 0) {
        qsort(table.metrics, table.metric_count, sizeof *table.metrics, compare_metrics);
    }
    view->rows = table.rows;
    view->context = &table;
    return table_view_answer(view, call);
}

/* ---- launches ---- */

struct launch_table {
    struct table_view view;
    struct kernel_utilisation_launch_row *rows;
    struct kernel_utilisation_value_row *values; /* ascending by row */
    size_t value_count;
    size_t *first_value; /* of each row, one more at the end */
};

static bool index_values(struct launch_table *table, struct api_call *call, struct err *err)
{
    size_t at = 0;
    table->first_value = arena_calloc(call_arena(call), table->view.count + 1, sizeof(size_t));
    if (table->first_value == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the metrics of the launches");
    }
    for (size_t row = 0; row <= table->view.count; row++) {
        while (at < table->value_count && table->values[at].launch < (int64_t)row) {
            at++;
        }
        table->first_value[row] = at;
    }
    return true;
}

static void write_values(struct field_out *out, const void *table_void, const void *row)
{
    struct json_write *w = out->json;
    const struct launch_table *table = table_void;
    if (out->notation != FIELD_JSON) {
        return;
    }
    size_t at = (size_t)((const struct kernel_utilisation_launch_row *)row - table->rows);
    jw_key_object_begin(w, "metrics");
    for (size_t i = table->first_value[at]; i < table->first_value[at + 1]; i++) {
        jw_key_double(w, table->values[i].metric, table->values[i].value);
    }
    jw_object_end(w);
}

bool kernel_utilisation_launches(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct trace_results *results = NULL;
    struct launch_table table = {.view = {.table = &table_kernel_utilisation_launch,
                                          .stem = "kernel-launches",
                                          .write_row_end = write_values}};
    struct table_view *view = &table.view;
    const char *name = query_string_word(&call->query, "name");
    if (!table_view_read(view, call, "position", LIMIT_DEFAULT, err) ||
        !read_table(call, &id, &results, err) ||
        !store_kernel_utilisation_launches(call->snapshot, call_arena(call), id, name,
                                           &view->params.page, &table.rows, &view->count,
                                           &view->total, &table.values, &table.value_count, err) ||
        !index_values(&table, call, err)) {
        return false;
    }
    view->rows = table.rows;
    view->context = &table;
    return table_view_answer(view, call);
}
