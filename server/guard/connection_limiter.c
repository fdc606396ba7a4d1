#include "server/guard/connection_limiter.h"

#include "api/api.h"
#include "ingest/base/monotonic.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/thread.h"
#include "server/guard/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define ANSWER_MAX_BYTES ((size_t)4096)
/* Beside those served and queued one can be on its way to the queue. */
#define PLACES_MORE 16U

enum client_state {
    CLIENT_NONE,    /* a free place */
    CLIENT_AWAITED, /* no head yet */
    CLIENT_SERVED,
    CLIENT_SHUT,
    CLIENT_CLOSING /* its socket may be another's any moment */
};

struct client {
    enum client_state state;
    bool is_trusted;
    bool is_long;
    int socket; /* open and its own while AWAITED or SERVED */
    in_addr_t address;
    uint16_t port;
    struct timespec head_until;
};

struct connection_limiter {
    unsigned threads;
    unsigned count; /* of places */
    unsigned per_client;
    unsigned head_timeout_s;
    in_addr_t *trusted;
    unsigned trusted_count;
    struct buf too_many; /* whole answers */
    struct buf too_late;
    pthread_t watcher;
    bool watcher_runs;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool stopping;
    bool watcher_sleeps; /* until somebody wakes it */
    unsigned long_count;
    struct client places[];
};

/* ---- refusals ---- */

/* Given without civetweb, which would first wait for a head. */
static void write_answer(struct buf *out, const char *status, const struct err *err)
{
    struct api_response response;
    api_response_init(&response);
    api_problem(&response, err);
    buf_init(out, ANSWER_MAX_BYTES);
    buf_printf(out,
               "HTTP/1.1 %s\r\nContent-Type: application/problem+json\r\n"
               "Content-Length: %zu\r\nCache-Control: no-store\r\nRetry-After: 5\r\n"
               "Connection: close\r\n\r\n",
               status, response.body.len);
    buf_append(out, response.body.ptr, response.body.len);
    api_response_free(&response);
}

static bool write_answers(struct connection_limiter *limiter)
{
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_TOO_MANY,
                  "One address may have %u connections at once (--max-connections-per-client)",
                  limiter->per_client);
    write_answer(&limiter->too_many, "429 Too Many Requests", &err);
    (void)err_set(&err, ERR_TIMEOUT,
                  "The head of a request has to be here within %u s (--head-timeout)",
                  limiter->head_timeout_s);
    write_answer(&limiter->too_late, "408 Request Timeout", &err);
    return !limiter->too_many.failed && !limiter->too_late.failed;
}

