#include "api/call.h"
#include "api/handlers.h"
#include "api/history/params.h"
#include "api/json_body.h"
#include "ingest/store/store_notes.h"

#include <math.h>
#include <string.h>

#define VALUES_MAX 10000
/* So many values with all their digits. */
#define VALUES_MAX_BYTES ((size_t)1 << 20)

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for a series");
}

/* ---- series ---- */

static void write_point(struct json_write *w, size_t index, const struct store_series_point *point)
{
    static const char *const sources[] = {[SERIES_TIME_COMMIT] = "commit_time",
                                          [SERIES_TIME_START] = "start",
                                          [SERIES_TIME_UPLOAD] = "upload"};
    jw_object_begin(w);
    jw_key_int(w, "index", (int64_t)index);
    jw_key_string(w, "run", point->run);
    jw_key_int(w, "trace", point->trace_id);
    jw_key_int(w, "span", point->span);
    jw_key_double(w, "time", point->time);
    jw_key_string(w, "time_source", sources[point->time_source]);
    jw_key_double(w, "value", point->value);
    jw_key(w, "tags");
    jw_raw(w, point->tags, strlen(point->tags));
    jw_object_end(w);
}

static void begin_answer(struct json_write *w, const struct history_series *series)
{
    jw_object_begin(w);
    jw_key_string(w, "metric", series->name);
    jw_key_string(w, "unit", series->metric.unit);
    jw_key_int(w, "direction", series->metric.direction);
}

