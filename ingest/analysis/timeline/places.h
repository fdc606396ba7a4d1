/* Where items stand before tracks are joined and ordered: a place a thread, stream, asynchronous
 * category, counter, or device with memory records. A thread is known by the texts of its pid and
 * tid: profilers write one thread as "7" here and as 7 there. */
#ifndef KS_ANALYSIS_TIMELINE_PLACES_H
#define KS_ANALYSIS_TIMELINE_PLACES_H

#include "ingest/analysis/timeline/levels/items.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACE_NONE UINT32_MAX
/* Series of memory records. */
enum { PLACE_MEMORY_ALLOCATED, PLACE_MEMORY_RESERVED };

struct timeline_place {
    enum timeline_track_kind kind; /* never TIMELINE_GROUP */
    bool is_memory;                /* a counter of memory records */
    bool has_work;                 /* anything but spans of the recording, and instants */
    bool has_totals;               /* memory: records tell the totals; else sizes are summed */
    bool has_reserved;             /* and what is reserved */
    uint32_t track;                /* into trace.tracks: of its first event */
    uint32_t name;                 /* string id of an asynchronous category or counter */
    int64_t id;            /* of a counter, TRACE_NO_ID; of memory: the device, TRACE_NO_ID */
    int32_t device_type;   /* of memory */
    uint32_t item_count;   /* slices and instants, or events of counters */
    uint32_t series_count; /* of counters: lanes are series */
    uint32_t first;        /* its part of timeline_order.events, flows included */
    uint32_t count;
    uint32_t kinds;  /* a bit for each enum event_kind of its slices, 16 above those of instants */
    int64_t busy_ns; /* the union of its slices; only when there are too many tracks */
};

struct timeline_places {
    struct timeline_place *items; /* by number of their key */
    struct key_map keys;
    uint32_t *of_event; /* kept where a track has several places, else NULL */
    /* Of counters. */
    struct key_map series; /* place, string id: a series by number */
    uint32_t *series_lane; /* its lane */
    uint16_t *row_lane;    /* lane by row of trace.counters */
    size_t items_cap;
    size_t series_cap;
    uint32_t count;
};

/* Sets items->by_event: PLACE_NONE for what is on none. False without memory; must be freed in
 * either case. */
bool timeline_places_find(struct timeline_places *places,
                          const struct timeline_items *items) KS_MUST_USE;
void timeline_places_free(struct timeline_places *places);

/* The place of a thread by the texts of its pid and tid, PLACE_NONE when there is none. False
 * without memory. */
bool timeline_place_of_thread(struct timeline_places *places,
                              uint32_t pid_text,
                              uint32_t tid_text,
                              uint32_t *place) KS_MUST_USE;

#endif
