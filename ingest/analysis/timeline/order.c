#include "ingest/analysis/timeline/order.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

#define INSERTION_RUN ((size_t)16)

/* Instants and flows stand behind slices, which are at least 0 long. */
#define RANK_INSTANT INT64_C(-1)
#define RANK_FLOW INT64_C(-2)

static int64_t rank_of(const struct timeline_items *items, uint32_t event)
{
    switch (timeline_class(items, event)) {
    case ITEM_SLICE:
        return saturating_sub(timeline_end_ns(items, event), items->trace->events.ts_ns[event]);
    case ITEM_INSTANT:
        return RANK_INSTANT;
    case ITEM_FLOW:
        return RANK_FLOW;
    default:
        return 0;
    }
}

/* Whether `b` may not stand before `a`. No two events are equal: the file's order decides. */
static inline bool is_before(const struct timeline_items *items, uint32_t a, uint32_t b)
{
    int64_t start_a = items->trace->events.ts_ns[a];
    int64_t start_b = items->trace->events.ts_ns[b];
    if (KS_LIKELY(start_a != start_b)) {
        return start_a < start_b;
    }
    int64_t rank_a = rank_of(items, a);
    int64_t rank_b = rank_of(items, b);
    return rank_a != rank_b ? rank_a > rank_b : a < b;
}

static void insertion_sort(const struct timeline_items *items, uint32_t *events, size_t count)
{
    const int64_t *ts_ns = items->trace->events.ts_ns;
    int64_t last_ns = ts_ns[events[0]];
    for (size_t i = 1; i < count; i++) {
        uint32_t event = events[i];
        if (ts_ns[event] > last_ns) {
            last_ns = ts_ns[event];
            continue;
        }
        size_t j = i;
        for (; j > 0 && is_before(items, event, events[j - 1]); j--) {
            events[j] = events[j - 1];
        }
        events[j] = event;
    }
}

/* How many of the events in order stand before `event`. */
static size_t count_before(const struct timeline_items *items,
                           const uint32_t *events,
                           size_t count,
                           uint32_t event)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        bool is_low = is_before(items, events[middle], event);
        low = is_low ? middle + 1 : low;
        count = is_low ? count : middle;
    }
    return low;
}

/* Merges events[0, left) and events[left, count): only the part in which they mix is moved. */
static void merge(const struct timeline_items *items,
                  uint32_t *events,
                  size_t left,
                  size_t count,
                  uint32_t *scratch)
{
    if (is_before(items, events[left - 1], events[left])) {
        return;
    }
    size_t to = count_before(items, events, left, events[left]);
    size_t end = left + count_before(items, events + left, count - left, events[left - 1]);
    size_t from_left = 0;
    size_t left_count = left - to;
    size_t from_right = left;
    memcpy(scratch, events + to, left_count * sizeof *events);
    while (from_left < left_count && from_right < end) {
        bool is_right = is_before(items, events[from_right], scratch[from_left]);
        events[to++] = is_right ? events[from_right++] : scratch[from_left++];
    }
    memcpy(events + to, scratch + from_left, (left_count - from_left) * sizeof *events);
}

static bool is_in_order(const struct timeline_items *items, const uint32_t *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (!is_before(items, events[i - 1], events[i])) {
            return false;
        }
    }
    return true;
}

/* A merge sort: what profilers write is a few ascending runs, or nearly in order, and of both
 * little is to be merged. */
bool timeline_order_events(const struct timeline_items *items, uint32_t *events, size_t count)
{
    if (is_in_order(items, events, count)) {
        return true;
    }
    uint32_t *scratch = scratch_alloc(count, sizeof *scratch);
    if (scratch == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i += INSERTION_RUN) {
        insertion_sort(items, events + i, count - i < INSERTION_RUN ? count - i : INSERTION_RUN);
    }
    for (size_t width = INSERTION_RUN; width < count; width *= 2) {
        for (size_t i = 0; i + width < count; i += 2 * width) {
            size_t both = count - i < 2 * width ? count - i : 2 * width;
            merge(items, events + i, width, both, scratch);
        }
    }
    scratch_free(scratch);
    return true;
}

uint32_t *timeline_order_places(const struct timeline_items *items, struct timeline_places *places)
{
    uint32_t event_count = items->trace->events.count;
    uint32_t total = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        places->items[i].first = total;
        total += places->items[i].count;
    }
    uint32_t *order = scratch_alloc(total, sizeof *order);
    if (order == NULL) {
        return NULL;
    }
    for (uint32_t event = 0; event < event_count; event++) {
        uint32_t place = items->by_event[event];
        if (place != PLACE_NONE) {
            order[places->items[place].first++] = event;
        }
    }
    bool ok = true;
    for (uint32_t i = 0; i < places->count; i++) {
        struct timeline_place *place = &places->items[i];
        place->first -= place->count;
        ok = ok && timeline_order_events(items, order + place->first, place->count);
    }
    if (!ok) {
        scratch_free(order);
        order = NULL;
    }
    return order;
}

void timeline_order_measure(const struct timeline_items *items,
                            struct timeline_places *places,
                            const uint32_t *order)
{
    const int64_t *ts_ns = items->trace->events.ts_ns;
    for (uint32_t i = 0; i < places->count; i++) {
        struct timeline_place *place = &places->items[i];
        int64_t until_ns = INT64_MIN;
        for (uint32_t k = place->first; k < place->first + place->count; k++) {
            if (timeline_class(items, order[k]) != ITEM_SLICE) {
                continue;
            }
            int64_t start_ns = i64_max(ts_ns[order[k]], until_ns);
            int64_t end_ns = timeline_end_ns(items, order[k]);
            if (end_ns > start_ns) {
                place->busy_ns = saturating_add(place->busy_ns, saturating_sub(end_ns, start_ns));
                until_ns = end_ns;
            }
        }
    }
}
