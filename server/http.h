/* A civetweb server whose every request is answered here, before any of civetweb's own
 * file code.
 *
 *     connection thread -> exchange -> checks (host, origin, token) -> api_handle | page -> reply
 */
#ifndef KS_SERVER_HTTP_H
#define KS_SERVER_HTTP_H

#include "api/api.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/log.h"
#include "server/auth/access.h"
#include "server/options/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;

/* The stack of each request thread. civetweb 1.15 sets it when it is compiled (USE_STACK_SIZE,
 * 102400 in Debian's build) and has no option for it, so handlers must stay below it.
 * tests/checks/recursion.py adds up the deepest calls; tests/checks/nesting.py looks whether the
 * threads have that much, and how much of it requests have touched. */
#define HTTP_THREAD_STACK_BYTES ((size_t)102400)

struct http_options {
    const char *listen_host;            /* dotted IPv4 */
    uint16_t listen_port;               /* 0: any free one */
    const char *base_path;              /* "" or "/prefix" */
    const char *static_dir;             /* the page from this directory; NULL: embedded */
    struct access *access;              /* NULL: everyone may do everything */
    unsigned threads;                   /* connections served at once; 0: default */
    const struct limits *limits;        /* NULL: the defaults */
    const char *const *trusted_proxies; /* dotted IPv4; see clients.h */
    unsigned trusted_proxy_count;
    const struct log *log;
    /* Answers what api_owns_path owns: api_handle, or a test's own. */
    void (*handle)(struct api *api,
                   const struct api_request *request,
                   struct api_response *response);
    /* api_version, or a test's own; NULL: no answer is kept. */
    uint64_t (*version)(const struct api *api);
};

/* Listens; connections wait until http_open. What the options point to must live as long. */
bool http_start(struct http **out, const struct http_options *options, struct err *err) KS_MUST_USE;
/* The port it listens on. */
uint16_t http_port(const struct http *http);
/* Requests are answered from now on. `public_url` is what the Host and Origin checks allow beside
 * loopback. */
void http_open(struct http *http, struct api *api, const char *public_url);
/* New requests are refused (503), streams end, running requests are finished, but not longer than
 * `grace_s`. False when some still run. */
bool http_drain(struct http *http, unsigned grace_s);
/* After http_drain: bodies that are still on their way are given up, and requests have `grace_s`
 * more. False when some still run: http_stop would wait for them. */
bool http_break_off(struct http *http, unsigned grace_s);
/* Closes everything. NULL is allowed. */
void http_stop(struct http *http);

#endif
