/* Who may connect and what may last long, on sockets of the test's own. */
#include "server/guard/connection_limiter.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAIRS_MAX 12

/* A connection as the server and as the client see it. */
struct pair {
    int server;
    int client;
    uint16_t port; /* of the client */
};

struct fixture {
    int listener;
    uint16_t port;
    struct pair pairs[PAIRS_MAX];
    int count;
    struct connection_limiter *limiter;
};

static uint16_t port_of(int fd)
{
    struct sockaddr_in own = {0};
    socklen_t len = sizeof own;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &len), 0);
    return ntohs(own.sin_port);
}

static void begin(struct fixture *f, const struct connection_limiter_options *options)
{
    *f = (struct fixture){.listener = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(f->listener, (const struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(listen(f->listener, PAIRS_MAX), 0);
    f->port = port_of(f->listener);
    struct err err = ERR_INIT;
    assert_true(connection_limiter_create(&f->limiter, options, &err));
}

static void end(struct fixture *f)
{
    connection_limiter_stop(f->limiter);
    for (int i = 0; i < f->count; i++) {
        (void)close(f->pairs[i].server);
        (void)close(f->pairs[i].client);
    }
    (void)close(f->listener);
    connection_limiter_destroy(f->limiter);
}

static struct pair *join(struct fixture *f)
{
    assert_true(f->count < PAIRS_MAX);
    struct pair *pair = &f->pairs[f->count++];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(f->port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    pair->client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(pair->client, (const struct sockaddr *)&to, sizeof to), 0);
    pair->server = accept(f->listener, NULL, NULL);
    assert_true(pair->server >= 0);
    pair->port = port_of(pair->client);
    connection_limiter_look(f->limiter, f->port);
    return pair;
}

static struct client *ask(struct fixture *f, const struct pair *pair)
{
    struct client *client;
    bool is_served = connection_limiter_head_ended(f->limiter, "127.0.0.1", pair->port, &client);
    assert_true(is_served || client == NULL);
    return client;
}

/* What the client was told, within some seconds. */
static void expect_told(const struct pair *pair, const char *status)
{
    struct pollfd fd = {.fd = pair->client, .events = POLLIN};
    char text[1000];
    assert_int_equal(poll(&fd, 1, 20000), 1);
    ssize_t got = recv(pair->client, text, sizeof text - 1, 0);
    assert_true(got > 0);
    text[got] = '\0';
    assert_non_null(strstr(text, status));
    assert_non_null(strstr(text, "application/problem+json"));
}

static void one_more_than_the_cap_is_refused(void **state)
{
    struct fixture f;
    begin(&f, &(struct connection_limiter_options){
                  .threads = 8, .per_client = 2, .head_timeout_s = 60});
    struct pair *first = join(&f);
    struct pair *second = join(&f);
    struct pair *third = join(&f);
    assert_non_null(ask(&f, first));
    assert_non_null(ask(&f, second));
    assert_null(ask(&f, third));
    expect_told(third, "429");

    connection_limiter_leave(f.limiter, "127.0.0.1", first->port);
    connection_limiter_look(f.limiter, f.port); /* its socket is still open */
    assert_null(ask(&f, first));
    connection_limiter_left(f.limiter, "127.0.0.1", first->port);
    (void)close(first->server);
    first->server = -1;
    assert_non_null(ask(&f, join(&f)));
    end(&f);
}

static void a_late_head_is_refused(void **state)
{
    struct fixture f;
    begin(&f, &(struct connection_limiter_options){.threads = 8, .head_timeout_s = 1});
    struct pair *early = join(&f);
    assert_non_null(ask(&f, early));
    struct pair *late = join(&f);
    expect_told(late, "408");
    assert_null(ask(&f, late));
    assert_non_null(ask(&f, early));
    end(&f);
}

static void trusted_proxies_have_no_cap(void **state)
{
    static const char *const proxies[] = {"127.0.0.1"};
    struct fixture f;
    begin(&f, &(struct connection_limiter_options){.threads = 8,
                                                   .per_client = 1,
                                                   .head_timeout_s = 60,
                                                   .trusted_proxies = proxies,
                                                   .trusted_proxy_count = 1});
    for (int i = 0; i < 5; i++) {
        assert_non_null(ask(&f, join(&f)));
    }
    end(&f);
}

static void half_of_the_threads_may_be_long(void **state)
{
    struct fixture f;
    begin(&f, &(struct connection_limiter_options){.threads = 4, .head_timeout_s = 60});
    struct client *limiter[3];
    struct err err = ERR_INIT;
    for (int i = 0; i < 3; i++) {
        limiter[i] = ask(&f, join(&f));
        assert_non_null(limiter[i]);
    }
    assert_true(connection_limiter_begin_long(f.limiter, limiter[0], &err));
    assert_true(connection_limiter_begin_long(f.limiter, limiter[1], &err));
    assert_false(connection_limiter_begin_long(f.limiter, limiter[2], &err));
    assert_int_equal(err.code, ERR_UNAVAILABLE);
    connection_limiter_end_long(f.limiter, limiter[0]);
    assert_true(connection_limiter_begin_long(f.limiter, limiter[2], &err));
    end(&f);
}

/* Not every system shows a process its sockets. */
static void an_unknown_connection_is_served(void **state)
{
    struct fixture f;
    begin(&f, &(struct connection_limiter_options){
                  .threads = 4, .per_client = 2, .head_timeout_s = 60});
    struct client *client;
    struct err err = ERR_INIT;
    assert_true(connection_limiter_head_ended(f.limiter, "127.0.0.9", 9, &client));
    assert_null(client);
    assert_true(connection_limiter_begin_long(f.limiter, client, &err));
    connection_limiter_end_long(f.limiter, client);
    struct pair *refused = join(&f);
    refused = join(&f);
    refused = join(&f);
    assert_false(connection_limiter_head_ended(f.limiter, "127.0.0.1", refused->port, &client));
    end(&f);
}

static void a_proxy_is_an_address(void **state)
{
    static const char *const proxies[] = {"proxy.example"};
    struct connection_limiter *limiter = NULL;
    struct err err = ERR_INIT;
    const struct connection_limiter_options options = {
        .threads = 4, .trusted_proxies = proxies, .trusted_proxy_count = 1};
    assert_false(connection_limiter_create(&limiter, &options, &err));
    assert_non_null(strstr(err.msg, "--trusted-proxy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_more_than_the_cap_is_refused),
        cmocka_unit_test(a_late_head_is_refused),
        cmocka_unit_test(trusted_proxies_have_no_cap),
        cmocka_unit_test(half_of_the_threads_may_be_long),
        cmocka_unit_test(an_unknown_connection_is_served),
        cmocka_unit_test(a_proxy_is_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
