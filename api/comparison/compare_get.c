/* One comparison: as JSON with its group and the counters of what was compared, as the reference's
 * CSV, as a report in Markdown. */
#include "api/catalogue/catalogue_json.h"
#include "api/comparison/compare_answer.h"
#include "api/comparison/compare_counters.h"
#include "api/comparison/compare_rows.h"
#include "api/comparison/text/text.h"
#include "api/handlers.h"
#include "api/table/field.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "ingest/model/tables.h"

#include <inttypes.h>
#include <math.h>

#define URL_MAX_BYTES 4096

enum { FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN };

static const char *const formats[] = {
    [FORMAT_JSON] = "json",
    [FORMAT_CSV] = "csv",
    [FORMAT_MARKDOWN] = "markdown",
    NULL,
};

void compare_answer_url(struct json_write *w, const struct api *api, int64_t id)
{
    struct buf url;
    buf_init(&url, URL_MAX_BYTES);
    buf_printf(&url, "%s/#/comparisons/%" PRId64, api->options.public_url, id);
    jw_key_string(w, "url", url.ptr);
    buf_free(&url);
}

static void write_ids(struct json_write *w, const char *key, const int64_t *ids, size_t count)
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < count; i++) {
        jw_int(w, ids[i]);
    }
    jw_array_end(w);
}

static void
write_identity(struct json_write *w, const struct api *api, const struct store_comparison *stored)
{
    jw_key_int(w, "id", stored->id);
    compare_answer_url(w, api, stored->id);
    catalogue_json_time(w, "created_at", stored->created_at_s);
    jw_key_known_int(w, "trace_id", stored->trace_id == 0 ? INT64_MIN : stored->trace_id);
    jw_key_object_begin(w, "traces");
    write_ids(w, "base", stored->trace_ids[SIDE_BASE], stored->trace_count[SIDE_BASE]);
    write_ids(w, "candidate", stored->trace_ids[SIDE_CANDIDATE],
              stored->trace_count[SIDE_CANDIDATE]);
    jw_object_end(w);
}

static double mean_of(const struct compare_counter *counter, enum comparison_side side)
{
    return counter->samples[side] > 0 ? counter->sum[side] / (double)counter->samples[side]
                                      : (double)NAN;
}

static void write_counters(struct json_write *w, const struct compare_counters *counters)
{
    jw_key_array_begin(w, "counters");
    for (size_t i = 0; i < counters->count; i++) {
        const struct compare_counter *counter = &counters->items[i];
        jw_object_begin(w);
        jw_key_string(w, "name", counter->name);
        jw_key_string(w, "hostname", counter->host);
        jw_key_double(w, "base_mean", mean_of(counter, SIDE_BASE));
        jw_key_double(w, "candidate_mean", mean_of(counter, SIDE_CANDIDATE));
        jw_key_int(w, "base_samples", counter->samples[SIDE_BASE]);
        jw_key_int(w, "candidate_samples", counter->samples[SIDE_CANDIDATE]);
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* The whole group, most suspicious first. */
struct pairs {
    struct store_comparison *rows;
    size_t count;
};

static void write_pairs(struct json_write *w, const struct pairs *pairs)
{
    jw_key_array_begin(w, "pairs");
    for (size_t i = 0; i < pairs->count; i++) {
        jw_object_begin(w);
        jw_key_int(w, "id", pairs->rows[i].id);
        comparison_json_pair(w, pairs->rows[i].comparison, pairs->rows[i].top_score);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static bool answer_json(struct api_call *call,
                        const struct store_comparison *stored,
                        const struct compare_rows *rows,
                        struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct compare_counters counters;
    struct pairs pairs = {.count = 0};
    int64_t total = 0;
    if (!compare_counters_read(&counters, call, stored, err) ||
        !store_comparisons(call->snapshot, call_arena(call), stored->group_id, &all, &pairs.rows,
                           &pairs.count, &total, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    write_identity(&w, call->api, stored);
    comparison_json_head(&w, stored->comparison);
    field_rows(&w, "rows", &table_comparison_row, rows->rows, rows->count);
    table_params_members(&w, &rows->page, (int64_t)rows->total, NULL);
    comparison_json_facets(&w, stored->comparison);
    write_counters(&w, &counters);
    write_pairs(&w, &pairs);
    jw_object_end(&w);
    return true;
}

static void answer_csv(struct api_call *call,
                       const struct store_comparison *stored,
                       const struct compare_rows *rows)
{
    struct comparison selected = *stored->comparison;
    const struct comparison *const item = &selected;
    selected.rows = rows->rows;
    selected.row_count = rows->count;
    selected.appeared_count = 0; /* they are indices of all rows */
    const char *stem = call_format(call, "comparison-%" PRId64, stored->id);
    table_answer_begin_csv(call, stem == NULL ? "comparison" : stem);
    comparison_csv(&call->response->body, &item, 1);
}

static void answer_markdown(struct api_call *call, const struct store_comparison *stored)
{
    call->response->status = 200;
    call->response->content_type = "text/markdown; charset=utf-8";
    buf_clear(&call->response->body);
    const char *file_name = call_format(call, "comparison-%" PRId64 ".md", stored->id);
    if (file_name != NULL) {
        call_add_attachment(call, file_name);
    }
    comparison_markdown(&call->response->body, stored->comparison);
}

bool compare_answer(struct api_call *call, int64_t id, struct err *err)
{
    size_t format = 0;
    struct store_comparison *stored = NULL;
    struct compare_rows rows;
    if (!table_params_choice(call, "format", formats, &format, err) ||
        !store_comparison_get(call->snapshot, call_arena(call), id, &stored, err) ||
        !compare_rows_select(&rows, call, stored->comparison, err)) {
        return false;
    }
    if (format == FORMAT_CSV) {
        answer_csv(call, stored, &rows);
        return true;
    }
    if (format == FORMAT_MARKDOWN) {
        answer_markdown(call, stored);
        return true;
    }
    return answer_json(call, stored, &rows, err);
}

bool compare_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    return call_id(call, "comparison", &id, err) && compare_answer(call, id, err);
}
