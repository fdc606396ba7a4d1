#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/handlers.h"

#include <string.h>

/* Events at least four times a second while bytes move; a comment when nothing happens for long, so
 * that proxies keep the connection. */
#define POLL_MS 250
#define QUIET_POLLS_MAX 60

static bool wants_events(const struct api_call *call)
{
    return strstr(call_header(call, "Accept"), "text/event-stream") != NULL &&
           strcmp(call->request->method, "HEAD") != 0;
}

struct job_stream {
    int64_t job_id;
    uint64_t seen_version;
    uint64_t seen_bytes;
    bool sent_any;
    bool ended;
};

static void put_event(struct buf *out, const struct api *api, const struct jobs_status *job)
{
    bool over = job->state == JOB_DONE || job->state == JOB_FAILED;
    buf_printf(out, "event: %s\ndata: ",
               !over                      ? "progress"
               : job->state == JOB_FAILED ? "failed"
                                          : "done");
    struct json_write w;
    jw_init(&w, out, false);
    catalogue_json_job(&w, api, job); /* one line: JSON writes line ends as \n */
    buf_puts(out, "\n\n");
}

static bool is_news(const struct job_stream *stream, const struct jobs_status *job)
{
    return !stream->sent_any || job->version != stream->seen_version ||
           job->bytes_done != stream->seen_bytes;
}

/* One look at the job; true when something was written or the stream is over. */
static bool next_event(struct job_stream *stream, const struct api *api, struct buf *out)
{
    struct arena arena;
    struct jobs_status job;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    bool known = jobs_wait(api->jobs, &arena, stream->job_id, stream->seen_version,
                           stream->sent_any ? POLL_MS : 0, &job, &err);
    bool news = known && is_news(stream, &job);
    if (news) {
        put_event(out, api, &job);
        stream->sent_any = true;
        stream->seen_version = job.version;
        stream->seen_bytes = job.bytes_done;
    }
    stream->ended = !known || job.state == JOB_DONE || job.state == JOB_FAILED;
    arena_free(&arena);
    return news || stream->ended;
}

static bool stream_events(struct api_response *response, struct buf *out)
{
    struct job_stream *stream = response->stream_state;
    if (stream->ended) {
        return false;
    }
    for (int i = 0; i < QUIET_POLLS_MAX; i++) {
        if (next_event(stream, response->api, out)) {
            return true;
        }
    }
    buf_puts(out, ": still waiting\n\n");
    return true;
}

bool jobs_route_get(struct api_call *call, struct err *err)
{
    int64_t id = 0;
    struct jobs_status job;
    if (!call_id(call, "job", &id, err) ||
        !jobs_status(call->api->jobs, call_arena(call), id, &job, err)) {
        return false;
    }
    call_add_header(call, "Cache-Control", "no-store");
    if (!wants_events(call)) {
        struct json_write w = call_json(call, false);
        catalogue_json_job(&w, call->api, &job);
        return true;
    }
    struct job_stream *stream = arena_calloc(call_arena(call), 1, sizeof *stream);
    if (stream == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the events of job %lld", (long long)id);
    }
    stream->job_id = id;
    call->response->status = 200;
    call->response->content_type = "text/event-stream";
    call->response->stream = stream_events;
    call->response->stream_state = stream;
    return true;
}