/* The thread that serves it finds the end of its input and closes. */
static void shut(struct client *client, const struct buf *answer)
{
    client->state = CLIENT_SHUT;
    (void)!send(client->socket, answer->ptr, answer->len, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(client->socket, SHUT_RDWR);
}

/* ---- heads ---- */

/* Shuts what is over its time; false when nobody is waited for, else when to look again. */
static bool shut_late_ones(struct connection_limiter *limiter, struct timespec *next)
{
    const struct timespec now = monotonic_after(0);
    bool any = false;
    for (unsigned i = 0; i < limiter->count; i++) {
        struct client *client = &limiter->places[i];
        if (client->state != CLIENT_AWAITED) {
            continue;
        }
        if (!monotonic_is_before(&now, &client->head_until)) {
            shut(client, &limiter->too_late);
        } else if (!any || monotonic_is_before(&client->head_until, next)) {
            any = true;
            *next = client->head_until;
        }
    }
    return any;
}

static void *watch(void *context)
{
    struct connection_limiter *limiter = context;
    (void)pthread_mutex_lock(&limiter->lock);
    while (!limiter->stopping) {
        struct timespec next = {0};
        if (shut_late_ones(limiter, &next)) {
            (void)pthread_cond_timedwait(&limiter->changed, &limiter->lock, &next);
        } else {
            limiter->watcher_sleeps = true;
            (void)pthread_cond_wait(&limiter->changed, &limiter->lock);
            limiter->watcher_sleeps = false;
        }
    }
    (void)pthread_mutex_unlock(&limiter->lock);
    return NULL;
}

/* ---- connections ---- */

static bool is_trusted(const struct connection_limiter *limiter, in_addr_t address)
{
    for (unsigned i = 0; i < limiter->trusted_count; i++) {
        if (limiter->trusted[i] == address) {
            return true;
        }
    }
    return false;
}

static struct client *find(struct connection_limiter *limiter, in_addr_t address, uint16_t port)
{
    for (unsigned i = 0; i < limiter->count; i++) {
        struct client *place = &limiter->places[i];
        if (place->state != CLIENT_NONE && place->address == address && place->port == port) {
            return place;
        }
    }
    return NULL;
}

static struct client *
find_by_name(struct connection_limiter *limiter, const char *remote_host, uint16_t remote_port)
{
    struct in_addr address = {.s_addr = INADDR_ANY};
    (void)inet_pton(AF_INET, remote_host, &address);
    return find(limiter, address.s_addr, remote_port);
}

static bool has_too_many(const struct connection_limiter *limiter, in_addr_t address)
{
    unsigned used = 0;
    for (unsigned i = 0; i < limiter->count; i++) {
        const struct client *place = &limiter->places[i];
        bool counts = place->state == CLIENT_AWAITED || place->state == CLIENT_SERVED;
        used += counts && place->address == address;
    }
    return limiter->per_client != 0 && used >= limiter->per_client;
}

static struct client *free_place(struct connection_limiter *limiter)
{
    unsigned i = 0;
    while (i < limiter->count && limiter->places[i].state != CLIENT_NONE) {
        i++;
    }
    return i < limiter->count ? &limiter->places[i] : NULL;
}

static void add(struct connection_limiter *limiter, int socket, in_addr_t address, uint16_t port)
{
    struct client *client = free_place(limiter);
    if (client == NULL) {
        return;
    }
    bool trusted = is_trusted(limiter, address);
    bool refused = !trusted && has_too_many(limiter, address);
    *client =
        (struct client){.state = CLIENT_AWAITED,
                        .is_trusted = trusted,
                        .socket = socket,
                        .address = address,
                        .port = port,
                        .head_until = monotonic_after((int64_t)limiter->head_timeout_s * 1000)};
    if (refused) {
        shut(client, &limiter->too_many);
    }
}

/* Adds the socket when it is that of a connection not yet known. */
static bool look_at(int socket, void *context)
{
    struct connection_limiter *limiter = context;
    struct sockaddr_in there = {0};
    socklen_t there_len = sizeof there;
    if (getpeername(socket, (struct sockaddr *)&there, &there_len) == 0 &&
        there.sin_family == AF_INET &&
        find(limiter, there.sin_addr.s_addr, ntohs(there.sin_port)) == NULL) {
        add(limiter, socket, there.sin_addr.s_addr, ntohs(there.sin_port));
    }
    return !limiter->stopping;
}

void connection_limiter_look(struct connection_limiter *limiter, uint16_t local_port)
{
    /* A connection that is not known yet is not closed while the lock is held: its thread is here
     * or has not begun. */
    (void)pthread_mutex_lock(&limiter->lock);
    if (!limiter->stopping) {
        sockets_each(local_port, look_at, limiter);
    }
    if (limiter->watcher_sleeps) {
        (void)pthread_cond_signal(&limiter->changed);
    }
    (void)pthread_mutex_unlock(&limiter->lock);
}

bool connection_limiter_head_ended(struct connection_limiter *limiter,
                                   const char *remote_host,
                                   uint16_t remote_port,
                                   struct client **client)
{
    (void)pthread_mutex_lock(&limiter->lock);
    struct client *found = find_by_name(limiter, remote_host, remote_port);
    if (found != NULL && found->state == CLIENT_AWAITED) {
        found->state = CLIENT_SERVED;
    }
    bool is_shut = found != NULL && found->state == CLIENT_SHUT;
    *client = found != NULL && found->state == CLIENT_SERVED ? found : NULL;
    (void)pthread_mutex_unlock(&limiter->lock);
    return !is_shut;
}

void connection_limiter_end_answers(const struct client *client)
{
    if (client != NULL) {
        (void)shutdown(client->socket, SHUT_WR);
    }
}

static void set_state(struct connection_limiter *limiter,
                      const char *host,
                      uint16_t port,
                      enum client_state state)
{
    (void)pthread_mutex_lock(&limiter->lock);
    struct client *client = find_by_name(limiter, host, port);
    if (client != NULL) {
        client->state = state;
    }
    (void)pthread_mutex_unlock(&limiter->lock);
}

void connection_limiter_leave(struct connection_limiter *limiter,
                              const char *remote_host,
                              uint16_t remote_port)
{
    set_state(limiter, remote_host, remote_port, CLIENT_CLOSING);
}

void connection_limiter_left(struct connection_limiter *limiter,
                             const char *remote_host,
                             uint16_t remote_port)
{
    set_state(limiter, remote_host, remote_port, CLIENT_NONE);
}

/* ---- long requests ---- */

static unsigned half_of(unsigned count)
{
    return count < 2 ? 1 : count / 2;
}

static unsigned long_of_address(const struct connection_limiter *limiter, in_addr_t address)
{
    unsigned count = 0;
    for (unsigned i = 0; i < limiter->count; i++) {
        const struct client *place = &limiter->places[i];
        count += place->is_long && place->address == address;
    }
    return count;
}

bool connection_limiter_begin_long(struct connection_limiter *limiter,
                                   struct client *client,
                                   struct err *err)
{
    if (client == NULL) {
        return true;
    }
    unsigned most = half_of(limiter->threads);
    unsigned own_most = half_of(limiter->per_client);
    bool has_cap = !client->is_trusted && limiter->per_client != 0;
    (void)pthread_mutex_lock(&limiter->lock);
    bool all_taken = limiter->long_count >= most;
    bool own_taken = has_cap && long_of_address(limiter, client->address) >= own_most;
    client->is_long = !all_taken && !own_taken;
    limiter->long_count += client->is_long;
    (void)pthread_mutex_unlock(&limiter->lock);
    if (own_taken) {
        return err_set(err, ERR_UNAVAILABLE,
                       "One address may have %u uploads and streams of events under way, half of "
                       "--max-connections-per-client; try again when some are done",
                       own_most);
    }
    return !all_taken ||
           err_set(err, ERR_UNAVAILABLE,
                   "%u uploads and streams of events are under way, as many as are served at "
                   "once; try again in a moment",
                   most);
}

void connection_limiter_end_long(struct connection_limiter *limiter, struct client *client)
{
    if (client == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&limiter->lock);
    limiter->long_count -= client->is_long;
    client->is_long = false;
    (void)pthread_mutex_unlock(&limiter->lock);
}

/* ---- life ---- */

static bool init_locks(struct connection_limiter *limiter)
{
    if (pthread_mutex_init(&limiter->lock, NULL) != 0) {
        return false;
    }
    if (!monotonic_cond_init(&limiter->changed)) {
        (void)pthread_mutex_destroy(&limiter->lock);
        return false;
    }
    return true;
}

static bool copy_trusted(struct connection_limiter *limiter,
                         const struct connection_limiter_options *options,
                         struct err *err)
{
    unsigned count = options->trusted_proxy_count;
    limiter->trusted = calloc(count == 0 ? 1 : count, sizeof *limiter->trusted);
    if (limiter->trusted == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the addresses of proxies");
    }
    for (unsigned i = 0; i < count; i++) {
        struct in_addr address;
        if (inet_pton(AF_INET, options->trusted_proxies[i], &address) != 1) {
            return err_set(err, ERR_BAD_REQUEST, "--trusted-proxy %.100s: expected an IPv4 address",
                           options->trusted_proxies[i]);
        }
        limiter->trusted[i] = address.s_addr;
    }
    limiter->trusted_count = count;
    return true;
}

bool connection_limiter_create(struct connection_limiter **out,
                               const struct connection_limiter_options *options,
                               struct err *err)
{
    unsigned count = options->threads + options->queued + PLACES_MORE;
    struct connection_limiter *limiter =
        calloc(1, sizeof *limiter + count * sizeof limiter->places[0]);
    if (limiter == NULL || !init_locks(limiter)) {
        free(limiter);
        return err_set(err, ERR_NO_MEMORY, "No memory to count connections");
    }
    limiter->threads = options->threads;
    limiter->count = count;
    limiter->per_client = options->per_client;
    limiter->head_timeout_s = options->head_timeout_s;
    bool ok = copy_trusted(limiter, options, err);
    if (ok && !write_answers(limiter)) {
        ok = err_set(err, ERR_NO_MEMORY, "No memory to count connections");
    }
    if (ok) {
        int failed = thread_start(&limiter->watcher, watch, limiter);
        limiter->watcher_runs = failed == 0;
        ok = failed == 0 ||
             err_set_errno(err, ERR_INTERNAL, failed, "Cannot start a thread to watch connections");
    }
    if (!ok) {
        connection_limiter_destroy(limiter);
        return false;
    }
    *out = limiter;
    return true;
}

void connection_limiter_stop(struct connection_limiter *limiter)
{
    if (limiter == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&limiter->lock);
    limiter->stopping = true;
    (void)pthread_cond_signal(&limiter->changed);
    (void)pthread_mutex_unlock(&limiter->lock);
    if (limiter->watcher_runs) {
        (void)pthread_join(limiter->watcher, NULL);
        limiter->watcher_runs = false;
    }
}

void connection_limiter_destroy(struct connection_limiter *limiter)
{
    if (limiter == NULL) {
        return;
    }
    connection_limiter_stop(limiter);
    buf_free(&limiter->too_many);
    buf_free(&limiter->too_late);
    free(limiter->trusted);
    (void)pthread_cond_destroy(&limiter->changed);
    (void)pthread_mutex_destroy(&limiter->lock);
    free(limiter);
}
