/* [CAU-3.3] rule 3: work of streams in order, launches, and waits for events. */
#include "ingest/analysis/causes/launch_queue.h"
#include "ingest/analysis/critical_path/path_graph.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <string.h>

/* Work further apart than this does not follow on the work before. */
#define FOLLOWS_WITHIN_NS INT64_C(1500000)

/* Calls that launch linked work, in order of start: all, by the stream of their work, and by their
 * thread with it. */
struct call_list {
    uint32_t *calls;
    uint32_t *first; /* by key; one more entry */
    struct key_map keys;
};

struct device {
    struct path_graph *graph;
    const struct trace *trace;
    struct launch_queue queue;
    struct call_list by_stream, by_thread;
    struct id_map recorded; /* wait correlation → place in trace->waits */
    struct id_map records;  /* correlation → event of cudaEventRecord */
    struct key_map streams; /* process and stream → number */
    uint32_t *last;         /* by stream number: the end of the last work; PATH_NONE */
    uint32_t *wait;         /* by event: work that this work waits for; PATH_NONE */
};

static const struct trace_track *track_of(const struct trace *trace, uint32_t event)
{
    return &trace->tracks[trace_event_track(&trace->events, event)];
}

/* A process and a stream. */
static struct key stream_key(uint32_t pid_text, int64_t stream)
{
    return (struct key){{pid_text, (uint32_t)((uint64_t)stream & UINT32_MAX),
                         (uint32_t)((uint64_t)stream >> 32), 0}};
}

static struct key key_of_stream(const struct device *device, uint32_t event)
{
    return stream_key(track_of(device->trace, event)->pid_text, device->graph->stream[event]);
}

/* ---- what was recorded ---- */

static bool note_record(struct id_map *map, int64_t key, uint32_t value, bool keeps_first)
{
    struct id_slot *slot = id_map_add(map, key);
    if (slot == NULL) {
        return false;
    }
    slot->value = keeps_first && slot->value != ID_MAP_NONE ? slot->value : value;
    return true;
}

static bool read_records(struct device *device)
{
    const struct trace *trace = device->trace;
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->wait_count; i++) {
        const struct wait_args *wait = &trace->waits[i];
        ok = wait->wait_correlation < 0 || wait->wait_stream < 0 ||
             !causes_takes_part(trace, wait->event) ||
             note_record(&device->recorded, wait->wait_correlation, i, true);
    }
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        if (path_class_has(device->graph, i, PATH_CLASS_TAKES_PART) &&
            path_name_has(device->graph, i, PATH_NAME_RECORDS)) {
            ok = note_record(&device->records, causes_correlation(trace, i), i, false);
        }
    }
    return ok;
}

/* ---- calls by stream and thread ---- */

static struct key stream_of_call(const struct device *device, uint32_t call)
{
    return key_of_stream(device, device->graph->linked[call]);
}

/* The number of a thread and a stream among those of `by_stream`. */
static struct key thread_of_call(const struct device *device, uint32_t call, uint32_t stream)
{
    const struct trace_track *track = track_of(device->trace, call);
    return (struct key){{track->pid_text, track->tid_text, stream, 1}};
}

static bool
fill_list(struct call_list *list, const uint32_t *calls, const uint32_t *key_of, uint32_t count)
{
    uint32_t *next = scratch_calloc((size_t)list->keys.count + 1, sizeof *next);
    list->calls = scratch_alloc(count, sizeof *list->calls);
    list->first = scratch_alloc((size_t)list->keys.count + 1, sizeof *list->first);
    bool ok = next != NULL && list->calls != NULL && list->first != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        next[key_of[i]]++;
    }
    if (ok) {
        (void)sort_places(next, (size_t)list->keys.count + 1);
        memcpy(list->first, next, ((size_t)list->keys.count + 1) * sizeof *next);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        list->calls[next[key_of[i]]++] = calls[i];
    }
    scratch_free(next);
    return ok;
}

