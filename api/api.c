/* A request's way: its path finds a route, path and query are decoded, the handler fills the
 * response, and whatever went wrong becomes a problem. */
#include "api/api.h"

#include "api/agents/mcp.h"
#include "api/authorize.h"
#include "api/call.h"
#include "api/problem.h"
#include "api/route.h"
#include "ingest/base/text/affix.h"
#include "ingest/base/text/json_small.h"
#include "ingest/base/thread.h"

#include <string.h>
#include <sys/random.h>

/* Far above any sensible answer: an answer beyond it is refused with a hint at `limit`. */
#define BODY_MAX_BYTES ((size_t)1 << 30)
#define MS_PER_S 1000

void api_response_init(struct api_response *response)
{
    *response = (struct api_response){.status = 200};
    arena_init(&response->arena, 0);
    buf_init(&response->body, BODY_MAX_BYTES);
}

void api_response_tell_age(struct api_response *response)
{
    int64_t age_ms = store_snapshot_age_ms(response->snapshot);
    response->age_s = age_ms < 0 ? 0 : age_ms / MS_PER_S + 1;
    response->is_kept = response->is_kept && age_ms < 0;
}

static void end_stream(struct api_response *response)
{
    if (response->stream_end != NULL) {
        response->stream_end(response);
        response->stream_end = NULL;
    }
}

void api_response_free(struct api_response *response)
{
    end_stream(response);
    buf_free(&response->body);
    arena_free(&response->arena);
}

void problem_members(struct json_write *w, const struct err *err)
{
    jw_key_string(w, "type", "about:blank");
    jw_key_string(w, "title", err_title(err->code));
    jw_key_int(w, "status", err_http_status(err->code));
    jw_key_string(w, "detail", err->msg);
    jw_key_string(w, "code", err_code_text(err->code));
    if (err->byte_off != ERR_NO_OFFSET && err->byte_off <= INT64_MAX) {
        jw_key_int(w, "byte_offset", (int64_t)err->byte_off);
    }
}

const char *problem_retry_after(void)
{
    static const char *const seconds[] = {"2", "3", "4", "5", "6", "7", "8", "9"};
    unsigned char chance = 0;
    (void)!getrandom(&chance, sizeof chance, GRND_NONBLOCK);
    return seconds[chance % (sizeof seconds / sizeof *seconds)];
}

void api_problem(struct api_response *response, const struct err *err)
{
    buf_free(&response->body);
    response->is_kept = false;
    response->header_count = 0;
    response->file_path = NULL;
    end_stream(response);
    response->stream = NULL;
    response->stream_is_packed = false;
    response->stream_may_pack = false;
    response->status = err_http_status(err->code);
    response->content_type = "application/problem+json";
    if (err->code == ERR_UNAVAILABLE || err->code == ERR_TOO_MANY) {
        response->headers[response->header_count++] =
            (struct api_header){"Retry-After", problem_retry_after()};
    }
    struct json_write w;
    jw_init(&w, &response->body, false);
    jw_object_begin(&w);
    problem_members(&w, err);
    jw_object_end(&w);
}

static bool decode_request(struct api_call *call, struct err *err)
{
    const struct route_param *params = call->request->match->params;
    for (size_t i = 0; i < ROUTE_PARAMS_MAX && params[i].text != NULL; i++) {
        if (!query_string_decode(&call->params[i], call_arena(call), params[i].text, params[i].len,
                                 false, err)) {
            return false;
        }
    }
    const char *query = call->request->query;
    return query_string_parse(&call->query, call_arena(call), query == NULL ? "" : query, err);
}

static bool run_handler(struct api_call *call, const struct route *route, struct err *err)
{
    if (!decode_request(call, err) || !authorize_request(call, route->target, err) ||
        !route_knows(route, &call->query, err)) {
        return false;
    }
    if (route->writes) { /* it may wait for its body, and reads back what it wrote */
        store_snapshot_close(call->snapshot);
    }
    return route->handle(call, err);
}

/* Agents are answered beside the table: their tools call its handlers, so that none may be one. */
static bool run_agents(struct api_call *call, const struct route *route, struct err *err)
{
    return decode_request(call, err) && authorize_request(call, route->target, err) &&
           route_knows(route, &call->query, err) && agents_mcp(call, err);
}

static bool run_route(struct api_call *call, const struct route *route, struct err *err)
{
    bool is_agents = route->target == TARGET_AGENTS;
    if (is_agents ? !run_agents(call, route, err) : !run_handler(call, route, err)) {
        return false;
    }
    if (call->response->body.failed) {
        return err_set(
            err, ERR_NO_MEMORY,
            "The answer does not fit into the %zu MiB that one may take: ask for a part of "
            "it (limit=, or /api/v1/traces/{id}/tree/{thread} for a call tree)",
            BODY_MAX_BYTES >> 20);
    }
    return true;
}

/* "/api/v1/runs/x/traces": where curl -T sends a file when the address has no slash at its end. */
static bool is_traces_of_run(const char *path)
{
    struct route_param params[ROUTE_PARAMS_MAX];
    return route_fits("/api/v1/runs/{run}/traces", path, params);
}

/* The two ways of curl to upload want the one a slash at the end, and the other none. */
static const char *slash_hint(const struct api_request *request)
{
    if (strcmp(request->method, "PUT") == 0 && is_traces_of_run(request->path)) {
        return ": add a slash at the end, so that curl -T sends the file's name";
    }
    if (strcmp(request->method, "POST") == 0 && text_ends(request->path, "/traces/")) {
        return ": a form (curl -F) goes to the same address without the slash at its end";
    }
    return "";
}

