#include "server/http/http_request.h"

#include "api/api.h"
#include "ingest/base/monotonic.h"
#include "server/guard/connection_limiter.h"
#include "server/http/negotiate.h"

#include <civetweb.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#define READ_MAX_BYTES ((size_t)1 << 20)
#define WRITE_MAX_BYTES ((size_t)1 << 26)
/* What a refused client may still send before the connection is cut. */
#define DRAIN_MAX_BYTES ((uint64_t)256 << 20)
#define DRAIN_MAX_MS 20000

static const char *text_or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static bool is_digits(const char *text)
{
    return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

static size_t count_lines(const struct http_request *req, const char *name)
{
    const char *values[HTTP_REQUEST_LINES_MAX];
    return http_request_header_lines(req, name, values);
}

/* A proxy before us might read these otherwise than civetweb, and see another border between
 * requests. */
static bool framing_is_plain(const struct http_request *req,
                             const char *length,
                             const char *encoding,
                             struct err *err)
{
    if (count_lines(req, "Content-Length") + count_lines(req, "Transfer-Encoding") > 1) {
        return err_set(err, ERR_BAD_REQUEST,
                       "A request has one Content-Length or one Transfer-Encoding, not both and "
                       "neither twice");
    }
    if (length != NULL && !is_digits(length)) {
        return err_set(err, ERR_BAD_REQUEST, "Content-Length is a number of bytes, not \"%.40s\"",
                       length);
    }
    if (encoding != NULL && strcasecmp(encoding, "chunked") != 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "Transfer-Encoding \"%.40s\" is not known here: send the body chunked or "
                       "with a Content-Length",
                       encoding);
    }
    if (count_lines(req, "Host") > 1) {
        return err_set(err, ERR_BAD_REQUEST, "A request has one Host");
    }
    return true;
}

/* civetweb takes blanks before a colon for no part of the name, a proxy perhaps for one, and then
 * it sees another header. Names and values lie where they came in, their ends made NUL: behind the
 * first NUL is the value, unless blanks were there. */
static bool names_end_with_colons(const struct mg_request_info *info, struct err *err)
{
    for (int i = 0; i < info->num_headers; i++) {
        const char *behind = info->http_headers[i].name + strlen(info->http_headers[i].name) + 1;
        if (*behind == '\0' && behind != info->http_headers[i].value) {
            return err_set(err, ERR_BAD_REQUEST, "A header's name ends with its colon");
        }
    }
    return true;
}

/* civetweb reads a limited number of lines and stops at a folded one: what stands behind would not
 * be seen, a Content-Length for one, and the body taken for the next request. Values lie where they
 * came in, so that behind the last one's end (of its line, made NUL) is the head's end. */
static bool head_is_whole(const struct mg_request_info *info, struct err *err)
{
    if (info->num_headers <= 0) {
        return true;
    }
    const char *value = info->http_headers[info->num_headers - 1].value;
    const char *behind = value + strlen(value) + 1;
    behind += *behind == '\0';
    if (*behind == '\r' || *behind == '\n') {
        return true;
    }
    return info->num_headers >= MG_MAX_HEADERS
               ? err_set(err, ERR_HEAD_TOO_LARGE, "A request may have %d header lines",
                         MG_MAX_HEADERS)
               : err_set(err, ERR_BAD_REQUEST, "A header stands on one line");
}

bool http_request_init(struct http_request *req, struct mg_connection *conn, struct err *err)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    *req = (struct http_request){.conn = conn, .method = text_or_empty(info->request_method)};
    req->is_head = strcmp(req->method, "HEAD") == 0;
    req->is_http_1_0 = strcmp(text_or_empty(info->http_version), "1.0") == 0;

    /* civetweb decides by the same rule whether the connection stays. */
    const char *connection = http_request_header(req, "Connection");
    req->close =
        req->is_http_1_0 || (connection != NULL && !negotiate_has_word(connection, "keep-alive"));

    const char *encoding = http_request_header(req, "Transfer-Encoding");
    req->is_chunked = encoding != NULL && strcasecmp(encoding, "identity") != 0;
    req->body_left_bytes = req->is_chunked || info->content_length < 0 ? 0 : info->content_length;
    req->body_ended = !req->is_chunked && req->body_left_bytes == 0;

    const char *expect = http_request_header(req, "Expect");
    bool expects_continue = expect != NULL && strcasecmp(expect, "100-continue") == 0;
    req->wants_continue = expects_continue && !req->body_ended && !req->is_http_1_0;
    return head_is_whole(info, err) && names_end_with_colons(info, err) &&
           framing_is_plain(req, http_request_header(req, "Content-Length"), encoding, err);
}

