/* Items in the order in which a track has them: by start; at one start the longest first, then
 * instants, then ends of flows, equal ones as the file has them. What contains another stands
 * before it. */
#ifndef KS_ANALYSIS_TIMELINE_ORDER_H
#define KS_ANALYSIS_TIMELINE_ORDER_H

#include "ingest/analysis/timeline/levels/items.h"
#include "ingest/analysis/timeline/places.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The events of all places, place by place, each place in order; sets first of each place. NULL
 * without memory. Linear on places that are in order already, as most are. */
uint32_t *timeline_order_places(const struct timeline_items *items,
                                struct timeline_places *places) KS_MUST_USE;
/* Puts some events in order. False without memory. */
bool timeline_order_events(const struct timeline_items *items,
                           uint32_t *events,
                           size_t count) KS_MUST_USE;
/* Sets busy_ns of each place. */
void timeline_order_measure(const struct timeline_items *items,
                            struct timeline_places *places,
                            const uint32_t *order);

#endif
