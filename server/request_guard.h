/* Request guard: decides whether a request may pass, and which part of the program answers it. */
#ifndef KS_SERVER_REQUEST_GUARD_H
#define KS_SERVER_REQUEST_GUARD_H

#include "api/api.h"
#include "server/auth/access.h"
#include "server/guard/connection_limiter.h"
#include "server/http/http_request.h"
#include "server/http/response_cache.h"

#include <stdatomic.h>
#include <stdbool.h>

struct request_guard {
    const char *base_path;
    const char *static_dir;
    const char *public_url;
    bool on_loopback;                   /* then only known host names get an answer */
    struct access *access;              /* NULL: no access control */
    const char *const *trusted_proxies; /* dotted IPv4 */
    unsigned trusted_proxy_count;
    const struct log *log;
    struct connection_limiter *limiter;
    struct api *api;
    struct response_cache *cache;               /* NULL: no response cache */
    uint64_t (*version)(const struct api *api); /* required with `cache` */
    void (*handle)(struct api *api,
                   const struct api_request *request,
                   struct api_response *response);
};

/* Answers the request, whose path and match are read. `query` is percent-encoded, as received. */
void request_guard_answer(const struct request_guard *guard,
                          struct http_request *req,
                          const char *query,
                          const atomic_bool *stopping);

#endif