bool history_get(struct api_call *call, struct err *err)
{
    int64_t limit = 0;
    int64_t offset = 0;
    const char *metric = NULL;
    struct history_series series;
    struct store_series_filter filter;
    if (!history_params_metric(call, &metric, err) || !history_params_filter(call, &filter, err) ||
        !query_string_int(&call->query, "limit", 0, INT64_MAX, &limit, err) ||
        !query_string_int(&call->query, "offset", 0, INT64_MAX, &offset, err)) {
        return false;
    }
    filter.page_offset = (size_t)offset;
    filter.page_count = limit == 0 ? SIZE_MAX : (size_t)limit;
    if (!history_query_series(&series, call->snapshot, call_arena(call), metric, &filter, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    begin_answer(&w, &series);
    jw_key_int(&w, "total", (int64_t)series.count);
    jw_key_array_begin(&w, "rows");
    for (size_t i = filter.page_offset;
         i < series.count && i - filter.page_offset < filter.page_count; i++) {
        write_point(&w, i, &series.points[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

/* ---- changes ---- */

/* Known regressions of the metric, the oldest first. */
struct known_changes {
    struct store_note *notes;
    size_t count;
};

/* What is known of a change at this run, NULL: nothing. */
static const char *find_known(const struct known_changes *known, const char *run)
{
    for (size_t i = known->count; i > 0; i--) {
        if (strcmp(known->notes[i - 1].run, run) == 0) {
            return known->notes[i - 1].text;
        }
    }
    return NULL;
}

/* `series` NULL: of values that a client sent. */
static void write_change(struct json_write *w,
                         const struct history_change *change,
                         const struct history_series *series,
                         const struct known_changes *known)
{
    const struct store_series_point *point = series == NULL ? NULL : &series->points[change->index];
    const struct history_test *test = &change->test;
    jw_object_begin(w);
    jw_key_int(w, "index", (int64_t)change->index);
    if (point != NULL) {
        jw_key_string(w, "run", point->run);
        jw_key_int(w, "trace", point->trace_id);
        jw_key_double(w, "time", point->time);
    } else {
        jw_key_null(w, "run");
        jw_key_null(w, "trace");
        jw_key_null(w, "time");
    }
    jw_key_double(w, "p", test->p);
    jw_key_double(w, "mean_before", test->mean_before);
    jw_key_double(w, "mean_after", test->mean_after);
    jw_key_double(w, "std_before", test->std_before);
    jw_key_double(w, "std_after", test->std_after);
    jw_key_double(w, "change", test->change);
    jw_key_double(w, "magnitude", test->magnitude);
    if (series != NULL) {
        jw_key_bool(w, "worse", test->change * series->metric.direction < 0);
    } else {
        jw_key_null(w, "worse");
    }
    jw_key_string(w, "known", point == NULL ? NULL : find_known(known, point->run));
    jw_object_end(w);
}

static void write_segments(struct json_write *w, const struct history_changes *found)
{
    jw_key_array_begin(w, "segments");
    for (size_t i = 0; i < found->segment_count; i++) {
        const struct history_segment *segment = &found->segments[i];
        jw_object_begin(w);
        jw_key_int(w, "first", (int64_t)segment->first);
        jw_key_int(w, "last", (int64_t)segment->last);
        jw_key_int(w, "n", (int64_t)(segment->last - segment->first + 1));
        jw_key_double(w, "mean", segment->mean);
        jw_key_double(w, "std", segment->std);
        jw_key_double(w, "median", segment->median);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_changes(struct json_write *w,
                          const struct history_changes *found,
                          size_t count,
                          const struct history_rules *rules,
                          const struct history_series *series,
                          const struct known_changes *known)
{
    jw_key_int(w, "n", (int64_t)count);
    jw_key_int(w, "window", (int64_t)rules->window);
    jw_key_double(w, "p", history_rules_p(rules, count));
    jw_key_double(w, "min_magnitude", rules->min_magnitude);
    jw_key_string(w, "rule", rules->strict ? "strict" : "otava");
    jw_key_array_begin(w, "changes");
    for (size_t i = 0; i < found->change_count; i++) {
        write_change(w, &found->changes[i], series, known);
    }
    jw_array_end(w);
    jw_key_array_begin(w, "weak");
    for (size_t i = 0; i < found->weak_count; i++) {
        jw_int(w, (int64_t)found->weak[i]);
    }
    jw_array_end(w);
    write_segments(w, found);
    jw_object_end(w);
}

bool history_changes_get(struct api_call *call, struct err *err)
{
    const char *metric = NULL;
    struct history_series series;
    struct history_rules rules;
    struct history_changes found;
    struct known_changes known;
    struct store_series_filter filter;
    struct arena *arena = call_arena(call);
    if (!history_params_metric(call, &metric, err) || !history_params_filter(call, &filter, err) ||
        !history_params_rules(call, &rules, err) ||
        !history_query_series(&series, call->snapshot, arena, metric, &filter, err) ||
        !history_query_changes(&found, arena, &series, &rules, err) ||
        !store_notes_of_metric(call->snapshot, arena, metric, &known.notes, &known.count, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    begin_answer(&w, &series);
    write_changes(&w, &found, series.count, &rules, &series, &known);
    return true;
}

static bool read_values(const json_t *list, double *values, struct err *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_null(value) && !json_is_number(value)) {
            return err_set(err, ERR_BAD_REQUEST, "Item %zu of \"values\" is no number", i);
        }
        values[i] = json_is_null(value) ? (double)NAN : json_number_value(value);
    }
    return true;
}

static bool answer_values(struct api_call *call, json_t *body, struct err *err)
{
    static const char *const known[] = {"values", "window", "p", "min_magnitude", "rule", NULL};
    struct history_rules rules;
    struct history_changes found;
    const json_t *list = json_object_get(body, "values");
    if (!json_body_knows(body, known, err) || !history_body_rules(body, "p", &rules, err)) {
        return false;
    }
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > VALUES_MAX) {
        return err_set(err, ERR_BAD_REQUEST,
                       "\"values\" must be a list of at most %d numbers and nulls", VALUES_MAX);
    }
    double *values = arena_calloc(call_arena(call), count + 1, sizeof *values);
    if (values == NULL) {
        return no_memory(err);
    }
    if (!read_values(list, values, err) || !history_rules_check(&rules, count, err)) {
        return false;
    }
    if (!history_changes_find(&found, call_arena(call), values, count, &rules)) {
        return no_memory(err);
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    write_changes(&w, &found, count, &rules, NULL, NULL);
    return true;
}

bool history_changes_post(struct api_call *call, struct err *err)
{
    json_t *body = json_body_read_long(call->request, VALUES_MAX_BYTES, err);
    bool ok = body != NULL && answer_values(call, body, err);
    json_decref(body);
    return ok;
}

/* ---- baseline ---- */

static void write_run(struct json_write *w, const char *key, const struct store_series_point *point)
{
    jw_key_string(w, key, point == NULL ? NULL : point->run);
}

bool history_baseline_get(struct api_call *call, struct err *err)
{
    const char *metric = NULL;
    const char *const *excluded = NULL;
    size_t excluded_count = 0;
    struct history_series series;
    struct history_rules rules;
    struct history_query_baseline found;
    struct store_series_filter filter;
    struct arena *arena = call_arena(call);
    if (!history_params_metric(call, &metric, err) || !history_params_filter(call, &filter, err) ||
        !history_params_rules(call, &rules, err) ||
        !history_params_all(call, "exclude_run", &excluded, &excluded_count, err) ||
        !history_query_series(&series, call->snapshot, arena, metric, &filter, err) ||
        !history_query_baseline(&found, arena, &series, excluded, excluded_count, &rules, err)) {
        return false;
    }
    const struct history_summary *summary = &found.summary;
    struct json_write w = call_json(call, false);
    begin_answer(&w, &series);
    jw_key_int(&w, "n", (int64_t)summary->count);
    jw_key_double(&w, "mean", summary->mean);
    jw_key_double(&w, "std", summary->std);
    jw_key_double(&w, "median", summary->median);
    jw_key_double(&w, "min", summary->min);
    jw_key_double(&w, "max", summary->max);
    write_run(&w, "first_run", found.first);
    write_run(&w, "last_run", found.last);
    jw_key(&w, "since");
    if (found.since == NULL) {
        jw_null(&w);
    } else {
        jw_object_begin(&w);
        jw_key_int(&w, "index", (int64_t)found.since_index);
        jw_key_string(&w, "run", found.since->run);
        jw_key_double(&w, "time", found.since->time);
        jw_object_end(&w);
    }
    jw_object_end(&w);
    return true;
}

/* ---- metrics ---- */

static void write_metric(struct json_write *w, const struct store_series_metric *row)
{
    struct history_metric metric;
    if (history_metric_find(row->name, strlen(row->name), &metric)) {
        jw_object_begin(w);
        jw_key_string(w, "metric", row->name);
        jw_key_string(w, "unit", metric.unit);
        jw_key_int(w, "direction", metric.direction);
        jw_key_double(w, "value", row->value);
        jw_object_end(w);
    }
}

/* Those of the newest trace that the filters leave: names of other projects stay theirs. */
bool history_metrics_get(struct api_call *call, struct err *err)
{
    struct store_series_metric *rows = NULL;
    size_t count = 0;
    int64_t limit = 100;
    const int64_t limit_max = 2000;
    struct history_series series;
    struct store_series_filter filter;
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    if (!query_string_int(&call->query, "limit", 1, limit_max, &limit, err) ||
        !history_params_filter(call, &filter, err) ||
        !history_query_series(&series, snapshot, arena, HISTORY_METRIC_DEFAULT, &filter, err)) {
        return false;
    }
    int64_t trace_id = series.count == 0 ? 0 : series.points[series.count - 1].trace_id;
    if (!store_series_metrics(snapshot, arena, trace_id, query_string_word(&call->query, "q"),
                              limit, &rows, &count, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key(&w, "trace");
    jw_known_int(&w, trace_id == 0 ? INT64_MIN : trace_id);
    jw_key_array_begin(&w, "metrics");
    for (size_t i = 0; i < count; i++) {
        write_metric(&w, &rows[i]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}
