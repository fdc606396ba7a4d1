#include "server/http.h"

#include "api/service/metrics.h"
#include "ingest/base/monotonic.h"
#include "server/guard/connection_limiter.h"
#include "server/guard/origin.h"
#include "server/guard/sockets.h"
#include "server/http/http_request.h"
#include "server/http/reply.h"
#include "server/http/response_cache.h"
#include "server/request_guard.h"

#include <civetweb.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A connection holds a thread, so there are more than one client may have connections. Each takes
 * some pages of stack and no more. */
#define THREADS_DEFAULT 256U
/* An idle connection holds a thread, so it may not stay long. Clients are told a shorter time
 * (head.c). */
#define KEEP_ALIVE_TIMEOUT_MS "5000"
#define QUEUE_LEN 256
#define STATUS_NOT_SENT 499

struct http {
    struct mg_context *context;
    struct connection_limiter *limiter;
    struct request_guard guard;
    struct limits limits;
    const struct log *log;
    uint16_t port;
    atomic_bool stopping;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool is_open;
    unsigned active;   /* requests being answered */
    char message[200]; /* civetweb's last complaint */
};

/* ---- requests ---- */

static void enter(struct http *http)
{
    (void)pthread_mutex_lock(&http->lock);
    while (!http->is_open && !atomic_load(&http->stopping)) {
        (void)pthread_cond_wait(&http->changed, &http->lock);
    }
    http->active++;
    (void)pthread_mutex_unlock(&http->lock);
}

static void leave(struct http *http)
{
    (void)pthread_mutex_lock(&http->lock);
    http->active--;
    (void)pthread_cond_broadcast(&http->changed);
    (void)pthread_mutex_unlock(&http->lock);
}

static void refuse_stopping(struct http_request *req)
{
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_UNAVAILABLE, "The server is stopping; try again in a moment");
    req->close = true;
    reply_problem(req, &err, NULL);
}

/* civetweb has room for more than the limit, so that what is somewhat too long can be told so. */
static bool check_lengths(const struct http *http, struct mg_connection *conn, struct err *err)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    uint64_t url_bytes = strlen(info->request_uri);
    url_bytes += info->query_string == NULL ? 0 : strlen(info->query_string) + 1;
    uint64_t head_bytes = url_bytes;
    for (int i = 0; i < info->num_headers; i++) {
        const struct mg_header *header = &info->http_headers[i];
        head_bytes += strlen(header->name) + strlen(header->value) + sizeof ": \r\n" - 1;
    }
    if (url_bytes > http->limits.url_bytes) {
        return err_set(err, ERR_URL_TOO_LONG,
                       "A URL with its query may have %" PRIu64 " bytes (--max-url), not %" PRIu64,
                       http->limits.url_bytes, url_bytes);
    }
    return head_bytes <= http->limits.head_bytes ||
           err_set(err, ERR_HEAD_TOO_LARGE,
                   "The head of a request may have %" PRIu64 " bytes (--max-header), not %" PRIu64,
                   http->limits.head_bytes, head_bytes);
}

/* The path below the base path, "" for the base path itself, or NULL when it is not below it. */
static const char *below_base(const char *base_path, const char *path)
{
    size_t len = strlen(base_path);
    if (strncmp(path, base_path, len) != 0) {
        return NULL;
    }
    return path[len] == '/' || path[len] == '\0' ? path + len : NULL;
}

static void answer(struct http *http,
                   struct http_request *req,
                   struct client *client,
                   struct mg_connection *conn)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    struct err err = ERR_INIT;
    bool is_plain = http_request_init(req, conn, &err);
    req->path = below_base(http->guard.base_path, info->local_uri_raw);
    route_find(req->method, req->path == NULL ? "" : req->path, &req->match);
    req->client = client;
    req->silence_ms = (int64_t)http->limits.request_timeout_s * 1000;
    if (!is_plain || !check_lengths(http, conn, &err)) {
        req->close = true;
        reply_problem(req, &err, NULL);
    } else if (atomic_load(&http->stopping)) {
        refuse_stopping(req);
    } else {
        const char *query = info->query_string == NULL ? "" : info->query_string;
        request_guard_answer(&http->guard, req, query, &http->stopping);
    }
}

