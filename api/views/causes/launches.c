/* Launches: delays, outliers, queues of streams [CAU-2]. */
#include "api/handlers.h"
#include "api/table/table_view.h"
#include "api/timeline/common.h"
#include "api/views/causes/common.h"
#include "ingest/jobs/on_request/analyses.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define LIMIT_DEFAULT 100

/* ---- figures of all ---- */

static void write_spread(struct json_write *w, const char *key, const struct causes_spread *spread)
{
    jw_key_object_begin(w, key);
    field_members(w, &table_causes_spread, spread, WHEN_TAIL);
    jw_object_end(w);
}

static void write_streams(struct json_write *w, const struct launches *launches)
{
    jw_key_array_begin(w, "streams");
    for (size_t i = 0; i < launches->stream_count; i++) {
        const struct launch_stream *stream = &launches->streams[i];
        const struct causes_spread *queue = &stream->queue;
        jw_object_begin(w);
        jw_key_int(w, "device", stream->device);
        jw_key_int(w, "stream", stream->stream);
        jw_key_int(w, "launches", stream->launches);
        jw_key_object_begin(w, "queue");
        jw_key_int(w, "points", queue->count);
        jw_key_double(w, "mean", queue->mean_ns);
        jw_key_double(w, "std", queue->std_ns);
        jw_key_known_int(w, "min", queue->min_ns);
        jw_key_double(w, "p25", queue->p25_ns);
        jw_key_double(w, "p50", queue->p50_ns);
        jw_key_double(w, "p75", queue->p75_ns);
        jw_key_known_int(w, "max", queue->max_ns);
        jw_object_end(w);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void write_series(struct json_write *w, const struct launches *launches)
{
    jw_key_array_begin(w, "series");
    for (size_t i = 0; i < launches->series_count; i++) {
        jw_object_begin(w);
        jw_key_int(w, "ts_ns", launches->series[i].ts_ns);
        jw_key_int(w, "length", launches->series[i].length);
        jw_key_int(w, "event", launches->series[i].event);
        jw_object_end(w);
    }
    jw_array_end(w);
}

struct table {
    struct table_view view;
    struct launches launches;
};

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    const struct launches *launches = &table->launches;
    table_view_members(w, &table->view, NULL);
    write_spread(w, "launch_delay", &launches->delay);
    write_spread(w, "host", &launches->host);
    write_spread(w, "device", &launches->device);
    jw_key_int(w, "short_kernels", launches->short_kernels);
    jw_key_int(w, "slow_calls", launches->slow_calls);
    jw_key_int(w, "slow_launches", launches->slow_launches);
    write_streams(w, launches);
    write_series(w, launches);
}

/* ?series=<device>:<stream>; *is_asked is false without it. */
static bool read_series(const struct api_call *call,
                        struct launch_stream_id *series,
                        bool *is_asked,
                        struct err *err)
{
    const char *text = query_string_word(&call->query, "series");
    char *colon = NULL;
    char *end = NULL;
    *is_asked = text != NULL;
    if (text == NULL) {
        return true;
    }
    errno = 0;
    series->device = (int64_t)strtoll(text, &colon, 10);
    if (*colon == ':' && isdigit((unsigned char)colon[1]) != 0) {
        series->stream = (int64_t)strtoll(colon + 1, &end, 10);
    }
    bool ok = errno == 0 && colon != text && end != NULL && *end == '\0' &&
              isspace((unsigned char)*text) == 0;
    return ok || err_set(err, ERR_BAD_REQUEST,
                         "series is the device and the stream, with a colon between: series=0:7");
}

bool launches_get(struct api_call *call, struct err *err)
{
    struct table table = {
        .view = {.table = &table_launch, .stem = "launches", .write_members = write_members}};
    struct store_trace *trace = NULL;
    struct launch_stream_id series = {0, 0};
    enum causes_last_step last_step;
    bool is_asked;
    if (!table_view_read(&table.view, call, "start_ns", LIMIT_DEFAULT, err) ||
        !causes_last_step(call, &last_step, err) || !read_series(call, &series, &is_asked, err) ||
        !timeline_trace(&trace, call, err) ||
        !(launches_read(call->api->jobs, trace->id, last_step, is_asked ? &series : NULL,
                        call_arena(call), &table.launches, err) ||
          timeline_gone(err)) ||
        !table_view_run(&table.view, call, table.launches.rows, table.launches.count, err)) {
        return false;
    }
    table.view.context = &table;
    table_view_answer(&table.view, call);
    return true;
}