static bool list_by_key(struct device *device, const uint32_t *calls, uint32_t count)
{
    uint32_t *stream = scratch_alloc(count, sizeof *stream);
    uint32_t *thread = scratch_alloc(count, sizeof *thread);
    bool ok = stream != NULL && thread != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        stream[i] = key_map_add(&device->by_stream.keys, stream_of_call(device, calls[i]));
        ok = stream[i] != KEY_MAP_NONE;
        thread[i] =
            ok ? key_map_add(&device->by_thread.keys, thread_of_call(device, calls[i], stream[i]))
               : KEY_MAP_NONE;
        ok = ok && thread[i] != KEY_MAP_NONE;
    }
    ok = ok && fill_list(&device->by_stream, calls, stream, count) &&
         fill_list(&device->by_thread, calls, thread, count);
    SCRATCH_FREE(stream, thread);
    return ok;
}

static bool list_calls(struct device *device)
{
    const struct causes *causes = device->graph->causes;
    uint32_t *calls = scratch_alloc(device->trace->events.count, sizeof *calls);
    uint32_t count = 0;
    for (uint32_t i = 0; calls != NULL && i < device->trace->events.count; i++) {
        if (causes_is_call(causes, i) && causes_name_is(causes, i, CAUSES_LAUNCHES) &&
            device->graph->linked[i] != PATH_NONE) {
            calls[count++] = i;
        }
    }
    bool ok = calls != NULL && sort_by_key(calls, count, device->trace->events.ts_ns) &&
              list_by_key(device, calls, count);
    scratch_free(calls);
    return ok;
}

/* How many calls of the list from `first` on start before `ns` (or at it). */
static uint32_t count_before(
    const struct device *device, const uint32_t *calls, uint32_t count, int64_t ns, bool or_at)
{
    const int64_t *ts_ns = device->trace->events.ts_ns;
    size_t low = 0;
    ORDER_SEARCH(low, count, at, order_i64(ts_ns[calls[at]], ns) < (or_at ? 1 : 0));
    return (uint32_t)low;
}

/* The calls of a key; *count is 0 where there are none. */
static const uint32_t *calls_of(const struct call_list *list, struct key key, uint32_t *count)
{
    uint32_t number = key_map_find(&list->keys, key);
    *count = number == KEY_MAP_NONE ? 0 : list->first[number + 1] - list->first[number];
    return number == KEY_MAP_NONE ? NULL : list->calls + list->first[number];
}

/* ---- waits for events ---- */

/* The work before the event that a wait awaits was recorded; PATH_NONE. */
static uint32_t awaited_work(const struct device *device, const struct wait_args *wait)
{
    const struct trace *trace = device->trace;
    const struct id_slot *recorded = id_map_find(&device->recorded, wait->wait_correlation);
    const struct id_slot *record = id_map_find(&device->records, wait->wait_correlation);
    if (recorded == NULL || record == NULL) {
        return PATH_NONE;
    }
    const struct wait_args *where = &trace->waits[recorded->value];
    struct key key = stream_key(track_of(trace, where->event)->pid_text, where->wait_stream);
    uint32_t count;
    const uint32_t *calls = calls_of(&device->by_stream, key, &count);
    uint32_t before = count_before(device, calls, count, trace->events.ts_ns[record->value], true);
    return before == 0 ? PATH_NONE : device->graph->linked[calls[before - 1]];
}

/* The first work that the thread of `call` puts on the waiting stream after it; PATH_NONE. */
static uint32_t next_work(const struct device *device, uint32_t event, uint32_t call)
{
    uint32_t stream = key_map_find(&device->by_stream.keys, key_of_stream(device, event));
    uint32_t count;
    if (stream == KEY_MAP_NONE) {
        return PATH_NONE;
    }
    const uint32_t *calls =
        calls_of(&device->by_thread, thread_of_call(device, call, stream), &count);
    uint32_t before = count_before(device, calls, count, device->trace->events.ts_ns[call], false);
    return before == count ? PATH_NONE : device->graph->linked[calls[before]];
}

