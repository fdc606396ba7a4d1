#include "ingest/analysis/timeline/levels/items.h"

#include "ingest/base/memory/scratch.h"

/* What ends later than this behind the last start is no duration. */
#define ABSURD_NS (INT64_C(86400) * 1000000000)

static const uint8_t class_of_phase[UINT8_MAX + 1] = {
    ['X'] = ITEM_SLICE,   ['B'] = ITEM_BEGIN,   ['b'] = ITEM_BEGIN,   ['S'] = ITEM_BEGIN,
    ['E'] = ITEM_END,     ['e'] = ITEM_END,     ['F'] = ITEM_END,     ['i'] = ITEM_INSTANT,
    ['I'] = ITEM_INSTANT, ['R'] = ITEM_INSTANT, ['n'] = ITEM_INSTANT, ['T'] = ITEM_INSTANT,
    ['p'] = ITEM_INSTANT, ['s'] = ITEM_FLOW,    ['t'] = ITEM_FLOW,    ['f'] = ITEM_FLOW,
    ['C'] = ITEM_COUNTER,
};

static uint8_t class_of(const struct event_class *class)
{
    if ((class->flags & EVENT_NO_TS) != 0) {
        return ITEM_NONE;
    }
    bool is_memory = class->phase == 'i' && class->kind == EVENT_MEMORY;
    return is_memory ? ITEM_MEMORY : class_of_phase[(unsigned char)class->phase];
}

/* *has_pairs: there may be begins or ends. False without memory. */
static bool find_classes(struct timeline_items *items, bool *has_pairs)
{
    const struct trace_events *events = &items->trace->events;
    items->by_class = scratch_alloc(events->class_count, sizeof *items->by_class);
    *has_pairs = false;
    for (uint32_t i = 0; items->by_class != NULL && i < events->class_count; i++) {
        items->by_class[i] = class_of(&events->classes[i]);
        *has_pairs = *has_pairs || items->by_class[i] >= ITEM_CLASS_COUNT;
    }
    return items->by_class != NULL;
}

/* Starts, and ends that are events of their own. *max_end_ns: of the complete events. */
static void find_starts(struct timeline_items *items, int64_t *max_end_ns)
{
    const struct trace_events *events = &items->trace->events;
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    int64_t latest_end_ns = INT64_MIN;
    uint32_t slice_count = 0;
    uint32_t flow_count = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        uint8_t class = timeline_class_found(items, i);
        if (KS_UNLIKELY(class == ITEM_NONE)) {
            continue;
        }
        int64_t ts_ns = events->ts_ns[i];
        int64_t end_ns = saturating_add(ts_ns, trace_dur_ns(events, i));
        bool is_slice = class == ITEM_SLICE;
        first_ns = i64_min(first_ns, ts_ns);
        last_ns = i64_max(last_ns, ts_ns);
        latest_end_ns = i64_max(latest_end_ns, is_slice ? end_ns : INT64_MIN);
        slice_count += is_slice | (class == ITEM_BEGIN);
        flow_count += class == ITEM_FLOW;
    }
    bool has_any = first_ns <= last_ns;
    *max_end_ns = latest_end_ns;
    items->slice_count = slice_count;
    items->flow_count = flow_count;
    items->first_ns = has_any ? first_ns : 0;
    items->last_ns = has_any ? last_ns : 0;
}

/* The last end of those that are not absurd, some of which are. */
static void leave_absurd_ends(struct timeline_items *items, struct warnings *warnings)
{
    const struct trace_events *events = &items->trace->events;
    int64_t last_ns = items->last_ns;
    uint64_t absurd_count = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        if (timeline_class_found(items, i) != ITEM_SLICE) {
            continue;
        }
        int64_t end_ns = saturating_add(events->ts_ns[i], trace_dur_ns(events, i));
        bool is_absurd = end_ns > items->cut_ns;
        absurd_count += is_absurd;
        last_ns = is_absurd ? last_ns : i64_max(last_ns, end_ns);
    }
    items->last_ns = last_ns;
    warning_add_times(warnings, WARN_ABSURD_DURATION, WARNING_NO_OFFSET, absurd_count);
}

bool timeline_items_find(struct timeline_items *items,
                         const struct trace *trace,
                         int64_t origin_ns,
                         struct warnings *warnings)
{
    *items = (struct timeline_items){.trace = trace, .origin_ns = origin_ns};
    bool has_pairs = false;
    if (!find_classes(items, &has_pairs) || (has_pairs && !timeline_pair(items, warnings))) {
        return false;
    }
    items->by_event = scratch_alloc(trace->events.count, sizeof *items->by_event);
    if (items->by_event == NULL) {
        return false;
    }
    int64_t max_end_ns;
    find_starts(items, &max_end_ns);
    items->cut_ns = saturating_add(items->last_ns, ABSURD_NS);
    if (max_end_ns > items->cut_ns) {
        leave_absurd_ends(items, warnings);
    } else {
        items->last_ns = i64_max(items->last_ns, max_end_ns);
    }
    return true;
}

void timeline_items_free(struct timeline_items *items)
{
    SCRATCH_FREE(items->by_class, items->partner, items->by_event);
    *items = (struct timeline_items){0};
}
