#include "server/http/reply.h"

#include "api/api.h"
#include "server/http/gzip_encode.h"
#include "server/http/head.h"
#include "server/http/mime.h"
#include "server/http/negotiate.h"

#include <inttypes.h>
#include <isa-l/crc64.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define GZIP_MIN_BYTES ((size_t)1 << 10)
#define ETAG_BYTES 48
#define AGE_BYTES 24
#define LINES_MAX_BYTES ((size_t)32 << 10)
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

/* What the API says of the answer, and who may keep it where it says nothing. */
static void add_own_lines(struct buf *head, const struct api_response *response, int status)
{
    if (response->age_s > 0) { /* the present may be there at any moment */
        char age[AGE_BYTES];
        (void)snprintf(age, sizeof age, "%" PRId64, response->age_s);
        head_add(head, "Age", age);
        head_add(head, "Cache-Status", "kinetoscope; hit; detail=database-away");
    }
    if (reply_header(response, "Cache-Control") == NULL) {
        bool may_be_kept =
            response->age_s == 0 && (status == 200 || status == 206 || status == 304);
        head_add(head, "Cache-Control", may_be_kept ? "private, no-cache" : "no-store");
    }
    for (size_t i = 0; i < response->header_count; i++) {
        head_add(head, response->headers[i].name, response->headers[i].value);
    }
}

void reply_begin(struct buf *head,
                 struct http_request *req,
                 const struct api_response *response,
                 int status)
{
    head_begin(head, req, status, HEAD_DATA);
    add_own_lines(head, response, status);
}

static bool is_read(const struct http_request *req)
{
    return req->is_head || strcmp(req->method, "GET") == 0;
}

/* ---- bodies in memory ---- */

bool reply_may_gzip(const struct http_request *req)
{
    return negotiate_gzip(http_request_header(req, "Accept-Encoding"));
}

/* Of the content and its form: what has the same tag is the same to the last byte. */
static void make_etag(char etag[ETAG_BYTES], const struct buf *body, bool may_gzip)
{
    uint64_t sum = crc64_ecma_refl(0, (const unsigned char *)body->ptr, body->len);
    (void)snprintf(etag, ETAG_BYTES, "\"%016" PRIx64 "-%zx%s\"", sum, body->len,
                   may_gzip ? "-gz" : "");
}

/* Replaces the body by its gzip form where that is shorter. */
static bool pack_body(struct api_response *response)
{
    struct buf gzipped;
    buf_init(&gzipped, response->body.len + GZIP_MIN_BYTES + ((size_t)64 << 10));
    bool shorter = gzip_encode(response->body.ptr, response->body.len, GZIP_FAST, &gzipped) &&
                   gzipped.len < response->body.len;
    if (!shorter) {
        buf_free(&gzipped);
        return false;
    }
    buf_free(&response->body);
    response->body = gzipped;
    return true;
}

static bool
is_fresh(const struct http_request *req, const struct cached_response *answer, int status)
{
    return status == 200 && answer->etag != NULL &&
           negotiate_etag_matches(http_request_header(req, "If-None-Match"), answer->etag);
}

static void send_ready(struct http_request *req, const struct cached_response *answer, int status)
{
    bool fresh = is_fresh(req, answer, status);
    struct buf head;
    head_begin(&head, req, fresh ? 304 : status, HEAD_DATA);
    buf_append(&head, answer->lines, fresh ? answer->content_lines_at : answer->lines_len);
    if (fresh || status == 204) {
        (void)head_send(&head, req, HEAD_LENGTH_NONE);
    } else {
        head_send_with(&head, req, answer->bytes, answer->len);
    }
}

bool reply_from_cache(struct http_request *req, const struct reply_place *place)
{
    const struct cached_response *answer =
        response_cache_acquire(place->cache, &place->key, place->version);
    if (answer == NULL) {
        return false;
    }
    send_ready(req, answer, 200);
    response_cache_release(place->cache, answer);
    return true;
}

/* The lines that belong to the answer alone; those of the content begin at the result. */
static size_t write_lines(struct buf *lines,
                          const struct api_response *response,
                          const char *own_etag,
                          bool compressible)
{
    add_own_lines(lines, response, response->status);
    if (*own_etag != '\0') {
        head_add(lines, "ETag", own_etag);
    }
    if (compressible) {
        head_add(lines, "Vary", "Accept-Encoding");
    }
    return lines->len;
}

