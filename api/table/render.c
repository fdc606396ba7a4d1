#include "api/table/render.h"

#include "api/table/rows.h"
#include "ingest/model/tables.h"
#include "ingest/query/compare/step_query.h"

#include <inttypes.h>
#include <math.h>

#define STEP_ROWS_MAX 2000

static struct field_out to_json(struct json_write *w)
{
    return (struct field_out){.notation = FIELD_JSON, .json = w};
}

void render_fill_steps(struct trace_results *results)
{
    int64_t last_end_ns = RESULTS_NO_TIME;
    for (size_t i = 0; i < results->step_count; i++) {
        struct step_row *row = &results->steps[i];
        row->duration_ns = results->steps_undefined ? INT64_MIN : row->end_ns - row->start_ns;
        row->start_ns = results->steps_undefined ? INT64_MIN : row->start_ns;
        row->host_gap_ns =
            last_end_ns == RESULTS_NO_TIME ? RESULTS_NO_TIME : rows_sub(row->start_ns, last_end_ns);
        row->idle_ns = 0;
        for (int role = TIME_RUNTIME; role < TIME_CATEGORY_COUNT; role++) {
            row->idle_ns = rows_add(row->idle_ns, row->cost_ns[role]);
        }
        last_end_ns = row->end_ns > last_end_ns ? row->end_ns : last_end_ns;
    }
}

static void write_step(struct json_write *w, const struct step_row *row)
{
    struct field_out out = to_json(w);
    field_row(&out, &table_step, row, 0);
}

void render_operator(struct json_write *w, const struct operator_row *row, double share)
{
    struct field_out out = to_json(w);
    struct operator_row with_share = *row;
    with_share.share = share;
    field_row(&out, &table_operator, &with_share, 0);
}

void render_kernel(struct json_write *w, const struct kernel_row *row, double share, int64_t steps)
{
    struct field_out out = to_json(w);
    struct kernel_row shown = *row;
    shown.share = share;
    shown.calls_per_step = (double)row->calls / (double)(steps > 0 ? steps : 1);
    field_row(&out, &table_kernel, &shown, 0);
}

void render_warnings(struct json_write *w, const struct warnings *warnings)
{
    jw_array_begin(w);
    for (unsigned code = 0; code < WARNING_CODE_COUNT; code++) {
        const struct warning_count *one = &warnings->by_code[code];
        if (one->count == 0) {
            continue;
        }
        jw_object_begin(w);
        jw_key_string(w, "code", warning_code_text((enum warning_code)code));
        jw_key_string(w, "message", warning_message((enum warning_code)code));
        jw_key_int(w, "count", one->count > INT64_MAX ? INT64_MAX : (int64_t)one->count);
        if (one->first_offset > INT64_MAX) {
            jw_key_null(w, "first_offset");
        } else {
            jw_key_int(w, "first_offset", (int64_t)one->first_offset);
        }
        jw_object_end(w);
    }
    jw_array_end(w);
}

bool render_shows_device(const struct trace_results *results)
{
    return results->has_runtime || results->has_kernel || results->has_memcpy_or_memset;
}

bool render_shows_time_category(const struct trace_results *results, enum time_category role)
{
    switch (role) {
    case TIME_KERNEL:
    case TIME_MEMCPY:
    case TIME_MEMSET:
    case TIME_RUNTIME:
        return render_shows_device(results);
    case TIME_COMMUNICATION:
        return results->has_communication;
    case TIME_DATALOADER:
    case TIME_CPU_EXEC:
    case TIME_OTHER:
    case TIME_CATEGORY_COUNT:
        break;
    }
    return true;
}

double render_mean_cost_ns(const struct trace_results *results, enum time_category role)
{
    double sum_ns = 0;
    if (!results->has_steps) {
        return (double)results->role_ns[role];
    }
    for (size_t i = 0; i < results->step_count; i++) {
        sum_ns += (double)results->steps[i].cost_ns[role];
    }
    return results->step_count == 0 ? (double)NAN : sum_ns / (double)results->step_count;
}

