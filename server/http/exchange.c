#include "server/http/exchange.h"

#include "api/api.h"
#include "ingest/base/monotonic.h"
#include "server/guard/connection_limiter.h"
#include "server/http/negotiate.h"

#include <civetweb.h>
#include <ctype.h>
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

static size_t count_lines(const struct exchange *x, const char *name)
{
    const char *values[EXCHANGE_LINES_MAX];
    return exchange_header_lines(x, name, values);
}

/* A proxy before us might read these otherwise than civetweb, and see another border between
 * requests. */
static bool framing_is_plain(const struct exchange *x,
                             const char *length,
                             const char *encoding,
                             struct err *err)
{
    if (count_lines(x, "Content-Length") + count_lines(x, "Transfer-Encoding") > 1) {
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
    if (count_lines(x, "Host") > 1) {
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

bool exchange_init(struct exchange *x, struct mg_connection *conn, struct err *err)
{
    const struct mg_request_info *info = mg_get_request_info(conn);
    *x = (struct exchange){.conn = conn, .method = text_or_empty(info->request_method)};
    x->is_head = strcmp(x->method, "HEAD") == 0;
    x->is_http_1_0 = strcmp(text_or_empty(info->http_version), "1.0") == 0;

    /* civetweb decides by the same rule whether the connection stays. */
    const char *connection = exchange_header(x, "Connection");
    x->close =
        x->is_http_1_0 || (connection != NULL && !negotiate_has_word(connection, "keep-alive"));

    const char *encoding = exchange_header(x, "Transfer-Encoding");
    x->is_chunked = encoding != NULL && strcasecmp(encoding, "identity") != 0;
    x->body_left_bytes = x->is_chunked || info->content_length < 0 ? 0 : info->content_length;
    x->body_ended = !x->is_chunked && x->body_left_bytes == 0;

    const char *expect = exchange_header(x, "Expect");
    bool expects_continue = expect != NULL && strcasecmp(expect, "100-continue") == 0;
    x->wants_continue = expects_continue && !x->body_ended && !x->is_http_1_0;
    return head_is_whole(info, err) && names_end_with_colons(info, err) &&
           framing_is_plain(x, exchange_header(x, "Content-Length"), encoding, err);
}

const char *exchange_header(const struct exchange *x, const char *name)
{
    return mg_get_header(x->conn, name);
}

size_t exchange_header_lines(const struct exchange *x,
                             const char *name,
                             const char *values[EXCHANGE_LINES_MAX])
{
    _Static_assert(EXCHANGE_LINES_MAX >= MG_MAX_HEADERS, "room for all that civetweb reads");
    const struct mg_request_info *info = mg_get_request_info(x->conn);
    size_t count = 0;
    for (int i = 0; i < info->num_headers; i++) {
        if (strcasecmp(info->http_headers[i].name, name) == 0) {
            values[count++] = info->http_headers[i].value;
        }
    }
    return count;
}

int64_t exchange_content_length(const struct exchange *x)
{
    return x->is_chunked ? -1 : x->body_left_bytes;
}

static bool send_continue(struct exchange *x)
{
    static const char answer[] = "HTTP/1.1 100 Continue\r\n\r\n";
    x->wants_continue = false;
    return mg_write(x->conn, answer, sizeof answer - 1) == (int)(sizeof answer - 1);
}

/* Of a chunked body civetweb tells silence, a broken connection and broken chunks by the same -1:
 * only the first one takes that long. */
static int64_t read_chunked(struct exchange *x, void *bytes, size_t len)
{
    int64_t begin_ms = monotonic_ms();
    int got = mg_read(x->conn, bytes, len);
    x->body_ended = got == 0;
    x->body_failed = got < 0;
    x->received_bytes += got > 0 ? (uint64_t)got : 0;
    bool is_silent = got < 0 && monotonic_ms() - begin_ms >= x->silence_ms;
    return is_silent ? API_BODY_TOO_SLOW : got;
}

int64_t exchange_read(struct exchange *x, void *bytes, size_t len)
{
    if (x->body_failed) {
        return -1;
    }
    if (x->body_ended || len == 0) {
        return 0;
    }
    if (x->wants_continue && !send_continue(x)) {
        x->body_failed = true;
        return -1;
    }
    size_t wanted = len < READ_MAX_BYTES ? len : READ_MAX_BYTES;
    if (x->is_chunked) {
        return read_chunked(x, bytes, wanted);
    }
    if ((uint64_t)x->body_left_bytes < wanted) {
        wanted = (size_t)x->body_left_bytes;
    }
    int got = mg_read(x->conn, bytes, wanted);
    x->received_bytes += got > 0 ? (uint64_t)got : 0;
    /* civetweb answers 0 also when the time is over: a body with a length has ended only with its
     * bytes. */
    if (got <= 0) {
        x->body_failed = true;
        return got == 0 ? API_BODY_TOO_SLOW : -1;
    }
    x->body_left_bytes -= got;
    x->body_ended = x->body_left_bytes == 0;
    return got;
}

void exchange_settle(struct exchange *x)
{
    if (!x->body_ended) {
        x->close = true;
    }
    /* Else civetweb would read on to the end of the body, however long, before it closes. */
    if (x->close) {
        mg_disable_connection_keep_alive(x->conn);
    }
}

bool exchange_write(struct exchange *x, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0 && !x->write_failed) {
        size_t piece = len < WRITE_MAX_BYTES ? len : WRITE_MAX_BYTES;
        int written = mg_write(x->conn, at, piece);
        if (written != (int)piece) {
            exchange_abort(x);
            break;
        }
        x->sent_bytes += piece;
        at += piece;
        len -= piece;
    }
    return !x->write_failed;
}

void exchange_abort(struct exchange *x)
{
    x->write_failed = true;
    x->close = true;
    mg_disable_connection_keep_alive(x->conn);
}

void exchange_finish(struct exchange *x)
{
    bool nothing_comes = x->body_ended || x->body_failed || x->write_failed;
    if (nothing_comes) {
        return;
    }
    /* Who was to wait for "100 Continue" has the answer and closes; some proxies send on without.
     */
    x->wants_continue = false;
    connection_limiter_end_answers(x->client);
    char bytes[4096];
    uint64_t drained = 0;
    int64_t until_ms = monotonic_ms() + DRAIN_MAX_MS;
    while (drained < DRAIN_MAX_BYTES && monotonic_ms() < until_ms) {
        int64_t got = exchange_read(x, bytes, sizeof bytes);
        if (got <= 0) {
            break;
        }
        drained += (uint64_t)got;
    }
}