static bool add_event_wait(struct device *device, uint32_t event, uint32_t call, bool of_host)
{
    struct path_graph *graph = device->graph;
    const struct wait_args *wait = trace_wait_of(device->trace, event);
    uint32_t work =
        wait == NULL || wait->wait_correlation < 0 ? PATH_NONE : awaited_work(device, wait);
    if (work == PATH_NONE) {
        graph->unmatched_waits++;
        return true;
    }
    if (call == PATH_NONE) {
        return true;
    }
    if (of_host) {
        return path_graph_add(graph, graph->last[work], graph->last[call], PATH_SYNC, PATH_NONE,
                              PATH_BETWEEN);
    }
    uint32_t next = next_work(device, event, call);
    if (next != PATH_NONE) {
        device->wait[next] = work;
    }
    return true;
}

static bool add_wait(struct device *device, uint32_t event, uint32_t stream)
{
    struct path_graph *graph = device->graph;
    uint32_t call = graph->linked[event];
    uint32_t call_end = call == PATH_NONE ? PATH_NONE : graph->last[call];
    bool ok = true;
    if (path_graph_name_is(graph, event, "Stream Sync")) {
        return path_graph_add(graph, device->last[stream], call_end, PATH_SYNC, PATH_NONE,
                              PATH_BETWEEN);
    }
    if (path_graph_name_is(graph, event, "Context Sync")) {
        for (uint32_t i = 0; ok && i < device->streams.count; i++) {
            ok = path_graph_add(graph, device->last[i], call_end, PATH_SYNC, PATH_NONE,
                                PATH_BETWEEN);
        }
        return ok;
    }
    bool of_host = path_graph_name_is(graph, event, "Event Sync");
    if (of_host || path_name_has(graph, event, PATH_NAME_WAITS)) {
        return add_event_wait(device, event, call, of_host);
    }
    return true;
}

/* ---- work ---- */

/* Whether the call found an empty queue, and the work left one. */
static bool ran_at_once(const struct device *device, uint32_t event, const uint32_t *pair_of)
{
    uint32_t pair = pair_of[event];
    return pair != PATH_NONE && device->queue.length[2 * (size_t)pair] == 1 &&
           device->queue.length[2 * (size_t)pair + 1] == 0;
}

static bool
add_work(struct device *device, uint32_t event, uint32_t stream, const uint32_t *pair_of)
{
    struct path_graph *graph = device->graph;
    uint32_t call = graph->linked[event];
    uint32_t start = graph->first[event];
    uint32_t before = device->last[stream];
    uint32_t wait = device->wait[event] == PATH_NONE ? PATH_NONE : graph->last[device->wait[event]];
    const int64_t *ts_ns = device->trace->events.ts_ns;
    int64_t before_ns = before == PATH_NONE ? INT64_MIN : graph->nodes[before].ts_ns;
    int64_t wait_ns = wait == PATH_NONE ? INT64_MIN : graph->nodes[wait].ts_ns;
    bool ok =
        path_graph_add(graph, start, graph->last[event], PATH_OPERATOR, event, PATH_BETWEEN) &&
        path_graph_add(graph, wait, start, PATH_SYNC, PATH_NONE, PATH_BETWEEN);
    if (ran_at_once(device, event, pair_of) && before_ns < ts_ns[call] && wait_ns < ts_ns[call]) {
        ok = ok &&
             path_graph_add(graph, graph->first[call], start, PATH_LAUNCH, event, PATH_BETWEEN);
    } else {
        bool follows = before != PATH_NONE &&
                       saturating_sub(ts_ns[event], before_ns) < FOLLOWS_WITHIN_NS &&
                       wait_ns < before_ns;
        uint32_t whose = before == PATH_NONE ? PATH_NONE : graph->nodes[before].event;
        ok = ok &&
             path_graph_add(graph, follows ? before : PATH_NONE, start, PATH_KERNEL_KERNEL, whose,
                            PATH_BETWEEN) &&
             (graph->options->delays_only ||
              path_graph_add(graph, graph->first[call], start, PATH_LAUNCH, event, 0));
    }
    device->last[stream] = graph->last[event];
    return ok;
}

