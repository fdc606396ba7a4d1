/* The server on a real port, with an interface of a few routes behind it. */
#include "server/http.h"
#include "tests/unit/server/client.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <isa-l/igzip_lib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOST "Host: localhost\r\n"
#define FILE_BYTES 100000
#define LONG_BYTES 20000

struct fixture {
    struct http *http;
    uint16_t port;
    char file[32];
};

/* ---- the interface behind the server ---- */

static void answer_echo(const struct api_request *request, struct api_response *response)
{
    char piece[1000];
    uint64_t count = 0;
    uint64_t sum = 0;
    int64_t got;
    while ((got = request->read_body(request, piece, sizeof piece)) > 0) {
        for (int64_t i = 0; i < got; i++) {
            sum += (unsigned char)piece[i];
        }
        count += (uint64_t)got;
    }
    response->status = 201;
    response->content_type = "application/json";
    buf_printf(&response->body,
               "{\"bytes\": %" PRIu64 ", \"sum\": %" PRIu64 ", \"length\": %" PRId64 "}", count,
               sum, request->content_length);
}

static bool next_event(struct api_response *response, struct buf *out)
{
    int *left = response->stream_state;
    buf_printf(out, "data: %d\n\n", *left);
    return --*left > 0;
}

static void answer_stream(struct api_response *response)
{
    int *left = arena_alloc(&response->arena, sizeof *left);
    *left = 3;
    response->content_type = "text/event-stream";
    response->stream = next_event;
    response->stream_state = left;
}

static const char *file_path(struct api *api)
{
    return api->options.public_url; /* the test keeps the name of its file there */
}

static void
fake_handle(struct api *api, const struct api_request *request, struct api_response *response)
{
    struct err err = ERR_INIT;
    api_response_init(response);
    response->content_type = "application/json";
    if (strcmp(request->path, "/api/echo") == 0) {
        answer_echo(request, response);
    } else if (strcmp(request->path, "/api/refuse") == 0) {
        (void)err_set(&err, ERR_CONFLICT, "taken");
        api_problem(response, &err);
    } else if (strcmp(request->path, "/api/long") == 0) {
        for (int i = 0; i < LONG_BYTES; i++) {
            buf_putc(&response->body, (char)('0' + i % 10));
        }
    } else if (strcmp(request->path, "/api/file") == 0) {
        response->content_type = "application/gzip";
        response->file_path = file_path(api);
    } else if (strcmp(request->path, "/api/lost") == 0) {
        response->file_path = "/nonexistent/file";
    } else if (strcmp(request->path, "/api/stream") == 0) {
        answer_stream(response);
    } else if (strcmp(request->path, "/api/line") == 0) {
        response->headers[response->header_count++] =
            (struct api_header){"Location", "a\r\nX-Forged: yes"};
    } else {
        buf_printf(&response->body, "{\"path\": \"%s\", \"query\": \"%s\"}", request->path,
                   request->query);
    }
}

static struct api fake_api;

static void nap_ms(long ms)
{
    const struct timespec nap = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&nap, NULL);
}

struct slow {
    atomic_bool is_running;
};

/* Says that it runs, and takes its time. The test keeps a struct slow where the store would be. */
static void
slow_handle(struct api *api, const struct api_request *request, struct api_response *response)
{
    (void)request;
    api_response_init(response);
    atomic_store(&((struct slow *)api->store)->is_running, true);
    nap_ms(300);
    buf_puts(&response->body, "done");
}