const char *http_request_header(const struct http_request *req, const char *name)
{
    return mg_get_header(req->conn, name);
}

size_t http_request_header_lines(const struct http_request *req,
                                 const char *name,
                                 const char *values[HTTP_REQUEST_LINES_MAX])
{
    _Static_assert(HTTP_REQUEST_LINES_MAX >= MG_MAX_HEADERS, "room for all that civetweb reads");
    const struct mg_request_info *info = mg_get_request_info(req->conn);
    size_t count = 0;
    for (int i = 0; i < info->num_headers; i++) {
        if (strcasecmp(info->http_headers[i].name, name) == 0) {
            values[count++] = info->http_headers[i].value;
        }
    }
    return count;
}

int64_t http_request_content_length(const struct http_request *req)
{
    return req->is_chunked ? -1 : req->body_left_bytes;
}

static bool send_continue(struct http_request *req)
{
    static const char answer[] = "HTTP/1.1 100 Continue\r\n\r\n";
    req->wants_continue = false;
    return mg_write(req->conn, answer, sizeof answer - 1) == (int)(sizeof answer - 1);
}

/* Of a chunked body civetweb tells silence, a broken connection and broken chunks by the same -1:
 * only the first one takes that long. */
static int64_t read_chunked(struct http_request *req, void *bytes, size_t len)
{
    int64_t begin_ms = monotonic_ms();
    int got = mg_read(req->conn, bytes, len);
    req->body_ended = got == 0;
    req->body_failed = got < 0;
    req->received_bytes += got > 0 ? (uint64_t)got : 0;
    bool is_silent = got < 0 && monotonic_ms() - begin_ms >= req->silence_ms;
    return is_silent ? API_BODY_TOO_SLOW : got;
}

int64_t http_request_read(struct http_request *req, void *bytes, size_t len)
{
    if (req->body_failed) {
        return -1;
    }
    if (req->body_ended || len == 0) {
        return 0;
    }
    if (req->wants_continue && !send_continue(req)) {
        req->body_failed = true;
        return -1;
    }
    size_t wanted = len < READ_MAX_BYTES ? len : READ_MAX_BYTES;
    if (req->is_chunked) {
        return read_chunked(req, bytes, wanted);
    }
    if ((uint64_t)req->body_left_bytes < wanted) {
        wanted = (size_t)req->body_left_bytes;
    }
    int got = mg_read(req->conn, bytes, wanted);
    req->received_bytes += got > 0 ? (uint64_t)got : 0;
    /* civetweb answers 0 also when the time is over: a body with a length has ended only with its
     * bytes. */
    if (got <= 0) {
        req->body_failed = true;
        return got == 0 ? API_BODY_TOO_SLOW : -1;
    }
    req->body_left_bytes -= got;
    req->body_ended = req->body_left_bytes == 0;
    return got;
}

void http_request_settle(struct http_request *req)
{
    if (!req->body_ended) {
        req->close = true;
    }
    /* Else civetweb would read on to the end of the body, however long, before it closes. */
    if (req->close) {
        mg_disable_connection_keep_alive(req->conn);
    }
}

bool http_request_write(struct http_request *req, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0 && !req->write_failed) {
        size_t piece = len < WRITE_MAX_BYTES ? len : WRITE_MAX_BYTES;
        int written = mg_write(req->conn, at, piece);
        if (written != (int)piece) {
            http_request_abort(req);
            break;
        }
        req->sent_bytes += piece;
        at += piece;
        len -= piece;
    }
    return !req->write_failed;
}

void http_request_abort(struct http_request *req)
{
    req->write_failed = true;
    req->close = true;
    mg_disable_connection_keep_alive(req->conn);
}

void http_request_finish(struct http_request *req)
{
    bool nothing_comes = req->body_ended || req->body_failed || req->write_failed;
    if (nothing_comes) {
        return;
    }
    /* Who was to wait for "100 Continue" has the answer and closes; some proxies send on without.
     */
    req->wants_continue = false;
    connection_limiter_end_answers(req->client);
    char bytes[4096];
    uint64_t drained = 0;
    int64_t until_ms = monotonic_ms() + DRAIN_MAX_MS;
    while (drained < DRAIN_MAX_BYTES && monotonic_ms() < until_ms) {
        int64_t got = http_request_read(req, bytes, sizeof bytes);
        if (got <= 0) {
            break;
        }
        drained += (uint64_t)got;
    }
}