static void
send_body(struct http_request *req, struct api_response *response, const struct reply_place *place)
{
    char own_etag[ETAG_BYTES] = "";
    bool compressible = mime_is_compressible(type_of(response));
    bool may_gzip = compressible && response->body.len >= GZIP_MIN_BYTES &&
                    reply_header(response, "Content-Encoding") == NULL && reply_may_gzip(req);
    struct cached_response answer = {.etag = NULL};
    if (is_read(req) && response->status == 200) {
        answer.etag = reply_header(response, "ETag");
        if (answer.etag == NULL) {
            make_etag(own_etag, &response->body, may_gzip);
            answer.etag = own_etag;
        }
    }
    bool keep = place != NULL && response->is_kept && answer.etag != NULL;
    struct buf lines;
    buf_init(&lines, LINES_MAX_BYTES);
    answer.content_lines_at = write_lines(&lines, response, own_etag, compressible);
    if (may_gzip && (keep || !is_fresh(req, &answer, response->status)) && pack_body(response)) {
        head_add(&lines, "Content-Encoding", "gzip");
    }
    if (response->body.len > 0 || response->content_type != NULL) {
        head_add(&lines, "Content-Type", type_of(response));
    }
    answer.lines = lines.ptr;
    answer.lines_len = lines.len;
    answer.bytes = response->body.ptr;
    answer.len = response->body.len;
    if (keep && !lines.failed) {
        response_cache_put(place->cache, &place->key, place->version, &answer);
    }
    if (lines.failed) {
        http_request_abort(req);
    }
    send_ready(req, &answer, response->status);
    buf_free(&lines);
}

/* ---- streams ---- */

static bool send_piece(struct http_request *req, const struct buf *piece)
{
    if (req->is_http_1_0) {
        return http_request_write(req, piece->ptr, piece->len);
    }
    char size[24];
    int size_len = snprintf(size, sizeof size, "%zx\r\n", piece->len);
    return http_request_write(req, size, (size_t)size_len) &&
           http_request_write(req, piece->ptr, piece->len) && http_request_write(req, "\r\n", 2);
}

/* The stream's next piece, in the form in which it is sent. */
static bool next_piece(struct api_response *response,
                       struct gzip_encoder *encoder,
                       struct buf *text,
                       struct buf *piece)
{
    buf_clear(piece);
    if (encoder == NULL) {
        return response->stream(response, piece);
    }
    buf_clear(text);
    bool more = response->stream(response, text);
    if (text->failed || !gzip_encoder_put(encoder, text->ptr, text->len, !more, piece)) {
        piece->failed = true;
    }
    return more && !piece->failed;
}

static void send_pieces(struct http_request *req,
                        struct api_response *response,
                        struct gzip_encoder *encoder,
                        const atomic_bool *stopping)
{
    struct buf text;
    struct buf piece;
    buf_init(&text, STREAM_PIECE_MAX_BYTES);
    buf_init(&piece, STREAM_PIECE_MAX_BYTES);
    bool more = true;
    bool sent = true;
    while (more && sent && !atomic_load(stopping)) {
        more = next_piece(response, encoder, &text, &piece);
        if (piece.failed) {
            http_request_abort(req);
        }
        sent = piece.len == 0 || send_piece(req, &piece);
    }
    buf_free(&text);
    buf_free(&piece);
    if (more && encoder != NULL) {
        http_request_abort(req);
    }
    if (!req->is_http_1_0) {
        (void)http_request_write(req, "0\r\n\r\n", 5);
    }
}

/* ---- bodies that are sent part by part while they are written ---- */

struct reply_parts {
    struct gzip_encoder *encoder; /* NULL: plain */
    struct buf gzipped;
};

static bool begin_parts(struct http_request *req, struct api_response *response)
{
    struct reply_parts *parts = arena_calloc(&response->arena, 1, sizeof *parts);
    bool compressible = mime_is_compressible(type_of(response));
    struct buf head;
    if (parts == NULL) {
        return false;
    }
    buf_init(&parts->gzipped, STREAM_PIECE_MAX_BYTES);
    if (compressible && reply_may_gzip(req)) {
        parts->encoder = gzip_encoder_create(GZIP_FAST); /* without memory: plain */
    }
    response->sending = parts;
    response->has_parts = true;
    reply_begin(&head, req, response, response->status);
    head_add(&head, "Content-Type", type_of(response));
    if (compressible) {
        head_add(&head, "Vary", "Accept-Encoding");
    }
    if (parts->encoder != NULL) {
        head_add(&head, "Content-Encoding", "gzip");
    }
    if (!req->is_http_1_0) {
        head_add(&head, "Transfer-Encoding", "chunked");
    }
    return head_send(&head, req, HEAD_LENGTH_NONE);
}

/* Sends the body's content and empties it. */
static bool send_part(struct http_request *req, struct api_response *response, bool last)
{
    struct reply_parts *parts = response->sending;
    const struct buf *piece = &response->body;
    bool ok = true;
    if (req->is_head) {
        buf_clear(&response->body);
        return true;
    }
    if (parts->encoder != NULL) {
        buf_clear(&parts->gzipped);
        ok = gzip_encoder_put(parts->encoder, response->body.ptr, response->body.len, last,
                              &parts->gzipped);
        piece = &parts->gzipped;
    }
    ok = ok && (piece->len == 0 || send_piece(req, piece));
    buf_clear(&response->body);
    return ok;
}