static int start(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    memcpy(f->file, "/tmp/ks_http_XXXXXX", sizeof "/tmp/ks_http_XXXXXX");
    int fd = mkstemp(f->file);
    char *bytes = malloc(FILE_BYTES);
    for (int i = 0; i < FILE_BYTES; i++) {
        bytes[i] = (char)(i % 251);
    }
    if (fd < 0 || write(fd, bytes, FILE_BYTES) != FILE_BYTES || close(fd) != 0) {
        return -1;
    }
    free(bytes);
    fake_api.options.public_url = f->file;
    /* Long URLs are to reach what stands behind the limit. */
    struct limits limits = LIMITS_DEFAULT;
    limits.url_bytes = (uint64_t)2 * LONG_BYTES;
    const struct http_options options = {.listen_host = "127.0.0.1",
                                         .base_path = "",
                                         .threads = 8,
                                         .limits = &limits,
                                         .handle = fake_handle};
    struct err err = ERR_INIT;
    if (!http_start(&f->http, &options, &err)) {
        print_error("%s\n", err.msg);
        return -1;
    }
    f->port = http_port(f->http);
    http_open(f->http, &fake_api, NULL);
    *state = f;
    return 0;
}

static int stop(void **state)
{
    struct fixture *f = *state;
    http_stop(f->http);
    (void)unlink(f->file);
    free(f);
    return 0;
}

/* ---- bodies ---- */

static void continue_comes_before_any_byte_of_the_body(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct answer answer;
    client_open(&client, f->port);
    client_puts(&client, "PUT /api/echo HTTP/1.1\r\n" HOST
                         "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    assert_true(client_hears(&client, 500));
    client_receive(&client, true, &answer);
    assert_int_equal(answer.status, 100);
    answer_free(&answer);
    client_puts(&client, "abcde");
    client_receive(&client, false, &answer);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.body, "{\"bytes\": 5, \"sum\": 495, \"length\": 5}");
    answer_free(&answer);
    client_close(&client);
}

static void a_refusal_comes_instead_of_continue(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct answer answer;
    client_open(&client, f->port);
    client_puts(&client, "PUT /api/refuse HTTP/1.1\r\n" HOST
                         "Content-Length: 5000000\r\nExpect: 100-continue\r\n\r\n");
    client_receive(&client, false, &answer);
    assert_int_equal(answer.status, 409);
    char value[256];
    assert_string_equal(answer_header(&answer, "Connection", value), "close");
    assert_true(client_is_at_end(&client));
    answer_free(&answer);
    client_close(&client);
}

static void a_refused_body_is_taken_in_so_that_the_answer_arrives(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct answer answer;
    client_open(&client, f->port);
    client_puts(&client, "PUT /api/refuse HTTP/1.1\r\n" HOST "Content-Length: 3000000\r\n\r\n");
    char *bytes = calloc(1, 3000000);
    client_send(&client, bytes, 3000000);
    free(bytes);
    client_receive(&client, false, &answer);
    assert_int_equal(answer.status, 409);
    assert_true(client_is_at_end(&client));
    answer_free(&answer);
    client_close(&client);
}

static void chunks_are_put_together(void **state)
{
    struct fixture *f = *state;
    struct client client;
    struct answer answer;
    client_open(&client, f->port);
    client_puts(&client, "POST /api/echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 100; i++) {
        client_puts(&client, "1f\r\n0123456789012345678901234567890\r\n");
    }
    client_puts(&client, "0\r\n\r\n");
    client_receive(&client, false, &answer);
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(answer.body, "\"bytes\": 3100,"));
    assert_non_null(strstr(answer.body, "\"length\": -1"));
    answer_free(&answer);
    /* The connection stays. */
    client_puts(&client, "GET /api/x HTTP/1.1\r\n" HOST "\r\n");
    client_receive(&client, false, &answer);
    assert_int_equal(answer.status, 200);
    answer_free(&answer);
    client_close(&client);
}

static void a_body_that_breaks_off_is_no_end(void **state)
{
    struct fixture *f = *state;
    struct client client;
    client_open(&client, f->port);
    client_puts(&client, "PUT /api/echo HTTP/1.1\r\n" HOST "Content-Length: 500\r\n\r\nabc");
    client_close(&client);
}

/* ---- connections ---- */

