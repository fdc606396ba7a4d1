#include "ingest/analysis/causes/launches.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <string.h>

/* Pairs of a call and a work, for each of either. Work of graphs has many works a call; many of
 * both is no trace of a profiler. */
#define PAIRS_PER_EVENT 8

/* A call with one piece of its work: events, and the number of the work's stream. */
struct pair {
    uint32_t call, work, stream;
};

struct analysis {
    const struct causes *causes;
    int64_t zero_ns;
    struct arena *arena;
    struct launches *out;
    struct id_map by_correlation; /* slot index: group of work */
    uint32_t *group_first;        /* of `work`, by group; one more entry */
    uint32_t *work;               /* device events by group, in file order */
    uint32_t *stream_of;          /* number of the stream, by event */
    struct pair *pairs;           /* in the order of the rows */
    const char **names;           /* copies of texts that rows have, by string id */
};

/* ---- work by correlation ---- */

static bool number_groups(struct analysis *a)
{
    const struct causes *causes = a->causes;
    bool ok = true;
    for (uint32_t i = 0; ok && i < causes->device_count; i++) {
        int64_t correlation = causes_correlation(causes->trace, causes->by_stream[i]);
        ok = correlation < 0 || id_map_add(&a->by_correlation, correlation) != NULL;
    }
    return ok;
}

static bool group_work(struct analysis *a)
{
    const struct causes *causes = a->causes;
    uint32_t count = causes->trace->events.count;
    if (!number_groups(a)) {
        return false;
    }
    uint32_t groups = a->by_correlation.count;
    uint32_t *next = scratch_calloc((size_t)groups + 1, sizeof *next);
    a->group_first = scratch_alloc((size_t)groups + 1, sizeof *a->group_first);
    a->work = scratch_alloc(causes->device_count, sizeof *a->work);
    bool ok = next != NULL && a->group_first != NULL && a->work != NULL;
    for (uint32_t i = 0; ok && i < causes->device_count; i++) {
        int64_t correlation = causes_correlation(causes->trace, causes->by_stream[i]);
        if (correlation >= 0) {
            next[id_map_find(&a->by_correlation, correlation)->index]++;
        }
    }
    if (ok) {
        (void)sort_places(next, (size_t)groups + 1);
        memcpy(a->group_first, next, ((size_t)groups + 1) * sizeof *next);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        int64_t correlation =
            causes->role[i] == CAUSES_DEVICE ? causes_correlation(causes->trace, i) : -1;
        if (correlation >= 0) {
            a->work[next[id_map_find(&a->by_correlation, correlation)->index]++] = i;
        }
    }
    scratch_free(next);
    return ok;
}

static bool number_streams(struct analysis *a)
{
    const struct causes *causes = a->causes;
    a->stream_of = scratch_alloc(causes->trace->events.count, sizeof *a->stream_of);
    for (uint32_t stream = 0; a->stream_of != NULL && stream < causes->stream_count; stream++) {
        for (uint32_t i = causes->streams[stream].first; i < causes->streams[stream].end; i++) {
            a->stream_of[causes->by_stream[i]] = stream;
        }
    }
    return a->stream_of != NULL;
}

/* ---- pairs ---- */

/* The group of the work of a call that launches; CAUSES_NONE. */
static uint32_t group_of(const struct analysis *a, uint32_t event)
{
    const struct causes *causes = a->causes;
    if (causes->role[event] != CAUSES_CALL || !causes_name_is(causes, event, CAUSES_LAUNCHES)) {
        return CAUSES_NONE;
    }
    int64_t correlation = causes_correlation(causes->trace, event);
    const struct id_slot *slot =
        correlation < 0 ? NULL : id_map_find(&a->by_correlation, correlation);
    return slot == NULL ? CAUSES_NONE : slot->index;
}

static uint64_t count_pairs(const struct analysis *a)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < a->causes->trace->events.count; i++) {
        uint32_t group = group_of(a, i);
        count += group == CAUSES_NONE ? 0 : a->group_first[group + 1] - a->group_first[group];
    }
    return count;
}

