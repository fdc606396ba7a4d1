/* The HTTP server: civetweb, with every request answered here, before any of civetweb's own file
 * code.
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
    uint16_t listen_port;               /* 0: any free port */
    const char *base_path;              /* "" or "/prefix" */
    const char *static_dir;             /* serves the page from this directory; NULL: embedded */
    struct access *access;              /* NULL: no access control */
    unsigned threads;                   /* simultaneous connections; 0: default */
    const struct limits *limits;        /* NULL: the defaults */
    const char *const *trusted_proxies; /* dotted IPv4; see clients.h */
    unsigned trusted_proxy_count;
    const struct log *log;
    /* Answers the paths of api_owns_path: api_handle, or a test's own function. */
    void (*handle)(struct api *api,
                   const struct api_request *request,
                   struct api_response *response);
    /* api_version, or a test's own function; NULL: no response cache. */
    uint64_t (*version)(const struct api *api);
};

/* Starts to listen; connections wait until http_open. What the options point to must outlive the
 * server. */
bool http_start(struct http **out, const struct http_options *options, struct err *err) KS_MUST_USE;
/* The port it listens on. */
uint16_t http_port(const struct http *http);
/* Starts to answer requests. The Host and Origin checks allow `public_url` besides loopback. */
void http_open(struct http *http, struct api *api, const char *public_url);
/* Refuses new requests (503), ends streams, and waits up to `grace_s` for running requests. False
 * when some still run. */
bool http_drain(struct http *http, unsigned grace_s);
/* Call it after http_drain: abandons bodies that are still arriving and waits `grace_s` more. False
 * when some requests still run: http_stop would wait for them. */
bool http_break_off(struct http *http, unsigned grace_s);
/* Closes everything. NULL is allowed. */
void http_stop(struct http *http);

#endif
