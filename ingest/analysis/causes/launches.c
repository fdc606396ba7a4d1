#include "ingest/analysis/causes/launches.h"

#include "ingest/analysis/causes/launch_queue.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <string.h>

struct analysis {
    const struct causes *causes;
    int64_t zero_ns;
    struct arena *arena;
    struct launches *out;
    struct launch_queue queue;
    const char **names; /* copies of texts that rows have, by string id */
};

/* ---- rows ---- */

static const char *copy_text(struct analysis *a, uint32_t id)
{
    if (a->names[id] == NULL) {
        const char *text = strtab_text(a->causes->trace->strings, id);
        a->names[id] = arena_strdup(a->arena, text);
    }
    return a->names[id];
}

static bool write_row(struct analysis *a, const struct launch_pair *pair, struct launch_row *row)
{
    const struct trace *trace = a->causes->trace;
    const struct trace_events *events = &trace->events;
    const struct causes_stream *stream = &a->causes->streams[pair->stream];
    const struct trace_track *track = &trace->tracks[trace_event_track(events, pair->call)];
    int64_t call_end_ns = events->ts_ns[pair->call] + trace_dur_ns(events, pair->call);
    *row = (struct launch_row){
        .correlation = causes_correlation(trace, pair->call),
        .launch_event = pair->call,
        .device_event = pair->work,
        .name = copy_text(a, events->name[pair->call]),
        .kernel = copy_text(a, events->name[pair->work]),
        .thread = track->tid_int_valid ? track->tid_int : INT64_MIN,
        .device = stream->device,
        .stream = stream->stream,
        .start_ns = saturating_sub(events->ts_ns[pair->call], a->zero_ns),
        .host_ns = trace_dur_ns(events, pair->call),
        .device_ns = trace_dur_ns(events, pair->work),
        .delay_ns = i64_max(0, events->ts_ns[pair->work] - call_end_ns),
    };
    return row->name != NULL && row->kernel != NULL;
}

static bool write_rows(struct analysis *a)
{
    struct launches *out = a->out;
    a->names = scratch_calloc(strtab_count(a->causes->trace->strings), sizeof *a->names);
    out->rows = arena_calloc(a->arena, out->count + 1, sizeof *out->rows);
    bool ok = a->names != NULL && out->rows != NULL;
    for (size_t i = 0; ok && i < out->count; i++) {
        ok = write_row(a, &a->queue.pairs[i], &out->rows[i]);
    }
    return ok;
}

/* ---- figures of all pairs ---- */

static bool spread_column(struct analysis *a, size_t offset, struct causes_spread *out)
{
    size_t count = a->out->count;
    int64_t *values = scratch_alloc(count, sizeof *values);
    for (size_t i = 0; values != NULL && i < count; i++) {
        memcpy(&values[i], (const char *)&a->out->rows[i] + offset, sizeof *values);
    }
    bool ok = values != NULL;
    if (ok) {
        causes_spread(values, count, out);
    }
    scratch_free(values);
    return ok;
}

static bool spread_all(struct analysis *a)
{
    struct launches *out = a->out;
    for (size_t i = 0; i < out->count; i++) {
        const struct launch_row *row = &out->rows[i];
        out->short_kernels += row->device_ns < row->host_ns ? 1 : 0;
        out->slow_calls += row->host_ns > LAUNCHES_SLOW_CALL_NS ? 1 : 0;
        out->slow_launches += row->delay_ns > LAUNCHES_SLOW_DELAY_NS ? 1 : 0;
    }
    return spread_column(a, offsetof(struct launch_row, delay_ns), &out->delay) &&
           spread_column(a, offsetof(struct launch_row, host_ns), &out->host) &&
           spread_column(a, offsetof(struct launch_row, device_ns), &out->device);
}

/* ---- queues ---- */

static bool is_asked(const struct launch_stream_id *series, const struct launch_stream *stream)
{
    return series != NULL && series->device == stream->device && series->stream == stream->stream;
}

/* Point by point. */
static bool write_series(struct analysis *a, const uint32_t *points, size_t count)
{
    const struct launch_queue *queue = &a->queue;
    a->out->series = arena_calloc(a->arena, count, sizeof *a->out->series);
    a->out->series_count = a->out->series == NULL ? 0 : count;
    for (size_t i = 0; i < a->out->series_count; i++) {
        uint32_t event = launch_queue_event(queue, points[i]);
        int64_t ts_ns = a->causes->trace->events.ts_ns[event];
        a->out->series[i] = (struct launch_point){saturating_sub(ts_ns, a->zero_ns),
                                                  queue->length[points[i]], event};
    }
    return a->out->series != NULL;
}

/* `points` of one stream, in order. */
static bool write_queue(struct analysis *a,
                        const uint32_t *points,
                        size_t count,
                        const struct launch_stream_id *series)
{
    const struct launch_queue *queue = &a->queue;
    const struct causes_stream *from = &a->causes->streams[queue->pairs[points[0] / 2].stream];
    struct launch_stream *stream = &a->out->streams[a->out->stream_count++];
    int64_t *lengths = scratch_alloc(count, sizeof *lengths);
    *stream = (struct launch_stream){
        .device = from->device, .stream = from->stream, .launches = (int64_t)(count / 2)};
    for (size_t i = 0; lengths != NULL && i < count; i++) {
        lengths[i] = queue->length[points[i]];
    }
    bool ok = lengths != NULL;
    if (ok) {
        causes_spread(lengths, count, &stream->queue);
    }
    scratch_free(lengths);
    return ok && (!is_asked(series, stream) || write_series(a, points, count));
}

static bool write_queues(struct analysis *a, const struct launch_stream_id *series)
{
    const struct launch_queue *queue = &a->queue;
    size_t count = queue->count * 2;
    a->out->streams =
        arena_calloc(a->arena, (size_t)a->causes->stream_count + 1, sizeof *a->out->streams);
    bool ok = a->out->streams != NULL;
    for (size_t i = 0; ok && i < count;) {
        size_t first = i;
        uint32_t stream = queue->pairs[queue->points[first] / 2].stream;
        while (i < count && queue->pairs[queue->points[i] / 2].stream == stream) {
            i++;
        }
        ok = write_queue(a, queue->points + first, i - first, series);
    }
    return ok;
}

bool launches_analyse(const struct trace *trace,
                      int64_t zero_ns,
                      enum causes_last_step last_step,
                      const struct launch_stream_id *series,
                      struct arena *arena,
                      struct launches *out)
{
    struct causes causes;
    struct analysis a = {.causes = &causes, .zero_ns = zero_ns, .arena = arena, .out = out};
    *out = (struct launches){.count = 0};
    bool ok = causes_build(&causes, trace, last_step) && launch_queue_build(&a.queue, &causes);
    if (ok) {
        out->count = a.queue.count;
        out->is_too_many = a.queue.is_too_many;
        ok = write_rows(&a) && spread_all(&a) && write_queues(&a, series);
    }
    launch_queue_free(&a.queue);
    scratch_free(a.names);
    causes_free(&causes);
    return ok;
}

/* ---- the rows as a table ---- */

#define TABLE_DEF "ingest/model/tables/causes/launch.def"
#define TABLE_ROW struct launch_row
#include "ingest/model/tables/describe.h"
