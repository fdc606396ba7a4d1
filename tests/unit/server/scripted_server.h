/* A server that gives the answers of a list, one a connection, and keeps what it was asked. */
#ifndef KS_TESTS_SCRIPTED_SERVER_H
#define KS_TESTS_SCRIPTED_SERVER_H

#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRIPTED_MAX 8
#define SCRIPTED_REQUEST_BYTES 65536

struct scripted_server {
    const char *const *answers; /* whole, "HTTP/1.1 ..."; "" closes the connection at once */
    size_t answer_count;
    int fd;
    pthread_t thread;
    char url[64];
    size_t asked;                 /* may be read after scripted_end */
    char *requests[SCRIPTED_MAX]; /* head and body, NUL behind */
    size_t lengths[SCRIPTED_MAX];
};

static inline size_t scripted_body_len(const char *request)
{
    const char *length = strstr(request, "Content-Length: ");
    return length == NULL ? 0 : strtoul(length + strlen("Content-Length: "), NULL, 10);
}

/* Up to the end of the body that the head announces. */
static inline size_t scripted_receive(int fd, char *request)
{
    size_t len = 0;
    const char *end = NULL;
    request[0] = '\0';
    while (end == NULL || len < (size_t)(end + 4 - request) + scripted_body_len(request)) {
        ssize_t got = recv(fd, request + len, SCRIPTED_REQUEST_BYTES - 1 - len, 0);
        if (got <= 0) {
            break;
        }
        len += (size_t)got;
        request[len] = '\0';
        end = strstr(request, "\r\n\r\n");
    }
    return len;
}

static inline void *scripted_serve(void *context)
{
    struct scripted_server *server = context;
    for (size_t i = 0; i < server->answer_count; i++) {
        int fd = accept(server->fd, NULL, NULL);
        if (fd < 0) {
            break;
        }
        const char *answer = server->answers[i];
        server->requests[i] = calloc(1, SCRIPTED_REQUEST_BYTES);
        server->lengths[i] = scripted_receive(fd, server->requests[i]);
        server->asked++;
        (void)send(fd, answer, strlen(answer), MSG_NOSIGNAL);
        (void)close(fd);
    }
    return NULL;
}

static inline void
scripted_begin(struct scripted_server *server, const char *const *answers, size_t count)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    assert_true(count <= SCRIPTED_MAX);
    *server = (struct scripted_server){
        .answers = answers, .answer_count = count, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(bind(server->fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(server->fd, 8), 0);
    assert_int_equal(getsockname(server->fd, (struct sockaddr *)&at, &len), 0);
    (void)snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&server->thread, NULL, scripted_serve, server), 0);
}

/* No more is answered; the requests stay until scripted_free. */
static inline void scripted_end(struct scripted_server *server)
{
    (void)shutdown(server->fd, SHUT_RDWR);
    (void)pthread_join(server->thread, NULL);
    (void)close(server->fd);
}

static inline void scripted_free(struct scripted_server *server)
{
    for (size_t i = 0; i < SCRIPTED_MAX; i++) {
        free(server->requests[i]);
    }
}

#endif