static void log_access(const struct http *http,
                       const struct http_request *req,
                       const struct mg_request_info *info,
                       uint64_t took_us)
{
    if (!log_takes(http->log, LOG_DEBUG)) {
        return;
    }
    const struct log_field fields[] = {
        {.name = "client", .kind = LOG_FIELD_TEXT, .text = info->remote_addr},
        {.name = "method", .kind = LOG_FIELD_TEXT, .text = req->method},
        {.name = "path", .kind = LOG_FIELD_TEXT, .text = info->local_uri_raw},
        {.name = "query", .kind = LOG_FIELD_TEXT, .text = info->query_string},
        {.name = "status", .kind = LOG_FIELD_INT, .number = req->status},
        {.name = "received_bytes", .kind = LOG_FIELD_INT, .number = (int64_t)req->received_bytes},
        {.name = "sent_bytes", .kind = LOG_FIELD_INT, .number = (int64_t)req->sent_bytes},
        {.name = "took_ms", .kind = LOG_FIELD_REAL, .real = (double)took_us / 1e3},
    };
    log_record(http->log, LOG_DEBUG, "request", fields, sizeof fields / sizeof fields[0]);
}

static void count_request(const struct http *http, const struct http_request *req, uint64_t took_us)
{
    const struct api *api = http->guard.api;
    if (api == NULL || api->metrics == NULL) {
        return;
    }
    const struct metrics_request request = {.route = req->match.route,
                                            .path = req->path == NULL ? "" : req->path,
                                            .status = req->status,
                                            .took_us = took_us,
                                            .received_bytes = req->received_bytes,
                                            .sent_bytes = req->sent_bytes};
    metrics_count(api->metrics, &request);
}

static uint16_t port_of(struct mg_context *context)
{
    struct mg_server_port port = {0};
    return mg_get_server_ports(context, 1, &port) == 1 ? (uint16_t)port.port : 0;
}

/* Returns 0, as civetweb wants; another value would not refuse. */
static int on_connection(const struct mg_connection *conn, void **data)
{
    (void)data;
    struct mg_context *context = mg_get_context(conn);
    struct http *http = mg_get_user_data(context);
    connection_limiter_look(http->limiter, port_of(context));
    return 0;
}

static void before_close(const struct mg_connection *conn)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    struct http *http = mg_get_user_data(mg_get_context(conn));
    if (info != NULL) {
        connection_limiter_leave(http->limiter, info->remote_addr, (uint16_t)info->remote_port);
    }
}

static void after_close(const struct mg_connection *conn)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    struct http *http = mg_get_user_data(mg_get_context(conn));
    if (info != NULL) {
        connection_limiter_left(http->limiter, info->remote_addr, (uint16_t)info->remote_port);
    }
}

/* False: nothing may be done for this client. */
static bool find_client(struct http *http, struct mg_connection *conn, struct client **client)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    return connection_limiter_head_ended(http->limiter, info->remote_addr,
                                         (uint16_t)info->remote_port, client);
}

/* Answers every request, so that civetweb's own code for files and directories is never reached:
 * its redirect to a directory writes beyond its buffer (CVE-2025-55763). The result is never 0 for
 * that reason. */
static int on_request(struct mg_connection *conn)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    const struct timespec start = monotonic_after(0);
    struct client *client;
    if (!find_client(http, conn, &client)) {
        mg_disable_connection_keep_alive(conn);
        return STATUS_NOT_SENT;
    }
    struct http_request req;
    enter(http);
    answer(http, &req, client, conn);
    leave(http);
    http_request_finish(&req);

    const struct mg_request_info *info = mg_get_request_info(conn);
    uint64_t took_us = monotonic_us_since(&start);
    log_access(http, &req, info, took_us);
    count_request(http, &req, took_us);
    return req.status > 0 ? req.status : 500;
}

