#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/affix.h"
#include "ingest/index/sort.h"
#include "ingest/index/stages.h"

#define INSERTION_RUN 16

/* ---- threads ---- */

static bool number_threads(struct trace_index *index)
{
    const struct trace *trace = index->trace;
    struct key_map keys;
    key_map_init(&keys);
    index->track_thread = scratch_alloc(trace->track_count, sizeof *index->track_thread);
    bool ok = index->track_thread != NULL;
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        const struct trace_track *track = &trace->tracks[i];
        const struct key key = {{track->pid_text, track->tid_text, 0, 0}};
        index->track_thread[i] = key_map_add(&keys, key);
        ok = index->track_thread[i] != KEY_MAP_NONE;
    }
    index->threads = ok ? scratch_calloc(keys.count, sizeof *index->threads) : NULL;
    index->thread_count = index->threads == NULL ? 0 : keys.count;
    for (uint32_t i = 0; i < index->thread_count; i++) {
        index->threads[i].pid_text = keys.keys[i].id[0];
        index->threads[i].tid_text = keys.keys[i].id[1];
    }
    key_map_free(&keys);
    return index->threads != NULL;
}

static bool list_in_time(struct trace_index *index)
{
    uint32_t count = index->trace->events.count;
    uint32_t listed = 0;
    index->in_time = scratch_alloc((size_t)count + 1, sizeof *index->in_time);
    if (index->in_time == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        index->in_time[listed] = i;
        listed += index->class[i] > INDEX_MEMORY;
    }
    index->count = listed;
    return sort_by_key(index->in_time, listed, index->trace->events.ts_ns);
}

/* ---- events that start together: the longer first ---- */

static int longer_first(uint32_t a, uint32_t b, const void *ctx)
{
    const struct trace_events *events = ctx;
    int64_t dur_a = trace_dur_ns(events, a);
    int64_t dur_b = trace_dur_ns(events, b);
    return (dur_a < dur_b) - (dur_a > dur_b);
}

static bool order_run(uint32_t *items, uint32_t count, const struct trace_events *events)
{
    if (count > INSERTION_RUN) {
        return sort_stable(items, count, longer_first, events);
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t item = items[i];
        uint32_t j = i;
        for (; j > 0 && longer_first(item, items[j - 1], events) < 0; j--) {
            items[j] = items[j - 1];
        }
        items[j] = item;
    }
    return true;
}

static bool order_ties(struct trace_index *index, struct index_range range)
{
    const struct trace_events *events = &index->trace->events;
    uint32_t *items = index->in_order;
    bool ok = true;
    for (uint32_t begin = range.first; ok && begin < range.end;) {
        uint32_t end = begin + 1;
        while (end < range.end && events->ts_ns[items[end]] == events->ts_ns[items[begin]]) {
            end++;
        }
        ok = end - begin == 1 || order_run(items + begin, end - begin, events);
        begin = end;
    }
    return ok;
}

static bool fill_threads(struct trace_index *index)
{
    struct index_thread *threads = index->threads;
    const uint32_t *in_time = index->in_time;
    index->in_order = scratch_alloc((size_t)index->count + 1, sizeof *index->in_order);
    if (index->in_order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < index->count; i++) {
        threads[index_thread(index, in_time[i])].events.end++;
    }
    uint32_t total = 0;
    for (uint32_t t = 0; t < index->thread_count; t++) {
        uint32_t count = threads[t].events.end;
        threads[t].events = (struct index_range){total, total};
        total += count;
    }
    for (uint32_t i = 0; i < index->count; i++) {
        index->in_order[threads[index_thread(index, in_time[i])].events.end++] = in_time[i];
    }
    bool ok = true;
    for (uint32_t t = 0; ok && t < index->thread_count; t++) {
        ok = order_ties(index, threads[t].events);
    }
    return ok;
}

/* ---- streams ---- */

/* "device:3 stream:7" is of device 3. */
static int64_t device_of_thread(const struct trace *trace, const struct trace_track *track)
{
    static const char word[] = "device:";
    const char *text = strtab_text(trace->strings, track->tid_text);
    const char *at = text_begins(text, word) ? text + sizeof word - 1 : "";
    int64_t device = 0;
    if (!text_is_digit(*at)) {
        return TRACE_NO_ID;
    }
    for (; text_is_digit(*at) && device <= INT32_MAX; at++) {
        device = device * 10 + (*at - '0');
    }
    return device;
}

int64_t index_device_number(const struct trace *trace, uint32_t event)
{
    const struct kernel_args *args = trace_kernel_args_of(trace, event);
    if (args != NULL && args->device != TRACE_NO_ID) {
        return args->device;
    }
    const struct event_extra *extra = trace_extra_of(trace, event);
    if (extra != NULL && (extra->has & EXTRA_HAS_DEVICE) != 0) {
        return extra->device;
    }
    return device_of_thread(trace, &trace->tracks[trace_event_track(&trace->events, event)]);
}

