#include "ingest/query/history/history.h"

#include "ingest/base/text/affix.h"

#include <math.h>
#include <string.h>

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for a series");
}

bool history_query_series(struct history_series *out,
                          struct store_snapshot *snapshot,
                          struct arena *arena,
                          const char *metric,
                          const struct store_series_filter *filter,
                          struct err *err)
{
    *out = (struct history_series){.name = metric};
    if (!history_metric_find(metric, strlen(metric), &out->metric)) {
        return err_set(err, ERR_BAD_REQUEST, "Unknown metric \"%.100s\": known are %s", metric,
                       history_metric_names());
    }
    return store_series_read(snapshot, arena, metric, filter, &out->points, &out->count, err);
}

bool history_rules_check(const struct history_rules *rules, size_t count, struct err *err)
{
    if (rules->window < 2) {
        return err_set(err, ERR_BAD_REQUEST, "window must be an integer of at least 2");
    }
    if (!(rules->p > 0 && rules->p < 1)) {
        return err_set(err, ERR_BAD_REQUEST, "p must lie between 0 and 1");
    }
    if (!(rules->min_magnitude >= 0) || isinf(rules->min_magnitude)) {
        return err_set(err, ERR_BAD_REQUEST, "min_magnitude must be at least 0");
    }
    if (rules->window > HISTORY_WINDOW_MAX && count > HISTORY_WINDOW_MAX) {
        return err_set(err, ERR_BAD_REQUEST,
                       "window may be at most %d for a series of %zu points: its cost grows with "
                       "its square",
                       HISTORY_WINDOW_MAX, count);
    }
    return true;
}

bool history_query_changes(struct history_changes *out,
                           struct arena *arena,
                           const struct history_series *series,
                           const struct history_rules *rules,
                           struct err *err)
{
    double *values = arena_calloc(arena, series->count + 1, sizeof *values);
    for (size_t i = 0; values != NULL && i < series->count; i++) {
        values[i] = series->points[i].value;
    }
    return history_rules_check(rules, series->count, err) &&
           ((values != NULL && history_changes_find(out, arena, values, series->count, rules)) ||
            no_memory(err));
}

/* ---- baseline ---- */

static void describe(struct history_query_baseline *out,
                     const struct history_series *series,
                     const struct history_baseline *found,
                     const size_t *place,
                     size_t count)
{
    out->summary = found->summary;
    if (count > 0) {
        out->first = &series->points[place[found->first]];
        out->last = &series->points[place[count - 1]];
    }
    if (found->has_change) {
        out->since_index = place[found->first];
        out->since = out->first;
    }
}

bool history_query_baseline(struct history_query_baseline *out,
                            struct arena *arena,
                            const struct history_series *series,
                            const char *const *excluded_runs,
                            size_t excluded_count,
                            const struct history_rules *rules,
                            struct err *err)
{
    struct history_baseline found;
    size_t count = 0;
    double *values = arena_calloc(arena, series->count + 1, sizeof *values);
    size_t *place = arena_calloc(arena, series->count + 1, sizeof *place);
    *out = (struct history_query_baseline){.first = NULL};
    if (values == NULL || place == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < series->count; i++) {
        const struct store_series_point *point = &series->points[i];
        if (!isnan(point->value) && !text_is_one_of(point->run, excluded_runs, excluded_count)) {
            values[count] = point->value;
            place[count++] = i;
        }
    }
    if (!history_rules_check(rules, count, err)) {
        return false;
    }
    if (!history_baseline_find(&found, arena, values, count, rules)) {
        return no_memory(err);
    }
    describe(out, series, &found, place, count);
    return true;
}

/* ---- gate ---- */

/* The value of the span that is asked for. The reader was allowed the run before. */
static bool read_span(double *value,
                      struct store_snapshot *snapshot,
                      struct arena *arena,
                      const struct gate_request *request,
                      const char *metric,
                      struct err *err)
{
    const struct store_series_filter filter = {.run = request->run};
    struct store_series_point *points = NULL;
    const struct store_series_point *chosen = NULL;
    size_t count = 0;
    if (!store_series_read(snapshot, arena, metric, &filter, &points, &count, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool fits = request->span == 0 ? chosen == NULL || points[i].span < chosen->span
                                       : points[i].span == request->span;
        chosen = fits ? &points[i] : chosen;
    }
    if (chosen == NULL) {
        return err_set(err, ERR_NOT_FOUND, "The run \"%.100s\" has no span %lld", request->run,
                       (long long)request->span);
    }
    *value = chosen->value;
    return true;
}

static bool judge(struct gate_answer_row *row,
                  struct store_snapshot *snapshot,
                  struct arena *arena,
                  const struct gate_request *request,
                  const char *text,
                  struct err *err)
{
    struct gate_condition condition;
    struct history_series series;
    if (!gate_condition_parse(&condition, text)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "fail_if: \"%.100s\" is no condition; write %s, P above 0 and at most 1",
                       text, GATE_CONDITION_FORM);
    }
    row->metric = arena_strndup(arena, condition.name, condition.name_len);
    row->limit = condition.limit_text;
    if (row->metric == NULL) {
        return no_memory(err);
    }
    if (!history_query_series(&series, snapshot, arena, row->metric, &request->filter, err) ||
        !history_query_baseline(&row->baseline, arena, &series, &request->run, 1, &request->history,
                                err)) {
        return false;
    }
    bool ok =
        request->trace_id != 0
            ? store_series_value(snapshot, request->trace_id, row->metric, &row->candidate, err)
            : read_span(&row->candidate, snapshot, arena, request, row->metric, err);
    row->unit = series.metric.unit;
    row->row = gate_judge(row->candidate, &row->baseline.summary, series.metric.direction,
                          &condition, &request->rules);
    return ok;
}

bool history_query_gate(struct gate_answer *out,
                        struct store_snapshot *snapshot,
                        struct arena *arena,
                        const struct gate_request *request,
                        struct err *err)
{
    struct gate_row *rows = arena_calloc(arena, request->condition_count + 1, sizeof *rows);
    *out = (struct gate_answer){.row_count = request->condition_count};
    out->rows = arena_calloc(arena, request->condition_count + 1, sizeof *out->rows);
    if (out->rows == NULL || rows == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < request->condition_count; i++) {
        if (!judge(&out->rows[i], snapshot, arena, request, request->conditions[i], err)) {
            return false;
        }
        rows[i] = out->rows[i].row;
    }
    out->verdict = gate_overall(rows, request->condition_count);
    return true;
}