static void requests_follow_on_one_connection(void **state)
{
    struct fixture *f = *state;
    struct client client;
    client_open(&client, f->port);
    for (int i = 0; i < 5; i++) {
        struct answer answer;
        char value[256];
        client_puts(&client, "GET /api/a%2Fb?q=%20x HTTP/1.1\r\n" HOST "\r\n");
        client_receive(&client, false, &answer);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer.body, "{\"path\": \"/api/a%2Fb\", \"query\": \"q=%20x\"}");
        assert_string_equal(answer_header(&answer, "Connection", value), "keep-alive");
        answer_free(&answer);
    }
    client_close(&client);
}

static void a_client_may_ask_for_the_end(void **state)
{
    struct fixture *f = *state;
    static const char *const requests[] = {
        "GET /api/x HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n",
        "GET /api/x HTTP/1.0\r\n\r\n",
    };
    for (size_t i = 0; i < 2; i++) {
        struct client client;
        struct answer answer;
        char value[256];
        client_open(&client, f->port);
        client_puts(&client, requests[i]);
        client_receive(&client, false, &answer);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer_header(&answer, "Connection", value), "close");
        assert_true(client_is_at_end(&client));
        answer_free(&answer);
        client_close(&client);
    }
}

static void head_has_the_length_and_no_body(void **state)
{
    struct fixture *f = *state;
    static const char *const paths[] = {"/api/long", "/", "/api/file"};
    for (size_t i = 0; i < 3; i++) {
        struct client client;
        struct answer answer;
        char request[128];
        char value[256];
        client_open(&client, f->port);
        (void)snprintf(request, sizeof request, "HEAD %s HTTP/1.1\r\n" HOST "\r\n", paths[i]);
        client_puts(&client, request);
        client_receive(&client, true, &answer);
        assert_int_equal(answer.status, 200);
        assert_true(strtol(answer_header(&answer, "Content-Length", value), NULL, 10) > 0);
        answer_free(&answer);
        /* If there were a body, the next answer would not begin here. */
        client_puts(&client, "GET /api/x HTTP/1.1\r\n" HOST "\r\n");
        client_receive(&client, false, &answer);
        assert_int_equal(answer.status, 200);
        answer_free(&answer);
        client_close(&client);
    }
}

/* ---- what answers look like ---- */

static void ranges_of_a_file(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *header;
        int status;
        size_t first, len;
        const char *content_range;
    } rows[] = {
        {"", 200, 0, FILE_BYTES, ""},
        {"Range: bytes=0-9\r\n", 206, 0, 10, "bytes 0-9/100000"},
        {"Range: bytes=99990-\r\n", 206, 99990, 10, "bytes 99990-99999/100000"},
        {"Range: bytes=-5\r\n", 206, 99995, 5, "bytes 99995-99999/100000"},
        {"Range: bytes=100000-\r\n", 416, 0, 0, "bytes */100000"},
        {"Range: bytes=0-1,5-6\r\n", 200, 0, FILE_BYTES, ""},
        {"Range: bytes=0-9\r\nIf-Range: \"other\"\r\n", 200, 0, FILE_BYTES, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct answer answer;
        char request[256];
        char value[256];
        (void)snprintf(request, sizeof request, "GET /api/file HTTP/1.1\r\n" HOST "%s\r\n",
                       rows[i].header);
        client_ask(f->port, request, &answer);
        assert_int_equal(answer.status, rows[i].status);
        assert_int_equal(answer.body_len, rows[i].len);
        assert_string_equal(answer_header(&answer, "Content-Range", value), rows[i].content_range);
        for (size_t at = 0; at < answer.body_len; at++) {
            assert_int_equal((unsigned char)answer.body[at], (rows[i].first + at) % 251);
        }
        answer_free(&answer);
    }
}

