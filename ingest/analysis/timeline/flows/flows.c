#include "ingest/analysis/timeline/flows/flows.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

#include <string.h>

#define DIGIT_BITS 11u
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define ID_BITS 32u

/* Ends of flows that have an id. */
struct id_list {
    uint32_t *events;
    uint32_t count;
};

struct flows {
    const struct timeline_items *items;
    const struct timeline_flow_ends *ends;
    struct id_list drawn;
    struct timeline_flow *list;
    size_t count;
    size_t cap;
};

static bool add_flow(struct flows *f, uint32_t from, uint32_t to, enum timeline_flow_kind kind)
{
    struct timeline_flow *list = scratch_grow(f->list, f->count, &f->cap, sizeof *list);
    if (list == NULL) {
        return false;
    }
    f->list = list;
    list[f->count++] = (struct timeline_flow){from, to, (uint8_t)kind};
    return true;
}

static bool is_device_work(const struct timeline_items *items, uint32_t event)
{
    enum event_kind kind = trace_kind(&items->trace->events, event);
    return kind == EVENT_KERNEL || kind == EVENT_MEMCPY || kind == EVENT_MEMSET;
}

/* Ends that the file draws, and launches, which are in the list of flows from the beginning. */
static bool list_events(struct flows *f, const struct timeline_frame *frame)
{
    const struct timeline_items *items = f->items;
    const struct trace_events *events = &items->trace->events;
    f->cap = frame->launch_count;
    f->list = scratch_alloc(f->cap, sizeof *f->list);
    f->drawn.events = scratch_alloc(items->flow_count, sizeof *f->drawn.events);
    if (f->list == NULL || f->drawn.events == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < events->count; i++) {
        if (timeline_class(items, i) == ITEM_FLOW) {
            f->drawn.events[f->drawn.count] = i;
            f->drawn.count += trace_correlation(events, i) != TRACE_NO_ID;
        } else {
            items->by_event[i] = TIMELINE_NO_EVENT;
        }
    }
    for (; f->count < frame->launch_count; f->count++) {
        f->list[f->count] = frame->launches[f->count];
        items->by_event[f->list[f->count].to] = f->list[f->count].from;
    }
    return true;
}

/* ---- drawn by the file ---- */

static bool is_same_flow(const struct trace_events *events, uint32_t a, uint32_t b)
{
    return trace_category(events, a) == trace_category(events, b) &&
           events->name[a] == events->name[b];
}

static int phase_rank(char phase)
{
    return phase == 's' ? 0 : (phase == 't' ? 1 : 2);
}

static int by_flow(uint32_t a, uint32_t b, const void *ctx)
{
    const struct timeline_items *items = ctx;
    const struct trace_events *events = &items->trace->events;
    int category_order = trace_category(events, a) - trace_category(events, b);
    if (category_order != 0) {
        return category_order;
    }
    if (events->name[a] != events->name[b]) {
        return events->name[a] < events->name[b] ? -1 : 1;
    }
    if (events->ts_ns[a] != events->ts_ns[b]) {
        return events->ts_ns[a] < events->ts_ns[b] ? -1 : 1;
    }
    return phase_rank(trace_phase(events, a)) - phase_rank(trace_phase(events, b));
}

static enum timeline_flow_kind
kind_of(const struct timeline_items *items, uint32_t end, uint32_t to)
{
    const struct trace *trace = items->trace;
    static const char *const LAUNCHES[] = {"ac2g", "async_gpu", "async"};
    if (trace_kind(&trace->events, end) == EVENT_FLOW_FWDBWD) {
        return TIMELINE_FLOW_FWDBWD;
    }
    const char *category =
        strtab_text(trace->strings, trace->categories[trace_category(&trace->events, end)]);
    bool is_launch = false;
    for (size_t i = 0; i < sizeof LAUNCHES / sizeof *LAUNCHES; i++) {
        is_launch = is_launch || strcmp(category, LAUNCHES[i]) == 0;
    }
    bool has_device_target = to != TIMELINE_NO_EVENT && is_device_work(items, to);
    return is_launch && has_device_target ? TIMELINE_FLOW_LAUNCH : TIMELINE_FLOW_OTHER;
}

/* The ends of one flow in order of time: each t leads on; an s may lead to many f. What comes
 * before the first s is led to by it all the same. */
