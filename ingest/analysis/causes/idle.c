#include "ingest/analysis/causes/idle.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

/* A gap as the walk of a lane finds it. */
struct gap {
    int64_t start_ns, duration_ns;
    uint32_t previous, next; /* events */
    uint32_t lane;           /* number of the stream, or of the device */
    uint8_t cause;
};

struct analysis {
    const struct causes *causes;
    struct host_activity *host;
    int64_t zero_ns;
    size_t top;
    struct arena *arena;
    struct idle *out;
    int64_t *durations[IDLE_CAUSE_COUNT]; /* of the gaps of one lane; room for all */
    bool keeps_devices;                   /* `gaps` are those of devices, else those of streams */
    struct gap *gaps;                     /* longer than 0 */
    size_t gap_count;
};

const char *idle_cause_text(enum idle_cause cause)
{
    static const char *const texts[IDLE_CAUSE_COUNT] = {"host_wait", "kernel_wait", "other"};
    return texts[cause];
}

/* ---- lanes ---- */

static enum idle_cause
cause_of(const struct causes *causes, uint32_t event, int64_t start_ns, int64_t duration_ns)
{
    uint32_t call = causes->launch[event];
    if (call != CAUSES_NONE && causes->trace->events.ts_ns[call] > start_ns) {
        return IDLE_HOST_WAIT;
    }
    return duration_ns < IDLE_THRESHOLD_NS ? IDLE_KERNEL_WAIT : IDLE_OTHER;
}

static bool add_gap(struct analysis *a,
                    struct idle_lane *lane,
                    const struct gap *gap,
                    bool is_device,
                    size_t counts[IDLE_CAUSE_COUNT])
{
    uint32_t call = a->causes->launch[gap->next];
    a->durations[gap->cause][counts[gap->cause]++] = gap->duration_ns;
    lane->idle_ns = saturating_add(lane->idle_ns, gap->duration_ns);
    if (gap->duration_ns == 0) {
        return true;
    }
    if (is_device == a->keeps_devices) {
        a->gaps[a->gap_count++] = *gap;
    }
    return host_activity_add(a->host, call, gap->start_ns, gap->start_ns + gap->duration_ns,
                             lane->host_ns);
}

/* `work` in order of start, then of the file; `number` of the lane among its kind. */
static bool walk_lane(struct analysis *a,
                      const uint32_t *work,
                      uint32_t count,
                      uint32_t number,
                      bool is_device,
                      struct idle_lane *lane)
{
    const struct trace_events *events = &a->causes->trace->events;
    size_t counts[IDLE_CAUSE_COUNT] = {0};
    uint32_t last = work[0];
    int64_t end_ns = events->ts_ns[last] + trace_dur_ns(events, last);
    bool ok = true;
    lane->work = count;
    lane->first_ns = saturating_sub(events->ts_ns[last], a->zero_ns);
    for (uint32_t i = 1; ok && i < count; i++) {
        int64_t start_ns = events->ts_ns[work[i]];
        struct gap gap = {.start_ns = end_ns,
                          .duration_ns = i64_max(0, start_ns - end_ns),
                          .previous = last,
                          .next = work[i],
                          .lane = number};
        gap.cause = (uint8_t)cause_of(a->causes, work[i], end_ns, gap.duration_ns);
        ok = add_gap(a, lane, &gap, is_device, counts);
        int64_t next_end_ns = start_ns + trace_dur_ns(events, work[i]);
        last = next_end_ns > end_ns ? work[i] : last;
        end_ns = i64_max(end_ns, next_end_ns);
    }
    lane->last_ns = saturating_sub(end_ns, a->zero_ns);
    lane->busy_ns = saturating_sub(saturating_sub(lane->last_ns, lane->first_ns), lane->idle_ns);
    for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
        causes_spread(a->durations[cause], counts[cause], &lane->causes[cause]);
    }
    return ok;
}

static bool walk_streams(struct analysis *a)
{
    const struct causes *causes = a->causes;
    struct idle *out = a->out;
    bool ok = true;
    out->streams = arena_calloc(a->arena, causes->stream_count, sizeof *out->streams);
    for (uint32_t i = 0; ok && i < causes->stream_count; i++) {
        const struct causes_stream *stream = &causes->streams[i];
        struct idle_lane *lane = out->streams == NULL ? NULL : &out->streams[i];
        ok = lane != NULL;
        if (ok) {
            lane->device = stream->device;
            lane->stream = stream->stream;
            ok = walk_lane(a, causes->by_stream + stream->first, stream->end - stream->first, i,
                           false, lane);
        }
    }
    out->stream_count = ok ? causes->stream_count : 0;
    return ok;
}