struct pair_order {
    const struct trace_events *events;
    const struct pair *pairs;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_pairs(uint32_t a_at, uint32_t b_at, const void *order_void)
{
    const struct pair_order *order = order_void;
    const int64_t *ts_ns = order->events->ts_ns;
    const struct pair *a = &order->pairs[a_at];
    const struct pair *b = &order->pairs[b_at];
    int by_call = compare_numbers(ts_ns[a->call], ts_ns[b->call]);
    return by_call != 0 ? by_call : compare_numbers(ts_ns[a->work], ts_ns[b->work]);
}

/* From file order of calls and of their work, in which equal ones stay. */
static bool order_pairs(struct analysis *a, const struct pair *pairs, uint32_t count)
{
    const struct pair_order by_start = {&a->causes->trace->events, pairs};
    uint32_t *order = scratch_alloc(count, sizeof *order);
    a->pairs = scratch_alloc(count, sizeof *a->pairs);
    bool ok = order != NULL && a->pairs != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, count, compare_pairs, &by_start);
    for (uint32_t i = 0; ok && i < count; i++) {
        a->pairs[i] = pairs[order[i]];
    }
    a->out->count = ok ? count : 0;
    scratch_free(order);
    return ok;
}

static bool pair_all(struct analysis *a)
{
    const struct trace *trace = a->causes->trace;
    uint64_t count = count_pairs(a);
    uint32_t n = 0;
    a->out->is_too_many = count > (uint64_t)PAIRS_PER_EVENT * trace->events.count;
    if (a->out->is_too_many) {
        return true;
    }
    struct pair *pairs = scratch_alloc((size_t)count, sizeof *pairs);
    bool ok = pairs != NULL;
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        uint32_t group = group_of(a, i);
        for (uint32_t at = group == CAUSES_NONE ? 0 : a->group_first[group];
             group != CAUSES_NONE && at < a->group_first[group + 1]; at++) {
            pairs[n++] = (struct pair){i, a->work[at], a->stream_of[a->work[at]]};
        }
    }
    ok = ok && order_pairs(a, pairs, n);
    scratch_free(pairs);
    return ok;
}

/* ---- rows ---- */

static const char *copy_text(struct analysis *a, uint32_t id)
{
    if (a->names[id] == NULL) {
        const char *text = strtab_text(a->causes->trace->strings, id);
        a->names[id] = arena_strndup(a->arena, text, strlen(text));
    }
    return a->names[id];
}

static bool write_row(struct analysis *a, const struct pair *pair, struct launch_row *row)
{
    const struct trace *trace = a->causes->trace;
    const struct trace_events *events = &trace->events;
    const struct causes_stream *stream = &a->causes->streams[pair->stream];
    int64_t call_end_ns = events->ts_ns[pair->call] + trace_dur_ns(events, pair->call);
    *row = (struct launch_row){
        .correlation = causes_correlation(trace, pair->call),
        .launch_event = pair->call,
        .device_event = pair->work,
        .name = copy_text(a, events->name[pair->call]),
        .kernel = copy_text(a, events->name[pair->work]),
        .thread = copy_text(a, trace->tracks[trace_event_track(events, pair->call)].tid_text),
        .device = stream->device,
        .stream = stream->stream,
        .start_ns = saturating_sub(events->ts_ns[pair->call], a->zero_ns),
        .host_ns = trace_dur_ns(events, pair->call),
        .device_ns = trace_dur_ns(events, pair->work),
        .delay_ns = i64_max(0, events->ts_ns[pair->work] - call_end_ns),
    };
    return row->name != NULL && row->kernel != NULL && row->thread != NULL;
}

