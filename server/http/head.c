#include "server/http/head.h"

#include <civetweb.h>
#include <time.h>

#define HEAD_MAX_BYTES ((size_t)64 << 10)
/* Copying more costs more than another call of the system. */
#define JOINED_MAX_BYTES ((size_t)64 << 10)
/* Shorter than http.c waits, so that no client sends on a connection that is just being closed. */
#define KEEP_ALIVE "timeout=4"

/* strftime would write the names in the locale's language. */
static void add_date(struct buf *head)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) == NULL) {
        return;
    }
    buf_printf(head, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d GMT\r\n",
               days + (ptrdiff_t)3 * utc.tm_wday, utc.tm_mday, months + (ptrdiff_t)3 * utc.tm_mon,
               utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

void head_begin(struct buf *head, struct http_request *req, int status, enum head_kind kind)
{
    static const char page_policy[] =
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'";
    static const char data_policy[] = "default-src 'none'; frame-ancestors 'none'; sandbox";

    req->status = status;
    buf_init(head, HEAD_MAX_BYTES + JOINED_MAX_BYTES);
    buf_printf(head, "HTTP/1.1 %d %s\r\n", status, mg_get_response_code_text(req->conn, status));
    add_date(head);
    head_add(head, "Content-Security-Policy", kind == HEAD_PAGE ? page_policy : data_policy);
    head_add(head, "X-Content-Type-Options", "nosniff");
    head_add(head, "X-Frame-Options", "DENY");
    /* Under no-referrer the page's forms would come without an Origin. */
    head_add(head, "Referrer-Policy", kind == HEAD_PAGE ? "same-origin" : "no-referrer");
    head_add(head, "Cross-Origin-Resource-Policy", "same-origin");
}

void head_add(struct buf *head, const char *name, const char *value)
{
    buf_printf(head, "%s: ", name);
    for (const char *c = value; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        bool is_control = byte < 0x20 || byte == 0x7F;
        buf_append(head, is_control ? " " : c, 1);
    }
    buf_puts(head, "\r\n");
}

void head_add_int(struct buf *head, const char *name, int64_t value)
{
    buf_printf(head, "%s: %lld\r\n", name, (long long)value);
}

static void end(struct buf *head, struct http_request *req, int64_t content_length)
{
    http_request_settle(req);
    if (content_length != HEAD_LENGTH_NONE) {
        head_add_int(head, "Content-Length", content_length);
    }
    head_add(head, "Connection", req->close ? "close" : "keep-alive");
    if (!req->close) {
        head_add(head, "Keep-Alive", KEEP_ALIVE);
    }
    buf_puts(head, "\r\n");
    if (head->failed) {
        http_request_abort(req);
    }
}

bool head_send(struct buf *head, struct http_request *req, int64_t content_length)
{
    end(head, req, content_length);
    bool sent = http_request_write(req, head->ptr, head->len);
    buf_free(head);
    return sent;
}

void head_send_with(struct buf *head, struct http_request *req, const void *content, size_t len)
{
    end(head, req, (int64_t)len);
    bool joined = !req->is_head && len <= JOINED_MAX_BYTES && !head->failed;
    if (joined) {
        buf_append(head, content, len);
        joined = !head->failed;
    }
    if (http_request_write(req, head->ptr, head->len) && !joined && !req->is_head) {
        (void)http_request_write(req, content, len);
    }
    buf_free(head);
}
