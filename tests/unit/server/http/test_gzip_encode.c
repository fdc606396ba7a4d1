/* Files that are packed while they are made, and long bodies that are sent while they are written:
 * whole in any client's hands, or visibly broken off. */
#include "server/http.h"
#include "server/http/gzip_encode.h"
#include "tests/unit/server/client.h"
#include "tests/unit/unit.h"

#include <isa-l/igzip_lib.h>
#include <stdio.h>
#include <string.h>

#define HOST "Host: localhost\r\n"
#define PIECES 40
#define TEXT_MAX ((size_t)8 << 20)

struct fixture {
    struct http *http;
    uint16_t port;
};

/* Piece n: n lines of different length; one of them empty. */
static void put_piece(struct buf *out, int piece)
{
    for (int i = 0; i < (piece % 7 == 3 ? 0 : piece * 100); i++) {
        buf_printf(out, "{\"name\": \"event %d of %d\", \"ts\": %d},\n", i, piece, i * 977 + piece);
    }
}

struct source {
    int next;
    int breaks_at; /* -1: never */
};

static bool next_piece(struct api_response *response, struct buf *out)
{
    struct source *source = response->stream_state;
    if (source->next == source->breaks_at) {
        out->failed = true;
        return false;
    }
    put_piece(out, source->next++);
    return source->next < PIECES;
}

static struct api fake_api;

/* The same text as a body that is sent part by part; it breaks off in the middle, or not. */
static void
write_parts(const struct api_request *request, struct api_response *response, bool breaks)
{
    response->content_type = "application/json";
    for (int piece = 0; piece < PIECES && !response->is_broken; piece++) {
        put_piece(&response->body, piece);
        assert_true(piece % 5 != 4 || request->send_part(request, response));
        response->is_broken = breaks && piece == PIECES / 2;
    }
}

static void
handle(struct api *api, const struct api_request *request, struct api_response *response)
{
    (void)api;
    api_response_init(response);
    if (strncmp(request->path, "/api/parts", 10) == 0) {
        write_parts(request, response, strcmp(request->path, "/api/parts/broken") == 0);
        return;
    }
    struct source *source = arena_calloc(&response->arena, 1, sizeof *source);
    bool breaks = strcmp(request->path, "/api/breaks") == 0;
    source->breaks_at = breaks ? PIECES / 2 : -1;
    response->content_type = "application/gzip";
    response->stream = next_piece;
    response->stream_may_pack = strcmp(request->path, "/api/text") == 0;
    response->stream_is_packed =
        strcmp(request->path, "/api/plain") != 0 && !response->stream_may_pack;
    response->stream_state = source;
}

static int start(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const struct http_options options = {
        .listen_host = "127.0.0.1", .base_path = "", .threads = 4, .handle = handle};
    struct err err = ERR_INIT;
    assert_non_null(f);
    assert_true(http_start(&f->http, &options, &err));
    f->port = http_port(f->http);
    http_open(f->http, &fake_api, NULL);
    *state = f;
    return 0;
}

static int stop(void **state)
{
    struct fixture *f = *state;
    http_stop(f->http);
    free(f);
    return 0;
}

static struct buf expected_text(void)
{
    struct buf text;
    buf_init(&text, TEXT_MAX);
    for (int piece = 0; piece < PIECES; piece++) {
        put_piece(&text, piece);
    }
    assert_false(text.failed);
    return text;
}

/* ISA-L's word on the end: ISAL_END_INPUT or more when the member is not whole. */
static int unpack(const char *bytes, size_t len, unsigned char *out, size_t *out_len)
{
    struct inflate_state inflate;
    isal_inflate_init(&inflate);
    inflate.crc_flag = ISAL_GZIP;
    inflate.next_in = (uint8_t *)(uintptr_t)bytes;
    inflate.avail_in = (uint32_t)len;
    inflate.next_out = out;
    inflate.avail_out = (uint32_t)TEXT_MAX;
    int code = isal_inflate(&inflate);
    *out_len = inflate.total_out;
    if (code == ISAL_DECOMP_OK && inflate.block_state != ISAL_BLOCK_FINISH) {
        return ISAL_END_INPUT;
    }
    return code == ISAL_DECOMP_OK && inflate.avail_in != 0 ? ISAL_INVALID_BLOCK : code;
}

static void assert_unpacks_to_expected(const char *bytes, size_t len)
{
    unsigned char *plain = malloc(TEXT_MAX);
    struct buf text = expected_text();
    size_t plain_len = 0;
    assert_non_null(plain);
    assert_int_equal(unpack(bytes, len, plain, &plain_len), ISAL_DECOMP_OK);
    assert_int_equal(plain_len, text.len);
    assert_memory_equal(plain, text.ptr, text.len);
    assert_true(len < text.len / 3);
    buf_free(&text);
    free(plain);
}