/* NaN without steps. */
static double mean_step_ns(const struct trace_results *results)
{
    double sum_ns = 0;
    if (!results->has_steps || results->step_count == 0) {
        return (double)NAN;
    }
    for (size_t i = 0; i < results->step_count; i++) {
        sum_ns += (double)(results->steps[i].end_ns - results->steps[i].start_ns);
    }
    return sum_ns / (double)results->step_count;
}

double render_window_ns(const struct trace_results *results)
{
    double step_ns = mean_step_ns(results);
    return isnan(step_ns) ? (double)results->duration_ns : step_ns;
}

void render_roles(struct json_write *w, const struct trace_results *results)
{
    double window_ns = render_window_ns(results);
    jw_array_begin(w);
    for (unsigned at = 0; at < TIME_CATEGORY_COUNT; at++) {
        enum time_category role = (enum time_category)at;
        if (!render_shows_time_category(results, role)) {
            continue;
        }
        double mean_ns = render_mean_cost_ns(results, role);
        jw_object_begin(w);
        jw_key_string(w, "role", time_category_name(role));
        jw_key_string(w, "label", time_category_label(role));
        jw_key_double(w, "mean_ns", isnan(mean_ns) ? 0 : mean_ns);
        jw_key_double(w, "share", window_ns > 0 ? mean_ns / window_ns : 0);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_devices(struct json_write *w, const struct trace_results *results)
{
    for (size_t i = 0; i < results->device_count; i++) {
        results->devices[i].utilisation_of = results->has_steps ? "steps" : "window";
    }
    field_rows(w, "devices", &table_device, results->devices, results->device_count);
}

/* What the host does while no device works, as the time categories have it: they are all that is
 * left of a step without device work [DEV-6c]. */
static void write_idle(struct json_write *w, const struct trace_results *results)
{
    double window_ns = render_window_ns(results);
    double idle_ns = 0;
    double cause_ns = 0;
    enum time_category cause = TIME_CATEGORY_COUNT;
    for (int role = TIME_RUNTIME; role < TIME_CATEGORY_COUNT; role++) {
        double mean_ns = render_mean_cost_ns(results, (enum time_category)role);
        idle_ns += mean_ns;
        if (mean_ns > cause_ns) {
            cause_ns = mean_ns;
            cause = (enum time_category)role;
        }
    }
    jw_key(w, "idle");
    if (!results->operators_have_device || !(window_ns > 0)) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_string(w, "of", results->has_steps ? "steps" : "trace");
    jw_key_double(w, "idle_ns", idle_ns);
    jw_key_double(w, "share", idle_ns / window_ns);
    jw_key_string(w, "cause", cause_ns > 0 ? time_category_name(cause) : NULL);
    jw_key_double(w, "cause_ns", cause_ns);
    jw_object_end(w);
}

static void write_texts(struct json_write *w, const struct trace_results *results)
{
    field_rows(w, "environment", &table_environment, results->environment,
               results->environment_count);
    field_rows(w, "recommendations", &table_recommendation, results->recommendations,
               results->recommendation_count);
}

static void write_odd_steps(struct json_write *w, const struct trace_results *results)
{
    struct query_odd_steps odd;
    query_odd_steps(results, &odd);
    jw_key_array_begin(w, "odd_steps");
    for (size_t i = 0; i < odd.count; i++) {
        const struct step_row *row = odd.items[i].row;
        jw_object_begin(w);
        jw_key_string(w, "place", odd.items[i].place);
        jw_key_string(w, "name", row->name);
        jw_key_int(w, "duration_ns", row->end_ns - row->start_ns);
        jw_key_double(w, "median_ns", odd.median_ns);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_health(struct json_write *w, const struct trace_results *results)
{
    jw_key_object_begin(w, "health");
    jw_key(w, "warnings");
    render_warnings(w, &results->warnings);
    write_odd_steps(w, results);
    field_rows(w, "missing", &table_missing, results->missing, results->missing_count);
    jw_object_end(w);
}

static void write_tensor_core(struct json_write *w, const struct trace_results *results)
{
    jw_key(w, "tensor_core");
    if (!results->has_kernel) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_key_string(w, "name", results_matrix_units(results));
    jw_key_double(w, "used_share", results->tensor_pie_used);
    jw_object_end(w);
}

static int64_t self_ns(const struct trace_results *results, const struct operator_row *row)
{
    return results->operators_have_device ? row->device_self_ns : row->host_self_ns;
}

/* Where no operator launched anything, the host decides. */
static bool takes_more(const struct trace_results *results,
                       const struct operator_row *row,
                       const struct operator_row *top)
{
    int64_t own_ns = self_ns(results, row);
    int64_t top_ns = self_ns(results, top);
    return own_ns > top_ns || (own_ns == 0 && top_ns == 0 && row->host_self_ns > top->host_self_ns);
}

static void write_top_operator(struct json_write *w, const struct trace_results *results)
{
    const struct operator_row *rows = results->operators[OPERATOR_BY_NAME];
    const struct operator_row *top = rows;
    jw_key(w, "top_operator");
    if (rows == NULL || results->operator_count[OPERATOR_BY_NAME] == 0) {
        jw_null(w);
        return;
    }
    for (size_t i = 1; i < results->operator_count[OPERATOR_BY_NAME]; i++) {
        if (takes_more(results, &rows[i], top)) {
            top = &rows[i];
        }
    }
    jw_object_begin(w);
    jw_key_string(w, "name", top->name);
    if (results->operators_have_device) {
        jw_key_int(w, "device_self_ns", top->device_self_ns);
    } else {
        jw_key_null(w, "device_self_ns");
    }
    jw_key_int(w, "host_self_ns", top->host_self_ns);
    jw_key_int(w, "calls", top->calls);
    jw_object_end(w);
}

static void write_top_kernel(struct json_write *w, const struct trace_results *results)
{
    jw_key(w, "top_kernel");
    if (results->kernels == NULL || results->kernel_count == 0) {
        jw_null(w);
        return;
    }
    const struct kernel_row *top = &results->kernels[0];
    double total_ns = 0;
    for (size_t i = 0; i < results->kernel_count; i++) {
        const struct kernel_row *row = &results->kernels[i];
        total_ns += (double)row->total_ns;
        top = row->total_ns > top->total_ns ? row : top;
    }
    jw_object_begin(w);
    jw_key_string(w, "name", top->name);
    jw_key_int(w, "total_ns", top->total_ns);
    jw_key_int(w, "calls", top->calls);
    jw_key_double(w, "share", total_ns > 0 ? (double)top->total_ns / total_ns : 0);
    jw_object_end(w);
}

void render_overview(struct json_write *w, struct trace_results *results)
{
    render_fill_steps(results);
    jw_key_string(w, "device_type", results->device_type);
    jw_key_bool(w, "decimal_times", results->decimal_times);
    jw_key_int(w, "steps", (int64_t)results_step_count(results));
    jw_key_bool(w, "has_steps", results->has_steps);
    jw_key_double(w, "average_step_ns", mean_step_ns(results));
    jw_key(w, "roles");
    render_roles(w, results);
    write_devices(w, results);
    write_texts(w, results);
    write_health(w, results);
    write_tensor_core(w, results);
    write_top_operator(w, results);
    write_top_kernel(w, results);
    jw_key_array_begin(w, "step_rows");
    for (size_t i = 0; i < results_step_count(results) && i < STEP_ROWS_MAX; i++) {
        write_step(w, &results->steps[i]);
    }
    jw_array_end(w);
    jw_key_int(w, "collectives", results->collective_count);
    write_idle(w, results);
}
