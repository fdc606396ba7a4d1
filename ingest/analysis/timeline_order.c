#include "ingest/analysis/timeline_order.h"

#include "ingest/analysis/scratch.h"
#include "ingest/analysis/sort.h"

/* Fewer items than this are not worth a radix sort. */
#define RADIX_MIN 2048

/* Instants and flows stand behind slices, which are at least 0 long. */
#define RANK_INSTANT INT64_C(-1)
#define RANK_FLOW INT64_C(-2)

static int64_t rank_of(const struct timeline_items *items, uint32_t event)
{
    switch (timeline_class(items, event)) {
    case ITEM_SLICE:
        return ns_sub(timeline_end_ns(items, event), items->trace->events.ts_ns[event]);
    case ITEM_INSTANT:
        return RANK_INSTANT;
    case ITEM_FLOW:
        return RANK_FLOW;
    default:
        return 0;
    }
}

static int by_rank(uint32_t a, uint32_t b, const void *ctx)
{
    int64_t rank_a = rank_of(ctx, a);
    int64_t rank_b = rank_of(ctx, b);
    if (rank_a != rank_b) {
        return rank_a > rank_b ? -1 : 1;
    }
    return (a > b) - (a < b);
}

static int by_start_and_rank(uint32_t a, uint32_t b, const void *ctx)
{
    const struct timeline_items *items = ctx;
    int64_t start_a = items->trace->events.ts_ns[a];
    int64_t start_b = items->trace->events.ts_ns[b];
    if (start_a != start_b) {
        return start_a < start_b ? -1 : 1;
    }
    return by_rank(a, b, ctx);
}

static bool is_in_order(const struct timeline_items *items, const uint32_t *events, size_t count)
{
    const int64_t *ts_ns = items->trace->events.ts_ns;
    for (size_t i = 1; i < count; i++) {
        int64_t before_ns = ts_ns[events[i - 1]];
        int64_t here_ns = ts_ns[events[i]];
        bool is_behind = here_ns > before_ns;
        if (!is_behind && (here_ns < before_ns || by_rank(events[i - 1], events[i], items) > 0)) {
            return false;
        }
    }
    return true;
}

/* Events that stand in order of their starts get their ranks in order. */
static bool order_equal_starts(const struct timeline_items *items, uint32_t *events, size_t count)
{
    const int64_t *ts_ns = items->trace->events.ts_ns;
    size_t first = 0;
    bool ok = true;
    for (size_t i = 1; ok && i <= count; i++) {
        if (i < count && ts_ns[events[i]] == ts_ns[events[first]]) {
            continue;
        }
        ok = i - first < 2 || sort_stable(events + first, i - first, by_rank, items);
        first = i;
    }
    return ok;
}

bool timeline_order_events(const struct timeline_items *items, uint32_t *events, size_t count)
{
    if (is_in_order(items, events, count)) {
        return true;
    }
    if (count < RADIX_MIN) {
        return sort_stable(events, count, by_start_and_rank, items);
    }
    return sort_by_key(events, count, items->trace->events.ts_ns) &&
           order_equal_starts(items, events, count);
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
        uint32_t place = places->of_event[event];
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
            int64_t start_ns = ns_max(ts_ns[order[k]], until_ns);
            int64_t end_ns = timeline_end_ns(items, order[k]);
            if (end_ns > start_ns) {
                place->busy_ns = ns_add(place->busy_ns, ns_sub(end_ns, start_ns));
                until_ns = end_ns;
            }
        }
    }
}