static bool walk_devices(struct analysis *a)
{
    const struct causes *causes = a->causes;
    struct idle *out = a->out;
    uint32_t *work = scratch_alloc(causes->device_count, sizeof *work);
    out->devices = arena_calloc(a->arena, causes->stream_count, sizeof *out->devices);
    bool ok = work != NULL && (out->devices != NULL || causes->stream_count == 0);
    for (uint32_t i = 0; ok && i < causes->stream_count;) {
        uint32_t number = (uint32_t)out->device_count++;
        struct idle_lane *lane = &out->devices[number];
        uint32_t count;
        lane->device = causes->streams[i].device;
        ok = causes_device_work(causes, &i, work, &count) &&
             walk_lane(a, work, count, number, true, lane);
    }
    scratch_free(work);
    return ok;
}

/* ---- the longest gaps ---- */

static int compare_gaps(uint32_t a_at, uint32_t b_at, const void *gaps_void)
{
    const struct gap *a = (const struct gap *)gaps_void + a_at;
    const struct gap *b = (const struct gap *)gaps_void + b_at;
    if (a->duration_ns != b->duration_ns) {
        return a->duration_ns > b->duration_ns ? -1 : 1;
    }
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    return (a->lane > b->lane) - (a->lane < b->lane);
}

static enum host_kind largest_kind(const int64_t by_kind[HOST_KIND_COUNT])
{
    int largest = 0;
    for (int kind = 1; kind < HOST_KIND_COUNT; kind++) {
        largest = by_kind[kind] > by_kind[largest] ? kind : largest;
    }
    return (enum host_kind)largest;
}

/* Adds what the host did to by_kind. */
static bool write_gap(struct analysis *a,
                      const struct gap *gap,
                      struct idle_gap *row,
                      int64_t by_kind[HOST_KIND_COUNT])
{
    const struct trace *trace = a->causes->trace;
    int64_t end_ns = gap->start_ns + gap->duration_ns;
    uint32_t launch = a->causes->launch[gap->next];
    uint32_t event;
    row->device = causes_device(trace, gap->next);
    row->stream = causes_stream(trace, gap->next);
    row->start_ns = saturating_sub(gap->start_ns, a->zero_ns);
    row->duration_ns = gap->duration_ns;
    row->cause = idle_cause_text((enum idle_cause)gap->cause);
    row->previous_event = gap->previous;
    row->next_event = gap->next;
    row->launch_event = causes_known(launch);
    if (!host_activity_add(a->host, launch, gap->start_ns, end_ns, by_kind)) {
        return false;
    }
    enum host_kind host = largest_kind(by_kind);
    row->host = host_kind_text(host);
    if (!host_activity_longest(a->host, launch, host, gap->start_ns, end_ns, &event)) {
        return false;
    }
    row->host_event = causes_known(event);
    if (event != CAUSES_NONE) {
        const char *name = strtab_text(trace->strings, trace->events.name[event]);
        row->host_name = arena_strdup(a->arena, name);
    }
    return event == CAUSES_NONE || row->host_name != NULL;
}

static bool write_longest(struct analysis *a)
{
    struct idle *out = a->out;
    size_t count = a->gap_count < a->top ? a->gap_count : a->top;
    uint32_t *order = scratch_alloc(a->gap_count, sizeof *order);
    out->longest = arena_calloc(a->arena, count + 1, sizeof *out->longest);
    bool ok = order != NULL && out->longest != NULL;
    for (uint32_t i = 0; ok && i < a->gap_count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, a->gap_count, compare_gaps, a->gaps);
    for (size_t i = 0; ok && i < count; i++) {
        int64_t by_kind[HOST_KIND_COUNT] = {0};
        ok = write_gap(a, &a->gaps[order[i]], &out->longest[i], by_kind);
    }
    out->longest_count = ok ? count : 0;
    out->gap_count = (int64_t)a->gap_count;
    scratch_free(order);
    return ok;
}

/* ---- all gaps of devices ---- */

/* Keeps the gaps of the window, of more than the limit the longest, in their order. */
static bool
choose_gaps(struct analysis *a, const struct idle_gaps_request *request, struct idle_gaps *out)
{
    size_t count = 0;
    for (size_t i = 0; i < a->gap_count; i++) {
        int64_t start_ns = saturating_sub(a->gaps[i].start_ns, a->zero_ns);
        if (start_ns < request->end_ns &&
            saturating_add(start_ns, a->gaps[i].duration_ns) > request->start_ns) {
            a->gaps[count++] = a->gaps[i];
        }
    }
    out->total = (int64_t)count;
    a->gap_count = count;
    if (count <= request->limit) {
        return true;
    }
    uint32_t *order = scratch_alloc(count, sizeof *order);
    uint8_t *is_out = scratch_calloc(count, sizeof *is_out);
    bool ok = order != NULL && is_out != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, count, compare_gaps, a->gaps);
    for (size_t i = request->limit; ok && i < count; i++) {
        is_out[order[i]] = 1;
        out->left_out++;
        out->left_out_ns = saturating_add(out->left_out_ns, a->gaps[order[i]].duration_ns);
    }
    a->gap_count = 0;
    for (size_t i = 0; ok && i < count; i++) {
        if (is_out[i] == 0) {
            a->gaps[a->gap_count++] = a->gaps[i];
        }
    }
    SCRATCH_FREE(order, is_out);
    return ok;
}