static void a_lost_file_is_a_problem(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    client_ask(f->port, "GET /api/lost HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.status, 410);
    answer_free(&answer);
}

static void known_versions_are_not_sent_again(void **state)
{
    struct fixture *f = *state;
    static const char *const paths[] = {"/", "/licenses.txt", "/api/long", "/api/file"};
    for (size_t i = 0; i < 4; i++) {
        struct answer answer;
        char request[512];
        char etag[256];
        (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" HOST "\r\n", paths[i]);
        client_ask(f->port, request, &answer);
        assert_int_equal(answer.status, 200);
        assert_string_not_equal(answer_header(&answer, "ETag", etag), "");
        answer_free(&answer);
        (void)snprintf(request, sizeof request,
                       "GET %s HTTP/1.1\r\n" HOST "If-None-Match: \"x\", %s\r\n\r\n", paths[i],
                       etag);
        client_ask(f->port, request, &answer);
        assert_int_equal(answer.status, 304);
        answer_free(&answer);
    }
}

static void text_is_compressed_for_those_who_want_it(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    char value[256];
    client_ask(f->port, "GET /api/long HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n", &answer);
    assert_string_equal(answer_header(&answer, "Content-Encoding", value), "gzip");
    assert_true(answer.body_len < LONG_BYTES / 4);
    unsigned char plain[LONG_BYTES + 1];
    struct inflate_state inflate;
    isal_inflate_init(&inflate);
    inflate.crc_flag = ISAL_GZIP;
    inflate.next_in = (uint8_t *)answer.body;
    inflate.avail_in = (uint32_t)answer.body_len;
    inflate.next_out = plain;
    inflate.avail_out = sizeof plain;
    assert_int_equal(isal_inflate(&inflate), ISAL_DECOMP_OK);
    assert_int_equal(inflate.total_out, LONG_BYTES);
    assert_int_equal(plain[12345], '5');
    answer_free(&answer);

    client_ask(f->port, "GET /api/long HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_string_equal(answer_header(&answer, "Content-Encoding", value), "");
    assert_int_equal(answer.body_len, LONG_BYTES);
    answer_free(&answer);

    client_ask(f->port, "GET /api/file HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n", &answer);
    assert_string_equal(answer_header(&answer, "Content-Encoding", value), "");
    answer_free(&answer);
}

static void events_come_in_chunks(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    client_ask(f->port, "GET /api/stream HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n",
               &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "data: 3\n\ndata: 2\n\ndata: 1\n\n");
    answer_free(&answer);
}

static void the_page_is_guarded_against_other_sites(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    char value[256];
    client_ask(f->port, "GET / HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_header(&answer, "Content-Type", value), "text/html; charset=utf-8");
    assert_non_null(
        strstr(answer_header(&answer, "Content-Security-Policy", value), "default-src 'self'"));
    assert_string_equal(answer_header(&answer, "X-Content-Type-Options", value), "nosniff");
    assert_string_equal(answer_header(&answer, "X-Frame-Options", value), "DENY");
    answer_free(&answer);
}

static void no_value_ends_its_line(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    char value[256];
    client_ask(f->port, "GET /api/line HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_string_equal(answer_header(&answer, "X-Forged", value), "");
    answer_free(&answer);
}

/* ---- what does not pass ---- */

static void expect_status(uint16_t port, const char *request, int status)
{
    struct answer answer;
    client_ask(port, request, &answer);
    assert_int_equal(answer.status, status);
    if (status >= 400) {
        char value[256];
        assert_string_equal(answer_header(&answer, "Content-Type", value),
                            "application/problem+json");
    }
    answer_free(&answer);
}

static void hosts_and_origins_are_checked(void **state)
{
    struct fixture *f = *state;
    expect_status(f->port, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403);
    expect_status(f->port, "GET /api/x HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", 403);
    expect_status(f->port, "GET /api/x HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", 200);
    expect_status(f->port, "GET /api/x HTTP/1.1\r\n\r\n", 400);
    expect_status(f->port, "DELETE /api/x HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n",
                  403);
    expect_status(f->port,
                  "POST /api/echo HTTP/1.1\r\n" HOST "Origin: null\r\nContent-Length: 0\r\n\r\n",
                  403);
    expect_status(f->port,
                  "POST /api/echo HTTP/1.1\r\n" HOST
                  "Origin: http://localhost\r\nContent-Length: 0\r\n\r\n",
                  201);
    expect_status(f->port, "GET /api/x HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n",
                  200);
}

static void doubtful_framing_is_refused(void **state)
{
    struct fixture *f = *state;
    expect_status(
        f->port,
        "PUT /api/echo HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400);
    expect_status(f->port,
                  "PUT /api/echo HTTP/1.1\r\n" HOST
                  "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                  400);
    expect_status(f->port, "PUT /api/echo HTTP/1.1\r\n" HOST "Content-Length: 1x\r\n\r\na", 400);
    expect_status(f->port, "PUT /api/echo HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", 411);
    expect_status(f->port, "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400);
    expect_status(f->port, "nonsense\r\n\r\n", 400);
    expect_status(f->port, "GET / HTTP/3.0\r\n" HOST "\r\n", 400);
}

/* CVE-2025-55763: civetweb's redirect to a directory writes beyond its buffer. Whatever names a
 * directory, or could, is answered before that code: never by a redirect, and the server stays. */
static void directories_never_redirect(void **state)
{
    struct fixture *f = *state;
    char path[LONG_BYTES + 1];
    memset(path, 'a', LONG_BYTES);
    path[LONG_BYTES] = '\0';
    static const char *const heads[] = {"/css", "/js/views", "/%2e%2e/", "/%2e%2e", "/../..",
                                        "/./",  "//",        "/tmp",     "/css?",   "/js/views/.."};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        for (int len = 0; len <= LONG_BYTES; len += LONG_BYTES / 2) {
            struct answer answer;
            char request[LONG_BYTES + 200];
            char value[256];
            (void)snprintf(request, sizeof request, "GET %s%.*s HTTP/1.1\r\n" HOST "\r\n", heads[i],
                           len, path);
            client_ask(f->port, request, &answer);
            assert_int_equal(answer.status, 404);
            assert_string_equal(answer_header(&answer, "Location", value), "");
            answer_free(&answer);
        }
    }
    expect_status(f->port, "GET /api/x HTTP/1.1\r\n" HOST "\r\n", 200);
}

/* A request with a line of `len` bytes, up to its end or not. */
static void expect_long_head(uint16_t port, size_t len, const char *end, int status)
{
    struct client client;
    struct answer answer;
    client_open(&client, port);
    client_puts(&client, "GET / HTTP/1.1\r\n" HOST "X: ");
    char *bytes = malloc(len);
    assert_non_null(bytes);
    memset(bytes, 'x', len);
    client_send(&client, bytes, len);
    free(bytes);
    client_puts(&client, end);
    client_receive(&client, false, &answer);
    assert_int_equal(answer.status, status);
    answer_free(&answer);
    client_close(&client);
}

static void a_head_too_long_is_a_problem(void **state)
{
    struct fixture *f = *state;
    expect_long_head(f->port, 30000, "\r\n\r\n", 200);
    expect_long_head(f->port, 40000, "\r\n\r\n", 431);
    expect_long_head(f->port, 65536, "", 400);
}

/* What stands behind the last line that civetweb reads could be the length of a body. */
static void a_head_is_read_whole_or_refused(void **state)
{
    struct fixture *f = *state;
    char request[2000] = "PUT /api/echo HTTP/1.1\r\n" HOST;
    size_t at = strlen(request);
    for (int i = 0; i < 62; i++) {
        at += (size_t)snprintf(request + at, sizeof request - at, "X-%d: y\r\n", i);
    }
    (void)snprintf(request + at, sizeof request - at, "Content-Length: 1\r\n\r\na");
    expect_status(f->port, request, 201);
    (void)snprintf(request + at, sizeof request - at, "X: y\r\nContent-Length: 1\r\n\r\na");
    expect_status(f->port, request, 431);
    expect_status(
        f->port, "PUT /api/echo HTTP/1.1\r\n" HOST "X: a\r\n b\r\nContent-Length: 1\r\n\r\na", 400);
}

static void other_methods_on_the_page(void **state)
{
    struct fixture *f = *state;
    expect_status(f->port, "DELETE /index.html HTTP/1.1\r\n" HOST "\r\n", 405);
    expect_status(f->port, "OPTIONS / HTTP/1.1\r\n" HOST "\r\n", 405);
    expect_status(f->port, "PROPFIND / HTTP/1.1\r\n" HOST "\r\n", 405);
}

static void browsers_see_a_page_where_there_is_nothing(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    char value[256];
    client_ask(f->port, "GET /nothing HTTP/1.1\r\n" HOST "Accept: text/html\r\n\r\n", &answer);
    assert_int_equal(answer.status, 404);
    assert_string_equal(answer_header(&answer, "Content-Type", value), "text/html; charset=utf-8");
    answer_free(&answer);
}

/* ---- other servers ---- */

static void tokens_and_a_base_path(void **state)
{
    char tokens[] = "/tmp/ks_tokens_XXXXXX";
    int fd = mkstemp(tokens);
    /* the token is "view" */
    static const char line[] =
        "viewer ann 2bcb43cbc8f6b7ef66331532881143fcbae60a879db3a8fb853f645bb24c2b3c\n";
    assert_int_equal(write(fd, line, sizeof line - 1), (ssize_t)sizeof line - 1);
    (void)close(fd);
    struct err err = ERR_INIT;
    struct access *access = NULL;
    const struct access_options access_options = {.token_file = tokens};
    assert_true(access_create(&access, &access_options, &err));
    (void)unlink(tokens);
    const struct http_options options = {.listen_host = "127.0.0.1",
                                         .base_path = "/base",
                                         .threads = 4,
                                         .access = access,
                                         .handle = fake_handle};
    struct http *http = NULL;
    assert_true(http_start(&http, &options, &err));
    http_open(http, &fake_api, "https://traces.example/base");
    uint16_t port = http_port(http);

    struct answer answer;
    char value[256];
    client_ask(port, "GET /base HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.status, 308);
    assert_string_equal(answer_header(&answer, "Location", value), "/base/");
    answer_free(&answer);
    client_ask(port, "GET /base/api/x HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.status, 401);
    assert_non_null(strstr(answer_header(&answer, "WWW-Authenticate", value), "Bearer"));
    answer_free(&answer);

    expect_status(port, "GET /base/ HTTP/1.1\r\nHost: traces.example\r\n\r\n", 200);
    expect_status(port, "GET /base/healthz HTTP/1.1\r\n" HOST "\r\n", 200);
    expect_status(port, "GET / HTTP/1.1\r\n" HOST "\r\n", 404);
    expect_status(port, "GET /basement/ HTTP/1.1\r\n" HOST "\r\n", 404);
    expect_status(port, "GET /base/api/x HTTP/1.1\r\n" HOST "Authorization: Bearer view\r\n\r\n",
                  200);
    expect_status(port, "DELETE /base/api/x HTTP/1.1\r\n" HOST "Authorization: Bearer view\r\n\r\n",
                  403);
    http_stop(http);
    access_free(access);
}

static void a_stopping_server_says_so(void **state)
{
    const struct http_options options = {
        .listen_host = "127.0.0.1", .base_path = "", .threads = 4, .handle = fake_handle};
    struct http *http = NULL;
    struct err err = ERR_INIT;
    assert_true(http_start(&http, &options, &err));
    http_open(http, &fake_api, NULL);
    http_drain(http, 5);
    struct answer answer;
    client_ask(http_port(http), "GET /api/x HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.status, 503);
    answer_free(&answer);
    http_stop(http);
}

static void what_runs_is_finished_before_the_end(void **state)
{
    const struct http_options options = {
        .listen_host = "127.0.0.1", .base_path = "", .threads = 4, .handle = slow_handle};
    struct http *http = NULL;
    struct err err = ERR_INIT;
    assert_true(http_start(&http, &options, &err));
    struct slow slow = {false};
    struct api api = {.store = (struct store *)&slow};
    http_open(http, &api, NULL);
    struct client client;
    client_open(&client, http_port(http));
    client_puts(&client, "GET /api/slow HTTP/1.1\r\n" HOST "\r\n");
    while (!atomic_load(&slow.is_running)) {
        nap_ms(1);
    }
    http_drain(http, 10);
    http_stop(http);
    struct answer answer;
    client_receive(&client, false, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "done");
    answer_free(&answer);
    client_close(&client);
}

static void the_page_may_come_from_a_directory(void **state)
{
    const struct http_options options = {.listen_host = "127.0.0.1",
                                         .base_path = "",
                                         .threads = 4,
                                         .static_dir = KS_TEST_DIR "/../static",
                                         .handle = fake_handle};
    struct http *http = NULL;
    struct err err = ERR_INIT;
    assert_true(http_start(&http, &options, &err));
    http_open(http, &fake_api, NULL);
    uint16_t port = http_port(http);
    expect_status(port, "GET / HTTP/1.1\r\n" HOST "\r\n", 200);
    expect_status(port, "GET /vendor.list HTTP/1.1\r\n" HOST "\r\n", 200);
    expect_status(port, "GET /licenses.txt HTTP/1.1\r\n" HOST "\r\n", 200);
    expect_status(port, "GET /.npmrc HTTP/1.1\r\n" HOST "\r\n", 404);
    expect_status(port, "GET /../README.md HTTP/1.1\r\n" HOST "\r\n", 404);
    expect_status(port, "GET //etc/passwd HTTP/1.1\r\n" HOST "\r\n", 404);
    expect_status(port, "GET /js HTTP/1.1\r\n" HOST "\r\n", 404);
    http_stop(http);
}

static void a_taken_port_is_told(void **state)
{
    struct fixture *f = *state;
    const struct http_options options = {.listen_host = "127.0.0.1",
                                         .listen_port = f->port,
                                         .base_path = "",
                                         .threads = 4,
                                         .handle = fake_handle};
    struct http *http = NULL;
    struct err err = ERR_INIT;
    assert_false(http_start(&http, &options, &err));
    assert_non_null(strstr(err.msg, "--listen"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continue_comes_before_any_byte_of_the_body),
        cmocka_unit_test(a_refusal_comes_instead_of_continue),
        cmocka_unit_test(a_refused_body_is_taken_in_so_that_the_answer_arrives),
        cmocka_unit_test(chunks_are_put_together),
        cmocka_unit_test(a_body_that_breaks_off_is_no_end),
        cmocka_unit_test(requests_follow_on_one_connection),
        cmocka_unit_test(a_client_may_ask_for_the_end),
        cmocka_unit_test(head_has_the_length_and_no_body),
        cmocka_unit_test(ranges_of_a_file),
        cmocka_unit_test(a_lost_file_is_a_problem),
        cmocka_unit_test(known_versions_are_not_sent_again),
        cmocka_unit_test(text_is_compressed_for_those_who_want_it),
        cmocka_unit_test(events_come_in_chunks),
        cmocka_unit_test(the_page_is_guarded_against_other_sites),
        cmocka_unit_test(no_value_ends_its_line),
        cmocka_unit_test(hosts_and_origins_are_checked),
        cmocka_unit_test(doubtful_framing_is_refused),
        cmocka_unit_test(directories_never_redirect),
        cmocka_unit_test(a_head_too_long_is_a_problem),
        cmocka_unit_test(a_head_is_read_whole_or_refused),
        cmocka_unit_test(other_methods_on_the_page),
        cmocka_unit_test(browsers_see_a_page_where_there_is_nothing),
        cmocka_unit_test(tokens_and_a_base_path),
        cmocka_unit_test(a_stopping_server_says_so),
        cmocka_unit_test(what_runs_is_finished_before_the_end),
        cmocka_unit_test(the_page_may_come_from_a_directory),
        cmocka_unit_test(a_taken_port_is_told),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