bool reply_part(struct http_request *req, struct api_response *response)
{
    return (response->has_parts || begin_parts(req, response)) && send_part(req, response, false);
}

static void end_parts(struct http_request *req, struct api_response *response)
{
    struct reply_parts *parts = response->sending;
    if (response->is_broken || !send_part(req, response, true)) {
        http_request_abort(req);
    } else if (!req->is_http_1_0 && !req->is_head) {
        (void)http_request_write(req, "0\r\n\r\n", 5);
    }
    gzip_encoder_destroy(parts->encoder);
    buf_free(&parts->gzipped);
}

static bool has_fresh_stream(const struct http_request *req, const struct api_response *response)
{
    const struct cached_response tag = {.etag = reply_header(response, "ETag")};
    return is_read(req) && is_fresh(req, &tag, response->status);
}

static void
send_stream(struct http_request *req, struct api_response *response, const atomic_bool *stopping)
{
    struct gzip_encoder *encoder = NULL;
    struct buf head;
    if (has_fresh_stream(req, response)) {
        reply_begin(&head, req, response, 304);
        (void)head_send(&head, req, HEAD_LENGTH_NONE);
        return;
    }
    bool encodes = response->stream_may_pack && reply_may_gzip(req);
    if (response->stream_is_packed || encodes) {
        encoder = gzip_encoder_create(GZIP_FAST);
        if (encoder == NULL && response->stream_is_packed) {
            struct err err = ERR_INIT;
            (void)err_set(&err, ERR_NO_MEMORY, "No memory to pack the answer");
            reply_problem(req, &err, NULL);
            return;
        }
    }
    reply_begin(&head, req, response, response->status);
    head_add(&head, "Content-Type", type_of(response));
    /* nginx would otherwise hold events back until its buffer is full. */
    head_add(&head, "X-Accel-Buffering", "no");
    if (response->stream_may_pack) {
        head_add(&head, "Vary", "Accept-Encoding");
    }
    if (encodes && encoder != NULL) { /* without memory for it: plain */
        head_add(&head, "Content-Encoding", "gzip");
    }
    if (!req->is_http_1_0) {
        head_add(&head, "Transfer-Encoding", "chunked");
    }
    if (head_send(&head, req, HEAD_LENGTH_NONE) && !req->is_head) {
        send_pieces(req, response, encoder, stopping);
    }
    gzip_encoder_destroy(encoder);
}

void reply_send(struct http_request *req,
                struct api_response *response,
                const atomic_bool *stopping,
                const struct reply_place *place)
{
    if (response->has_parts) {
        end_parts(req, response);
    } else if (response->stream != NULL) {
        send_stream(req, response, stopping);
    } else if (response->file_path != NULL) {
        reply_file(req, response);
    } else {
        send_body(req, response, place);
    }
}

/* ---- the server's own answers ---- */

void reply_problem(struct http_request *req, const struct err *err, const struct api_header *header)
{
    struct api_response response;
    api_response_init(&response);
    api_problem(&response, err);
    if (header != NULL) {
        response.headers[response.header_count++] = *header;
    }
    send_body(req, &response, NULL);
    api_response_free(&response);
}

void reply_asset(struct http_request *req, int status, const struct reply_asset *asset)
{
    bool fresh = asset->etag != NULL && status == 200 &&
                 negotiate_etag_matches(http_request_header(req, "If-None-Match"), asset->etag);
    bool gzipped = asset->gzip != NULL && reply_may_gzip(req);
    struct buf head;
    head_begin(&head, req, fresh ? 304 : status, HEAD_PAGE);
    /* Others are kept by the browser too, but asked for again each time: a new one shows at once.
     */
    head_add(&head, "Cache-Control", asset->lasting ? "max-age=31536000, immutable" : "no-cache");
    head_add(&head, "Vary", "Accept-Encoding");
    if (asset->etag != NULL) {
        head_add(&head, "ETag", asset->etag);
    }
    if (fresh) {
        (void)head_send(&head, req, HEAD_LENGTH_NONE);
        return;
    }
    head_add(&head, "Content-Type", asset->content_type);
    if (gzipped) {
        head_add(&head, "Content-Encoding", "gzip");
    }
    const void *bytes = gzipped ? asset->gzip : asset->bytes;
    size_t len = gzipped ? asset->gzip_len : asset->len;
    head_send_with(&head, req, bytes, len);
}

void reply_redirect(struct http_request *req, const char *location)
{
    struct buf head;
    head_begin(&head, req, 308, HEAD_DATA);
    head_add(&head, "Location", location);
    head_add(&head, "Cache-Control", "no-cache");
    (void)head_send(&head, req, 0);
}
