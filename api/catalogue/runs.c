#include "api/authorize.h"
#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/catalogue/patch_body.h"
#include "api/handlers.h"
#include "api/table/table_params.h"
#include "ingest/base/order.h"
#include "ingest/query/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

static const char *const text_columns[] = {"name", NULL};

#define LIMIT_DEFAULT 100

bool runs_list(struct api_call *call, struct err *err)
{
    struct table_params params;
    struct store_run *runs = NULL;
    size_t count = 0;
    struct store_total total;
    struct store_snapshot *snapshot = call->snapshot;
    if (!table_params_read(&params, call, text_columns, "uploaded_at", LIMIT_DEFAULT, err)) {
        return false;
    }
    params.page.tag = query_string_word(&call->query, "tag");
    params.page.project = query_string_word(&call->query, "project");
    if (!store_runs(snapshot, call_arena(call), &params.page, &runs, &count, &total, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "runs");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(&w);
        catalogue_json_run_members(&w, call_arena(call), call->api, &runs[i]);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_key_int(&w, "total", total.rows);
    jw_key_bool(&w, "total_is_least", total.is_least);
    jw_object_end(&w);
    return true;
}

/* A trace where the run lists it. */
struct listed {
    const struct store_trace *trace;
    int64_t rank; /* INT64_MAX: unknown, so that they come last */
};

struct list {
    struct listed *all; /* NULL: not asked for */
    size_t count;
    size_t first, rows; /* of the page */
    int64_t *spans;     /* of all, in order */
    const char **formats;
};

ORDER_BY(in_order,
         struct listed,
         ORDER_UP(rank),
         ORDER_TEXT(trace->worker),
         ORDER_UP(trace->span),
         ORDER_UP(trace->id))

static bool
fill_list(struct list *list, struct arena *arena, const struct store_trace *traces, size_t count)
{
    *list = (struct list){.all = arena_calloc(arena, count + 1, sizeof *list->all),
                          .count = count,
                          .spans = arena_calloc(arena, count + 1, sizeof *list->spans),
                          .formats = arena_calloc(arena, count + 1, sizeof *list->formats)};
    if (list->all == NULL || list->spans == NULL || list->formats == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t rank = query_rank_of(INT64_MIN, &traces[i]);
        list->all[i] = (struct listed){&traces[i], rank == INT64_MIN ? INT64_MAX : rank};
        list->spans[i] = traces[i].span;
        list->formats[i] = traces[i].format;
    }
    qsort(list->all, count, sizeof *list->all, in_order);
    qsort(list->spans, count, sizeof *list->spans, order_i64_at);
    qsort(list->formats, count, sizeof *list->formats, order_text_at);
    return true;
}

static bool read_list(struct list *list, struct api_call *call, struct err *err)
{
    struct store_page page = {.limit = 0};
    struct store_trace *traces = NULL;
    size_t count = 0;
    if (!query_string_int(&call->query, "limit", 0, INT64_MAX, &page.limit, err) ||
        !query_string_int(&call->query, "offset", 0, INT64_MAX, &page.offset, err) ||
        !store_traces(call->snapshot, call_arena(call), call->params[0], &traces, &count, err)) {
        return false;
    }
    if (!fill_list(list, call_arena(call), traces, count)) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the traces of a run");
    }
    list->rows = table_params_slice(&page, count, &list->first);
    return true;
}

static bool write_list(struct json_write *w,
                       const struct api_call *call,
                       const struct list *list,
                       struct err *err)
{
    bool ok = true;
    jw_key_array_begin(w, "spans");
    for (size_t i = 0; i < list->count; i++) {
        if (i == 0 || list->spans[i] != list->spans[i - 1]) {
            jw_int(w, list->spans[i]);
        }
    }
    jw_array_end(w);
    jw_key_array_begin(w, "formats");
    for (size_t i = 0; i < list->count; i++) {
        if (i == 0 || strcmp(list->formats[i], list->formats[i - 1]) != 0) {
            jw_string(w, list->formats[i]);
        }
    }
    jw_array_end(w);
    jw_key_array_begin(w, "trace_list");
    for (size_t i = 0; ok && i < list->rows; i++) {
        ok = catalogue_json_trace(w, call, list->all[list->first + i].trace, err);
    }
    jw_array_end(w);
    jw_key(w, "last_trace"); /* there is one: a run without traces is not found */
    return ok && catalogue_json_trace(w, call, list->all[list->count - 1].trace, err);
}

static bool answer_run(struct api_call *call, bool with_traces, struct err *err)
{
    struct list list = {.all = NULL};
    struct store_run *run = NULL;
    if (!store_run_get(call->snapshot, call_arena(call), call->params[0], &run, err) ||
        (with_traces && !read_list(&list, call, err))) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    catalogue_json_run_members(&w, call_arena(call), call->api, run);
    if (list.all != NULL && !write_list(&w, call, &list, err)) {
        return false;
    }
    jw_object_end(&w);
    return true;
}

bool runs_get(struct api_call *call, struct err *err)
{
    return answer_run(call, true, err);
}

/* Who moves a run reads where it is, and has to read where it goes. */
static bool move_run(const struct api_call *call, const char *project, struct err *err)
{
    if (project == NULL) {
        return true;
    }
    return (store_projects_have(authorize_projects(call), project) ||
            err_set(err, ERR_FORBIDDEN, "The token does not belong to the project \"%s\"",
                    project)) &&
           store_run_move(call->api->store, call->params[0], project, err);
}

bool runs_patch(struct api_call *call, struct err *err)
{
    struct patch_body patch;
    return patch_body_read(&patch, PATCH_RUN, call->request, call_arena(call), err) &&
           move_run(call, patch.project, err) &&
           store_run_patch(call->api->store, call->params[0], patch.tags, patch.note,
                           patch.has_pinned ? &patch.pinned : NULL, err) &&
           answer_run(call, false, err);
}

bool runs_delete(struct api_call *call, struct err *err)
{
    if (!store_run_delete(call->api->store, call->params[0], err)) {
        return false;
    }
    call->response->status = 204;
    return true;
}
