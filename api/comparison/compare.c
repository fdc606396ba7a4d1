/* Comparisons: made, listed, deleted; and the cycles behind one row. One comparison itself is in
 * compare_get. */
#include "api/catalogue/catalogue_json.h"
#include "api/comparison/compare_answer.h"
#include "api/comparison/compare_body.h"
#include "api/handlers.h"
#include "api/table/table_params.h"
#include "ingest/base/saturating.h"

#include <inttypes.h>

#define LIMIT_DEFAULT 100

bool compare_post(struct api_call *call, struct err *err)
{
    struct query_compare_request request;
    int64_t id = 0;
    if (!compare_body_read(&request, call, err) ||
        !query_compare_stored(call->snapshot, call_arena(call), &request, &id, err)) {
        return false;
    }
    call->query.count = 0; /* its parameters are those of GET: one at fault must not fail now */
    if (!compare_answer(call, id, err)) {
        return false;
    }
    call->response->status = 201;
    call_add_location(call, call_format(call, "/api/v1/comparisons/%" PRId64, id));
    return true;
}

/* ---- list ---- */

static void write_item(struct json_write *w,
                       const struct api *api,
                       const struct store_comparison *stored,
                       int64_t pairs)
{
    const struct comparison *comparison = stored->comparison;
    const struct comparison_role *roles = comparison->roles;
    jw_object_begin(w);
    jw_key_int(w, "id", stored->id);
    jw_key_string(w, "title", comparison->title);
    jw_key_string(w, "kind", cycle_kind_name(comparison->kind));
    jw_key_bool(w, "strict", comparison->strict);
    catalogue_json_time(w, "created_at", stored->created_at_s);
    jw_key_known_int(w, "trace_id", stored->trace_id == 0 ? INT64_MIN : stored->trace_id);
    jw_key_array_begin(w, "labels");
    jw_string(w, roles[SIDE_BASE].label);
    jw_string(w, roles[SIDE_CANDIDATE].label);
    jw_array_end(w);
    jw_key_known_int(w, "base_pid", roles[SIDE_BASE].pid);
    jw_key_known_int(w, "candidate_pid", roles[SIDE_CANDIDATE].pid);
    jw_key_int(w, "base_cycles", roles[SIDE_BASE].cycles);
    jw_key_int(w, "candidate_cycles", roles[SIDE_CANDIDATE].cycles);
    jw_key_double(w, "top_score", stored->top_score);
    jw_key_string(w, "verdict", comparison_verdict_name(comparison->verdict));
    jw_key_int(w, "pairs", pairs);
    compare_answer_url(w, api, stored->id);
    jw_object_end(w);
}

static bool count_pairs(struct api_call *call, int64_t group_id, int64_t *pairs, struct err *err)
{
    const struct store_page one = {.limit = 1};
    struct store_comparison *rows = NULL;
    size_t count = 0;
    return store_comparisons(call->snapshot, call_arena(call), group_id, &one, &rows, &count, pairs,
                             err);
}

bool compare_list(struct api_call *call, struct err *err)
{
    static const char *const no_texts[] = {NULL};
    struct store_page page;
    struct store_comparison *rows = NULL;
    size_t count = 0;
    int64_t total = 0;
    if (!table_params_page(&page, call, no_texts, NULL, LIMIT_DEFAULT, err)) {
        return false;
    }
    page.sort = NULL;
    if (!store_comparisons(call->snapshot, call_arena(call), 0, &page, &rows, &count, &total,
                           err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "comparisons");
    for (size_t i = 0; i < count; i++) {
        int64_t pairs = 0;
        if (!count_pairs(call, rows[i].group_id, &pairs, err)) {
            return false;
        }
        write_item(&w, call->api, &rows[i], pairs);
    }
    jw_array_end(&w);
    jw_key_int(&w, "total", total);
    jw_key_int(&w, "limit", page.limit);
    jw_key_int(&w, "offset", page.offset);
    jw_object_end(&w);
    return true;
}

/* ---- one row, cycle by cycle ---- */

static bool
read_word(const struct api_call *call, const char *name, const char **value, struct err *err)
{
    *value = query_string_get(&call->query, name);
    return *value != NULL ||
           err_set(err, ERR_BAD_REQUEST,
                   "The parameter %s is missing: function, metric and device name the row", name);
}

static void write_numbers(struct json_write *w,
                          const char *key,
                          const double *values,
                          size_t count,
                          double (*unit)(double))
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < count; i++) {
        jw_double(w, unit == NULL ? values[i] : unit(values[i]));
    }
    jw_array_end(w);
}

bool compare_series(struct api_call *call, struct err *err)
{
    static const char *const sides[SIDE_COUNT] = {"base", "candidate"};
    int64_t id = 0;
    const char *function = NULL;
    const char *metric = NULL;
    const char *device = NULL;
    struct query_beta_series series;
    if (!call_id(call, "comparison", &id, err) || !read_word(call, "function", &function, err) ||
        !read_word(call, "metric", &metric, err) || !read_word(call, "device", &device, err) ||
        !query_compare_series(call->snapshot, call_arena(call), id, function, metric, device,
                              &series, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    for (int side = 0; side < SIDE_COUNT; side++) {
        jw_key_object_begin(&w, sides[side]);
        write_numbers(&w, "cycle_ns", series.cycle_us[side], series.count[side], us_to_ns);
        write_numbers(&w, "beta_pct", series.beta_pct[side], series.count[side], NULL);
        jw_object_end(&w);
    }
    jw_object_end(&w);
    return true;
}

/* ---- delete ---- */

bool compare_delete(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct store_comparison *stored = NULL;
    struct store_snapshot *snapshot = call->snapshot;
    if (!call_id(call, "comparison", &id, err) ||
        !store_comparison_get(snapshot, call_arena(call), id, &stored, err)) {
        return false;
    }
    if (stored->trace_id != 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "Comparison %" PRId64 " is the report that was uploaded as trace %" PRId64
                       ": it goes with DELETE /api/v1/traces/%" PRId64,
                       id, stored->trace_id, stored->trace_id);
    }
    if (!store_comparison_delete(call->api->store, id, err)) {
        return false;
    }
    call->response->status = 204;
    return true;
}
