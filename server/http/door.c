#include "server/http/door.h"

#include "server/http/origin.h"
#include "server/http/page.h"
#include "server/http/reply.h"

#include <stdio.h>
#include <string.h>

#define LOCATION_BYTES 512

static bool is_safe_method(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
           strcmp(method, "OPTIONS") == 0;
}

static bool check_host(const struct door *door, const struct exchange *x, struct err *err)
{
    const char *host = exchange_header(x, "Host");
    if (host == NULL && !x->is_http_1_0) {
        return err_set(err, ERR_BAD_REQUEST, "An HTTP/1.1 request names its Host");
    }
    if (!door->on_loopback || host == NULL || origin_host_allowed(host, door->public_url)) {
        return true;
    }
    return err_set(err, ERR_FORBIDDEN,
                   "This server listens on loopback and does not answer to the name \"%.100s\"; "
                   "behind a proxy start it with --public-url",
                   host);
}

static bool check_origin(const struct door *door, const struct exchange *x, struct err *err)
{
    const char *origin = exchange_header(x, "Origin");
    if (origin == NULL || is_safe_method(x->method) ||
        origin_is_own(origin, exchange_header(x, "Host"), door->public_url)) {
        return true;
    }
    return err_set(err, ERR_FORBIDDEN,
                   "A page of another site (%.100s) may not change anything here; behind a proxy "
                   "start the server with --public-url",
                   origin);
}

/* Probes must work without a token. */
static bool is_probe(const char *path)
{
    return strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
}

static enum access_role role_needed(const struct api_request *request)
{
    if (is_probe(request->path)) {
        return ACCESS_NOBODY;
    }
    if (strcmp(request->method, "DELETE") == 0) {
        return ACCESS_ADMIN;
    }
    return api_request_writes(request) ? ACCESS_UPLOADER : ACCESS_VIEWER;
}

static const char *request_header(const struct api_request *request, const char *name)
{
    return exchange_header(request->connection, name);
}

static int64_t request_read_body(const struct api_request *request, void *bytes, size_t len)
{
    return exchange_read(request->connection, bytes, len);
}

static void refuse(struct exchange *x, const struct err *err)
{
    static const struct api_header challenge = {
        "WWW-Authenticate",
        "Bearer realm=\"Kinetoscope\", Basic realm=\"Kinetoscope\", charset=\"UTF-8\""};
    reply_problem(x, err, err->code == ERR_UNAUTHORIZED ? &challenge : NULL);
}

static bool is_event_stream(const struct api_response *response)
{
    return response->stream != NULL && response->content_type != NULL &&
           strcmp(response->content_type, "text/event-stream") == 0;
}

static void send_answer(const struct door *door,
                        struct exchange *x,
                        struct api_response *response,
                        const atomic_bool *stopping)
{
    struct err err = ERR_INIT;
    if (!is_event_stream(response)) {
        reply_send(x, response, stopping);
    } else if (clients_begin_long(door->clients, x->client, &err)) {
        reply_send(x, response, stopping);
        clients_end_long(door->clients, x->client);
    } else {
        reply_problem(x, &err, NULL);
    }
}

static void answer_api(const struct door *door,
                       struct exchange *x,
                       const char *path,
                       const char *query,
                       const atomic_bool *stopping)
{
    const struct api_request request = {
        .method = x->method,
        .path = path,
        .query = query,
        .content_length = exchange_content_length(x),
        .header = request_header,
        .read_body = request_read_body,
        .connection = x,
    };
    struct err err = ERR_INIT;
    const char *authorization = exchange_header(x, "Authorization");
    if (!check_origin(door, x, &err) ||
        !access_check(door->access, authorization, role_needed(&request), &err)) {
        refuse(x, &err);
        return;
    }
    bool is_long = api_request_writes(&request);
    if (is_long && !clients_begin_long(door->clients, x->client, &err)) {
        reply_problem(x, &err, NULL);
        return;
    }
    struct api_response response;
    door->handle(door->api, &request, &response);
    if (is_long) {
        reply_send(x, &response, stopping);
        clients_end_long(door->clients, x->client);
    } else {
        send_answer(door, x, &response, stopping);
    }
    api_response_free(&response);
}

static void redirect_to_base(const struct door *door, struct exchange *x)
{
    char location[LOCATION_BYTES];
    (void)snprintf(location, sizeof location, "%s/", door->base_path);
    reply_redirect(x, location);
}

/* The path below the base path, "" for the base path itself, or NULL when it is not below it. */
static const char *below_base(const struct door *door, const char *path)
{
    size_t len = strlen(door->base_path);
    if (strncmp(path, door->base_path, len) != 0) {
        return NULL;
    }
    return path[len] == '/' || path[len] == '\0' ? path + len : NULL;
}

void door_answer(const struct door *door,
                 struct exchange *x,
                 const char *path,
                 const char *query,
                 const atomic_bool *stopping)
{
    struct err err = ERR_INIT;
    if (!check_host(door, x, &err)) {
        refuse(x, &err);
        return;
    }
    const char *below = below_base(door, path);
    if (below == NULL) {
        (void)err_set(&err, ERR_NOT_FOUND,
                      "There is nothing at %.200s; everything is below %.200s/", path,
                      door->base_path);
        refuse(x, &err);
    } else if (*below == '\0') {
        redirect_to_base(door, x);
    } else if (api_owns_path(below)) {
        answer_api(door, x, below, query, stopping);
    } else {
        page_answer(x, door->static_dir, below);
    }
}
