/* Level 0 of a timeline, track by track in the order of its items: read twice, once to count it
 * and once to hand it over and merge it, so that it never lies in memory as items. */
#ifndef KS_ANALYSIS_TIMELINE_SOURCE_H
#define KS_ANALYSIS_TIMELINE_SOURCE_H

#include "ingest/analysis/timeline/columns.h"
#include "ingest/analysis/timeline/labels.h"
#include "ingest/analysis/timeline/layout.h"
#include "ingest/analysis/timeline/levels/items.h"
#include "ingest/analysis/timeline/places.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline_source {
    const struct timeline_items *items;
    const struct timeline_places *places;
    const struct timeline_layout *layout;
    const struct timeline_labels *labels;
    const uint32_t *order; /* events track by track */
    int64_t *sum_bytes;    /* by place: of memory records without totals, while they are read */
};

/* Who sees items or points; false gives up. */
typedef bool (*timeline_point_visitor)(void *context,
                                       const struct timeline_point *point,
                                       struct err *err);

/* What the last lane, where slices can overlap, has been busy with so far. */
struct timeline_busy {
    int64_t until_ns;
};
#define TIMELINE_NOT_BUSY ((struct timeline_busy){INT64_MIN})

/* The item of a slice or instant. A slice's time is all its own, but on the last lane what another
 * one has not counted before. */
static inline struct timeline_item timeline_source_item(const struct timeline_source *source,
                                                        uint32_t track,
                                                        uint32_t event,
                                                        uint32_t lane,
                                                        const struct timeline_span *span,
                                                        struct timeline_busy *busy)
{
    const struct timeline_items *items = source->items;
    int64_t start_ns = timeline_position(items, span->start_ns);
    uint32_t number = items->by_event[event];
    struct timeline_item item = {.start_ns = start_ns,
                                 .dur_ns = TIMELINE_INSTANT,
                                 .track = track,
                                 .lane = lane,
                                 .label = source->labels->rank[number],
                                 .event = event,
                                 .count = 1};
    if (span->class != ITEM_SLICE) {
        return item;
    }
    int64_t end_ns = timeline_position(items, span->end_ns);
    item.dur_ns = saturating_sub(end_ns, start_ns);
    item.busy_ns = item.dur_ns;
    if (KS_UNLIKELY(lane == TIMELINE_LANES_MAX - 1)) {
        int64_t from_ns = i64_max(start_ns, busy->until_ns);
        item.busy_ns = end_ns > from_ns ? saturating_sub(end_ns, from_ns) : 0;
        busy->until_ns = i64_max(busy->until_ns, end_ns);
    }
    return item;
}

/* Shows all points of a counter's track, by start, then lane. False without memory or when the
 * visitor gives up. */
bool timeline_source_points(const struct timeline_source *source,
                            uint32_t track,
                            timeline_point_visitor visit,
                            void *context,
                            struct err *err) KS_MUST_USE;

#endif
