#include "ingest/analysis/causes/launch_queue.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/index/sort.h"

#include <string.h>

/* Pairs of a call and a work, for each of either. Work of graphs has many works a call; many of
 * both is no trace of a profiler. */
#define PAIRS_PER_EVENT 8

struct builder {
    const struct causes *causes;
    struct launch_queue *out;
    struct id_map by_correlation; /* slot index: group of work */
    uint32_t *group_first;        /* of `work`, by group; one more entry */
    uint32_t *work;               /* device events by group, in file order */
    uint32_t *stream_of;          /* number of the stream, by event */
};

/* ---- work by correlation ---- */

static bool number_groups(struct builder *a)
{
    const struct causes *causes = a->causes;
    bool ok = true;
    for (uint32_t i = 0; ok && i < causes->device_count; i++) {
        int64_t correlation = causes_correlation(causes->trace, causes->by_stream[i]);
        ok = correlation < 0 || id_map_add(&a->by_correlation, correlation) != NULL;
    }
    return ok;
}

static bool group_work(struct builder *a)
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

static bool number_streams(struct builder *a)
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
static uint32_t group_of(const struct builder *a, uint32_t event)
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

static uint64_t count_pairs(const struct builder *a)
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
    const struct launch_pair *pairs;
};

static int compare_pairs(uint32_t a_at, uint32_t b_at, const void *order_void)
{
    const struct pair_order *order = order_void;
    const int64_t *ts_ns = order->events->ts_ns;
    const struct launch_pair *a = &order->pairs[a_at];
    const struct launch_pair *b = &order->pairs[b_at];
    int by_call = order_i64(ts_ns[a->call], ts_ns[b->call]);
    return by_call != 0 ? by_call : order_i64(ts_ns[a->work], ts_ns[b->work]);
}

/* From file order of calls and of their work, in which equal ones stay. */
static bool order_pairs(struct builder *a, const struct launch_pair *pairs, uint32_t count)
{
    const struct pair_order by_start = {&a->causes->trace->events, pairs};
    uint32_t *order = scratch_alloc(count, sizeof *order);
    a->out->pairs = scratch_alloc(count, sizeof *a->out->pairs);
    bool ok = order != NULL && a->out->pairs != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, count, compare_pairs, &by_start);
    for (uint32_t i = 0; ok && i < count; i++) {
        a->out->pairs[i] = pairs[order[i]];
    }
    a->out->count = ok ? count : 0;
    scratch_free(order);
    return ok;
}

static bool pair_all(struct builder *a)
{
    const struct trace *trace = a->causes->trace;
    uint64_t count = count_pairs(a);
    uint32_t n = 0;
    a->out->is_too_many = count > (uint64_t)PAIRS_PER_EVENT * trace->events.count;
    if (a->out->is_too_many) {
        return true;
    }
    struct launch_pair *pairs = scratch_alloc((size_t)count, sizeof *pairs);
    bool ok = pairs != NULL;
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        uint32_t group = group_of(a, i);
        for (uint32_t at = group == CAUSES_NONE ? 0 : a->group_first[group];
             group != CAUSES_NONE && at < a->group_first[group + 1]; at++) {
            pairs[n++] = (struct launch_pair){i, a->work[at], a->stream_of[a->work[at]]};
        }
    }
    ok = ok && order_pairs(a, pairs, n);
    scratch_free(pairs);
    return ok;
}

/* ---- queues ---- */

struct point_order {
    const struct trace_events *events;
    const struct launch_queue *queue;
};

static int compare_points(uint32_t a, uint32_t b, const void *order_void)
{
    const struct point_order *order = order_void;
    const struct launch_pair *a_pair = &order->queue->pairs[a / 2];
    const struct launch_pair *b_pair = &order->queue->pairs[b / 2];
    uint32_t a_event = launch_queue_event(order->queue, a);
    uint32_t b_event = launch_queue_event(order->queue, b);
    int by_stream = order_i64(a_pair->stream, b_pair->stream);
    int by_time = order_i64(order->events->ts_ns[a_event], order->events->ts_ns[b_event]);
    int by_step = order_i64(a % 2, b % 2);
    int by_event = order_i64(a_event, b_event);
    if (by_stream != 0 || by_time != 0) {
        return by_stream != 0 ? by_stream : by_time;
    }
    if (by_step != 0 || by_event != 0) {
        return by_step != 0 ? by_step : by_event;
    }
    return order_i64(a_pair->work, b_pair->work);
}

static bool measure(struct launch_queue *queue, const struct causes *causes)
{
    const struct point_order order = {&causes->trace->events, queue};
    size_t count = queue->count * 2;
    queue->points = scratch_alloc(count, sizeof *queue->points);
    queue->length = scratch_alloc(count, sizeof *queue->length);
    bool ok = queue->points != NULL && queue->length != NULL && count < UINT32_MAX;
    for (uint32_t i = 0; ok && i < count; i++) {
        queue->points[i] = i;
    }
    ok = ok && sort_stable(queue->points, count, compare_points, &order);
    uint32_t stream = CAUSES_NONE;
    int64_t length = 0;
    for (size_t i = 0; ok && i < count; i++) {
        uint32_t point = queue->points[i];
        length = queue->pairs[point / 2].stream == stream ? length : 0;
        stream = queue->pairs[point / 2].stream;
        length += point % 2 == 0 ? 1 : -1;
        queue->length[point] = length;
    }
    return ok;
}

bool launch_queue_build(struct launch_queue *queue, const struct causes *causes)
{
    struct builder b = {.causes = causes, .out = queue};
    *queue = (struct launch_queue){.count = 0};
    id_map_init(&b.by_correlation);
    bool ok = group_work(&b) && number_streams(&b) && pair_all(&b) && measure(queue, causes);
    id_map_free(&b.by_correlation);
    SCRATCH_FREE(b.group_first, b.work, b.stream_of);
    return ok;
}

void launch_queue_free(struct launch_queue *queue)
{
    SCRATCH_FREE(queue->pairs, queue->points, queue->length);
}
