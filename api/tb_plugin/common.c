#include "api/tb_plugin/common.h"

#include "api/authorize.h"
#include "api/table/table_params.h"
#include "api/tb_plugin/derived.h"
#include "ingest/base/text/num.h"
#include "ingest/tb_plugin/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EXACT_TICKS ((int64_t)1 << 53)
#define EXACT_TICKS_US 8589934592.0 /* 2^33: from here on ticks of 2^-20 us are exact (clock.h) */

static bool
find_run(struct api_call *call, const char *name, struct plugin_run *run, struct err *err)
{
    struct store_trace *traces = NULL;
    if (name == NULL || *name == '\0') {
        return err_set(err, ERR_BAD_REQUEST, "The parameter run= is missing");
    }
    if (!store_traces(call->snapshot, call_arena(call), name, &traces, &run->count, err) &&
        err->code != ERR_NOT_FOUND) {
        return false;
    }
    if (traces == NULL || run->count == 0) {
        return authorize_unknown_run(call, name, err);
    }
    run->name = name;
    run->traces = traces;
    return true;
}

bool plugin_find_run(struct api_call *call, struct plugin_run *run, struct err *err)
{
    return find_run(call, query_string_get(&call->query, "run"), run, err);
}

size_t plugin_worker_count(const struct plugin_run *run)
{
    size_t workers = 0;
    for (size_t i = 0; i < run->count; i++) {
        workers += i == 0 || strcmp(run->traces[i].worker, run->traces[i - 1].worker) != 0;
    }
    return workers;
}

const char *plugin_span_text(struct api_call *call, const struct store_trace *trace)
{
    if (trace->span_digits[0] == '\0') {
        return "default";
    }
    const char *text = call_format(call, "%" PRId64, trace->span);
    return text == NULL ? "" : text;
}

static bool unknown_trace(struct api_call *call,
                          const struct plugin_run *run,
                          const char *worker,
                          const char *span,
                          struct err *err)
{
    char workers[CALL_NAMES_BYTES] = "";
    char spans[CALL_NAMES_BYTES] = "";
    for (size_t i = 0; i < run->count; i++) {
        const struct store_trace *trace = &run->traces[i];
        if (i == 0 || strcmp(trace->worker, run->traces[i - 1].worker) != 0) {
            call_add_name(workers, trace->worker);
        }
        if (strcmp(trace->worker, worker) == 0) {
            call_add_name(spans, plugin_span_text(call, trace));
        }
    }
    if (*spans == '\0') {
        return err_set(err, ERR_NOT_FOUND, "Run \"%.60s\" has no worker \"%.60s\"; it has: %s",
                       run->name, worker, workers);
    }
    return err_set(err, ERR_NOT_FOUND,
                   "Worker \"%.60s\" of run \"%.60s\" has no span \"%.20s\"; it has: %s", worker,
                   run->name, span, spans);
}

static bool find_trace(struct api_call *call,
                       const struct plugin_run *run,
                       const char *worker,
                       const char *span,
                       const struct store_trace **trace,
                       struct err *err)
{
    const struct store_trace *without_digits = NULL;
    bool any_span = span == NULL || *span == '\0';
    if (worker == NULL || *worker == '\0') {
        return err_set(err, ERR_BAD_REQUEST, "The parameter worker= is missing");
    }
    for (size_t i = 0; i < run->count; i++) {
        const struct store_trace *one = &run->traces[i];
        if (strcmp(one->worker, worker) != 0) {
            continue;
        }
        if (any_span || strcmp(plugin_span_text(call, one), span) == 0) {
            *trace = one;
            return true;
        }
        without_digits = one->span_digits[0] == '\0' ? one : without_digits;
    }
    if (without_digits != NULL && strcmp(span, "1") == 0) {
        *trace = without_digits;
        return true;
    }
    return unknown_trace(call, run, worker, any_span ? "" : span, err);
}

bool plugin_find_trace(struct api_call *call,
                       const struct plugin_run *run,
                       const struct store_trace **trace,
                       struct err *err)
{
    return find_trace(call, run, query_string_get(&call->query, "worker"),
                      query_string_get(&call->query, "span"), trace, err);
}

bool plugin_find_other(struct api_call *call, const struct store_trace **trace, struct err *err)
{
    struct plugin_run run;
    return find_run(call, query_string_get(&call->query, "exp_run"), &run, err) &&
           find_trace(call, &run, query_string_get(&call->query, "exp_worker"),
                      query_string_get(&call->query, "exp_span"), trace, err);
}

static bool answer_cached(struct api_call *call,
                          const char *route,
                          const char *group_by,
                          struct plugin_request *request,
                          struct err *err)
{
    const char *json = NULL;
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    int64_t id = request->trace->id;
    if (!store_uploaded_answer(snapshot, arena, id, route, group_by, &json, err)) {
        return false;
    }
    /* An answer that does not depend on the grouping is kept without one. */
    if (json == NULL && *group_by != '\0' &&
        !store_uploaded_answer(snapshot, arena, id, route, "", &json, err)) {
        return false;
    }
    if (json != NULL) {
        (void)call_json(call, true);
        buf_puts(&call->response->body, json);
        request->answered = true;
    }
    return true;
}

