/* The table of routes: dispatch, 404, 405 with Allow, access checks and the test of openapi.json
 * all read it. A pattern is a path in which a segment `{name}` stands for any one segment, also an
 * empty one. */
#ifndef KS_API_ROUTE_H
#define KS_API_ROUTE_H

#include "ingest/base/err.h"
#include "ingest/store/store_access.h"

#include <stdbool.h>
#include <stddef.h>

#define ROUTE_PARAMS_MAX 2
#define ROUTE_ALLOW_BYTES 64

struct api_call;

/* What of the store a request names, and where it names it: authorize.c looks there whether the one
 * who asks may read it, before any handler runs. */
enum route_target {
    TARGET_UNDECLARED, /* for who may not read everything there is nothing here */
    TARGET_OPEN,       /* nothing; answered without a token */
    TARGET_SELF,       /* the one who asks, who may be nobody */
    TARGET_LIST,       /* nothing: the handler lists what may be read (authorize_projects) */
    TARGET_TOKENS,     /* a token; for admins only */
    TARGET_RUN,        /* a run: the path's first parameter */
    TARGET_UPLOAD,     /* a run that need not be there: upload_project.c looks */
    TARGET_TRACE,      /* a trace: the path's first parameter, and so on */
    TARGET_COMPARISON,
    TARGET_JOB,
    TARGET_SIDES, /* traces: base= and candidate= */
    TARGET_PLUGIN /* runs: run= and exp_run= */
};

struct route {
    const char *method; /* "GET" answers HEAD too */
    const char *pattern;
    bool (*handle)(struct api_call *call, struct err *err);
    const char *summary;
    bool writes; /* changes what is stored */
    /* The answer is made of what is stored and can be seen, and of nothing else but path and query:
     * it holds until store_version grows. */
    bool is_kept;
    enum route_target target;
};

const struct route *route_table(size_t *count);
/* The least role that may use it. */
enum access_role route_role(const struct route *route);
/* What it does to the store, in a word or two; NULL when it only reads. */
const char *route_action(const struct route *route);

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
