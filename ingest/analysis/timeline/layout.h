/* Places become tracks: the order in which they are shown, which are joined, what they are called.
 */
#ifndef KS_ANALYSIS_TIMELINE_LAYOUT_H
#define KS_ANALYSIS_TIMELINE_LAYOUT_H

#include "ingest/analysis/timeline/levels/items.h"
#include "ingest/analysis/timeline/places.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stdint.h>

#define LAYOUT_NO_PROCESS UINT32_MAX

struct layout_process {
    uint32_t track; /* into trace.tracks: of its first place */
    uint32_t name;  /* string ids of its metadata, STRTAB_NONE */
    uint32_t labels;
    int64_t sort_index;
    bool has_streams;
    bool has_threads;
    bool has_work; /* places with has_work */
};

struct layout_track {
    enum timeline_track_kind kind;
    bool is_joined;
    uint32_t process;      /* LAYOUT_NO_PROCESS: of several, joined */
    uint32_t place;        /* the first of its places */
    uint32_t member_count; /* places */
    uint32_t first;        /* its part of the order */
    uint32_t count;
};

struct timeline_layout {
    struct layout_process *processes;
    uint32_t process_count;
    size_t processes_cap;
    uint32_t *process_of; /* by place, as are the following ones */
    uint32_t *track_of;
    uint32_t *lane_base; /* of counters: their first lane */
    uint32_t *thread_name;
    int64_t *sort_index;
    struct layout_track *tracks; /* in the order in which they are shown */
    uint32_t track_count;
    uint32_t joined_count; /* tracks that are several places */
};

static inline uint32_t timeline_place_of(const struct timeline_places *places,
                                         const struct layout_track *track,
                                         uint32_t event)
{
    return KS_LIKELY(!track->is_joined) ? track->place : places->of_event[event];
}

/* Joins and orders; keeps places->of_event where it is needed. `*order` comes as
 * timeline_order_places gives it and leaves track by track. n log n in what is kept, else linear.
 * False without memory; must be freed in either case. */
bool timeline_layout_find(struct timeline_layout *layout,
                          const struct timeline_items *items,
                          struct timeline_places *places,
                          uint32_t **order) KS_MUST_USE;
void timeline_layout_free(struct timeline_layout *layout);

/* Texts, kinds and ids of the tracks, into an array that is there already. False without memory. In
 * timeline_texts.c. */
bool timeline_layout_write(const struct timeline_layout *layout,
                           const struct timeline_items *items,
                           const struct timeline_places *places,
                           bool mlu,
                           struct arena *arena,
                           struct timeline_track *tracks) KS_MUST_USE;

/* Joins the least busy places; in timeline_join.c. Fills layout->tracks, in no order yet, and
 * track_of. `order` as timeline_order_places gives it. False without memory. */
bool timeline_join(struct timeline_layout *layout,
                   const struct timeline_items *items,
                   struct timeline_places *places,
                   const uint32_t *order) KS_MUST_USE;

#endif
