#include "api/catalogue/catalogue_json.h"

#include "api/problem.h"
#include "api/query_string.h"
#include "api/table/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_BYTES 64

static const char *const view_names[VIEW_COUNT] = {
    [VIEW_OVERVIEW] = "overview",
    [VIEW_OPERATOR] = "operators",
    [VIEW_KERNEL] = "kernels",
    [VIEW_TRACE] = "trace",
    [VIEW_DISTRIBUTED] = "distributed",
    [VIEW_MEMORY] = "memory",
    [VIEW_MODULE] = "modules",
    [VIEW_LIGHTNING] = "lightning",
    [VIEW_UTILISATION] = "utilisation",
    [VIEW_CYCLES] = "cycles",
    [VIEW_COMPARISON] = "comparison",
    [VIEW_SERVING] = "serving",
    [VIEW_SLICES] = "slices",
    [VIEW_SNAPSHOT] = "memory_snapshot",
    [VIEW_CATEGORIES] = "memory_categories",
    [VIEW_MEMORY_COUNTERS] = "memory_counters",
    [VIEW_EXECUTION] = "execution_trace",
    [VIEW_PIPELINE] = "pipeline",
};

/* ["overview", "operators", ...] */
static void write_views(struct json_write *w, uint32_t views)
{
    jw_array_begin(w);
    for (unsigned view = 0; view < VIEW_COUNT; view++) {
        if ((views >> view & 1U) != 0) {
            jw_string(w, view_names[view]);
        }
    }
    jw_array_end(w);
}

void catalogue_json_time(struct json_write *w, const char *key, int64_t unix_s)
{
    char text[TEXT_BYTES] = "";
    time_t when = (time_t)unix_s;
    struct tm utc;
    if (gmtime_r(&when, &utc) != NULL) {
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    jw_key_string(w, key, text);
}

/* `tags` is JSON already: an array of strings that was checked on its way in. */
static void write_tags(struct json_write *w, const char *tags)
{
    jw_key(w, "tags");
    jw_raw(w, tags, strlen(tags));
}

static void write_url(struct json_write *w, const struct api *api, int64_t trace_id)
{
    char path[TEXT_BYTES];
    (void)snprintf(path, sizeof path, "/#/traces/%" PRId64 "/overview", trace_id);
    struct buf url;
    buf_init(&url, 4096);
    buf_puts(&url, api->options.public_url);
    buf_puts(&url, path);
    jw_key_string(w, "url", url.ptr);
    buf_free(&url);
}

/* The comparison that an uploaded report is, null for every other trace. */
static bool write_comparison(struct json_write *w,
                             const struct api_call *call,
                             const struct store_trace *trace,
                             struct err *err)
{
    int64_t id = 0;
    bool is_report = (trace->views >> VIEW_COMPARISON & 1U) != 0;
    if (is_report && !store_trace_comparison(call->snapshot, trace->id, &id, err)) {
        return false;
    }
    jw_key_known_int(w, "comparison", id == 0 ? INT64_MIN : id);
    return true;
}

bool catalogue_json_trace(struct json_write *w,
                          const struct api_call *call,
                          const struct store_trace *trace,
                          struct err *err)
{
    char start[TEXT_BYTES];
    (void)snprintf(start, sizeof start, "%" PRId64, trace->start_ns);
    jw_object_begin(w);
    jw_key_int(w, "id", trace->id);
    jw_key_string(w, "run", trace->run);
    jw_key_string(w, "worker", trace->worker);
    jw_key_int(w, "span", trace->span);
    jw_key_string(w, "span_digits", trace->span_digits);
    jw_key_string(w, "file_name", trace->file_name);
    if (trace->rank == STORE_NO_RANK) {
        jw_key_null(w, "rank");
    } else {
        jw_key_int(w, "rank", trace->rank);
    }
    jw_key_string(w, "format", trace->format);
    jw_key_string(w, "device_type", trace->device_type);
    jw_key_int(w, "events", trace->event_count);
    jw_key_bool(w, "has_events", trace->has_events);
    jw_key_int(w, "steps", trace->step_count);
    jw_key_string(w, "start_clock_ns", start); /* beyond what a double holds exactly */
    jw_key_int(w, "duration_ns", trace->duration_ns);
    jw_key_int(w, "size_bytes", (int64_t)trace->size_bytes);
    jw_key_string(w, "sha256", trace->sha256_hex);
    catalogue_json_time(w, "uploaded_at", trace->uploaded_at_s);
    jw_key_string(w, "state", "ready");
    write_tags(w, trace->tags);
    jw_key_string(w, "note", trace->note);
    jw_key(w, "views");
    write_views(w, trace->views);
    jw_key(w, "warnings");
    render_warnings(w, &trace->warnings);
    if (!write_comparison(w, call, trace, err)) {
        return false;
    }
    write_url(w, call->api, trace->id);
    jw_object_end(w);
    return true;
}

static void write_device_types(struct json_write *w, const char *list)
{
    jw_key_array_begin(w, "device_types");
    while (*list != '\0') {
        size_t len = strcspn(list, ",");
        jw_string_n(w, list, len);
        list += len + (list[len] == ',');
    }
    jw_array_end(w);
}

static void write_figures(struct json_write *w, const struct store_run *run)
{
    jw_key_object_begin(w, "figures");
    jw_key_int(w, "trace_id", run->trace_id);
    jw_key_string(w, "device", run->device);
    jw_key_double(w, "utilisation", run->utilisation);
    jw_key_int(w, "steps", run->step_count);
    jw_key_double(w, "step_ns", run->step_ns);
    jw_key(w, "step_times_ns");
    jw_raw(w, run->step_times_ns, strlen(run->step_times_ns));
    jw_object_end(w);
}

void catalogue_json_run_members(struct json_write *w,
                                struct arena *arena,
                                const struct api *api,
                                const struct store_run *run)
{
    jw_key_string(w, "name", run->name);
    jw_key_string(w, "project", run->project);
    jw_key_bool(w, "pinned", run->pinned);
    jw_key_string(w, "note", run->note);
    write_tags(w, run->tags);
    catalogue_json_time(w, "uploaded_at", run->uploaded_at_s);
    jw_key_int(w, "traces", run->trace_count);
    jw_key_int(w, "workers", run->worker_count);
    jw_key_int(w, "size_bytes", (int64_t)run->size_bytes);
    write_device_types(w, run->device_types);
    write_figures(w, run);
    jw_key(w, "views");
    write_views(w, run->views);

    const char *encoded = query_string_encode(arena, run->name);
    struct buf url;
    buf_init(&url, 8192);
    buf_puts(&url, api->options.public_url);
    buf_puts(&url, "/#/runs/");
    buf_puts(&url, encoded == NULL ? "" : encoded);
    jw_key_string(w, "url", url.ptr);
    buf_free(&url);
}

static const char *state_text(enum job_state state)
{
    switch (state) {
    case JOB_QUEUED:
        return "queued";
    case JOB_RUNNING:
        return "running";
    case JOB_DONE:
        return "done";
    case JOB_FAILED:
        break;
    }
    return "failed";
}

void catalogue_json_failures(struct json_write *w,
                             const char *file_name,
                             const struct store_job_failure *failures,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(w);
        jw_key_string(w, "file_name", file_name);
        jw_key_string(w, "member", failures[i].member);
        problem_members(w, &failures[i].error);
        jw_object_end(w);
    }
}

