/* The table of routes: dispatch, 404, 405 with Allow, access checks and the test of openapi.json
 * all read it. A pattern is a path in which a segment `{name}` stands for any one segment, also an
 * empty one. */
#ifndef KS_API_ROUTE_H
#define KS_API_ROUTE_H

#include "api/api.h"

#include <stdbool.h>
#include <stddef.h>

#define ROUTE_PARAMS_MAX 2
#define ROUTE_ALLOW_BYTES 64

struct api_call;

struct route {
    const char *method; /* "GET" answers HEAD too */
    const char *pattern;
    bool writes; /* changes what is stored */
    bool (*handle)(struct api_call *call, struct err *err);
    const char *summary;
};

const struct route *route_table(size_t *count);

/* A piece of the request's path that a `{name}` of the pattern stands for, still percent-encoded.
 */
struct route_param {
    const char *text;
    size_t len;
};

/* Whether the path (without query) fits the pattern; the pieces in order of the pattern. */
bool route_fits(const char *pattern, const char *path, struct route_param params[ROUTE_PARAMS_MAX]);
/* The route for a method and a path, or NULL. `allow` lists the methods that the path answers
 * ("GET, HEAD, OPTIONS"), "" when it answers none. */
const struct route *route_find(const char *method,
                               const char *path,
                               struct route_param params[ROUTE_PARAMS_MAX],
                               char allow[ROUTE_ALLOW_BYTES]);

#endif
