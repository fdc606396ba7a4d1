#include "server/http/reply.h"

#include "api/api.h"
#include "server/http/head.h"
#include "server/http/mime.h"
#include "server/http/negotiate.h"
#include "server/http/pack.h"

#include <inttypes.h>
#include <isa-l/crc64.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define GZIP_MIN_BYTES ((size_t)1 << 10)
#define ETAG_BYTES 48
#define STREAM_PIECE_MAX_BYTES ((size_t)64 << 20)

const char *reply_header(const struct api_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcasecmp(response->headers[i].name, name) == 0) {
            return response->headers[i].value;
        }
    }
    return NULL;
}

static const char *type_of(const struct api_response *response)
{
    return response->content_type == NULL ? "application/octet-stream" : response->content_type;
}

void reply_begin(struct buf *head,
                 struct exchange *x,
                 const struct api_response *response,
                 int status)
{
    head_begin(head, x, status, HEAD_DATA);
    if (reply_header(response, "Cache-Control") == NULL) {
        bool may_be_kept = status == 200 || status == 206 || status == 304;
        head_add(head, "Cache-Control", may_be_kept ? "private, no-cache" : "no-store");
    }
    for (size_t i = 0; i < response->header_count; i++) {
        head_add(head, response->headers[i].name, response->headers[i].value);
    }
}

static bool is_read(const struct exchange *x)
{
    return x->is_head || strcmp(x->method, "GET") == 0;
}

/* ---- bodies in memory ---- */

static void make_etag(char etag[ETAG_BYTES], const struct buf *body)
{
    uint64_t sum = crc64_ecma_refl(0, (const unsigned char *)body->ptr, body->len);
    (void)snprintf(etag, ETAG_BYTES, "W/\"%016" PRIx64 "-%zx\"", sum, body->len);
}

/* Replaces the body by its gzip form where the client wants that and it is shorter. */
static bool pack_body(struct exchange *x, struct api_response *response)
{
    if (response->body.len < GZIP_MIN_BYTES || reply_header(response, "Content-Encoding") != NULL ||
        !negotiate_gzip(exchange_header(x, "Accept-Encoding"))) {
        return false;
    }
    struct buf packed;
    buf_init(&packed, response->body.len + GZIP_MIN_BYTES + ((size_t)64 << 10));
    bool shorter = pack_gzip(response->body.ptr, response->body.len, PACK_FAST, &packed) &&
                   packed.len < response->body.len;
    if (!shorter) {
        buf_free(&packed);
        return false;
    }
    buf_free(&response->body);
    response->body = packed;
    return true;
}

static void send_body(struct exchange *x, struct api_response *response)
{
    int status = response->status;
    char etag[ETAG_BYTES] = "";
    if (is_read(x) && status == 200) {
        const char *given = reply_header(response, "ETag");
        if (given == NULL) {
            make_etag(etag, &response->body);
        }
        if (negotiate_etag_matches(exchange_header(x, "If-None-Match"),
                                   given == NULL ? etag : given)) {
            status = 304;
        }
    }
    bool has_body = status != 204 && status != 304;
    bool compressible = mime_is_compressible(type_of(response));
    bool packed = has_body && compressible && pack_body(x, response);

    struct buf head;
    reply_begin(&head, x, response, status);
    if (etag[0] != '\0') {
        head_add(&head, "ETag", etag);
    }
    if (compressible) {
        head_add(&head, "Vary", "Accept-Encoding");
    }
    if (packed) {
        head_add(&head, "Content-Encoding", "gzip");
    }
    if (has_body && (response->body.len > 0 || response->content_type != NULL)) {
        head_add(&head, "Content-Type", type_of(response));
    }
    int64_t length = has_body ? (int64_t)response->body.len : HEAD_LENGTH_NONE;
    if (head_send(&head, x, length) && has_body && !x->is_head) {
        (void)exchange_write(x, response->body.ptr, response->body.len);
    }
}

/* ---- streams ---- */

static bool send_piece(struct exchange *x, const struct buf *piece)
{
    if (x->is_http_1_0) {
        return exchange_write(x, piece->ptr, piece->len);
    }
    char size[24];
    int size_len = snprintf(size, sizeof size, "%zx\r\n", piece->len);
    return exchange_write(x, size, (size_t)size_len) && exchange_write(x, piece->ptr, piece->len) &&
           exchange_write(x, "\r\n", 2);
}