bool plugin_find_views(struct api_call *call, struct plugin_run *run, struct err *err)
{
    struct store_trace *traces = NULL;
    for (size_t i = 0; i < run->count; i++) {
        int64_t figures_id;
        if (!derived_figures(call, &run->traces[i], &figures_id, err)) {
            return false;
        }
    }
    if (!store_traces(call->snapshot, call_arena(call), run->name, &traces, &run->count, err)) {
        return false;
    }
    for (size_t i = 0; i < run->count; i++) {
        traces[i].views = traces[i].derived_views;
    }
    run->traces = traces;
    struct communication *communication =
        arena_calloc(call_arena(call), run->count + 1, sizeof *communication);
    run->communication = communication;
    return communication == NULL
               ? err_set(err, ERR_NO_MEMORY, "no memory for the views of a run")
               : run_views_communication(call->snapshot, traces, run->count, communication, err);
}

bool plugin_begin(struct api_call *call,
                  const char *route,
                  const char *const *groups,
                  struct plugin_request *request,
                  struct err *err)
{
    *request = (struct plugin_request){.trace = NULL};
    if (groups != NULL && !table_params_choice(call, "group_by", groups, &request->group, err)) {
        return false;
    }
    const char *group_by = groups == NULL ? "" : groups[request->group];
    if (!plugin_find_run(call, &request->run, err) ||
        !plugin_find_trace(call, &request->run, &request->trace, err) ||
        !answer_cached(call, route, group_by, request, err)) {
        return false;
    }
    return request->answered || (derived_figures(call, request->trace, &request->figures_id, err) &&
                                 store_overview(call->snapshot, call_arena(call),
                                                request->figures_id, &request->results, err));
}

struct plugin_unit plugin_ticks(const struct trace_results *results)
{
    return (struct plugin_unit){.decimal = results->decimal_times,
                                .per_us = tb_clock_per_us(results)};
}

struct plugin_unit plugin_ns(const struct trace_results *results)
{
    return (struct plugin_unit){.decimal = results->decimal_times, .per_us = RESULTS_NS_PER_US};
}

double plugin_us(struct plugin_unit unit, int64_t ticks)
{
    if (ticks > -EXACT_TICKS && ticks < EXACT_TICKS) {
        return (double)ticks / (double)unit.per_us;
    }
    int64_t whole_us = ticks / unit.per_us;
    return (double)whole_us + (double)(ticks % unit.per_us) / (double)unit.per_us;
}

size_t plugin_us_text(char *out, size_t room, struct plugin_unit unit, int64_t ticks)
{
    int len = 0;
    if (unit.decimal && ticks != 0) {
        char text[NUM_TEXT_BYTES];
        (void)num_repr(text, plugin_us(unit, ticks));
        len = snprintf(out, room, "%s", text);
    } else {
        len = snprintf(out, room, "%" PRId64, ticks / unit.per_us);
    }
    return len < 0 ? 0 : (size_t)len;
}

size_t plugin_position_text(char *out,
                            size_t room,
                            const struct trace_results *results,
                            struct plugin_unit unit,
                            int64_t position)
{
    if (unit.per_us == RESULTS_NS_PER_US) {
        return plugin_us_text(out, room, unit, results->first_event_ns + position);
    }
    char text[NUM_TEXT_BYTES];
    double us = plugin_us(plugin_ns(results), results->first_event_ns) + plugin_us(unit, position);
    /* Ticks are coarser than doubles of this size, but finer than the nanoseconds of a file. */
    bool is_small = us < EXACT_TICKS_US && us > -EXACT_TICKS_US;
    (void)num_repr(text, is_small ? num_round_digits(us, 3) : us);
    int len = snprintf(out, room, "%s", text);
    return len < 0 ? 0 : (size_t)len;
}

void plugin_put_us(struct json_write *w, struct plugin_unit unit, int64_t ticks)
{
    char text[NUM_TEXT_BYTES];
    size_t len = plugin_us_text(text, sizeof text, unit, ticks);
    jw_raw(w, text, len);
}

void plugin_put_sum_us(struct json_write *w, struct plugin_unit unit, int64_t ticks)
{
    if (unit.decimal) {
        jw_double(w, plugin_us(unit, ticks));
    } else {
        plugin_put_us(w, unit, ticks);
    }
}

void plugin_put_rounded(struct json_write *w, double value)
{
    char text[400]; /* the largest double has 309 digits */
    int len = snprintf(text, sizeof text, "%.0f", num_round(value) + 0.0);
    jw_raw(w, text, len < 0 ? 0 : (size_t)len);
}

void plugin_put_rounded_us(struct json_write *w, struct plugin_unit unit, int64_t ticks)
{
    if (unit.decimal) {
        plugin_put_rounded(w, plugin_us(unit, ticks));
    } else {
        jw_int(w, ticks / unit.per_us);
    }
}

double plugin_percent(double part, double whole)
{
    return whole == 0 ? 0 : num_round_digits(100 * part / whole, 2);
}

void plugin_put_column(struct json_write *w,
                       const char *type,
                       const char *name,
                       const char *tooltip)
{
    jw_object_begin(w);
    jw_key_string(w, "type", type);
    jw_key_string(w, "name", name);
    if (tooltip != NULL) {
        jw_key_string(w, "tooltip", tooltip);
    }
    jw_object_end(w);
}

void plugin_begin_pie_rows(struct json_write *w)
{
    jw_key_array_begin(w, "columns");
    plugin_put_column(w, "string", "name", NULL);
    plugin_put_column(w, "number", "value", NULL);
    jw_array_end(w);
    jw_key_array_begin(w, "rows");
}