/* `gaps`: those of the device. */
static bool write_device(struct analysis *a,
                         const struct gap *gaps,
                         size_t count,
                         struct idle_device_gaps *device)
{
    device->start_ns = arena_alloc(a->arena, (count + 1) * sizeof *device->start_ns);
    device->duration_ns = arena_alloc(a->arena, (count + 1) * sizeof *device->duration_ns);
    device->causes = arena_alloc(a->arena, (count + 1) * sizeof *device->causes);
    device->next_event = arena_alloc(a->arena, (count + 1) * sizeof *device->next_event);
    if (device->start_ns == NULL || device->duration_ns == NULL || device->causes == NULL ||
        device->next_event == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        device->start_ns[i] = saturating_sub(gaps[i].start_ns, a->zero_ns);
        device->duration_ns[i] = gaps[i].duration_ns;
        device->causes[i] = (enum idle_cause)gaps[i].cause;
        device->next_event[i] = gaps[i].next;
    }
    device->count = count;
    return true;
}

/* An event ends one gap of its device at most. */
static bool write_chosen(struct analysis *a, uint32_t next_event, struct idle_gaps *out)
{
    for (size_t i = 0; next_event != CAUSES_NONE && i < a->gap_count; i++) {
        if (a->gaps[i].next == next_event) {
            out->has_chosen = true;
            return write_gap(a, &a->gaps[i], &out->chosen, out->chosen_host_ns);
        }
    }
    return true;
}

static bool
write_gaps(struct analysis *a, const struct idle_gaps_request *request, struct idle_gaps *out)
{
    size_t count = a->out->device_count;
    out->devices = arena_calloc(a->arena, count + 1, sizeof *out->devices);
    bool ok = out->devices != NULL && write_chosen(a, request->next_event, out) &&
              choose_gaps(a, request, out);
    size_t end = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        size_t first = end;
        while (end < a->gap_count && a->gaps[end].lane == i) {
            end++;
        }
        out->devices[i].lane = a->out->devices[i];
        ok = write_device(a, a->gaps + first, end - first, &out->devices[i]);
    }
    out->device_count = ok ? count : 0;
    return ok;
}

/* ---- both ---- */

static bool walk(struct analysis *a)
{
    bool ok = true;
    a->host = host_activity_create(a->causes);
    a->gaps = scratch_alloc(a->causes->device_count, sizeof *a->gaps);
    for (int cause = 0; ok && cause < IDLE_CAUSE_COUNT; cause++) {
        a->durations[cause] = scratch_alloc(a->causes->device_count, sizeof(int64_t));
        ok = a->durations[cause] != NULL;
    }
    return ok && a->host != NULL && a->gaps != NULL &&
           (a->keeps_devices || (walk_streams(a) && write_longest(a))) && walk_devices(a);
}

static void end(struct analysis *a)
{
    for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
        scratch_free(a->durations[cause]);
    }
    scratch_free(a->gaps);
    host_activity_destroy(a->host);
}

bool idle_analyse(const struct trace *trace,
                  int64_t zero_ns,
                  enum causes_last_step last_step,
                  size_t top,
                  struct arena *arena,
                  struct idle *out)
{
    struct causes causes;
    struct analysis a = {
        .causes = &causes, .zero_ns = zero_ns, .top = top, .arena = arena, .out = out};
    *out = (struct idle){.stream_count = 0};
    bool ok = causes_build(&causes, trace, last_step) && walk(&a);
    end(&a);
    causes_free(&causes);
    return ok;
}

bool idle_gaps_analyse(const struct trace *trace,
                       int64_t zero_ns,
                       const struct idle_gaps_request *request,
                       struct arena *arena,
                       struct idle_gaps *out)
{
    struct causes causes;
    struct idle idle = {.stream_count = 0};
    struct analysis a = {
        .causes = &causes, .zero_ns = zero_ns, .arena = arena, .out = &idle, .keeps_devices = true};
    *out = (struct idle_gaps){.device_count = 0};
    bool ok = causes_build(&causes, trace, request->last_step) && walk(&a) &&
              write_gaps(&a, request, out);
    end(&a);
    causes_free(&causes);
    return ok;
}

/* ---- the rows as tables ---- */

#define TABLE_DEF "ingest/model/tables/causes/idle_lane.def"
#define TABLE_ROW struct idle_lane
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/causes/idle_gap.def"
#define TABLE_ROW struct idle_gap
#include "ingest/model/tables/describe.h"