void catalogue_json_job(struct json_write *w, const struct api *api, const struct jobs_status *job)
{
    jw_object_begin(w);
    jw_key_int(w, "id", job->id);
    jw_key_string(w, "state", state_text(job->state));
    jw_key_string(w, "stage", pipeline_stage_text(job->stage));
    jw_key_int(w, "bytes_done", (int64_t)job->bytes_done);
    jw_key_int(w, "bytes_total", (int64_t)job->bytes_total);
    if (job->state == JOB_DONE && job->trace_count > 0) {
        jw_key_int(w, "trace_id", job->trace_ids[0]);
        jw_key_array_begin(w, "trace_ids");
        for (size_t i = 0; i < job->trace_count; i++) {
            jw_int(w, job->trace_ids[i]);
        }
        jw_array_end(w);
        write_url(w, api, job->trace_ids[0]);
    }
    if (job->state == JOB_FAILED) {
        jw_key_object_begin(w, "error");
        problem_members(w, &job->error);
        jw_object_end(w);
    }
    if (job->failure_count > 0) {
        jw_key_array_begin(w, "errors");
        catalogue_json_failures(w, job->file_name, job->failures, job->failure_count);
        jw_array_end(w);
    }
    jw_object_end(w);
}

bool catalogue_json_traces(
    struct json_write *w, struct api_call *call, const int64_t *ids, size_t count, struct err *err)
{
    struct store_trace *rows = NULL;
    bool ok = store_traces_get(call->snapshot, call_arena(call), ids, count, &rows, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = catalogue_json_trace(w, call, &rows[i], err);
    }
    return ok;
}