static void answer_without_route(struct api_call *call)
{
    const struct api_request *request = call->request;
    const char *allow = request->match->allow;
    struct err err = ERR_INIT;
    if (*allow == '\0') {
        (void)err_set(&err, ERR_NOT_FOUND, "There is nothing at %.300s%s", request->path,
                      strcmp(request->method, "PUT") == 0 ? API_UPLOAD_HINT : "");
        api_problem(call->response, &err);
        return;
    }
    if (strcmp(request->method, "OPTIONS") == 0) {
        call->response->status = 204;
    } else {
        (void)err_set(&err, ERR_METHOD, "%.300s does not answer %.20s, but %s%s", request->path,
                      request->method, allow, slash_hint(request));
        api_problem(call->response, &err);
    }
    call_add_header(call, "Allow", "%s", allow);
}

uint64_t api_version(const struct api *api)
{
    return store_version(api->store);
}

static void
log_failure(const struct api *api, const struct api_request *request, const struct err *err)
{
    const struct log_field fields[] = {
        {.name = "method", .kind = LOG_FIELD_TEXT, .text = request->method},
        {.name = "path", .kind = LOG_FIELD_TEXT, .text = request->path},
        {.name = "error", .kind = LOG_FIELD_TEXT, .text = err->msg},
    };
    log_record(api->options.log, LOG_ERROR, "a request failed", fields,
               sizeof fields / sizeof fields[0]);
}

static bool is_missing(const struct err *err)
{
    return err->code == ERR_NOT_FOUND || err->code == ERR_GONE;
}

/* What is sent already cannot be taken back. A body that failed then has lost its client. */
static void fail(struct api_call *call, const struct err *err)
{
    struct api_response *response = call->response;
    bool is_gone = response->has_parts && response->body.failed;
    struct err shown = *err;
    if (store_snapshot_age_ms(call->snapshot) >= 0 && is_missing(err)) {
        (void)err_set(&shown, ERR_UNAVAILABLE,
                      "The database does not answer, and this was not there lately; try again");
    }
    if (response->has_parts) {
        response->is_broken = true;
    } else {
        api_problem(response, &shown);
    }
    if (!is_gone && (response->is_broken || response->status >= 500)) {
        log_failure(call->api, call->request, err);
    }
}

void api_handle(struct api *api, const struct api_request *request, struct api_response *response)
{
    api_response_init(response);
    response->api = api;
    response->request = request;
    struct store_snapshot snapshot;
    store_snapshot_init(&snapshot, api->store);
    struct api_call call = {
        .api = api, .request = request, .response = response, .snapshot = &snapshot};
    response->snapshot = &snapshot;
    const struct route *route = request->match->route;
    if (route == NULL) {
        answer_without_route(&call);
        return;
    }
    struct err err = ERR_INIT;
    response->is_kept = route->is_kept;
    if (!route->writes) {
        store_snapshot_may_be_old(&snapshot);
    }
    if (run_route(&call, route, &err)) {
        api_response_tell_age(response);
    } else {
        fail(&call, &err);
    }
    store_snapshot_close(&snapshot);
    response->snapshot = NULL;
    jobs_mend_losses(api->jobs);
}

/* ---- a request within one ---- */

static const char *no_header(const struct api_request *request, const char *name)
{
    (void)request;
    (void)name;
    return NULL;
}

struct within {
    struct api_call call;
    const struct route *route;
    json_t *answer; /* NULL: `err` says why */
    struct err *err;
};

static void *answer_within(void *argument)
{
    struct within *within = argument;
    const struct buf *body = &within->call.response->body;
    if (!run_handler(&within->call, within->route, within->err)) {
        return NULL;
    }
    if (body->failed) {
        (void)err_set(within->err, ERR_NO_MEMORY, "No memory for an answer");
    } else {
        within->answer = json_small_parse(body->ptr, body->len, 0, "The answer", within->err);
    }
    return NULL;
}

json_t *call_within(struct api_call *call, const char *path, const char *query, struct err *err)
{
    struct route_match match;
    struct api_response response;
    struct api_request request = *call->request;
    route_find("GET", path, &match);
    if (match.route == NULL || match.route->handle == NULL) {
        (void)err_set(err, ERR_NOT_FOUND, "There is nothing at %.300s", path);
        return NULL;
    }
    request.method = "GET";
    request.path = path;
    request.query = query;
    request.match = &match;
    request.content_length = -1;
    request.header = no_header;
    request.read_body = NULL;
    request.send_part = NULL;
    api_response_init(&response);
    response.api = call->api;
    response.request = &request;
    struct within within = {.call = {.api = call->api,
                                     .request = &request,
                                     .response = &response,
                                     .snapshot = call->snapshot},
                            .route = match.route,
                            .err = err};
    /* The stack of a request thread has room for one request, not for one within another. */
    if (thread_call(answer_within, &within) != 0) {
        (void)err_set(err, ERR_NO_MEMORY, "No resources for an answer");
    }
    api_response_free(&response);
    return within.answer;
}

static bool is_safe_method(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           strcmp(method, "OPTIONS") == 0;
}

bool api_request_writes(const struct api_request *request)
{
    const struct route *route = request->match->route;
    return route != NULL ? route->writes : !is_safe_method(request->method);
}

/* What no route answers is refused anyway; without a token not even that is told. */
enum access_role api_request_role(const struct api_request *request)
{
    const struct route *route = request->match->route;
    if (route != NULL) {
        return route_role(route);
    }
    return is_safe_method(request->method) ? ACCESS_ROLE_VIEWER : ACCESS_ROLE_UPLOADER;
}

const char *api_request_action(const struct api_request *request)
{
    const struct route *route = request->match->route;
    return route == NULL ? NULL : route_action(route);
}
