/* A client of raw sockets for the tests of server/http: it sees what is on the wire. */
#ifndef KS_TESTS_SERVER_CLIENT_H
#define KS_TESTS_SERVER_CLIENT_H

#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define CLIENT_TIMEOUT_S 10

struct client {
    int fd;
    char *bytes; /* received and not yet taken, NUL behind */
    size_t len;
};

struct answer {
    int status;
    char *head; /* with its lines, NUL behind */
    char *body; /* NUL behind; chunks are put together */
    size_t body_len;
};

static inline void answer_free(struct answer *answer)
{
    free(answer->head);
    free(answer->body);
}

/* The value of a header in `value`, "" when there is none. */
static inline const char *
answer_header(const struct answer *answer, const char *name, char value[256])
{
    value[0] = '\0';
    size_t name_len = strlen(name);
    for (const char *line = answer->head; line != NULL; line = strstr(line, "\r\n")) {
        line += strncmp(line, "\r\n", 2) == 0 ? 2 : 0;
        if (strncasecmp(line, name, name_len) == 0 && line[name_len] == ':') {
            const char *text = line + name_len + 1 + strspn(line + name_len + 1, " ");
            (void)snprintf(value, 256, "%.*s", (int)strcspn(text, "\r"), text);
            break;
        }
    }
    return value;
}

/* Fails the test when the port does not answer. Reads time out after some seconds. */
static inline void client_open(struct client *client, uint16_t port)
{
    *client = (struct client){.fd = socket(AF_INET, SOCK_STREAM, 0), .bytes = calloc(1, 1)};
    assert_true(client->fd >= 0);
    const struct timeval timeout = {.tv_sec = CLIENT_TIMEOUT_S};
    assert_int_equal(setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(client->fd, (const struct sockaddr *)&to, sizeof to), 0);
}

static inline void client_close(struct client *client)
{
    (void)close(client->fd);
    free(client->bytes);
}

static inline void client_send(struct client *client, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(client->fd, bytes, len, MSG_NOSIGNAL);
        assert_true(sent > 0);
        bytes += sent;
        len -= (size_t)sent;
    }
}

static inline void client_puts(struct client *client, const char *text)
{
    client_send(client, text, strlen(text));
}

/* False at the end of what the server sends. */
static inline bool read_more(struct client *client)
{
    char piece[65536];
    ssize_t got = recv(client->fd, piece, sizeof piece, 0);
    if (got <= 0) {
        return false;
    }
    client->bytes = realloc(client->bytes, client->len + (size_t)got + 1);
    assert_non_null(client->bytes);
    memcpy(client->bytes + client->len, piece, (size_t)got);
    client->len += (size_t)got;
    client->bytes[client->len] = '\0';
    return true;
}

static inline char *take(struct client *client, size_t len)
{
    while (client->len < len) {
        assert_true(read_more(client));
    }
    char *out = malloc(len + 1);
    assert_non_null(out);
    memcpy(out, client->bytes, len);
    out[len] = '\0';
    memmove(client->bytes, client->bytes + len, client->len - len + 1);
    client->len -= len;
    return out;
}

/* Up to and with the mark. */
static inline char *take_until(struct client *client, const char *mark)
{
    char *found;
    while ((found = strstr(client->bytes, mark)) == NULL) {
        assert_true(read_more(client));
    }
    return take(client, (size_t)(found - client->bytes) + strlen(mark));
}

static inline void append(struct answer *answer, const char *bytes, size_t len)
{
    answer->body = realloc(answer->body, answer->body_len + len + 1);
    assert_non_null(answer->body);
    memcpy(answer->body + answer->body_len, bytes, len);
    answer->body_len += len;
    answer->body[answer->body_len] = '\0';
}

static inline void take_chunks(struct client *client, struct answer *answer)
{
    size_t len;
    do {
        char *size = take_until(client, "\r\n");
        len = strtoul(size, NULL, 16);
        free(size);
        char *chunk = take(client, len + 2);
        append(answer, chunk, len);
        free(chunk);
    } while (len > 0);
}

/* Reads one answer; `no_body` for one to HEAD. Fails the test when it breaks off. */
static inline void client_receive(struct client *client, bool no_body, struct answer *answer)
{
    *answer = (struct answer){.body = calloc(1, 1)};
    answer->head = take_until(client, "\r\n\r\n");
    assert_int_equal(strncmp(answer->head, "HTTP/1.1 ", 9), 0);
    answer->status = (int)strtol(answer->head + 9, NULL, 10);
    char value[256];
    bool has_body =
        !no_body && answer->status >= 200 && answer->status != 204 && answer->status != 304;
    if (has_body && strcmp(answer_header(answer, "Transfer-Encoding", value), "chunked") == 0) {
        take_chunks(client, answer);
    } else if (has_body) {
        size_t len = strtoul(answer_header(answer, "Content-Length", value), NULL, 10);
        char *body = take(client, len);
        append(answer, body, len);
        free(body);
    }
}

/* Whether nothing more comes and the server has closed. */
static inline bool client_is_at_end(struct client *client)
{
    return client->len == 0 && !read_more(client);
}

/* Whether something to read comes within this time. */
static inline bool client_hears(struct client *client, int timeout_ms)
{
    struct pollfd fd = {.fd = client->fd, .events = POLLIN};
    return client->len > 0 || poll(&fd, 1, timeout_ms) > 0;
}

/* Connects, sends the request as it is, reads the answer, closes. */
static inline void client_ask(uint16_t port, const char *request, struct answer *answer)
{
    struct client client;
    client_open(&client, port);
    client_puts(&client, request);
    client_receive(&client, strncmp(request, "HEAD ", 5) == 0, answer);
    client_close(&client);
}

#endif