static bool follow(struct flows *f, const uint32_t *ends, uint32_t count)
{
    const struct trace_events *events = &f->items->trace->events;
    uint32_t from = TIMELINE_NO_EVENT;
    bool ok = true;
    for (uint32_t i = 0; from == TIMELINE_NO_EVENT && i < count; i++) {
        from = trace_phase(events, ends[i]) == 's' ? f->ends->slice[ends[i]] : from;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        char phase = trace_phase(events, ends[i]);
        uint32_t slice = f->ends->slice[ends[i]];
        bool is_new = from != TIMELINE_NO_EVENT && slice != TIMELINE_NO_EVENT && from != slice &&
                      f->items->by_event[slice] != from;
        ok = phase == 's' || !is_new || add_flow(f, from, slice, kind_of(f->items, ends[i], slice));
        from = phase == 'f' ? from : slice;
    }
    return ok;
}

/* The flows of one id. */
static bool follow_id(struct flows *f, uint32_t *ends, uint32_t count)
{
    uint32_t end = 0;
    bool ok = count < 2 || sort_stable(ends, count, by_flow, f->items);
    for (uint32_t i = 0; ok && i < count; i = end) {
        end = i + 1;
        while (end < count && is_same_flow(&f->items->trace->events, ends[i], ends[end])) {
            end++;
        }
        ok = follow(f, ends + i, end - i);
    }
    return ok;
}

static bool find_drawn(struct flows *f)
{
    const struct trace_events *events = &f->items->trace->events;
    const struct id_list *drawn = &f->drawn;
    bool ok = sort_by_number(drawn->events, drawn->count, &events->correlation);
    uint32_t end = 0;
    for (uint32_t i = 0; ok && i < drawn->count; i = end) {
        int64_t id = trace_correlation(events, drawn->events[i]);
        end = i + 1;
        while (end < drawn->count && trace_correlation(events, drawn->events[end]) == id) {
            end++;
        }
        ok = follow_id(f, drawn->events + i, end - i);
    }
    return ok;
}

/* ---- order ---- */

static uint32_t key_of(const struct timeline_flow *flow, bool by_target)
{
    return by_target ? flow->to : flow->from;
}

static void sort_pass(const struct timeline_flow *from,
                      struct timeline_flow *to,
                      size_t count,
                      bool by_target,
                      unsigned shift)
{
    size_t next[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) {
        next[(key_of(&from[i], by_target) >> shift) & (DIGITS - 1)]++;
    }
    size_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = next[d];
        next[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        to[next[(key_of(&from[i], by_target) >> shift) & (DIGITS - 1)]++] = from[i];
    }
}

static bool is_sorted(const struct flows *f, bool by_target)
{
    bool sorted = true;
    for (size_t i = 1; i < f->count; i++) {
        sorted &= key_of(&f->list[i - 1], by_target) <= key_of(&f->list[i], by_target);
    }
    return sorted;
}

/* Stable: sorted by one column, equal ones stay in the order of the other. False without memory. */
static bool sort_flows(struct flows *f, bool by_target)
{
    if (is_sorted(f, by_target)) {
        return true;
    }
    struct timeline_flow *scratch = scratch_alloc(f->count, sizeof *scratch);
    uint32_t event_count = f->items->trace->events.count;
    if (scratch == NULL) {
        return false;
    }
    for (unsigned shift = 0; shift < ID_BITS && event_count >> shift != 0; shift += DIGIT_BITS) {
        sort_pass(f->list, scratch, f->count, by_target, shift);
        struct timeline_flow *swap = f->list;
        f->list = scratch;
        scratch = swap;
    }
    scratch_free(scratch);
    /* Whichever it is now, it has room for these. */
    f->cap = f->count;
    return true;
}

/* Of flows between the same slices the first one found stays. */
static void drop_doubles(struct flows *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct timeline_flow *last = kept == 0 ? NULL : &f->list[kept - 1];
        if (last == NULL || last->from != f->list[i].from || last->to != f->list[i].to) {
            f->list[kept++] = f->list[i];
        }
    }
    f->count = kept;
}

static bool hand_over(struct flows *f, const struct timeline_sink *sink, struct err *err)
{
    if (!sort_flows(f, true) || !sort_flows(f, false)) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the order of flows");
    }
    drop_doubles(f);
    if (!sink->take_flows(sink->context, false, f->list, f->count, err)) {
        return false;
    }
    if (!sort_flows(f, true)) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the order of flows");
    }
    return sink->take_flows(sink->context, true, f->list, f->count, err);
}

bool timeline_flows_build(const struct timeline_items *items,
                          const struct timeline_flow_ends *ends,
                          const struct timeline_frame *frame,
                          const struct timeline_sink *sink,
                          uint64_t *count,
                          struct err *err)
{
    struct flows f = {.items = items, .ends = ends};
    bool ok = list_events(&f, frame) && find_drawn(&f);
    scratch_free(f.drawn.events);
    if (!ok) {
        (void)err_set(err, ERR_NO_MEMORY, "no memory for flows");
    }
    ok = ok && (f.count == 0 || hand_over(&f, sink, err));
    *count = f.count;
    scratch_free(f.list);
    return ok;
}
