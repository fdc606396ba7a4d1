#include "server/request_guard.h"

#include "server/auth/audit.h"
#include "server/auth/login.h"
#include "server/guard/client_address.h"
#include "server/guard/origin.h"
#include "server/http/negotiate.h"
#include "server/http/page.h"
#include "server/http/reply.h"

#include <civetweb.h>
#include <stdio.h>
#include <string.h>

#define LOCATION_BYTES 512

static bool is_safe_method(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           strcmp(method, "OPTIONS") == 0;
}

static bool
check_host(const struct request_guard *guard, const struct http_request *req, struct err *err)
{
    const char *host = http_request_header(req, "Host");
    if (host == NULL && !req->is_http_1_0) {
        return err_set(err, ERR_BAD_REQUEST, "An HTTP/1.1 request names its Host");
    }
    if (!guard->on_loopback || host == NULL || origin_host_allowed(host, guard->public_url)) {
        return true;
    }
    return err_set(err, ERR_FORBIDDEN,
                   "This server listens on loopback and does not answer to the name \"%.100s\"; "
                   "behind a proxy start it with --public-url",
                   host);
}

/* A page whose name was made to resolve to this server holds none of its tokens: what it could get
 * is what is given to everybody. */
static bool check_name(const struct request_guard *guard,
                       const struct http_request *req,
                       const struct api_subject *subject,
                       struct err *err)
{
    const char *host = http_request_header(req, "Host");
    if (subject->name != NULL || host == NULL || origin_host_is_ours(host, guard->public_url)) {
        return true;
    }
    return err_set(err, ERR_FORBIDDEN,
                   "Without a token this server answers to its address, to a name without a dot, "
                   "and to that of --public-url, not to \"%.100s\"",
                   host);
}

/* Browsers say where a request that changes something comes from. What rests on a cookie, which a
 * browser sends of its own accord, has to say so; who sends a token by a header is no browser that
 * another site leads by the hand. */
static bool check_origin(const struct request_guard *guard,
                         const struct http_request *req,
                         const struct api_subject *subject,
                         struct err *err)
{
    const char *origin = http_request_header(req, "Origin");
    const char *site = http_request_header(req, "Sec-Fetch-Site");
    if (is_safe_method(req->method)) {
        return true;
    }
    bool is_told = origin != NULL || (site != NULL && strcmp(site, "none") != 0);
    bool is_own = origin != NULL
                      ? origin_is_own(origin, http_request_header(req, "Host"), guard->public_url)
                      : site != NULL && strcmp(site, "same-origin") == 0;
    if (is_own || (!is_told && !subject->has_session)) {
        return true;
    }
    return err_set(err, ERR_FORBIDDEN,
                   "A page of another site (%.100s) may not change anything here; behind a proxy "
                   "start the server with --public-url",
                   origin == NULL ? "it does not say which" : origin);
}

static const char *request_header(const struct api_request *request, const char *name)
{
    return http_request_header(request->connection, name);
}

static int64_t request_read_body(const struct api_request *request, void *bytes, size_t len)
{
    return http_request_read(request->connection, bytes, len);
}

static bool request_send_part(const struct api_request *request, struct api_response *response)
{
    return reply_part(request->connection, response);
}

static void refuse(struct http_request *req, const struct err *err)
{
    static const struct api_header challenge = {
        "WWW-Authenticate",
        /* No Basic: a browser would ask for a user and a password, also behind the page's back. */
        "Bearer realm=\"Kinetoscope\""};
    reply_problem(req, err, err->code == ERR_UNAUTHORIZED ? &challenge : NULL);
}

static bool is_event_stream(const struct api_response *response)
{
    return response->stream != NULL && response->content_type != NULL &&
           strcmp(response->content_type, "text/event-stream") == 0;
}

static void send_answer(const struct request_guard *guard,
                        struct http_request *req,
                        struct api_response *response,
                        const atomic_bool *stopping,
                        const struct reply_place *place)
{
    struct err err = ERR_INIT;
    if (!is_event_stream(response)) {
        reply_send(req, response, stopping, place);
    } else if (connection_limiter_begin_long(guard->limiter, req->client, &err)) {
        reply_send(req, response, stopping, NULL);
        connection_limiter_end_long(guard->limiter, req->client);
    } else {
        reply_problem(req, &err, NULL);
    }
}

/* To be asked after the access was decided. False: answers to this are not kept. */
static bool find_place(const struct request_guard *guard,
                       const struct http_request *req,
                       const struct api_request *request,
                       struct reply_place *place)
{
    if (guard->cache == NULL || (!req->is_head && strcmp(req->method, "GET") != 0)) {
        return false;
    }
    const char *reader = request->subject == NULL ? NULL : request->subject->projects;
    *place = (struct reply_place){
        .cache = guard->cache,
        .key = {.reader = reader == NULL ? "" : reader,
                .path = request->path,
                .query = request->query,
                .gzipped = reply_may_gzip(req)},
        .version = guard->version(guard->api),
    };
    return true;
}

/* What is known of a request before it is answered. */
struct visitor {
    struct access_visit visit;
    char client[CLIENT_ADDRESS_BYTES];
};

/* Probes must work whatever is shown, and whatever the store is at. */
static bool is_probe(const char *path)
{
    return strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
}

