/* Which of a trace's events stand on its timeline, as what, and from when to when.
 *
 *     X              a slice                      i I R n T p   an instant
 *     B … E, b … e   a slice, two events          C, [memory]   values of counters
 *     S … F          the same                     s t f         ends of flows
 *
 * Times here are those of the file; timeline_position() makes them the timeline's. */
#ifndef KS_ANALYSIS_TIMELINE_LEVELS_ITEMS_H
#define KS_ANALYSIS_TIMELINE_LEVELS_ITEMS_H

#include "ingest/base/attr.h"
#include "ingest/base/saturating.h"
#include "ingest/model/trace.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stdint.h>

enum item_class {
    ITEM_NONE, /* metadata, ends that belong to a begin, events without a time */
    ITEM_SLICE,
    ITEM_INSTANT,
    ITEM_FLOW,
    ITEM_COUNTER,
    ITEM_MEMORY,
    ITEM_CLASS_COUNT
};

/* In `partner`. */
#define ITEM_OPEN UINT32_MAX         /* a begin whose end never came */
#define ITEM_TAKEN (UINT32_MAX - 1u) /* an end that belongs to a begin */

struct timeline_items {
    const struct trace *trace;
    uint8_t *by_class; /* by class of events: enum item_class, ITEM_BEGIN, ITEM_END */
    /* By event: a begin's end, ITEM_OPEN; ITEM_TAKEN; an end without a begin is its own partner.
     * NULL when the trace has no such events. */
    uint32_t *partner;
    /* One word by event, which each stage fills anew for the next: the place (timeline_places.h),
     * then the label, then what launched a slice. Of ends of flows: the slice that they are bound
     * to. */
    uint32_t *by_event;
    uint32_t slice_count;
    uint32_t flow_count; /* ends of flows */
    int64_t first_ns;    /* of all items; 0 without any */
    int64_t last_ns;     /* the last end, without absurd ones */
    int64_t cut_ns;      /* ends behind this one are absurd: last_ns stands for them */
    int64_t origin_ns;
};

/* Begin, end and what lies between them, found by category and id instead of by thread. */
static inline bool timeline_is_async(char phase)
{
    return phase == 'b' || phase == 'e' || phase == 'n' || phase == 'S' || phase == 'F' ||
           phase == 'T' || phase == 'p';
}

/* In `by_class` beside enum item_class: what the event decides. A begin is a slice; an end an
 * instant, or nothing of its own. */
enum { ITEM_BEGIN = ITEM_CLASS_COUNT, ITEM_END };

static inline uint8_t timeline_class_found(const struct timeline_items *items, uint32_t event)
{
    return items->by_class[trace_index(&items->trace->events.class, event)];
}

static inline enum item_class timeline_class(const struct timeline_items *items, uint32_t event)
{
    uint8_t found = timeline_class_found(items, event);
    if (KS_LIKELY(found < ITEM_CLASS_COUNT)) {
        return (enum item_class)found;
    }
    bool is_lone_end = found == ITEM_END && items->partner[event] == event;
    return found == ITEM_BEGIN ? ITEM_SLICE : (is_lone_end ? ITEM_INSTANT : ITEM_NONE);
}

/* Of a slice. */
static inline int64_t timeline_end_ns(const struct timeline_items *items, uint32_t event)
{
    const struct trace_events *events = &items->trace->events;
    int64_t end_ns;
    if (KS_LIKELY(timeline_class_found(items, event) == ITEM_SLICE)) {
        end_ns = saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
    } else {
        uint32_t partner = items->partner[event];
        end_ns = partner == ITEM_OPEN ? items->last_ns : events->ts_ns[partner];
    }
    return KS_LIKELY(end_ns <= items->cut_ns) ? end_ns : items->last_ns;
}

/* Where an item or the end of a flow stands; what is no slice ends where it starts. */
struct timeline_span {
    enum item_class class;
    int64_t start_ns;
    int64_t end_ns;
};

static inline struct timeline_span timeline_span(const struct timeline_items *items, uint32_t event)
{
    int64_t start_ns = items->trace->events.ts_ns[event];
    struct timeline_span span = {timeline_class(items, event), start_ns, start_ns};
    if (span.class == ITEM_SLICE) {
        span.end_ns = timeline_end_ns(items, event);
    }
    return span;
}

/* How far ahead what an order of events leads to is fetched: some hundred steps of the processor.
 */
#define TIMELINE_AHEAD 24u

/* order[at] is to be looked at soon: timeline_span() will find it in the cache. */
static inline void timeline_span_fetch(const struct timeline_items *items,
                                       const uint32_t *order,
                                       uint32_t at,
                                       uint32_t end)
{
    const struct trace_events *events = &items->trace->events;
    uint32_t event = at < end ? order[at] : 0;
    KS_PREFETCH(&events->ts_ns[event]);
    KS_PREFETCH(&events->dur_ns.word[event]);
    KS_PREFETCH(&events->class.low[event]);
}

static inline int64_t timeline_position(const struct timeline_items *items, int64_t file_ns)
{
    return saturating_sub(file_ns, items->origin_ns);
}

/* Matches begins and ends, finds the bounds; origin_ns is `origin_ns`, by_event not set. Counts
 * what does not match and what is absurd. n log n. False without memory; must be freed in either
 * case. */
bool timeline_items_find(struct timeline_items *items,
                         const struct trace *trace,
                         int64_t origin_ns,
                         struct warnings *warnings) KS_MUST_USE;
void timeline_items_free(struct timeline_items *items);

/* Fills `partner`; in timeline_pairs.c. False without memory. */
bool timeline_pair(struct timeline_items *items, struct warnings *warnings) KS_MUST_USE;

#endif
