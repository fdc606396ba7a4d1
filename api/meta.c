#include "api/call.h"
#include "api/handlers.h"
#include "gen_openapi.h"

#include <inttypes.h>

static void begin_text(struct api_call *call, const char *content_type)
{
    call->response->status = 200;
    call->response->content_type = content_type;
    call_add_header(call, "Cache-Control", "no-store");
}

bool meta_openapi(struct api_call *call, struct err *err)
{
    (void)err;
    call->response->status = 200;
    call->response->content_type = "application/json";
    buf_append(&call->response->body, gen_openapi, gen_openapi_bytes);
    return true;
}

bool meta_healthz(struct api_call *call, struct err *err)
{
    (void)err;
    begin_text(call, "text/plain; charset=utf-8");
    buf_puts(&call->response->body, "ok\n");
    return true;
}

bool meta_readyz(struct api_call *call, struct err *err)
{
    struct err cause = ERR_INIT;
    if (!store_ready(call->api->store, &cause)) {
        return err_set(err, ERR_UNAVAILABLE, "The database does not answer: %s", cause.msg);
    }
    begin_text(call, "text/plain; charset=utf-8");
    buf_puts(&call->response->body, "ready\n");
    return true;
}

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP kinetoscope_%s %s\n# TYPE kinetoscope_%s %s\n", name, help, name, type);
}

static void
metric(struct buf *out, const char *name, const char *type, const char *help, uint64_t value)
{
    head(out, name, type, help);
    buf_printf(out, "kinetoscope_%s %" PRIu64 "\n", name, value);
}

static void put_jobs(struct buf *out, const struct jobs_counts *jobs)
{
    head(out, "jobs", "gauge", "Uploads that wait or are being read.");
    buf_printf(out,
               "kinetoscope_jobs{state=\"queued\"} %" PRIu64
               "\nkinetoscope_jobs{state=\"running\"} %" PRIu64 "\n",
               jobs->queued, jobs->running);
    head(out, "jobs_finished_total", "counter", "Uploads that ended, since the start.");
    buf_printf(out,
               "kinetoscope_jobs_finished_total{state=\"done\"} %" PRIu64
               "\nkinetoscope_jobs_finished_total{state=\"failed\"} %" PRIu64 "\n",
               jobs->done, jobs->failed);
    metric(out, "ingested_bytes_total", "counter",
           "Bytes of the uploads that were read, since the start.", jobs->bytes_ingested);
    metric(out, "ingested_events_total", "counter", "Trace events that were read, since the start.",
           jobs->events_ingested);
}

bool meta_metrics(struct api_call *call, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct jobs_counts jobs;
    struct store_run *runs = NULL;
    size_t count = 0;
    int64_t total = 0;
    int64_t traces = 0;
    uint64_t database_bytes = 0;
    uint64_t raw_bytes = 0;
    struct store *store = call->api->store;
    if (!store_size(store, &database_bytes, &raw_bytes, err) ||
        !store_runs(store, call_arena(call), &all, &runs, &count, &total, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        traces += runs[i].trace_count;
    }
    jobs_counts(call->api->jobs, &jobs);
    begin_text(call, "text/plain; version=0.0.4; charset=utf-8");
    struct buf *out = &call->response->body;
    head(out, "build_info", "gauge", "The version of the program; always 1.");
    buf_puts(out, "kinetoscope_build_info{version=\"" KS_VERSION "\"} 1\n");
    put_jobs(out, &jobs);
    metric(out, "database_bytes", "gauge", "Size of the database files.", database_bytes);
    metric(out, "raw_bytes", "gauge", "Size of the kept uploads.", raw_bytes);
    metric(out, "runs", "gauge", "Runs that can be seen.", (uint64_t)total);
    metric(out, "traces", "gauge", "Traces that can be seen.", (uint64_t)traces);
    return true;
}
