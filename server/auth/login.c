#include "server/auth/login.h"

#include "api/problem.h"
#include "api/query_string.h"
#include "server/auth/audit.h"
#include "server/auth/credentials.h"
#include "server/http/head.h"
#include "server/http/negotiate.h"
#include "server/http/page.h"
#include "server/http/reply.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FORM_MAX_BYTES ((size_t)8 << 10)
#define PAGE_MAX_BYTES ((size_t)64 << 10)
#define LOCATION_MAX_BYTES ((size_t)16 << 10)
#define COOKIE_BYTES 512
#define MARK "<!-- message -->"

bool login_owns_path(const char *path)
{
    return strcmp(path, "/login") == 0 || strcmp(path, "/logout") == 0;
}

/* ---- redirects ---- */

/* `also`: what stays beside letters, digits and "-._~". */
static void put_encoded(struct buf *out, const char *text, const char *also)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text != '\0'; text++) {
        if (strchr(plain, *text) != NULL || strchr(also, *text) != NULL) {
            buf_putc(out, *text);
        } else {
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
        }
    }
}

static void send_redirect(struct http_request *req, const struct buf *location, const char *cookie)
{
    struct buf head;
    head_begin(&head, req, 303, HEAD_DATA);
    head_add(&head, "Location", location->failed ? "login" : location->ptr);
    head_add(&head, "Cache-Control", "no-store");
    if (cookie != NULL) {
        head_add(&head, "Set-Cookie", cookie);
    }
    (void)head_send(&head, req, 0);
}

void login_redirect(const struct request_guard *guard,
                    struct http_request *req,
                    const char *path,
                    const char *query)
{
    struct buf location;
    buf_init(&location, LOCATION_MAX_BYTES);
    buf_printf(&location, "%s/login?next=", guard->base_path);
    put_encoded(&location, guard->base_path, "/");
    put_encoded(&location, path, "/");
    if (*query != '\0') {
        put_encoded(&location, "?", "");
        put_encoded(&location, query, "");
    }
    send_redirect(req, &location, NULL);
    buf_free(&location);
}

/* Only what is below our own base path, so that nobody is led elsewhere. "//host" and "/\host" are
 * other servers to a browser, and so is "/<tab>/host", because it drops such characters. */
static bool is_own_path(const struct request_guard *guard, const char *next)
{
    size_t base_len = strlen(guard->base_path);
    if (strncmp(next, guard->base_path, base_len) != 0 || next[base_len] != '/') {
        return false;
    }
    for (const char *c = next; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F || *c == '\\') {
            return false;
        }
    }
    return next[1] != '/' && strncmp(next + base_len, "//", 2) != 0 &&
           strncmp(next + base_len, "/login", 6) != 0 &&
           strncmp(next + base_len, "/logout", 7) != 0;
}

/* Where to go when all is well. */
static void put_next(struct buf *location, const struct request_guard *guard, const char *query)
{
    struct arena arena;
    struct query_string params;
    struct err ignored = ERR_INIT;
    arena_init(&arena, 0);
    const char *next = query_string_parse(&params, &arena, query, &ignored)
                           ? query_string_get(&params, "next")
                           : NULL;
    if (next != NULL && is_own_path(guard, next)) {
        put_encoded(location, next, "/?#[]@!$&'()*+,;=:%");
    } else {
        buf_printf(location, "%s/", guard->base_path);
    }
    arena_free(&arena);
}

static void redirect_to_next(const struct request_guard *guard,
                             struct http_request *req,
                             const char *query,
                             const char *cookie)
{
    struct buf location;
    buf_init(&location, LOCATION_MAX_BYTES);
    put_next(&location, guard, query);
    send_redirect(req, &location, cookie);
    buf_free(&location);
}

/* ---- the page ---- */

/* The page with a message in the place that it has for one. */
static void put_page(struct buf *out, const struct buf *page, const char *message)
{
    const char *mark = page->len == 0 ? NULL : strstr(page->ptr, MARK);
    if (mark == NULL) {
        buf_append(out, page->ptr, page->len);
        return;
    }
    buf_append(out, page->ptr, (size_t)(mark - page->ptr));
    if (message != NULL) {
        buf_printf(out, "<p class=\"login-message\" role=\"alert\">%s</p>", message);
    }
    buf_puts(out, mark + sizeof MARK - 1);
}

static void send_page(const struct request_guard *guard,
                      struct http_request *req,
                      int status,
                      const char *message)
{
    struct buf page;
    struct buf content;
    struct buf head;
    buf_init(&page, PAGE_MAX_BYTES);
    buf_init(&content, PAGE_MAX_BYTES);
    page_file(guard->static_dir, "login.html", &page);
    put_page(&content, &page, message);
    head_begin(&head, req, status, HEAD_PAGE);
    head_add(&head, "Cache-Control", "no-store");
    head_add(&head, "Content-Type", "text/html; charset=utf-8");
    if (status == 429) {
        head_add(&head, "Retry-After", problem_retry_after());
    }
    if (head_send(&head, req, (int64_t)content.len) && !req->is_head) {
        (void)http_request_write(req, content.ptr, content.len);
    }
    buf_free(&content);
    buf_free(&page);
}

static bool wants_page(const struct http_request *req)
{
    return negotiate_html(http_request_header(req, "Accept"));
}

