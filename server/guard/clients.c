#include "server/guard/clients.h"

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

struct clients {
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

static bool write_answers(struct clients *clients)
{
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_TOO_MANY,
                  "One address may have %u connections at once (--max-connections-per-client)",
                  clients->per_client);
    write_answer(&clients->too_many, "429 Too Many Requests", &err);
    (void)err_set(&err, ERR_TIMEOUT,
                  "The head of a request has to be here within %u s (--head-timeout)",
                  clients->head_timeout_s);
    write_answer(&clients->too_late, "408 Request Timeout", &err);
    return !clients->too_many.failed && !clients->too_late.failed;
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
static bool shut_late_ones(struct clients *clients, struct timespec *next)
{
    const struct timespec now = monotonic_after(0);
    bool any = false;
    for (unsigned i = 0; i < clients->count; i++) {
        struct client *client = &clients->places[i];
        if (client->state != CLIENT_AWAITED) {
            continue;
        }
        if (!monotonic_is_before(&now, &client->head_until)) {
            shut(client, &clients->too_late);
        } else if (!any || monotonic_is_before(&client->head_until, next)) {
            any = true;
            *next = client->head_until;
        }
    }
    return any;
}

static void *watch(void *context)
{
    struct clients *clients = context;
    (void)pthread_mutex_lock(&clients->lock);
    while (!clients->stopping) {
        struct timespec next = {0};
        if (shut_late_ones(clients, &next)) {
            (void)pthread_cond_timedwait(&clients->changed, &clients->lock, &next);
        } else {
            clients->watcher_sleeps = true;
            (void)pthread_cond_wait(&clients->changed, &clients->lock);
            clients->watcher_sleeps = false;
        }
    }
    (void)pthread_mutex_unlock(&clients->lock);
    return NULL;
}

/* ---- connections ---- */

static bool is_trusted(const struct clients *clients, in_addr_t address)
{
    for (unsigned i = 0; i < clients->trusted_count; i++) {
        if (clients->trusted[i] == address) {
            return true;
        }
    }
    return false;
}

static struct client *find(struct clients *clients, in_addr_t address, uint16_t port)
{
    for (unsigned i = 0; i < clients->count; i++) {
        struct client *place = &clients->places[i];
        if (place->state != CLIENT_NONE && place->address == address && place->port == port) {
            return place;
        }
    }
    return NULL;
}

static struct client *
find_by_name(struct clients *clients, const char *remote_host, uint16_t remote_port)
{
    struct in_addr address = {.s_addr = INADDR_ANY};
    (void)inet_pton(AF_INET, remote_host, &address);
    return find(clients, address.s_addr, remote_port);
}

static bool has_too_many(const struct clients *clients, in_addr_t address)
{
    unsigned used = 0;
    for (unsigned i = 0; i < clients->count; i++) {
        const struct client *place = &clients->places[i];
        bool counts = place->state == CLIENT_AWAITED || place->state == CLIENT_SERVED;
        used += counts && place->address == address;
    }
    return clients->per_client != 0 && used >= clients->per_client;
}

static struct client *free_place(struct clients *clients)
{
    unsigned i = 0;
    while (i < clients->count && clients->places[i].state != CLIENT_NONE) {
        i++;
    }
    return i < clients->count ? &clients->places[i] : NULL;
}

static void add(struct clients *clients, int socket, in_addr_t address, uint16_t port)
{
    struct client *client = free_place(clients);
    if (client == NULL) {
        return;
    }
    bool trusted = is_trusted(clients, address);
    bool refused = !trusted && has_too_many(clients, address);
    *client =
        (struct client){.state = CLIENT_AWAITED,
                        .is_trusted = trusted,
                        .socket = socket,
                        .address = address,
                        .port = port,
                        .head_until = monotonic_after((int64_t)clients->head_timeout_s * 1000)};
    if (refused) {
        shut(client, &clients->too_many);
    }
}

/* Adds the socket when it is that of a connection not yet known. */
static bool look_at(int socket, void *context)
{
    struct clients *clients = context;
    struct sockaddr_in there = {0};
    socklen_t there_len = sizeof there;
    if (getpeername(socket, (struct sockaddr *)&there, &there_len) == 0 &&
        there.sin_family == AF_INET &&
        find(clients, there.sin_addr.s_addr, ntohs(there.sin_port)) == NULL) {
        add(clients, socket, there.sin_addr.s_addr, ntohs(there.sin_port));
    }
    return !clients->stopping;
}

void clients_look(struct clients *clients, uint16_t local_port)
{
    /* A connection that is not known yet is not closed while the lock is held: its thread is here
     * or has not begun. */
    (void)pthread_mutex_lock(&clients->lock);
    if (!clients->stopping) {
        sockets_each(local_port, look_at, clients);
    }
    if (clients->watcher_sleeps) {
        (void)pthread_cond_signal(&clients->changed);
    }
    (void)pthread_mutex_unlock(&clients->lock);
}

bool clients_head_ended(struct clients *clients,
                        const char *remote_host,
                        uint16_t remote_port,
                        struct client **client)
{
    (void)pthread_mutex_lock(&clients->lock);
    struct client *found = find_by_name(clients, remote_host, remote_port);
    if (found != NULL && found->state == CLIENT_AWAITED) {
        found->state = CLIENT_SERVED;
    }
    bool is_shut = found != NULL && found->state == CLIENT_SHUT;
    *client = found != NULL && found->state == CLIENT_SERVED ? found : NULL;
    (void)pthread_mutex_unlock(&clients->lock);
    return !is_shut;
}

void clients_end_answers(const struct client *client)
{
    if (client != NULL) {
        (void)shutdown(client->socket, SHUT_WR);
    }
}

static void
set_state(struct clients *clients, const char *host, uint16_t port, enum client_state state)
{
    (void)pthread_mutex_lock(&clients->lock);
    struct client *client = find_by_name(clients, host, port);
    if (client != NULL) {
        client->state = state;
    }
    (void)pthread_mutex_unlock(&clients->lock);
}

void clients_leave(struct clients *clients, const char *remote_host, uint16_t remote_port)
{
    set_state(clients, remote_host, remote_port, CLIENT_CLOSING);
}

void clients_left(struct clients *clients, const char *remote_host, uint16_t remote_port)
{
    set_state(clients, remote_host, remote_port, CLIENT_NONE);
}

/* ---- long requests ---- */

static unsigned half_of(unsigned count)
{
    return count < 2 ? 1 : count / 2;
}

static unsigned long_of_address(const struct clients *clients, in_addr_t address)
{
    unsigned count = 0;
    for (unsigned i = 0; i < clients->count; i++) {
        const struct client *place = &clients->places[i];
        count += place->is_long && place->address == address;
    }
    return count;
}

bool clients_begin_long(struct clients *clients, struct client *client, struct err *err)
{
    if (client == NULL) {
        return true;
    }
    unsigned most = half_of(clients->threads);
    unsigned own_most = half_of(clients->per_client);
    bool has_cap = !client->is_trusted && clients->per_client != 0;
    (void)pthread_mutex_lock(&clients->lock);
    bool all_taken = clients->long_count >= most;
    bool own_taken = has_cap && long_of_address(clients, client->address) >= own_most;
    client->is_long = !all_taken && !own_taken;
    clients->long_count += client->is_long;
    (void)pthread_mutex_unlock(&clients->lock);
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

void clients_end_long(struct clients *clients, struct client *client)
{
    if (client == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&clients->lock);
    clients->long_count -= client->is_long;
    client->is_long = false;
    (void)pthread_mutex_unlock(&clients->lock);
}

/* ---- life ---- */

static bool init_locks(struct clients *clients)
{
    if (pthread_mutex_init(&clients->lock, NULL) != 0) {
        return false;
    }
    if (!monotonic_cond_init(&clients->changed)) {
        (void)pthread_mutex_destroy(&clients->lock);
        return false;
    }
    return true;
}

static bool
copy_trusted(struct clients *clients, const struct clients_options *options, struct err *err)
{
    unsigned count = options->trusted_proxy_count;
    clients->trusted = calloc(count == 0 ? 1 : count, sizeof *clients->trusted);
    if (clients->trusted == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the addresses of proxies");
    }
    for (unsigned i = 0; i < count; i++) {
        struct in_addr address;
        if (inet_pton(AF_INET, options->trusted_proxies[i], &address) != 1) {
            return err_set(err, ERR_BAD_REQUEST, "--trusted-proxy %.100s: expected an IPv4 address",
                           options->trusted_proxies[i]);
        }
        clients->trusted[i] = address.s_addr;
    }
    clients->trusted_count = count;
    return true;
}

bool clients_create(struct clients **out, const struct clients_options *options, struct err *err)
{
    unsigned count = options->threads + options->queued + PLACES_MORE;
    struct clients *clients = calloc(1, sizeof *clients + count * sizeof clients->places[0]);
    if (clients == NULL || !init_locks(clients)) {
        free(clients);
        return err_set(err, ERR_NO_MEMORY, "No memory to count connections");
    }
    clients->threads = options->threads;
    clients->count = count;
    clients->per_client = options->per_client;
    clients->head_timeout_s = options->head_timeout_s;
    bool ok = copy_trusted(clients, options, err);
    if (ok && !write_answers(clients)) {
        ok = err_set(err, ERR_NO_MEMORY, "No memory to count connections");
    }
    if (ok) {
        int failed = thread_start(&clients->watcher, watch, clients);
        clients->watcher_runs = failed == 0;
        ok = failed == 0 ||
             err_set_errno(err, ERR_INTERNAL, failed, "Cannot start a thread to watch connections");
    }
    if (!ok) {
        clients_destroy(clients);
        return false;
    }
    *out = clients;
    return true;
}

void clients_stop(struct clients *clients)
{
    if (clients == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&clients->lock);
    clients->stopping = true;
    (void)pthread_cond_signal(&clients->changed);
    (void)pthread_mutex_unlock(&clients->lock);
    if (clients->watcher_runs) {
        (void)pthread_join(clients->watcher, NULL);
        clients->watcher_runs = false;
    }
}

void clients_destroy(struct clients *clients)
{
    if (clients == NULL) {
        return;
    }
    clients_stop(clients);
    buf_free(&clients->too_many);
    buf_free(&clients->too_late);
    free(clients->trusted);
    (void)pthread_cond_destroy(&clients->changed);
    (void)pthread_mutex_destroy(&clients->lock);
    free(clients);
}
