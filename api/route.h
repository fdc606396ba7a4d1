/* The table of routes. Dispatch, 404, 405 with Allow, access checks and the test of openapi.json
 * all read it. In a pattern, the segment `{name}` matches any one segment, also an empty one. */
#ifndef KS_API_ROUTE_H
#define KS_API_ROUTE_H

#include "api/query_string.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/store_access.h"

#include <stdbool.h>
#include <stddef.h>

#define ROUTE_PARAMS_MAX 2
#define ROUTE_ALLOW_BYTES 64

struct api_call;

/* Which object of the store a request names, and where. authorize.c checks, before any handler
 * runs, whether the subject may read it. */
enum route_target {
    TARGET_UNDECLARED, /* only subjects that may read everything see this route */
    TARGET_OPEN,       /* no object; needs no token */
    TARGET_SELF,       /* the subject itself, also an anonymous one */
    TARGET_LIST,   /* no object: the handler lists what the subject may read (authorize_projects) */
    TARGET_TOKENS, /* a token; for admins only */
    TARGET_UPLOADS, /* uploads that the body names: the handler checks; for admins only */
    TARGET_SERVICE, /* what the servers themselves do; for admins only */
    TARGET_AGENTS,  /* as TARGET_LIST; api.c answers it without a handler (agents/mcp.h) */
    TARGET_RUN,     /* a run: the path's first parameter */
    TARGET_NOTE,    /* a note of a run: likewise; who wrote it may remove it */
    TARGET_UPLOAD,  /* a run that may not exist yet: upload/project.c checks */
    TARGET_TRACE,   /* a trace: the path's first parameter; the next two likewise */
    TARGET_COMPARISON,
    TARGET_JOB,
    TARGET_SIDES,        /* traces: base= and candidate= */
    TARGET_RUN_ARGUMENTS /* runs: run= and exp_run= */
};

struct route {
    const char *method; /* "GET" answers HEAD too */
    const char *pattern;
    bool (*handle)(struct api_call *call, struct err *err);
    const char *summary;
    bool writes; /* changes what is stored */
    /* Cacheable: the answer depends only on published data, path and query, so it holds until
     * store_version grows. */
    bool is_kept;
    enum route_target target;
    /* The query parameters it knows, with spaces between; any other one is refused. NULL: takes
     * any, as the annex and probes do. */
    const char *query;
};

const struct route *route_table(size_t *count);
/* The least role that may use the route. */
enum access_role route_role(const struct route *route);
/* Refuses a query that has a parameter which the route does not know. ERR_BAD_REQUEST lists those
 * it knows. */
bool route_knows(const struct route *route,
                 const struct query_string *query,
                 struct err *err) KS_MUST_USE;
/* What it does to the store, in one or two words; NULL when it only reads. */
const char *route_action(const struct route *route);

/* A segment of the request's path that matched a `{name}`, still percent-encoded. */
struct route_param {
    const char *text;
    size_t len;
};

/* Matches a path (without query) with a pattern; fills `params` in the order of the pattern. */
bool route_fits(const char *pattern, const char *path, struct route_param params[ROUTE_PARAMS_MAX]);

/* What the table says of a method and a path. */
struct route_match {
    const struct route *route;                   /* NULL: none */
    struct route_param params[ROUTE_PARAMS_MAX]; /* in the path; valid with a route */
    /* Without a route: the methods of this path ("GET, HEAD, OPTIONS"), "" when no route has it. */
    char allow[ROUTE_ALLOW_BYTES];
};

/* Reads the whole table: the server calls it once a request, and all else reads the match. */
void route_find(const char *method, const char *path, struct route_match *match);

#endif
