/* The API: takes a request, fills a response. Plain structs, no sockets; server/http moves the
 * bytes. Call api_handle from any number of threads. */
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
/* Behind what is said of a PUT to an address that takes none. */
#define API_UPLOAD_HINT \
    "; to upload: curl -T FILE .../api/v1/runs/RUN/traces/, with the slash at its end"

struct api_response;
struct metrics;
struct route_match;

/* The caller of a request. */
struct api_subject {
    const char *name; /* name of the token; NULL: anonymous */
    enum access_role role;
    const char *projects; /* JSON array of projects that the subject may read, besides runs without
                             project; NULL: all runs */
    bool has_session;     /* a browser that logged in */
    bool asks_for_tokens; /* the server wants tokens: an anonymous visitor could log in */
};

struct api_request {
    const char *method; /* "GET", "PUT", ... */
    const char *path;   /* below the base path, percent-encoded as received: "/api/v1/runs/a%2Fb" */
    const char *query;  /* after the "?", percent-encoded; "" when none */
    const struct route_match *match; /* what route_find found for method and path */
    int64_t content_length;          /* -1 when unknown (chunked) */
    /* Value of a request header (case-insensitive name), or NULL. */
    const char *(*header)(const struct api_request *request, const char *name);
    /* Reads up to `len` bytes of the body. Returns the count, 0 at the end, < 0 when the client is
     * gone (API_BODY_TOO_SLOW: it sent nothing for too long). The first call sends 100 Continue, so
     * refuse a request before it if you can. */
    int64_t (*read_body)(const struct api_request *request, void *bytes, size_t len);
    /* Sends the body of a long answer so far, its head before the first part, and empties the body.
     * api_handle calls it on its own thread. False when the client is gone. NULL: every body is
     * whole when api_handle returns. */
    bool (*send_part)(const struct api_request *request, struct api_response *response);
    void *connection;                  /* the server's, for the functions above */
    const struct api_subject *subject; /* NULL: may read and do everything */
};

struct api_header {
    const char *name;  /* static text */
    const char *value; /* in the response's arena */
};

/* Exactly one of body, file_path and stream carries the content. */
struct api_response {
    struct arena arena; /* for data that live as long as the answer */
    int status;
    const char *content_type; /* static text or in the arena */
    struct api_header headers[API_HEADERS_MAX];
    size_t header_count;
    struct buf body;
    const struct api_request *request; /* during api_handle, as is the next */
    struct store_snapshot *snapshot;   /* closed before a part is sent: clients may be slow */
    bool has_parts;                    /* the begin of the body was sent; `body` holds the end */
    bool is_broken; /* the rest cannot be produced: the connection must break off */
    int64_t age_s;  /* of an answer from what was read lately, as the database is away; 0: none */
    void *sending;  /* the server's, from the first part on; in the arena */
    bool is_kept;   /* cacheable: the same for all who may read the same, until api_version grows */
    const char *file_path; /* a file to send; the server handles ranges */
    /* Produces an answer of unknown length, such as server-sent events: appends the next piece to
     * `out`. Blocks until there is one, at most 15 s (then a comment line). Returns false at the
     * end. If the stream cannot continue, it sets `failed` of `out`, and the server breaks the
     * connection. */
    bool (*stream)(struct api_response *response, struct buf *out);
    /* The client gets the stream as a gzip file: the server compresses it. It arrives whole or
     * visibly broken, never silently cut. */
    bool stream_is_packed;
    bool stream_may_pack; /* the answer is text: compressed if the client accepts gzip */
    void *stream_state;   /* in the arena */
    void (*stream_end)(struct api_response *response); /* called once after the answer; NULL:
                                                          nothing to free */
    struct api *api;
};

struct api_options {
    const char *public_url;   /* "http://localhost:8080" + base path, no slash at the end */
    const char *perfetto_url; /* to which the page hands traces; NULL: nowhere */
    const char *source_url; /* with {path} and {line}, as value_source_url accepts it; NULL: none */
    uint64_t max_upload_bytes;
    bool retain_raw;
    const struct log *log;
};

struct api {
    struct store *store;
    struct jobs *jobs;
    struct metrics *metrics; /* counts requests; NULL: none */
    struct api_options options;
};

/* Whether the API answers this path: /api/…, the annex's routes, /healthz, /readyz,
 * /metrics. */
bool api_owns_path(const char *path);
/* Initialises and fills the response; errors become application/problem+json, so it never fails.
 * The caller frees the response. Answers HEAD like GET: the server leaves the content out. */
void api_handle(struct api *api, const struct api_request *request, struct api_response *response);
/* The version of all cacheable answers; it grows before a change becomes visible. Read it before
 * api_handle: an answer with is_kept holds as long as the version is the same. */
uint64_t api_version(const struct api *api);
void api_response_init(struct api_response *response);
void api_response_free(struct api_response *response);
/* Replaces the response with the problem+json of an error. */
void api_problem(struct api_response *response, const struct err *err);

/* Notes how old what the answer's snapshot has read is. Before the snapshot is closed for good. */
void api_response_tell_age(struct api_response *response);

/* Whether this request may change something. */
bool api_request_writes(const struct api_request *request);
/* The least role that this request needs. The server checks the role; the API checks which runs and
 * traces the subject may read. */
enum access_role api_request_role(const struct api_request *request);
/* What the request does to the store, in one or two words, for the audit log. NULL: it only reads.
 */
const char *api_request_action(const struct api_request *request);

#endif
