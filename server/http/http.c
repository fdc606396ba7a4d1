#include "server/http/http.h"

#include "server/http/door.h"
#include "server/http/exchange.h"
#include "server/http/origin.h"
#include "server/http/reply.h"

#include <civetweb.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_DEFAULT 64U
#define READ_TIMEOUT_DEFAULT_MS 60000U
/* An idle connection holds a thread, so it may not stay long. */
#define KEEP_ALIVE_TIMEOUT_MS "2000"
#define HEAD_MAX_BYTES "32768"
#define QUEUE_LEN "256"

struct http {
    struct mg_context *context;
    struct door door;
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

static void refuse_stopping(struct exchange *x)
{
    static const struct api_header later = {"Retry-After", "5"};
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_UNAVAILABLE, "The server is stopping; try again in a moment");
    x->close = true;
    reply_problem(x, &err, &later);
}

static void answer(struct http *http, struct exchange *x, struct mg_connection *conn)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    struct err err = ERR_INIT;
    if (!exchange_init(x, conn, &err)) {
        x->close = true;
        reply_problem(x, &err, NULL);
    } else if (atomic_load(&http->stopping)) {
        refuse_stopping(x);
    } else {
        const char *query = info->query_string == NULL ? "" : info->query_string;
        door_answer(&http->door, x, info->local_uri_raw, query, &http->stopping);
    }
}

static double elapsed_ms(const struct timespec *since)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - since->tv_sec) * 1e3 +
           (double)(now.tv_nsec - since->tv_nsec) / 1e6;
}

/* Answers every request, so that civetweb's own code for files and directories is never reached:
 * its redirect to a directory writes beyond its buffer (CVE-2025-55763). The result is never 0 for
 * that reason. */
static int on_request(struct mg_connection *conn)
{
    struct http *http = mg_get_user_data(mg_get_context(conn));
    struct timespec start = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    struct exchange x;
    enter(http);
    answer(http, &x, conn);
    leave(http);
    exchange_finish(&x);

    const struct mg_request_info *info = mg_get_request_info(conn);
    log_write(http->log, LOG_DEBUG, "%s %s %s%s%s %d %llu bytes %.1f ms", info->remote_addr,
              x.method, info->local_uri_raw, info->query_string == NULL ? "" : "?",
              info->query_string == NULL ? "" : info->query_string, x.status,
              (unsigned long long)x.sent_bytes, elapsed_ms(&start));
    return x.status > 0 ? x.status : 500;
}

static void describe_error(int status, const char *message, struct err *err)
{
    switch (status) {
    case 411:
        (void)err_set(err, ERR_LENGTH_REQUIRED, "Content-Length is not a number of bytes");
        break;
    case 413:
        (void)err_set(err, ERR_TOO_LARGE, "The head of a request has at most %s bytes",
                      HEAD_MAX_BYTES);
        break;
    default:
        (void)err_set(err, status < 500 || status == 505 ? ERR_BAD_REQUEST : ERR_INTERNAL,
                      "The request cannot be read as HTTP/1.1, or its head has more than %s bytes "
                      "(%.100s)",
                      HEAD_MAX_BYTES, message);
    }
}

/* What civetweb refuses before it becomes a request. Returns 0: it is answered. */
static int on_error(struct mg_connection *conn, int status, const char *message)
{
    struct err err = ERR_INIT;
    struct err framing = ERR_INIT;
    describe_error(status, message, &err);
    struct exchange x;
    (void)!exchange_init(&x, conn, &framing);
    x.close = true;
    reply_problem(&x, &err, NULL);
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
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
              pthread_mutex_init(&http->lock, NULL) == 0;
    if (ok && pthread_cond_init(&http->changed, &attributes) != 0) {
        (void)pthread_mutex_destroy(&http->lock);
        ok = false;
    }
    (void)pthread_condattr_destroy(&attributes);
    return ok;
}

static bool start_civetweb(struct http *http, const struct http_options *options, struct err *err)
{
    char address[80];
    char threads[16];
    char timeout_ms[16];
    unsigned read_timeout_ms =
        options->read_timeout_ms == 0 ? READ_TIMEOUT_DEFAULT_MS : options->read_timeout_ms;
    (void)snprintf(address, sizeof address, "%s:%u", options->listen_host,
                   (unsigned)options->listen_port);
    (void)snprintf(threads, sizeof threads, "%u",
                   options->threads == 0 ? THREADS_DEFAULT : options->threads);
    (void)snprintf(timeout_ms, sizeof timeout_ms, "%u", read_timeout_ms);
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
                              HEAD_MAX_BYTES,
                              "connection_queue",
                              QUEUE_LEN,
                              "listen_backlog",
                              QUEUE_LEN,
                              "decode_url",
                              "no",
                              "enable_auth_domain_check",
                              "no",
                              "enable_directory_listing",
                              "no",
                              NULL};
    const struct mg_callbacks callbacks = {
        .begin_request = on_request, .http_error = on_error, .log_message = on_message};
    http->context = mg_start(&callbacks, http, settings);
    if (http->context == NULL) {
        return err_set(err, ERR_IO,
                       "Cannot listen on %s%s%s; is another program using the port? Choose one "
                       "with --listen HOST:PORT",
                       address, http->message[0] == '\0' ? "" : ": ", http->message);
    }
    struct mg_server_port port = {0};
    if (mg_get_server_ports(http->context, 1, &port) == 1) {
        http->port = (uint16_t)port.port;
    }
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
    http->door = (struct door){.base_path = options->base_path,
                               .static_dir = options->static_dir,
                               .on_loopback = origin_is_loopback(options->listen_host),
                               .access = options->access,
                               .handle = options->handle};
    (void)mg_init_library(0);
    if (!start_civetweb(http, options, err)) {
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
    http->door.api = api;
    http->door.public_url = public_url;
    http->is_open = true;
    (void)pthread_cond_broadcast(&http->changed);
    (void)pthread_mutex_unlock(&http->lock);
}

void http_drain(struct http *http, unsigned grace_s)
{
    struct timespec until = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)grace_s;
    atomic_store(&http->stopping, true);
    (void)pthread_mutex_lock(&http->lock);
    (void)pthread_cond_broadcast(&http->changed);
    int waited = 0;
    while (http->active > 0 && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&http->changed, &http->lock, &until);
    }
    (void)pthread_mutex_unlock(&http->lock);
}

void http_stop(struct http *http)
{
    if (http == NULL) {
        return;
    }
    http_drain(http, 0);
    mg_stop(http->context);
    (void)mg_exit_library();
    (void)pthread_cond_destroy(&http->changed);
    (void)pthread_mutex_destroy(&http->lock);
    free(http);
}
