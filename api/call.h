/* One request inside a handler, with the helpers that handlers share. */
#ifndef KS_API_CALL_H
#define KS_API_CALL_H

#include "api/api.h"
#include "api/query_string.h"
#include "api/route.h"
#include "ingest/base/text/json_write.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_call {
    struct api *api;
    const struct api_request *request;
    struct api_response *response;
    struct store_snapshot *snapshot;      /* for all reads of the store */
    const char *params[ROUTE_PARAMS_MAX]; /* decoded, in the order of the pattern */
    struct query_string query;
};

/* The arena of the answer; it lives as long as the answer. */
struct arena *call_arena(struct api_call *call);
/* Begins a JSON answer with status 200. `ascii` as in jw_init. */
struct json_write call_json(struct api_call *call, bool ascii);
/* Announces that the answer may be long: from here on, full parts of the body are sent early (where
 * the server can), so that the answer takes little memory. Set status, type and headers before, and
 * do not look at the body afterwards. */
void call_sends_parts(struct api_call *call);
/* call_json and call_sends_parts. */
struct json_write call_json_long(struct api_call *call, bool ascii);
/* Whether a query parameter is present and true: "", "1", "true" or "yes". */
bool call_flag(const struct api_call *call, const char *name);
/* Value of a request header, "" when absent. */
const char *call_header(const struct api_call *call, const char *name);
/* Adds a response header whose value is formatted into the arena. */
void call_add_header(struct api_call *call, const char *name, const char *fmt, ...) KS_PRINTF(3, 4);
/* Adds `Location: <path of the public URL><path>`, correct behind a proxy and under any host name.
 * Does nothing for NULL (no memory). */
void call_add_location(struct api_call *call, const char *path);
/* Adds `Content-Disposition: attachment`; the file name may hold anything. */
void call_add_attachment(struct api_call *call, const char *file_name);
/* The id in params[0]. ERR_NOT_FOUND for anything but a number: nothing has such an id. */
bool call_id(const struct api_call *call, const char *what, int64_t *id, struct err *err)
    KS_MUST_USE;
/* As call_id, in params[place]. */
bool call_id_at(const struct api_call *call,
                size_t place,
                const char *what,
                int64_t *id,
                struct err *err) KS_MUST_USE;
/* The trace id in params[0]. ERR_NOT_FOUND unless a published trace has it. */
bool call_trace_id(const struct api_call *call, int64_t *id, struct err *err) KS_MUST_USE;
/* Formats into the arena. NULL without memory or beyond 8 KiB. */
const char *call_format(struct api_call *call, const char *fmt, ...) KS_PRINTF(2, 3) KS_MUST_USE;

/* Answers a GET of this API within a request, for the same subject; `query` as in a URL. The caller
 * calls json_decref. NULL: what the API refuses with. */
json_t *call_within(struct api_call *call, const char *path, const char *query, struct err *err)
    KS_MUST_USE;

#define CALL_NAMES_BYTES 360
/* Adds a name to a ", "-joined list for an error, which is cut where it gets too long. */
void call_add_name(char names[CALL_NAMES_BYTES], const char *name);

#endif