static bool write_rows(struct analysis *a)
{
    struct launches *out = a->out;
    a->names = scratch_calloc(strtab_count(a->causes->trace->strings), sizeof *a->names);
    out->rows = arena_calloc(a->arena, out->count + 1, sizeof *out->rows);
    bool ok = a->names != NULL && out->rows != NULL;
    for (size_t i = 0; ok && i < out->count; i++) {
        ok = write_row(a, &a->pairs[i], &out->rows[i]);
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

/* Point 2i: the call of pair i adds to the queue; 2i + 1: its work takes from it. */
static uint32_t event_of(const struct pair_order *order, uint32_t point)
{
    const struct pair *pair = &order->pairs[point / 2];
    return point % 2 == 0 ? pair->call : pair->work;
}

static int compare_points(uint32_t a, uint32_t b, const void *order_void)
{
    const struct pair_order *order = order_void;
    const struct pair *a_pair = &order->pairs[a / 2];
    const struct pair *b_pair = &order->pairs[b / 2];
    uint32_t a_event = event_of(order, a);
    uint32_t b_event = event_of(order, b);
    int by_stream = compare_numbers(a_pair->stream, b_pair->stream);
    int by_time = compare_numbers(order->events->ts_ns[a_event], order->events->ts_ns[b_event]);
    int by_step = compare_numbers(a % 2, b % 2);
    int by_event = compare_numbers(a_event, b_event);
    if (by_stream != 0 || by_time != 0) {
        return by_stream != 0 ? by_stream : by_time;
    }
    if (by_step != 0 || by_event != 0) {
        return by_step != 0 ? by_step : by_event;
    }
    return compare_numbers(a_pair->work, b_pair->work);
}

static bool is_asked(const struct launch_stream_id *series, const struct launch_stream *stream)
{
    return series != NULL && series->device == stream->device && series->stream == stream->stream;
}

/* Points [first, end) of one stream, in order. */
static bool write_queue(struct analysis *a,
                        const struct pair_order *order,
                        const uint32_t *points,
                        size_t count,
                        const struct launch_stream_id *series)
{
    const struct causes_stream *from = &a->causes->streams[order->pairs[points[0] / 2].stream];
    struct launch_stream *stream = &a->out->streams[a->out->stream_count++];
    int64_t *lengths = scratch_alloc(count, sizeof *lengths);
    int64_t length = 0;
    *stream = (struct launch_stream){
        .device = from->device, .stream = from->stream, .launches = (int64_t)(count / 2)};
    struct launch_point *asked = NULL;
    if (is_asked(series, stream)) {
        asked = arena_calloc(a->arena, count, sizeof *asked);
        a->out->series = asked;
        a->out->series_count = asked == NULL ? 0 : count;
    }
    bool ok = lengths != NULL && (asked != NULL || !is_asked(series, stream));
    for (size_t i = 0; ok && i < count; i++) {
        uint32_t event = event_of(order, points[i]);
        length += points[i] % 2 == 0 ? 1 : -1;
        lengths[i] = length;
        if (asked != NULL) {
            int64_t ts_ns = saturating_sub(order->events->ts_ns[event], a->zero_ns);
            asked[i] = (struct launch_point){ts_ns, length, event};
        }
    }
    if (ok) {
        causes_spread(lengths, count, &stream->queue);
    }
    scratch_free(lengths);
    return ok;
}

static bool queue_streams(struct analysis *a, const struct launch_stream_id *series)
{
    const struct pair_order order = {&a->causes->trace->events, a->pairs};
    size_t count = a->out->count * 2;
    uint32_t *points = scratch_alloc(count, sizeof *points);
    a->out->streams =
        arena_calloc(a->arena, (size_t)a->causes->stream_count + 1, sizeof *a->out->streams);
    bool ok = points != NULL && a->out->streams != NULL && count < UINT32_MAX;
    for (uint32_t i = 0; ok && i < count; i++) {
        points[i] = i;
    }
    ok = ok && sort_stable(points, count, compare_points, &order);
    for (size_t i = 0; ok && i < count;) {
        size_t first = i;
        while (i < count &&
               order.pairs[points[i] / 2].stream == order.pairs[points[first] / 2].stream) {
            i++;
        }
        ok = write_queue(a, &order, points + first, i - first, series);
    }
    scratch_free(points);
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
    id_map_init(&a.by_correlation);
    bool ok = causes_build(&causes, trace, last_step) && group_work(&a) && number_streams(&a) &&
              pair_all(&a);
    ok =
        ok && (out->is_too_many || (write_rows(&a) && spread_all(&a) && queue_streams(&a, series)));
    id_map_free(&a.by_correlation);
    scratch_free(a.group_first);
    scratch_free(a.work);
    scratch_free(a.stream_of);
    scratch_free(a.pairs);
    scratch_free(a.names);
    causes_free(&causes);
    return ok;
}
