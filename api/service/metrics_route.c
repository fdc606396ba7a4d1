/* GET /metrics: what was counted, and what can be looked up at the moment. */
#include "api/authorize.h"
#include "api/call.h"
#include "api/handlers.h"
#include "api/service/exposition.h"
#include "api/service/metrics.h"
#include "api/service/process_metrics.h"

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
    exposition_value(out, "read_ahead_total", "counter",
                     "Uploads that were read while their bytes arrived, since the start.",
                     jobs->streamed);
    exposition_value(out, "ingested_events_total", "counter",
                     "Trace events that were read, since the start.", jobs->events_ingested);
}

static void put_removed(struct buf *out, const struct jobs_counts *jobs)
{
    exposition_head(out, "runs_removed_total", "counter",
                    "Runs that went by themselves, since the start.");
    for (int reason = 0; reason < RETENTION_REASON_COUNT; reason++) {
        buf_printf(out, "kinetoscope_runs_removed_total{reason=\"%s\"} %" PRIu64 "\n",
                   retention_reason_text((enum retention_reason)reason), jobs->removed[reason]);
    }
}

static bool put_catalogue(struct api_call *call, struct buf *out, struct err *err)
{
    int64_t runs = 0;
    int64_t traces = 0;
    if (!store_count(call->snapshot, authorize_projects(call), &runs, &traces, err)) {
        return false;
    }
    exposition_value(out, "runs", "gauge", "Runs that can be seen.", (uint64_t)runs);
    exposition_value(out, "traces", "gauge", "Traces that can be seen.", (uint64_t)traces);
    return true;
}

static void put_faults(struct store *store, struct buf *out)
{
    struct store_blob_faults faults;
    store_blob_faults(store, &faults);
    exposition_head(out, "raw_faults_total", "counter",
                    "Kept uploads that could not be given out, since the start: damaged by the "
                    "disk, or missing.");
    buf_printf(out,
               "kinetoscope_raw_faults_total{fault=\"damaged\"} %" PRIu64
               "\nkinetoscope_raw_faults_total{fault=\"missing\"} %" PRIu64 "\n",
               faults.damaged, faults.missing);
    exposition_value(out, "raw_mended_total", "counter",
                     "Damaged uploads that the same file, uploaded again, replaced, since the "
                     "start.",
                     faults.mended);
}

static bool put_storage(struct store *store,
                        const struct retention_rules *rules,
                        struct buf *out,
                        struct err *err)
{
    uint64_t database_bytes = 0;
    uint64_t raw_bytes = 0;
    struct store_disk disk;
    uint64_t used_bytes = 0;
    if (!store_size(store, &database_bytes, &raw_bytes, err) ||
        !store_used_bytes(store, &used_bytes, err) || !store_disk(store, &disk, err)) {
        return false;
    }
    exposition_value(out, "database_bytes", "gauge",
                     "Size of the database files, the write-ahead log included.", database_bytes);
    exposition_value(out, "wal_bytes", "gauge", "Size of the write-ahead log.", disk.wal_bytes);
    exposition_value(out, "raw_bytes", "gauge", "Size of the kept uploads.", raw_bytes);
    put_faults(store, out);
    exposition_value(out, "store_snapshots_total", "counter",
                     "States of the store that requests read, since the start: one a request that "
                     "reads.",
                     store_snapshots_opened(store));
    exposition_value(out, "used_bytes", "gauge",
                     "What the quota is held against: filled pages of the database, and uploads.",
                     used_bytes);
    exposition_value(out, "quota_bytes", "gauge", "The quota of all of that; 0: none.",
                     rules->quota_bytes);
    exposition_value(out, "project_quota_bytes", "gauge",
                     "The quota of one project's uploads; 0: none.", rules->project_quota_bytes);
    exposition_value(out, "disk_free_bytes", "gauge",
                     "What the file system of the data directory has free.", disk.free_bytes);
    exposition_value(out, "disk_bytes", "gauge", "Size of that file system.", disk.total_bytes);
    return true;
}

static bool put_stored(struct api_call *call, struct buf *out, struct err *err)
{
    const struct api *api = call->api;
    struct jobs_counts jobs;
    if (!jobs_counts(api->jobs, &jobs, err)) {
        return false;
    }
    put_jobs(out, &jobs);
    put_removed(out, &jobs);
    return put_storage(api->store, jobs_retention(api->jobs), out, err) &&
           put_catalogue(call, out, err);
}

/* Who watches a server is to see that its database is away, and not that the server is. */
bool meta_metrics(struct api_call *call, struct err *err)
{
    const struct api *api = call->api;
    struct buf *out = &call->response->body;
    struct err ignored = ERR_INIT;
    bool is_up = store_ready(api->store, &ignored);
    exposition_head(out, "build_info", "gauge", "The version of the program; always 1.");
    buf_puts(out, "kinetoscope_build_info{version=\"" KS_VERSION "\"} 1\n");
    exposition_value(out, "database_up", "gauge",
                     "Whether the database answers; while it is away, figures that stand in it, "
                     "and those of jobs, are not told.",
                     is_up);
    exposition_value(out, "objects_up", "gauge",
                     "Whether the objects answered when they were last asked; without "
                     "--objects-url always 1.",
                     store_objects_ready(api->store, &ignored));
    if (is_up && !put_stored(call, out, err)) {
        return false;
    }
    if (api->metrics != NULL) {
        metrics_put(api->metrics, out);
    }
    process_metrics_put(out);
    call->response->status = 200;
    call->response->content_type = "text/plain; version=0.0.4; charset=utf-8";
    call_add_header(call, "Cache-Control", "no-store");
    return true;
}
