/* When there are more places than a screen or a reader can take: the busiest keep a track of their
 * own, the others share one a process, and if even the processes are too many, those that come last
 * share one. Counters are joined with counters only. */
#include "ingest/analysis/timeline/layout.h"
#include "ingest/analysis/timeline/order.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

/* Of the tracks that may be there, so many may be joined ones; counters get so many at least. */
#define JOINED_SHARE 4

struct joining {
    struct timeline_layout *layout;
    const struct timeline_places *places;
    uint32_t *chosen;   /* places of one class */
    int64_t *key;       /* by place: smaller for busier ones */
    uint32_t *group_of; /* joined track by process */
};

static bool is_counter(const struct timeline_place *place)
{
    return place->kind == TIMELINE_COUNTER;
}

/* Flows alone make no track. */
static uint32_t choose(const struct joining *j, bool counters)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->places->count; i++) {
        const struct timeline_place *place = &j->places->items[i];
        if (place->item_count > 0 && is_counter(place) == counters) {
            j->chosen[count++] = i;
        }
    }
    return count;
}

static uint32_t add_track(const struct joining *j, uint32_t place)
{
    struct timeline_layout *layout = j->layout;
    layout->tracks[layout->track_count] = (struct layout_track){
        .kind = j->places->items[place].kind, .process = layout->process_of[place], .place = place};
    return layout->track_count++;
}

static void put(const struct joining *j, uint32_t place, uint32_t number)
{
    struct layout_track *track = &j->layout->tracks[number];
    j->layout->track_of[place] = number;
    if (track->member_count > 0) {
        bool is_new = !track->is_joined;
        track->kind = track->kind == TIMELINE_COUNTER ? TIMELINE_COUNTER : TIMELINE_GROUP;
        track->is_joined = true;
        track->process =
            track->process == j->layout->process_of[place] ? track->process : LAYOUT_NO_PROCESS;
        j->layout->joined_count += is_new;
    }
    track->member_count++;
}

static bool rank(const struct joining *j, uint32_t count, bool counters)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct timeline_place *place = &j->places->items[j->chosen[i]];
        j->key[j->chosen[i]] = counters ? -(int64_t)place->item_count : -place->busy_ns;
    }
    return sort_by_key(j->chosen, count, j->key);
}

static bool lay_out(const struct joining *j, bool counters, uint32_t budget)
{
    uint32_t count = choose(j, counters);
    uint32_t groups_left = 0;
    uint32_t kept = count;
    uint32_t last_group = LAYOUT_NO_PROCESS;
    if (count > budget) {
        uint32_t share = budget / JOINED_SHARE;
        groups_left = j->layout->process_count < share ? j->layout->process_count : share;
        kept = budget - groups_left - 1;
        if (!rank(j, count, counters)) {
            return false;
        }
    }
    for (uint32_t p = 0; p < j->layout->process_count; p++) {
        j->group_of[p] = LAYOUT_NO_PROCESS;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = j->chosen[i];
        uint32_t *group = &j->group_of[j->layout->process_of[place]];
        if (i < kept) {
            put(j, place, add_track(j, place));
            continue;
        }
        if (*group == LAYOUT_NO_PROCESS && groups_left > 0) {
            groups_left--;
            *group = add_track(j, place);
        }
        if (*group == LAYOUT_NO_PROCESS && last_group == LAYOUT_NO_PROCESS) {
            last_group = add_track(j, place);
        }
        put(j, place, *group == LAYOUT_NO_PROCESS ? last_group : *group);
    }
    return true;
}

static bool join_classes(const struct joining *j,
                         const struct timeline_items *items,
                         struct timeline_places *places,
                         const uint32_t *order)
{
    uint32_t counters = choose(j, true);
    uint32_t others = choose(j, false);
    uint32_t counter_budget = TIMELINE_TRACKS_MAX / JOINED_SHARE;
    bool fits = (uint64_t)counters + others <= TIMELINE_TRACKS_MAX;
    if (fits || counters < counter_budget) {
        counter_budget = counters;
    } else if (others < TIMELINE_TRACKS_MAX - counter_budget) {
        counter_budget = TIMELINE_TRACKS_MAX - others;
    }
    if (!fits) {
        timeline_order_measure(items, places, order);
    }
    return lay_out(j, false, TIMELINE_TRACKS_MAX - counter_budget) &&
           lay_out(j, true, counter_budget);
}

bool timeline_join(struct timeline_layout *layout,
                   const struct timeline_items *items,
                   struct timeline_places *places,
                   const uint32_t *order)
{
    struct joining j = {.layout = layout,
                        .places = places,
                        .chosen = scratch_alloc(places->count, sizeof *j.chosen),
                        .key = scratch_alloc(places->count, sizeof *j.key),
                        .group_of = scratch_alloc(layout->process_count, sizeof *j.group_of)};
    layout->tracks = scratch_alloc(TIMELINE_TRACKS_MAX, sizeof *layout->tracks);
    layout->track_of = scratch_none(places->count);
    bool ok = j.chosen != NULL && j.key != NULL && j.group_of != NULL && layout->tracks != NULL &&
              layout->track_of != NULL && join_classes(&j, items, places, order);
    SCRATCH_FREE(j.chosen, j.key, j.group_of);
    return ok;
}
