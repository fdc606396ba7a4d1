/* GET /metrics: what was counted, and what can be looked up at the moment. */
#include "api/call.h"
#include "api/exposition.h"
#include "api/handlers.h"
#include "api/metrics.h"
#include "api/process_figures.h"

#include <inttypes.h>

static void put_jobs(struct buf *out, const struct jobs_counts *jobs)
{
    exposition_head(out, "jobs", "gauge", "Uploads that wait or are being read.");
    buf_printf(out,
               "kinetoscope_jobs{state=\"queued\"} %" PRIu64
               "\nkinetoscope_jobs{state=\"running\"} %" PRIu64 "\n",
               jobs->queued, jobs->running);
    exposition_head(out, "jobs_finished_total", "counter", "Uploads that ended, since the start.");
    buf_printf(out,
               "kinetoscope_jobs_finished_total{state=\"done\"} %" PRIu64
               "\nkinetoscope_jobs_finished_total{state=\"failed\"} %" PRIu64 "\n",
               jobs->done, jobs->failed);
    exposition_head(out, "job_duration_seconds", "histogram",
                    "Time from the begin of a job to its end, without its time in the queue.");
    const struct exposition_histogram durations = {.bounds_ms = jobs_duration_bounds_ms,
                                                   .counts = jobs->durations,
                                                   .bound_count = JOBS_DURATIONS - 1,
                                                   .sum_us = jobs->took_us};
    exposition_histogram(out, "job_duration_seconds", "", &durations);
    exposition_value(out, "ingested_bytes_total", "counter",
                     "Bytes of the uploads that were read, since the start.", jobs->bytes_ingested);
    exposition_value(out, "ingested_events_total", "counter",
                     "Trace events that were read, since the start.", jobs->events_ingested);
}

static bool put_catalogue(struct api_call *call, struct buf *out, struct err *err)
{
    const struct store_page all = {.limit = 0};
    struct store_run *runs = NULL;
    size_t count = 0;
    int64_t total = 0;
    int64_t traces = 0;
    if (!store_runs(call->api->store, call_arena(call), &all, &runs, &count, &total, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        traces += runs[i].trace_count;
    }
    exposition_value(out, "runs", "gauge", "Runs that can be seen.", (uint64_t)total);
    exposition_value(out, "traces", "gauge", "Traces that can be seen.", (uint64_t)traces);
    return true;
}

static bool put_storage(struct store *store, struct buf *out, struct err *err)
{
    uint64_t database_bytes = 0;
    uint64_t raw_bytes = 0;
    struct store_disk disk;
    if (!store_size(store, &database_bytes, &raw_bytes, err) || !store_disk(store, &disk, err)) {
        return false;
    }
    exposition_value(out, "database_bytes", "gauge",
                     "Size of the database files, the write-ahead log included.", database_bytes);
    exposition_value(out, "wal_bytes", "gauge", "Size of the write-ahead log.", disk.wal_bytes);
    exposition_value(out, "raw_bytes", "gauge", "Size of the kept uploads.", raw_bytes);
    exposition_value(out, "disk_free_bytes", "gauge",
                     "What the file system of the data directory has free.", disk.free_bytes);
    exposition_value(out, "disk_bytes", "gauge", "Size of that file system.", disk.total_bytes);
    return true;
}

bool meta_metrics(struct api_call *call, struct err *err)
{
    const struct api *api = call->api;
    struct buf *out = &call->response->body;
    struct jobs_counts jobs;
    exposition_head(out, "build_info", "gauge", "The version of the program; always 1.");
    buf_puts(out, "kinetoscope_build_info{version=\"" KS_VERSION "\"} 1\n");
    jobs_counts(api->jobs, &jobs);
    put_jobs(out, &jobs);
    if (!put_storage(api->store, out, err) || !put_catalogue(call, out, err)) {
        return false;
    }
    if (api->metrics != NULL) {
        metrics_put(api->metrics, out);
    }
    process_figures_put(out);
    call->response->status = 200;
    call->response->content_type = "text/plain; version=0.0.4; charset=utf-8";
    call_add_header(call, "Cache-Control", "no-store");
    return true;
}