static void a_packed_stream_is_a_gzip_file(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    char value[256];
    client_ask(f->port, "GET /api/file HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_header(&answer, "Content-Type", value), "application/gzip");
    assert_string_equal(answer_header(&answer, "Content-Encoding", value), "");
    assert_unpacks_to_expected(answer.body, answer.body_len);
    answer_free(&answer);
}

static void it_is_as_whole_for_old_clients(void **state)
{
    struct fixture *f = *state;
    struct client client;
    client_open(&client, f->port);
    client_puts(&client, "GET /api/file HTTP/1.0\r\n" HOST "\r\n");
    char *head = take_until(&client, "\r\n\r\n");
    while (read_more(&client)) {
    }
    assert_unpacks_to_expected(client.bytes, client.len);
    free(head);
    client_close(&client);
}

static void a_stream_is_sent_as_it_is_without_the_flag(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    struct buf text = expected_text();
    client_ask(f->port, "GET /api/plain HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.body_len, text.len);
    assert_memory_equal(answer.body, text.ptr, text.len);
    buf_free(&text);
    answer_free(&answer);
}

static void a_stream_of_text_is_packed_where_the_client_takes_it(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    char value[256];
    struct buf text = expected_text();
    client_ask(f->port, "GET /api/text HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n", &answer);
    assert_string_equal(answer_header(&answer, "Content-Encoding", value), "gzip");
    assert_string_equal(answer_header(&answer, "Vary", value), "Accept-Encoding");
    assert_unpacks_to_expected(answer.body, answer.body_len);
    answer_free(&answer);
    client_ask(f->port, "GET /api/text HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_string_equal(answer_header(&answer, "Content-Encoding", value), "");
    assert_string_equal(answer_header(&answer, "Vary", value), "Accept-Encoding");
    assert_int_equal(answer.body_len, text.len);
    assert_memory_equal(answer.body, text.ptr, text.len);
    buf_free(&text);
    answer_free(&answer);
}

static void a_body_goes_out_in_parts(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    char value[256];
    struct buf text = expected_text();
    client_ask(f->port, "GET /api/parts HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_header(&answer, "Transfer-Encoding", value), "chunked");
    assert_string_equal(answer_header(&answer, "Content-Type", value), "application/json");
    assert_int_equal(answer.body_len, text.len);
    assert_memory_equal(answer.body, text.ptr, text.len);
    buf_free(&text);
    answer_free(&answer);
}

static void its_parts_are_packed_where_the_client_takes_it(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    char value[256];
    client_ask(f->port, "GET /api/parts HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n",
               &answer);
    assert_string_equal(answer_header(&answer, "Content-Encoding", value), "gzip");
    assert_string_equal(answer_header(&answer, "Vary", value), "Accept-Encoding");
    assert_unpacks_to_expected(answer.body, answer.body_len);
    answer_free(&answer);
}

/* Nothing of the body follows: the next answer on the connection is read right behind. */
static void of_parts_head_tells_the_head_alone(void **state)
{
    struct fixture *f = *state;
    struct client client;
    client_open(&client, f->port);
    client_puts(&client, "HEAD /api/parts HTTP/1.1\r\n" HOST "\r\nHEAD /api/parts HTTP/1.1\r\n" HOST
                         "Connection: close\r\n\r\n");
    for (int i = 0; i < 2; i++) {
        char *head = take_until(&client, "\r\n\r\n");
        assert_non_null(strstr(head, "HTTP/1.1 200"));
        free(head);
    }
    while (read_more(&client)) {
    }
    assert_int_equal(client.len, 0);
    client_close(&client);
}

/* No last chunk: the client sees that the answer is not whole. */
static void assert_breaks_off(const struct fixture *f, const char *request)
{
    struct client client;
    client_open(&client, f->port);
    client_puts(&client, request);
    char *head = take_until(&client, "\r\n\r\n");
    assert_non_null(strstr(head, "200"));
    while (read_more(&client)) {
    }
    assert_true(client.len < 5 || memcmp(client.bytes + client.len - 5, "0\r\n\r\n", 5) != 0);
    free(head);
    client_close(&client);
}

static void a_stream_that_fails_breaks_off(void **state)
{
    assert_breaks_off(*state, "GET /api/breaks HTTP/1.1\r\n" HOST "\r\n");
}

static void parts_without_an_end_break_off(void **state)
{
    assert_breaks_off(*state, "GET /api/parts/broken HTTP/1.1\r\n" HOST "\r\n");
    assert_breaks_off(*state,
                      "GET /api/parts/broken HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n");
}

static void nothing_is_packed_for_head(void **state)
{
    struct fixture *f = *state;
    struct answer answer;
    client_ask(f->port, "HEAD /api/file HTTP/1.1\r\n" HOST "\r\n", &answer);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.body_len, 0);
    answer_free(&answer);
}

/* One member, however its text is cut. */
static void pieces_of_any_size_make_one_member(void **state)
{
    struct buf text = expected_text();
    static const size_t sizes[] = {1000, 65536, 1000000, TEXT_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct buf gzipped;
        struct gzip_encoder *encoder = gzip_encoder_create(GZIP_SMALL);
        assert_non_null(encoder);
        buf_init(&gzipped, TEXT_MAX);
        for (size_t at = 0; at < text.len; at += sizes[i]) {
            size_t len = text.len - at < sizes[i] ? text.len - at : sizes[i];
            assert_true(gzip_encoder_put(encoder, text.ptr + at, len, false, &gzipped));
        }
        assert_true(gzip_encoder_put(encoder, NULL, 0, true, &gzipped));
        assert_unpacks_to_expected(gzipped.ptr, gzipped.len);
        gzip_encoder_destroy(encoder);
        buf_free(&gzipped);
    }
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_stream_is_a_gzip_file),
        cmocka_unit_test(it_is_as_whole_for_old_clients),
        cmocka_unit_test(a_stream_is_sent_as_it_is_without_the_flag),
        cmocka_unit_test(a_stream_of_text_is_packed_where_the_client_takes_it),
        cmocka_unit_test(a_body_goes_out_in_parts),
        cmocka_unit_test(its_parts_are_packed_where_the_client_takes_it),
        cmocka_unit_test(of_parts_head_tells_the_head_alone),
        cmocka_unit_test(a_stream_that_fails_breaks_off),
        cmocka_unit_test(parts_without_an_end_break_off),
        cmocka_unit_test(nothing_is_packed_for_head),
        cmocka_unit_test(pieces_of_any_size_make_one_member),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
