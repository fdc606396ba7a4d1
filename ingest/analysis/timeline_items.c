#include "ingest/analysis/timeline_items.h"

#include "ingest/analysis/scratch.h"

/* What ends later than this behind the last start is no duration. */
#define ABSURD_NS (INT64_C(86400) * 1000000000)

static bool has_pairs(const struct trace_events *events)
{
    for (uint32_t i = 0; i < events->count; i++) {
        if (timeline_is_begin(events->phase[i]) || timeline_is_end(events->phase[i])) {
            return true;
        }
    }
    return false;
}

/* Starts, and ends that are events of their own. */
static void find_starts(struct timeline_items *items)
{
    const struct trace_events *events = &items->trace->events;
    bool is_first = true;
    for (uint32_t i = 0; i < events->count; i++) {
        enum item_class class = timeline_class(items, i);
        items->counts[class]++;
        bool has_time = class != ITEM_NONE || (timeline_is_end(events->phase[i]) &&
                                               (events->flags[i] & EVENT_NO_TS) == 0);
        if (has_time) {
            int64_t ts_ns = events->ts_ns[i];
            items->first_ns = is_first ? ts_ns : ns_min(items->first_ns, ts_ns);
            items->last_ns = is_first ? ts_ns : ns_max(items->last_ns, ts_ns);
            is_first = false;
        }
    }
}

static void find_ends(struct timeline_items *items, struct warnings *warnings)
{
    const struct trace_events *events = &items->trace->events;
    int64_t last_ns = items->last_ns;
    uint64_t absurd_count = 0;
    items->cut_ns = ns_add(items->last_ns, ABSURD_NS);
    for (uint32_t i = 0; i < events->count; i++) {
        if (events->phase[i] != 'X' || (events->flags[i] & EVENT_NO_TS) != 0) {
            continue;
        }
        int64_t end_ns = ns_add(events->ts_ns[i], trace_dur_ns(events, i));
        bool is_absurd = end_ns > items->cut_ns;
        absurd_count += is_absurd;
        last_ns = is_absurd ? last_ns : ns_max(last_ns, end_ns);
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
    if (has_pairs(&trace->events) && !timeline_pair(items, warnings)) {
        return false;
    }
    find_starts(items);
    find_ends(items, warnings);
    return true;
}

void timeline_items_free(struct timeline_items *items)
{
    scratch_free(items->partner);
    *items = (struct timeline_items){0};
}