static void
describe_error(const struct http *http, int status, const char *message, struct err *err)
{
    switch (status) {
    case 411:
        (void)err_set(err, ERR_LENGTH_REQUIRED, "Content-Length is not a number of bytes");
        break;
    default:
        (void)err_set(err, status < 500 || status == 505 ? ERR_BAD_REQUEST : ERR_INTERNAL,
                      "The request cannot be read as HTTP/1.1, or its head has more than %" PRIu64
                      " bytes (--max-header): %.100s",
                      http->limits.head_bytes, message);
    }
}

/* What civetweb refuses before it becomes a request. Returns 0: it is answered. */
static int on_error(struct mg_connection *conn, int status, const char *message)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    struct client *client;
    if (!find_client(http, conn, &client)) {
        return 0;
    }
    struct err err = ERR_INIT;
    struct err framing = ERR_INIT;
    describe_error(http, status, message, &err);
    struct http_request req;
    (void)!http_request_init(&req, conn, &framing);
    req.close = true;
    reply_problem(&req, &err, NULL);
    return 0;
}

/* Returns 1: civetweb need not print it. */
static int on_message(const struct mg_connection *conn, const char *message)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    (void)pthread_mutex_lock(&http->lock);
    (void)snprintf(http->message, sizeof http->message, "%s", message);
    (void)pthread_mutex_unlock(&http->lock);
    log_write(http->log, LOG_DEBUG, "civetweb: %s", message);
    return 1;
}

/* ---- life ---- */

static bool init_locks(struct http *http)
{
    if (pthread_mutex_init(&http->lock, NULL) != 0) {
        return false;
    }
    if (!monotonic_cond_init(&http->changed)) {
        (void)pthread_mutex_destroy(&http->lock);
        return false;
    }
    return true;
}

static unsigned threads_of(const struct http_options *options)
{
    return options->threads == 0 ? THREADS_DEFAULT : options->threads;
}

static bool start_clients(struct http *http, const struct http_options *options, struct err *err)
{
    const struct connection_limiter_options wanted = {
        .threads = threads_of(options),
        .queued = QUEUE_LEN,
        .per_client = (unsigned)http->limits.client_connections,
        .head_timeout_s = (unsigned)http->limits.head_timeout_s,
        .trusted_proxies = options->trusted_proxies,
        .trusted_proxy_count = options->trusted_proxy_count};
    return connection_limiter_create(&http->limiter, &wanted, err);
}

static bool start_response_cache(struct http *http, struct err *err)
{
    uint64_t max_bytes = http->limits.answer_bytes;
    return http->guard.version == NULL || max_bytes == 0 ||
           response_cache_create(&http->guard.cache, max_bytes, err);
}

