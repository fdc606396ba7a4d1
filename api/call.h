/* One request on its way through a handler, and what handlers need to answer it. */
#ifndef KS_API_CALL_H
#define KS_API_CALL_H

#include "api/api.h"
#include "api/query_string.h"
#include "api/route.h"
#include "ingest/base/text/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_call {
    struct api *api;
    const struct api_request *request;
    struct api_response *response;
    const char *params[ROUTE_PARAMS_MAX]; /* decoded, in the order of the pattern */
    struct query_string query;
};

/* The arena that lives as long as the answer. */
struct arena *call_arena(struct api_call *call);
/* Begins a JSON answer with status 200. `ascii` as in jw_init. */
struct json_write call_json(struct api_call *call, bool ascii);
/* Tells that the answer may be long: from here on full parts of the body are sent on the way (where
 * the server can), so that the answer takes little memory. Status, type and headers must be set,
 * and nothing may look at the body again. */
void call_sends_parts(struct api_call *call);
/* call_json and call_sends_parts. */
struct json_write call_json_long(struct api_call *call, bool ascii);
/* Whether a parameter is there and says yes: "", "1", "true" or "yes". */
bool call_flag(const struct api_call *call, const char *name);
/* Value of a request header, "" when absent. */
const char *call_header(const struct api_call *call, const char *name);
/* Adds a response header whose value is formatted into the arena. */
void call_add_header(struct api_call *call, const char *name, const char *fmt, ...) KS_PRINTF(3, 4);
/* `Location: <path of the public URL><path>`: right behind a proxy and under whatever host was
 * asked. A NULL path (no memory for it) adds nothing. */
void call_add_location(struct api_call *call, const char *path);
/* `Content-Disposition: attachment` with a file name that may be anything. */
void call_add_attachment(struct api_call *call, const char *file_name);
/* The id in params[0]. ERR_NOT_FOUND for what is no number: nothing has such an id. */
bool call_id(const struct api_call *call, const char *what, int64_t *id, struct err *err)
    KS_MUST_USE;
/* The id in params[0] when it is that of a visible trace, else ERR_NOT_FOUND. */
bool call_trace_id(const struct api_call *call, int64_t *id, struct err *err) KS_MUST_USE;
/* Text formatted into the arena; NULL without memory or beyond 8 KiB. */
const char *call_format(struct api_call *call, const char *fmt, ...) KS_PRINTF(2, 3) KS_MUST_USE;

#endif