/* Messages that a person reads are ours and hold nothing of the request. */
static void
refuse(const struct request_guard *guard, struct http_request *req, const struct err *err)
{
    if (!wants_page(req)) {
        reply_problem(req, err, NULL);
        return;
    }
    const char *message =
        err->code == ERR_UNAUTHORIZED ? "This token is not known here, or no longer valid."
        : err->code == ERR_TOO_MANY ? "That was wrong too often. Wait some seconds, then try again."
                                    : "That did not work. Try again.";
    send_page(guard, req, err_http_status(err->code), message);
}

/* ---- in ---- */

static bool read_form(struct http_request *req, struct buf *form, struct err *err)
{
    char chunk[1024];
    const char *type = http_request_header(req, "Content-Type");
    static const char wanted[] = "application/x-www-form-urlencoded";
    if (type == NULL || strncasecmp(type, wanted, sizeof wanted - 1) != 0) {
        return err_set(err, ERR_UNSUPPORTED, "The body is a form: token=TOKEN");
    }
    int64_t got;
    while ((got = http_request_read(req, chunk, sizeof chunk)) > 0 && !form->failed) {
        buf_append(form, chunk, (size_t)got);
    }
    if (got < 0) {
        return err_set(err, got == API_BODY_TOO_SLOW ? ERR_TIMEOUT : ERR_CLIENT_GONE,
                       "The form did not come whole");
    }
    return !form->failed ||
           err_set(err, ERR_TOO_LARGE, "The form may have at most %zu bytes", FORM_MAX_BYTES);
}

/* The field token, without the blanks that come along when it is pasted. */
static bool read_token(struct http_request *req, struct arena *arena, char **token, struct err *err)
{
    struct buf form;
    struct query_string fields;
    buf_init(&form, FORM_MAX_BYTES);
    bool ok = read_form(req, &form, err) &&
              query_string_parse(&fields, arena, form.len == 0 ? "" : form.ptr, err);
    buf_free(&form);
    if (!ok) {
        return false;
    }
    const char *text = query_string_get(&fields, "token");
    text = text == NULL ? "" : text + strspn(text, " \t\r\n");
    *token = arena_strndup(arena, text, strcspn(text, " \t\r\n"));
    return *token != NULL || err_set(err, ERR_NO_MEMORY, "No memory for the token");
}

static void
make_cookie(const struct request_guard *guard, const char *secret, int64_t age_s, char *cookie)
{
    bool is_secure = strncasecmp(guard->public_url, "https://", 8) == 0;
    (void)snprintf(cookie, COOKIE_BYTES,
                   CREDENTIALS_COOKIE "=%s; Path=%s/; Max-Age=%lld; HttpOnly; SameSite=Strict%s",
                   secret, guard->base_path, (long long)age_s, is_secure ? "; Secure" : "");
}

static void log_in(const struct request_guard *guard,
                   struct http_request *req,
                   const char *query,
                   const char *client)
{
    struct arena arena;
    struct access_visit visit = {.tokens = NULL};
    struct err err = ERR_INIT;
    char *token = NULL;
    char secret[SECRET_BYTES];
    char cookie[COOKIE_BYTES];
    bool stopped = false;
    arena_init(&arena, 0);
    bool ok = read_token(req, &arena, &token, &err) &&
              access_log_in(guard->access, client, token, secret, &visit, &stopped, &err);
    if (ok) {
        make_cookie(guard, secret, ACCESS_SESSION_S, cookie);
        redirect_to_next(guard, req, query, cookie);
    } else {
        refuse(guard, req, &err);
    }
    audit(guard->log, &visit.subject, client, "log in", req, "/login");
    audit_stopped(guard->log, client, stopped);
    access_leave(guard->access, &visit);
    arena_free(&arena);
}

/* ---- out ---- */

static void log_out(const struct request_guard *guard,
                    struct http_request *req,
                    const char *client,
                    const struct api_subject *subject)
{
    struct err err = ERR_INIT;
    char cookie[COOKIE_BYTES];
    struct buf location;
    if (!access_log_out(guard->access, http_request_header(req, "Cookie"), &err)) {
        reply_problem(req, &err, NULL);
        return;
    }
    make_cookie(guard, "", 0, cookie);
    buf_init(&location, LOCATION_MAX_BYTES);
    buf_printf(&location, "%s/login", guard->base_path);
    send_redirect(req, &location, cookie);
    buf_free(&location);
    audit(guard->log, subject, client, "log out", req, "/logout");
}

static void refuse_method(struct http_request *req, const char *allowed)
{
    const struct api_header allow = {"Allow", allowed};
    struct err err = ERR_INIT;
    (void)err_set(&err, ERR_METHOD, "This address answers %s", allowed);
    reply_problem(req, &err, &allow);
}

void login_answer(const struct request_guard *guard,
                  struct http_request *req,
                  const char *path,
                  const char *query,
                  const char *client,
                  const struct api_subject *subject)
{
    bool is_post = strcmp(req->method, "POST") == 0;
    if (strcmp(path, "/logout") == 0) {
        if (is_post) {
            log_out(guard, req, client, subject);
        } else {
            refuse_method(req, "POST");
        }
    } else if (is_post) {
        log_in(guard, req, query, client);
    } else if (strcmp(req->method, "GET") != 0 && !req->is_head) {
        refuse_method(req, "GET, HEAD, POST");
    } else if (subject->name != NULL || !subject->asks_for_tokens) {
        redirect_to_next(guard, req, query, NULL);
    } else {
        send_page(guard, req, 200, NULL);
    }
}
