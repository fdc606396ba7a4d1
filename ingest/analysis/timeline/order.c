#include "ingest/analysis/timeline/order.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

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

static int compare(uint32_t a, uint32_t b, const void *ctx)
{
    const struct timeline_items *items = ctx;
    int64_t start_a = items->trace->events.ts_ns[a];
    int64_t start_b = items->trace->events.ts_ns[b];
    if (KS_LIKELY(start_a != start_b)) {
        return start_a < start_b ? -1 : 1;
    }
    int64_t rank_a = rank_of(items, a);
    int64_t rank_b = rank_of(items, b);
    if (rank_a != rank_b) {
        return rank_a > rank_b ? -1 : 1;
    }
    return (a > b) - (a < b);
}

bool timeline_order_events(const struct timeline_items *items, uint32_t *events, size_t count)
{
    return sort_stable(events, count, compare, items);
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