/* False (with the error to answer) for a token that is wrong. */
static bool identify(const struct request_guard *guard,
                     struct http_request *req,
                     struct visitor *visitor,
                     struct err *err)
{
    const struct mg_request_info *info = mg_get_request_info(req->conn);
    const char *forwarded_for[HTTP_REQUEST_LINES_MAX];
    size_t line_count = http_request_header_lines(req, "X-Forwarded-For", forwarded_for);
    client_address(visitor->client, info->remote_addr, forwarded_for, line_count,
                   guard->trusted_proxies, guard->trusted_proxy_count);
    const struct access_claim claim = {.client = visitor->client,
                                       .authorization = http_request_header(req, "Authorization"),
                                       .cookie = http_request_header(req, "Cookie")};
    bool stopped = false;
    bool known = access_enter(guard->access, &claim, &visitor->visit, &stopped, err);
    audit_stopped(guard->log, visitor->client, stopped);
    return known;
}

/* Whether this is a browser that shows what it gets, and not a script's or the page's question. */
static bool is_for_eyes(const struct http_request *req)
{
    return (req->is_head || strcmp(req->method, "GET") == 0) &&
           http_request_header(req, "Authorization") == NULL &&
           negotiate_html(http_request_header(req, "Accept"));
}

/* Failures without a token are what every visitor begins with; those with one, and what should have
 * changed something, are recorded. */
static void refuse_access(const struct request_guard *guard,
                          struct http_request *req,
                          const struct visitor *visitor,
                          const char *query,
                          const struct err *err)
{
    if (err->code == ERR_UNAUTHORIZED && is_for_eyes(req)) {
        login_redirect(guard, req, req->path, query);
        return;
    }
    refuse(req, err);
    bool shows_token = http_request_header(req, "Authorization") != NULL;
    if (err->code != ERR_TOO_MANY && (shows_token || !is_safe_method(req->method))) {
        audit(guard->log, &visitor->visit.subject, visitor->client, "refused", req, req->path);
    }
}

static void answer_request(const struct request_guard *guard,
                           struct http_request *req,
                           const struct api_request *request,
                           const atomic_bool *stopping)
{
    struct err err = ERR_INIT;
    bool is_long = api_request_writes(request);
    if (is_long && !connection_limiter_begin_long(guard->limiter, req->client, &err)) {
        reply_problem(req, &err, NULL);
        return;
    }
    struct reply_place place;
    bool may_keep = find_place(guard, req, request, &place);
    if (may_keep && reply_from_cache(req, &place)) {
        return;
    }
    struct api_response response;
    guard->handle(guard->api, request, &response);
    if (is_long) {
        reply_send(req, &response, stopping, NULL);
        connection_limiter_end_long(guard->limiter, req->client);
    } else {
        send_answer(guard, req, &response, stopping, may_keep ? &place : NULL);
    }
    api_response_free(&response);
}

static void answer_api(const struct request_guard *guard,
                       struct http_request *req,
                       const char *query,
                       const atomic_bool *stopping)
{
    struct visitor visitor = {.client = ""};
    const struct api_request request = {
        .method = req->method,
        .path = req->path,
        .query = query,
        .match = &req->match,
        .content_length = http_request_content_length(req),
        .header = request_header,
        .read_body = request_read_body,
        .send_part = request_send_part,
        .connection = req,
        .subject = &visitor.visit.subject,
    };
    struct err err = ERR_INIT;
    bool may =
        is_probe(req->path) ||
        (identify(guard, req, &visitor, &err) && check_origin(guard, req, request.subject, &err) &&
         access_check(request.subject, api_request_role(&request), &err) &&
         check_name(guard, req, request.subject, &err));
    if (may) {
        answer_request(guard, req, &request, stopping);
        const char *action = api_request_action(&request);
        if (action != NULL) {
            audit(guard->log, request.subject, visitor.client, action, req, req->path);
        }
    } else {
        refuse_access(guard, req, &visitor, query, &err);
    }
    access_leave(guard->access, &visitor.visit);
}

/* Its scripts and styles are no secret: they are the same for everybody. */
static void
answer_page(const struct request_guard *guard, struct http_request *req, const char *query)
{
    struct visitor visitor;
    struct err err = ERR_INIT;
    const char *path = req->path;
    bool is_first = strcmp(path, "/") == 0 || strcmp(path, "/index.html") == 0;
    if (!login_owns_path(path) && !(is_first && is_for_eyes(req))) {
        page_answer(req, guard->static_dir, path);
        return;
    }
    if (!identify(guard, req, &visitor, &err) ||
        !check_origin(guard, req, &visitor.visit.subject, &err)) {
        refuse_access(guard, req, &visitor, query, &err);
    } else if (login_owns_path(path)) {
        login_answer(guard, req, path, query, visitor.client, &visitor.visit.subject);
    } else if (access_check(&visitor.visit.subject, ACCESS_ROLE_VIEWER, &err)) {
        page_answer(req, guard->static_dir, path);
    } else {
        login_redirect(guard, req, path, query);
    }
    access_leave(guard->access, &visitor.visit);
}

static void redirect_to_base(const struct request_guard *guard, struct http_request *req)
{
    char location[LOCATION_BYTES];
    (void)snprintf(location, sizeof location, "%s/", guard->base_path);
    reply_redirect(req, location);
}

void request_guard_answer(const struct request_guard *guard,
                          struct http_request *req,
                          const char *query,
                          const atomic_bool *stopping)
{
    struct err err = ERR_INIT;
    if (!check_host(guard, req, &err)) {
        refuse(req, &err);
        return;
    }
    if (req->path == NULL) {
        (void)err_set(&err, ERR_NOT_FOUND,
                      "There is nothing at %.200s; everything is below %.200s/",
                      mg_get_request_info(req->conn)->local_uri_raw, guard->base_path);
        refuse(req, &err);
    } else if (*req->path == '\0') {
        redirect_to_base(guard, req);
    } else if (api_owns_path(req->path)) {
        answer_api(guard, req, query, stopping);
    } else {
        answer_page(guard, req, query);
    }
}