int64_t index_device(const struct trace *trace, uint32_t event)
{
    const struct trace_track *track = &trace->tracks[trace_event_track(&trace->events, event)];
    int64_t device = index_device_number(trace, event);
    return device != TRACE_NO_ID || !track->pid_int_valid ? device : track->pid_int;
}

static struct index_stream describe_stream(const struct trace *trace, uint32_t event)
{
    const struct kernel_args *args = trace_kernel_args_of(trace, event);
    const struct trace_track *track = &trace->tracks[trace_event_track(&trace->events, event)];
    struct index_stream stream = {.device = index_device(trace, event)};
    stream.stream = track->tid_int_valid ? track->tid_int : TRACE_NO_ID;
    if (args != NULL && args->stream != TRACE_NO_ID) {
        stream.stream = args->stream;
    }
    stream.pid_text = stream.device == TRACE_NO_ID ? track->pid_text : 0;
    stream.tid_text = stream.stream == TRACE_NO_ID ? track->tid_text : 0;
    return stream;
}

struct streaming {
    struct trace_index *index;
    struct key_map numbers; /* devices and streams, as numbers or texts */
    struct key_map keys;    /* pairs of them */
    size_t streams_cap;
    uint32_t *stream_of; /* by device work in order of time */
};

static uint32_t number_of(struct streaming *s, int64_t number, uint32_t text)
{
    const uint64_t bits = (uint64_t)number;
    return key_map_add(&s->numbers,
                       (struct key){{(uint32_t)bits, (uint32_t)(bits >> 32), text, 0}});
}

/* The stream's number; KEY_MAP_NONE without memory. */
static uint32_t stream_of(struct streaming *s, uint32_t event)
{
    struct trace_index *index = s->index;
    struct index_stream described = describe_stream(index->trace, event);
    uint32_t device = number_of(s, described.device, described.pid_text);
    uint32_t stream = number_of(s, described.stream, described.tid_text);
    if (device == KEY_MAP_NONE || stream == KEY_MAP_NONE) {
        return KEY_MAP_NONE;
    }
    uint32_t known = s->keys.count;
    uint32_t number = key_map_add(&s->keys, (struct key){{device, stream, 0, 0}});
    if (number == known) {
        struct index_stream *streams =
            scratch_grow(index->streams, known, &s->streams_cap, sizeof *streams);
        if (streams == NULL) {
            return KEY_MAP_NONE;
        }
        index->streams = streams;
        streams[index->stream_count++] = described;
    }
    return number;
}

/* `work`: in order of time. Mostly the stream of the work before with the same arguments. */
static bool number_streams(struct streaming *s, const uint32_t *work)
{
    const struct trace_events *events = &s->index->trace->events;
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->index->device_count; i++) {
        bool is_same = i > 0 && events->args[work[i]] == events->args[work[i - 1]] &&
                       trace_event_track(events, work[i]) == trace_event_track(events, work[i - 1]);
        s->stream_of[i] = is_same ? s->stream_of[i - 1] : stream_of(s, work[i]);
        ok = s->stream_of[i] != KEY_MAP_NONE;
        if (ok) {
            s->index->streams[s->stream_of[i]].work.end++;
        }
    }
    return ok;
}

static void fill_streams(struct streaming *s, const uint32_t *work)
{
    struct index_stream *streams = s->index->streams;
    uint32_t total = 0;
    for (uint32_t i = 0; i < s->index->stream_count; i++) {
        uint32_t count = streams[i].work.end;
        streams[i].work = (struct index_range){total, total};
        total += count;
    }
    for (uint32_t i = 0; i < s->index->device_count; i++) {
        s->index->device_work[streams[s->stream_of[i]].work.end++] = work[i];
    }
}

/* Device work in order of time, to be freed. NULL without memory. */
static uint32_t *list_device_work(struct trace_index *index)
{
    size_t count = 0;
    for (int class = 0; class < INDEX_CLASS_COUNT; class ++) {
        bool is_work = index_is_device_work((enum index_class) class);
        count += is_work ? index->class_count[class] : 0;
    }
    uint32_t *work = scratch_alloc(count + 1, sizeof *work);
    for (uint32_t i = 0; work != NULL && index->device_count < count; i++) {
        work[index->device_count] = index->in_time[i];
        index->device_count += index_is_device_work(index_class(index, index->in_time[i]));
    }
    return work;
}

static bool find_streams(struct trace_index *index)
{
    struct streaming s = {.index = index};
    uint32_t *work = list_device_work(index);
    key_map_init(&s.numbers);
    key_map_init(&s.keys);
    index->device_work = scratch_alloc(index->device_count, sizeof *index->device_work);
    s.stream_of = scratch_alloc(index->device_count, sizeof *s.stream_of);
    bool ok = work != NULL && index->device_work != NULL && s.stream_of != NULL &&
              number_streams(&s, work);
    if (ok) {
        fill_streams(&s, work);
    }
    SCRATCH_FREE(work, s.stream_of);
    key_map_free(&s.numbers);
    key_map_free(&s.keys);
    return ok;
}

bool index_order(struct trace_index *index)
{
    return list_in_time(index) && number_threads(index) && fill_threads(index) &&
           find_streams(index);
}
