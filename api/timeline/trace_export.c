/* A trace, or a part of it, as a file of its own: made from the stored events while it is sent. */
#include "api/handlers.h"
#include "api/timeline/common.h"
#include "ingest/base/log.h"
#include "ingest/store/store_events.h"

#include <inttypes.h>
#include <string.h>

#define PIECE_BYTES ((size_t)256 << 10)

static void log_break(const struct api *api, const struct err *err)
{
    log_write(api->options.log, LOG_ERROR, "the export of a trace broke off: %s", err->msg);
}

static bool stream_export(struct api_response *response, struct buf *out)
{
    struct store_export *from = response->stream_state;
    size_t len = 1;
    while (len > 0 && out->len < PIECE_BYTES && !out->failed) {
        struct err err = ERR_INIT;
        const char *text = "";
        if (!store_export_next(from, &text, &len, &err)) {
            log_break(response->api, &err);
            out->failed = true;
            return false;
        }
        buf_append(out, text, len);
    }
    return len > 0;
}

static void end_export(struct api_response *response)
{
    store_export_close(response->stream_state);
}

/* The events of an upload never change, but how they are written may with the program; weak,
 * because the compressed bytes are the server's. */
static void
add_etag(struct api_call *call, const struct store_trace *trace, int64_t start_ns, int64_t end_ns)
{
    call_add_header(call, "ETag", "W/\"%.16s-%" PRId64 "-%" PRId64 "-%" PRId64 "-" KS_VERSION "\"",
                    trace->sha256_hex, trace->id, start_ns, end_ns);
}

/* Runs and workers may be called anything; a file may not. */
static void add_file_name(struct api_call *call, const struct store_trace *trace)
{
    const char *name = call_format(call, "%s.%s.trace.json.gz", trace->run, trace->worker);
    char *safe = name == NULL ? NULL : arena_strdup(call_arena(call), name);
    if (safe == NULL) {
        return;
    }
    for (char *at = safe; *at != '\0'; at++) {
        bool is_bad =
            (unsigned char)*at < 0x20 || *at == 0x7F || strchr("/\\:*?\"<>|", *at) != NULL;
        if (is_bad) {
            *at = '_';
        }
    }
    if (*safe == '.') {
        *safe = '_';
    }
    call_add_attachment(call, safe);
}

bool trace_export_get(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct store_export *from = NULL;
    int64_t start_ns = INT64_MIN;
    int64_t end_ns = INT64_MAX;
    if (!timeline_trace(&trace, call, err) ||
        !timeline_range(&start_ns, &end_ns, true, call, err)) {
        return false;
    }
    if (!store_export_open(call->snapshot, trace->id, start_ns, end_ns, &from, err)) {
        return timeline_gone(err);
    }
    struct api_response *response = call->response;
    response->status = 200;
    response->content_type = "application/gzip";
    response->stream = stream_export;
    response->stream_is_packed = true;
    response->stream_end = end_export;
    response->stream_state = from;
    add_etag(call, trace, start_ns, end_ns);
    add_file_name(call, trace);
    return true;
}