/* The stream's next piece, in the form in which it is sent. */
static bool next_piece(struct api_response *response,
                       struct pack_stream *pack,
                       struct buf *text,
                       struct buf *piece)
{
    buf_clear(piece);
    if (pack == NULL) {
        return response->stream(response, piece);
    }
    buf_clear(text);
    bool more = response->stream(response, text);
    if (text->failed || !pack_stream_put(pack, text->ptr, text->len, !more, piece)) {
        piece->failed = true;
    }
    return more && !piece->failed;
}

static void send_pieces(struct exchange *x,
                        struct api_response *response,
                        struct pack_stream *pack,
                        const atomic_bool *stopping)
{
    struct buf text;
    struct buf piece;
    buf_init(&text, STREAM_PIECE_MAX_BYTES);
    buf_init(&piece, STREAM_PIECE_MAX_BYTES);
    bool more = true;
    bool sent = true;
    while (more && sent && !atomic_load(stopping)) {
        more = next_piece(response, pack, &text, &piece);
        if (piece.failed) {
            exchange_abort(x);
        }
        sent = piece.len == 0 || send_piece(x, &piece);
    }
    buf_free(&text);
    buf_free(&piece);
    if (more && pack != NULL) {
        exchange_abort(x);
    }
    if (!x->is_http_1_0) {
        (void)exchange_write(x, "0\r\n\r\n", 5);
    }
}

static void
send_stream(struct exchange *x, struct api_response *response, const atomic_bool *stopping)
{
    struct pack_stream *pack = NULL;
    if (response->stream_is_packed) {
        pack = pack_stream_create(PACK_FAST);
        if (pack == NULL) {
            struct err err = ERR_INIT;
            (void)err_set(&err, ERR_NO_MEMORY, "No memory to pack the answer");
            reply_problem(x, &err, NULL);
            return;
        }
    }
    struct buf head;
    reply_begin(&head, x, response, response->status);
    head_add(&head, "Content-Type", type_of(response));
    /* nginx would otherwise hold events back until its buffer is full. */
    head_add(&head, "X-Accel-Buffering", "no");
    if (!x->is_http_1_0) {
        head_add(&head, "Transfer-Encoding", "chunked");
    }
    if (head_send(&head, x, HEAD_LENGTH_NONE) && !x->is_head) {
        send_pieces(x, response, pack, stopping);
    }
    pack_stream_destroy(pack);
}

void reply_send(struct exchange *x, struct api_response *response, const atomic_bool *stopping)
{
    if (response->stream != NULL) {
        send_stream(x, response, stopping);
    } else if (response->file_path != NULL) {
        reply_file(x, response);
    } else {
        send_body(x, response);
    }
}

/* ---- the server's own answers ---- */

void reply_problem(struct exchange *x, const struct err *err, const struct api_header *header)
{
    struct api_response response;
    api_response_init(&response);
    api_problem(&response, err);
    if (header != NULL) {
        response.headers[response.header_count++] = *header;
    }
    send_body(x, &response);
    api_response_free(&response);
}

void reply_asset(struct exchange *x, int status, const struct reply_asset *asset)
{
    bool fresh = asset->etag != NULL && status == 200 &&
                 negotiate_etag_matches(exchange_header(x, "If-None-Match"), asset->etag);
    bool packed = asset->gzip != NULL && negotiate_gzip(exchange_header(x, "Accept-Encoding"));
    struct buf head;
    head_begin(&head, x, fresh ? 304 : status, HEAD_PAGE);
    /* Kept by the browser, asked for again each time: a new version shows at once. */
    head_add(&head, "Cache-Control", "no-cache");
    head_add(&head, "Vary", "Accept-Encoding");
    if (asset->etag != NULL) {
        head_add(&head, "ETag", asset->etag);
    }
    if (fresh) {
        (void)head_send(&head, x, HEAD_LENGTH_NONE);
        return;
    }
    head_add(&head, "Content-Type", asset->content_type);
    if (packed) {
        head_add(&head, "Content-Encoding", "gzip");
    }
    const void *bytes = packed ? asset->gzip : asset->bytes;
    size_t len = packed ? asset->gzip_len : asset->len;
    if (head_send(&head, x, (int64_t)len) && !x->is_head) {
        (void)exchange_write(x, bytes, len);
    }
}

void reply_redirect(struct exchange *x, const char *location)
{
    struct buf head;
    head_begin(&head, x, 308, HEAD_DATA);
    head_add(&head, "Location", location);
    head_add(&head, "Cache-Control", "no-cache");
    (void)head_send(&head, x, 0);
}