/* ---- all of it ---- */

/* What takes part on streams, in order of start; waits in order of their end. */
static bool list_work(const struct device *device, uint32_t **out, uint32_t *count)
{
    const struct path_graph *graph = device->graph;
    const struct trace_events *events = &device->trace->events;
    int64_t *at_ns = scratch_alloc(events->count, sizeof *at_ns);
    uint32_t *work = scratch_alloc(events->count, sizeof *work);
    bool ok = at_ns != NULL && work != NULL;
    *count = 0;
    for (uint32_t i = 0; ok && i < events->count; i++) {
        bool is_linked = graph->stream[i] >= 0 && graph->linked[i] != PATH_NONE;
        if (graph->takes_part[i] &&
            (is_linked || causes_name_is(graph->causes, i, CAUSES_RECORDS_WAIT))) {
            at_ns[i] = events->ts_ns[i];
            if (path_class_has(graph, i, PATH_CLASS_SYNC)) {
                at_ns[i] = saturating_add(at_ns[i], trace_dur_ns(events, i));
            }
            work[(*count)++] = i;
        }
    }
    ok = ok && sort_by_key(work, *count, at_ns);
    scratch_free(at_ns);
    *out = work;
    return ok;
}

/* By event of work: its pair with the call that it is linked with; PATH_NONE. */
static uint32_t *find_pairs(const struct device *device)
{
    uint32_t *pair_of = scratch_none(device->trace->events.count);
    for (uint32_t i = 0; pair_of != NULL && i < device->queue.count; i++) {
        const struct launch_pair *pair = &device->queue.pairs[i];
        if (device->graph->linked[pair->work] == pair->call) {
            pair_of[pair->work] = i;
        }
    }
    return pair_of;
}

static bool number_streams(struct device *device, const uint32_t *work, uint32_t count)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = key_map_add(&device->streams, key_of_stream(device, work[i])) != KEY_MAP_NONE;
    }
    device->last = ok ? scratch_none(device->streams.count) : NULL;
    device->wait = scratch_none(device->trace->events.count);
    return device->last != NULL && device->wait != NULL;
}

static bool walk_work(struct device *device)
{
    uint32_t *work = NULL;
    uint32_t *pair_of = find_pairs(device);
    uint32_t count;
    bool ok =
        list_work(device, &work, &count) && pair_of != NULL && number_streams(device, work, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t stream = key_map_find(&device->streams, key_of_stream(device, work[i]));
        if (path_class_has(device->graph, work[i], PATH_CLASS_SYNC)) {
            ok = add_wait(device, work[i], stream);
        } else if (device->graph->linked[work[i]] != PATH_NONE) {
            ok = add_work(device, work[i], stream, pair_of);
        }
    }
    SCRATCH_FREE(work, pair_of);
    return ok;
}

bool path_add_device(struct path_graph *graph)
{
    struct device device = {.graph = graph, .trace = graph->causes->trace};
    id_map_init(&device.recorded);
    id_map_init(&device.records);
    key_map_init(&device.streams);
    key_map_init(&device.by_stream.keys);
    key_map_init(&device.by_thread.keys);
    bool ok = launch_queue_build(&device.queue, graph->causes) && read_records(&device) &&
              list_calls(&device) && walk_work(&device);
    launch_queue_free(&device.queue);
    id_map_free(&device.recorded);
    id_map_free(&device.records);
    key_map_free(&device.streams);
    key_map_free(&device.by_stream.keys);
    key_map_free(&device.by_thread.keys);
    SCRATCH_FREE(device.by_stream.calls, device.by_stream.first, device.by_thread.calls,
                 device.by_thread.first, device.last, device.wait);
    return ok;
}
