/* A request in, an answer out: plain structs, no sockets. server/http carries them.
 * api_handle may be called from many threads at once. */
#ifndef KS_API_API_H
#define KS_API_API_H

#include "ingest/base/err.h"
#include "ingest/base/log.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"
#include "ingest/jobs/queue/jobs.h"
#include "ingest/store/store.h"
#include "ingest/store/store_access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API_HEADERS_MAX 8
#define API_BODY_TOO_SLOW (-2)

struct api_response;
struct metrics;

/* Who asks. */
struct api_subject {
    const char *name; /* of the token; NULL: nobody that is known */
    enum access_role role;
    const char *projects; /* JSON array of those whose runs may be read beside the runs of none;
                             NULL: everything may */
    bool has_session;     /* it is a browser that logged in */
    bool asks_for_tokens; /* the server does: one without a name could log in */
};

struct api_request {
    const char *method; /* "GET", "PUT", ... */
    const char *path;   /* below the base path, percent-encoded as it came: "/api/v1/runs/a%2Fb" */
    const char *query;  /* after the "?", percent-encoded; "" when none */
    int64_t content_length; /* -1 when unknown (chunked) */
    /* Value of a request header (case-insensitive name) or NULL. */
    const char *(*header)(const struct api_request *request, const char *name);
    /* Reads up to `len` bytes of the body: > 0 bytes, 0 at the end, < 0 when the client is gone
     * (API_BODY_TOO_SLOW: when nothing came for too long). The first call lets the client send (100
     * Continue), so a request that can be refused is refused before it. */
    int64_t (*read_body)(const struct api_request *request, void *bytes, size_t len);
    /* Sends what the body of a long answer holds so far, its head before the first part, and
     * empties the body. Called by api_handle on its own thread. False when the client is gone.
     * NULL: every body is whole when api_handle returns. */
    bool (*send_part)(const struct api_request *request, struct api_response *response);
    void *connection;                  /* the server's, for the functions above */
    const struct api_subject *subject; /* NULL: may do and read everything */
};

struct api_header {
    const char *name;  /* static text */
    const char *value; /* in the response's arena */
};

/* Exactly one of body, file_path and stream carries the content. */
struct api_response {
    struct arena arena; /* whatever lives as long as the answer */
    int status;
    const char *content_type; /* static text or in the arena */
    struct api_header headers[API_HEADERS_MAX];
    size_t header_count;
    struct buf body;
    const struct api_request *request; /* during api_handle */
    bool has_parts;                    /* of the body the beginning is sent; `body` holds the end */
    bool is_broken; /* the rest of it cannot be had: the connection must break off */
    void *sending;  /* the server's, from the first part on; in the arena */
    bool is_kept; /* the body is that of everyone who may read the same, until api_version grows */
    const char *file_path; /* a file to send whole (ranges are the server's work) */
    /* Server-sent events and other answers without a known end: appends the next piece to `out`;
     * blocks until there is one (15 s at the most: then a comment line); false when nothing
     * follows. A stream that cannot go on sets `failed` of `out`: the connection breaks off. */
    bool (*stream)(struct api_response *response, struct buf *out);
    /* The answer is a file of this text in gzip: the server packs the stream on its way. It is
     * whole or it is broken off, never cut where nobody sees it. */
    bool stream_is_packed;
    bool stream_may_pack; /* the answer is text: packed on its way where the client takes gzip */
    void *stream_state;   /* in the arena */
    void (*stream_end)(struct api_response *response); /* called once when the answer is over; NULL:
                                                          nothing to give back */
    struct api *api;
};

struct api_options {
    const char *public_url; /* "http://localhost:8080" + base path, no slash at the end */
    uint64_t max_upload_bytes;
    bool retain_raw;
    const struct log *log;
};

struct api {
    struct store *store;
    struct jobs *jobs;
    struct metrics *metrics; /* of the server's requests; NULL: none are counted */
    struct api_options options;
};

/* Paths that the API answers: /api/…, /data/plugin/pytorch_profiler/…, /healthz, /readyz, /metrics.
 */
bool api_owns_path(const char *path);
/* Initialises and fills the response (never fails: errors become application/problem+json). The
 * caller frees it. HEAD is answered as GET is: the server leaves the content out. */
void api_handle(struct api *api, const struct api_request *request, struct api_response *response);
/* Grows before what it does to answers can be noticed: looked at before api_handle, it tells
 * afterwards whether an answer that is_kept still holds. */
uint64_t api_version(const struct api *api);
void api_response_init(struct api_response *response);
void api_response_free(struct api_response *response);
/* Turns an error into a problem+json answer, replacing what was there. */
void api_problem(struct api_response *response, const struct err *err);

/* Whether this request may change something or only reads. */
bool api_request_writes(const struct api_request *request);
/* The least role that this request needs. The server checks it; which runs and traces the subject
 * may read is checked here. */
enum access_role api_request_role(const struct api_request *request);
/* What the request does to the store, in a word or two, for the record of who did what; NULL when
 * it only reads. */
const char *api_request_action(const struct api_request *request);

#endif
