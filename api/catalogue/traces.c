#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/catalogue/patch_body.h"
#include "api/handlers.h"
#include "api/table/table_params.h"

#define LIMIT_DEFAULT 100

static bool answer_trace(struct api_call *call, int64_t id, struct err *err)
{
    struct json_write w = call_json(call, false);
    return catalogue_json_traces(&w, call, &id, 1, err);
}

/* `after=` or `before=`; an empty `after=` is the first page. */
static bool
read_cursor(struct store_trace_filter *filter, const struct api_call *call, struct err *err)
{
    const char *after = query_string_get(&call->query, "after");
    const char *before = query_string_word(&call->query, "before");
    filter->by_cursor = after != NULL || before != NULL;
    filter->before = before != NULL;
    filter->cursor = before != NULL ? before : query_string_word(&call->query, "after");
    bool is_double = after != NULL && before != NULL;
    return !(is_double || (filter->by_cursor && filter->page.offset > 0)) ||
           err_set(err, ERR_BAD_REQUEST, "give one of after=, before= and offset=");
}

/* Of all runs, or of the run that the path names. */
bool traces_list(struct api_call *call, struct err *err)
{
    static const char *const text_columns[] = {"run", "worker", NULL};
    struct store_trace_filter filter = {
        .run = call->params[0] != NULL ? call->params[0] : query_string_word(&call->query, "run"),
        .project = query_string_word(&call->query, "project"),
        .tag = query_string_word(&call->query, "tag"),
        .device_type = query_string_word(&call->query, "device_type"),
    };
    struct store_trace_page page;
    struct store_run *run = NULL;
    if (call->params[0] != NULL &&
        !store_run_get(call->snapshot, call_arena(call), call->params[0], &run, err)) {
        return false;
    }
    if (!table_params_page(&filter.page, call, text_columns, "uploaded_at", LIMIT_DEFAULT, err) ||
        !read_cursor(&filter, call, err) ||
        !store_trace_list(call->snapshot, call_arena(call), &filter, &page, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "traces");
    if (!catalogue_json_traces(&w, call, page.ids, page.count, err)) {
        return false;
    }
    jw_array_end(&w);
    if (page.total == STORE_NOT_COUNTED) {
        jw_key_string(&w, "total", NULL);
    } else {
        jw_key_int(&w, "total", page.total);
    }
    jw_key_string(&w, "next", page.next);
    jw_key_string(&w, "previous", page.previous);
    jw_object_end(&w);
    return true;
}

bool traces_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    return call_id(call, "trace", &id, err) && answer_trace(call, id, err);
}

bool traces_patch(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct patch_body patch;
    return call_id(call, "trace", &id, err) &&
           patch_body_read(&patch, PATCH_TRACE, call->request, call_arena(call), err) &&
           store_trace_patch(call->api->store, id, patch.tags, patch.note, err) &&
           answer_trace(call, id, err);
}

bool traces_delete(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    if (!call_id(call, "trace", &id, err) || !store_trace_delete(call->api->store, id, err)) {
        return false;
    }
    call->response->status = 204;
    return true;
}

bool traces_raw(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct store_trace *trace = NULL;
    struct arena *arena = call_arena(call);
    if (!call_id(call, "trace", &id, err) ||
        !store_trace_get(call->snapshot, arena, id, &trace, err) ||
        !store_blob_checked_path(call->api->store, arena, trace->sha256_hex, trace->size_bytes,
                                 &call->response->file_path, err)) {
        return false;
    }
    call->response->status = 200;
    call->response->content_type = "application/octet-stream";
    /* The content names itself, so that a download can go on after the file was mended. */
    call_add_header(call, "ETag", "\"%s\"", trace->sha256_hex);
    call_add_attachment(call, trace->file_name);
    return true;
}