static bool start_civetweb(struct http *http, const struct http_options *options, struct err *err)
{
    char address[80];
    char threads[16];
    char timeout_ms[24];
    char head_bytes[24];
    char queue_len[16];
    (void)snprintf(address, sizeof address, "%s:%u", options->listen_host,
                   (unsigned)options->listen_port);
    (void)snprintf(threads, sizeof threads, "%u", threads_of(options));
    (void)snprintf(timeout_ms, sizeof timeout_ms, "%" PRIu64,
                   http->limits.request_timeout_s * 1000);
    (void)snprintf(queue_len, sizeof queue_len, "%d", QUEUE_LEN);
    (void)snprintf(head_bytes, sizeof head_bytes, "%" PRIu64, http->limits.head_bytes * 2);
    /* No document_root, and no linger_timeout_ms: it would cut an answer that a slow client still
     * takes. */
    const char *settings[] = {"listening_ports",
                              address,
                              "num_threads",
                              threads,
                              "request_timeout_ms",
                              timeout_ms,
                              "enable_keep_alive",
                              "yes",
                              "keep_alive_timeout_ms",
                              KEEP_ALIVE_TIMEOUT_MS,
                              "tcp_nodelay",
                              "1",
                              "max_request_size",
                              head_bytes,
                              "connection_queue",
                              queue_len,
                              "listen_backlog",
                              queue_len,
                              "decode_url",
                              "no",
                              "enable_auth_domain_check",
                              "no",
                              "enable_directory_listing",
                              "no",
                              NULL};
    const struct mg_callbacks callbacks = {.begin_request = on_request,
                                           .http_error = on_error,
                                           .log_message = on_message,
                                           .init_connection = on_connection,
                                           .connection_close = before_close,
                                           .connection_closed = after_close};
    http->context = mg_start(&callbacks, http, settings);
    if (http->context == NULL) {
        return err_set(err, ERR_IO,
                       "Cannot listen on %s%s%s; is another program using the port? Choose one "
                       "with --listen HOST:PORT",
                       address, http->message[0] == '\0' ? "" : ": ", http->message);
    }
    http->port = port_of(http->context);
    return true;
}

bool http_start(struct http **out, const struct http_options *options, struct err *err)
{
    struct http *http = calloc(1, sizeof *http);
    if (http == NULL || !init_locks(http)) {
        free(http);
        return err_set(err, ERR_NO_MEMORY, "No memory to start the server");
    }
    atomic_init(&http->stopping, false);
    http->log = options->log;
    http->limits = options->limits == NULL ? (struct limits)LIMITS_DEFAULT : *options->limits;
    http->guard = (struct request_guard){.base_path = options->base_path,
                                         .static_dir = options->static_dir,
                                         .on_loopback = origin_is_loopback(options->listen_host),
                                         .access = options->access,
                                         .trusted_proxies = options->trusted_proxies,
                                         .trusted_proxy_count = options->trusted_proxy_count,
                                         .log = options->log,
                                         .version = options->version,
                                         .handle = options->handle};
    (void)mg_init_library(0);
    bool ok = start_clients(http, options, err) && start_response_cache(http, err);
    http->guard.limiter = http->limiter;
    if (!ok || !start_civetweb(http, options, err)) {
        http_stop(http);
        return false;
    }
    *out = http;
    return true;
}

uint16_t http_port(const struct http *http)
{
    return http->port;
}

void http_open(struct http *http, struct api *api, const char *public_url)
{
    (void)pthread_mutex_lock(&http->lock);
    http->guard.api = api;
    http->guard.public_url = public_url;
    http->is_open = true;
    (void)pthread_cond_broadcast(&http->changed);
    (void)pthread_mutex_unlock(&http->lock);
}

bool http_drain(struct http *http, unsigned grace_s)
{
    const struct timespec until = monotonic_after((int64_t)grace_s * 1000);
    atomic_store(&http->stopping, true);
    (void)pthread_mutex_lock(&http->lock);
    (void)pthread_cond_broadcast(&http->changed);
    int waited = 0;
    while (http->active > 0 && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&http->changed, &http->lock, &until);
    }
    bool drained = http->active == 0;
    (void)pthread_mutex_unlock(&http->lock);
    return drained;
}

bool http_break_off(struct http *http, unsigned grace_s)
{
    sockets_end_reading(http->port);
    return http_drain(http, grace_s);
}

void http_stop(struct http *http)
{
    if (http == NULL) {
        return;
    }
    (void)http_drain(http, 0);
    /* civetweb's threads look for the end only every two seconds. */
    if (http->context != NULL) {
        sockets_end_reading(http->port);
    }
    connection_limiter_stop(http->limiter);
    mg_stop(http->context);
    (void)mg_exit_library();
    connection_limiter_destroy(http->limiter);
    response_cache_free(http->guard.cache);
    (void)pthread_cond_destroy(&http->changed);
    (void)pthread_mutex_destroy(&http->lock);
    free(http);
}
