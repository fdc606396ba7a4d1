/* Another analysis of stored uploads, for admins. */
#include "api/authorize.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/json_body.h"
#include "ingest/base/text/json_write.h"

#define TRACES_MAX 1000
#define RUN_MAX_BYTES ((size_t)1024)
#define ID_BYTES 24

static bool
read_run(struct api_call *call, const json_t *run, struct store_again *which, struct err *err)
{
    return run == NULL ||
           (json_body_text(run, "\"run\"", RUN_MAX_BYTES, call_arena(call), &which->run, err) &&
            store_run_readable(call->snapshot, which->run, authorize_projects(call), err));
}

/* `ids` becomes a JSON array of them. */
static bool
read_traces(const struct api_call *call, const json_t *traces, struct buf *ids, struct err *err)
{
    size_t count = json_array_size(traces);
    if (!json_is_array(traces) || count == 0 || count > TRACES_MAX) {
        return err_set(err, ERR_BAD_REQUEST, "\"traces\" must be an array of 1 to %d ids",
                       TRACES_MAX);
    }
    struct json_write w;
    jw_init(&w, ids, true);
    jw_array_begin(&w);
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_array_get(traces, i);
        if (!json_is_integer(id)) {
            return err_set(err, ERR_BAD_REQUEST, "\"traces\" must be an array of ids: numbers");
        }
        if (!authorize_trace(call, json_integer_value(id), err) ||
            !store_trace_check(call->snapshot, json_integer_value(id), err)) {
            return false;
        }
        jw_int(&w, json_integer_value(id));
    }
    jw_array_end(&w);
    return !ids->failed || err_set(err, ERR_NO_MEMORY, "No memory for the ids of traces");
}

/* `ids` lives as long as *which. */
static bool read_body(struct api_call *call,
                      json_t *body,
                      struct buf *ids,
                      struct store_again *which,
                      struct err *err)
{
    static const char *const known[] = {"run", "traces", NULL};
    if (!json_body_knows(body, known, err)) {
        return false;
    }
    const json_t *run = json_object_get(body, "run");
    const json_t *traces = json_object_get(body, "traces");
    *which = (struct store_again){.projects = authorize_projects(call)};
    if (run != NULL && traces != NULL) {
        return err_set(err, ERR_BAD_REQUEST,
                       "Name a \"run\" or \"traces\", not both: {} is everything");
    }
    if (traces == NULL) {
        return read_run(call, run, which, err);
    }
    bool ok = read_traces(call, traces, ids, err);
    which->trace_ids = ids->ptr;
    return ok;
}

bool reanalyse_post(struct api_call *call, struct err *err)
{
    struct store_again which;
    struct jobs_again again;
    struct buf ids;
    json_t *body = json_body_read(call->request, err);
    if (body == NULL) {
        return false;
    }
    buf_init(&ids, (size_t)TRACES_MAX * ID_BYTES);
    bool ok = read_body(call, body, &ids, &which, err) &&
              jobs_analyse_again(call->api->jobs, &which, &again, err);
    json_decref(body);
    buf_free(&ids);
    if (!ok) {
        return false;
    }
    struct json_write w = call_json(call, false);
    call->response->status = 202;
    jw_object_begin(&w);
    jw_key_int(&w, "queued", (int64_t)again.queued);
    jw_key_int(&w, "left", (int64_t)again.left);
    jw_object_end(&w);
    return true;
}
