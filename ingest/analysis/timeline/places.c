#include "ingest/analysis/timeline/places.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

#define WORD_BITS 32
/* In `kinds` of a place. */
#define INSTANT_BITS 16
#define SLICE_KINDS ((UINT32_C(1) << INSTANT_BITS) - 1)
_Static_assert(EVENT_FLOW < INSTANT_BITS, "kinds have a bit each");

/* Keys are (pid, …, …, what); the last word keeps the sorts apart. */
enum { KEY_THREAD, KEY_ASYNC_CATEGORY, KEY_ASYNC_NAME, KEY_MEMORY, KEY_COUNTER };

struct placing {
    struct timeline_places *places;
    const struct timeline_items *items;
    uint32_t *of_track; /* place by trace.tracks */
    struct key_map ids; /* of counters: their ids as one word */
    struct key latest;  /* the key that add_place was asked for last, and its place */
    uint32_t latest_place;
    uint32_t counter_row;
};

static const struct trace_track *track_of(const struct placing *p, uint32_t event)
{
    const struct trace *trace = p->items->trace;
    return &trace->tracks[trace_event_track(&trace->events, event)];
}

/* PLACE_NONE without memory. */
static uint32_t add_place(struct placing *p, struct key key, const struct timeline_place *fresh)
{
    struct timeline_places *places = p->places;
    if (p->latest_place != PLACE_NONE && memcmp(&key, &p->latest, sizeof key) == 0) {
        return p->latest_place;
    }
    uint32_t number = key_map_add(&places->keys, key);
    p->latest = key;
    p->latest_place = number;
    if (number == KEY_MAP_NONE || number < places->count) {
        return number;
    }
    struct timeline_place *items =
        scratch_grow(places->items, number, &places->items_cap, sizeof *items);
    if (items == NULL) {
        return PLACE_NONE;
    }
    places->items = items;
    items[number] = *fresh;
    return places->count++;
}

static uint32_t add_thread(struct placing *p, uint32_t track)
{
    const struct trace_track *thread = &p->items->trace->tracks[track];
    const struct key key = {{thread->pid_text, thread->tid_text, 0, KEY_THREAD}};
    const struct timeline_place fresh = {.kind = TIMELINE_THREAD, .track = track};
    p->of_track[track] = add_place(p, key, &fresh);
    return p->of_track[track];
}

static inline uint32_t place_of_thread(struct placing *p, uint32_t event)
{
    uint32_t track = trace_event_track(&p->items->trace->events, event);
    uint32_t place = p->of_track[track];
    return KS_LIKELY(place != PLACE_NONE) ? place : add_thread(p, track);
}

static uint32_t place_of_async(struct placing *p, uint32_t event)
{
    const struct trace *trace = p->items->trace;
    uint32_t category = trace->categories[trace_category(&trace->events, event)];
    bool has_category = strtab_len(trace->strings, category) > 0;
    uint32_t name = has_category ? category : trace->events.name[event];
    const struct key key = {{track_of(p, event)->pid_text, name, 0,
                             has_category ? KEY_ASYNC_CATEGORY : KEY_ASYNC_NAME}};
    const struct timeline_place fresh = {
        .kind = TIMELINE_ASYNC, .track = trace_event_track(&trace->events, event), .name = name};
    return add_place(p, key, &fresh);
}

static uint32_t place_of_memory(struct placing *p, uint32_t event)
{
    const struct trace *trace = p->items->trace;
    uint32_t row = trace->events.args[event];
    const struct memory_args *args = &trace->memory_args[row];
    bool has_id = (args->has & MEMORY_HAS_DEVICE_ID) != 0;
    /* -1 stands for "no id" in files, too. */
    int32_t id = has_id ? args->device_id : -1;
    int32_t type = (args->has & MEMORY_HAS_DEVICE_TYPE) != 0 ? args->device_type : -1;
    const struct key key = {
        {track_of(p, event)->pid_text, (uint32_t)type, (uint32_t)id, KEY_MEMORY}};
    const struct timeline_place fresh = {.kind = TIMELINE_COUNTER,
                                         .is_memory = true,
                                         .track = trace_event_track(&trace->events, event),
                                         .id = id < 0 ? TRACE_NO_ID : id,
                                         .device_type = type};
    uint32_t place = add_place(p, key, &fresh);
    if (place != PLACE_NONE) {
        struct timeline_place *item = &p->places->items[place];
        item->has_totals = item->has_totals || (args->has & MEMORY_HAS_ALLOCATED) != 0;
        item->has_reserved = item->has_reserved || (args->has & MEMORY_HAS_RESERVED) != 0;
    }
    return place;
}

/* ---- counters ---- */

/* The lane of a series, given to it when it is new. */
static bool see_series(struct placing *p, uint32_t place, uint32_t row)
{
    struct timeline_places *places = p->places;
    const struct key key = {{place, p->items->trace->counters[row].series, 0, 0}};
    uint32_t known = places->series.count;
    uint32_t number = key_map_add(&places->series, key);
    if (number == KEY_MAP_NONE) {
        return false;
    }
    if (number == known) {
        uint32_t *lanes =
            scratch_grow(places->series_lane, number, &places->series_cap, sizeof *lanes);
        if (lanes == NULL) {
            return false;
        }
        places->series_lane = lanes;
        struct timeline_place *item = &places->items[place];
        lanes[number] = item->series_count;
        item->series_count += item->series_count < TIMELINE_LANES_MAX;
    }
    uint32_t lane = places->series_lane[number];
    places->row_lane[row] = (uint16_t)(lane < TIMELINE_LANES_MAX ? lane : TIMELINE_LANES_MAX - 1);
    return true;
}

static uint32_t counter_id(struct placing *p, int64_t id)
{
    uint64_t bits = (uint64_t)id;
    const struct key key = {{(uint32_t)bits, (uint32_t)(bits >> WORD_BITS), 0, 0}};
    return key_map_add(&p->ids, key);
}

/* Of an event whose rows begin at counter_row. */
static bool place_counter(struct placing *p, uint32_t event, uint32_t *place)
{
    const struct trace *trace = p->items->trace;
    int64_t id = trace_correlation(&trace->events, event);
    uint32_t id_number = counter_id(p, id);
    if (id_number >= KEY_MAP_NONE - KEY_COUNTER) {
        return false;
    }
    const struct key key = {
        {track_of(p, event)->pid_text, trace->events.name[event], 0, KEY_COUNTER + id_number}};
    const struct timeline_place fresh = {.kind = TIMELINE_COUNTER,
                                         .track = trace_event_track(&trace->events, event),
                                         .name = trace->events.name[event],
                                         .id = id};
    *place = add_place(p, key, &fresh);
    bool ok = *place != PLACE_NONE;
    for (uint32_t row = p->counter_row;
         ok && row < trace->counter_count && trace->counters[row].event == event; row++) {
        ok = see_series(p, *place, row);
    }
    return ok;
}

static bool has_rows(struct placing *p, uint32_t event)
{
    const struct trace *trace = p->items->trace;
    while (p->counter_row < trace->counter_count && trace->counters[p->counter_row].event < event) {
        p->counter_row++;
    }
    return p->counter_row < trace->counter_count && trace->counters[p->counter_row].event == event;
}

/* ---- all of them ---- */

/* What is no complete event, nor an end of a flow. PLACE_NONE where it has no place. False without
 * memory. */
static bool place_other(struct placing *p, uint32_t event, enum item_class class, uint32_t *place)
{
    const struct trace_events *events = &p->items->trace->events;
    *place = PLACE_NONE;
    switch (class) {
    case ITEM_SLICE:
    case ITEM_INSTANT:
        *place = timeline_is_async(trace_phase(events, event)) ? place_of_async(p, event)
                                                               : place_of_thread(p, event);
        break;
    case ITEM_MEMORY:
        if (events->args[event] == TRACE_NO_ARGS) {
            return true;
        }
        *place = place_of_memory(p, event);
        break;
    case ITEM_COUNTER:
        return !has_rows(p, event) || place_counter(p, event, place);
    case ITEM_FLOW:
    case ITEM_NONE:
    case ITEM_CLASS_COUNT:
        return true;
    }
    return *place != PLACE_NONE;
}

/* Without a branch: files have no habit of what comes next. */
static inline void
count_event(struct timeline_place *place, enum item_class class, enum event_kind kind)
{
    bool is_item = class != ITEM_FLOW;
    uint32_t bit = (uint32_t)(is_item & (class != ITEM_COUNTER)) << ((uint32_t)kind % INSTANT_BITS);
    place->count++;
    place->item_count += is_item;
    place->kinds |= class == ITEM_INSTANT ? bit << INSTANT_BITS : bit;
}

static bool place_all(struct placing *p)
{
    const struct trace_events *events = &p->items->trace->events;
    for (uint32_t event = 0; event < events->count; event++) {
        uint8_t found = timeline_class_found(p->items, event);
        enum item_class class = (enum item_class)found;
        uint32_t place;
        if (KS_LIKELY(found == ITEM_SLICE || found == ITEM_FLOW)) {
            place = place_of_thread(p, event);
            if (KS_UNLIKELY(place == PLACE_NONE)) {
                return false;
            }
        } else {
            class = timeline_class(p->items, event);
            if (!place_other(p, event, class, &place)) {
                return false;
            }
        }
        p->items->by_event[event] = place;
        if (place != PLACE_NONE) {
            count_event(&p->places->items[place], class, trace_kind(events, event));
        }
    }
    return true;
}

/* What the kinds of its events make of a place. */
static void judge_places(struct timeline_places *places)
{
    const uint32_t device_kinds = UINT32_C(1) << EVENT_KERNEL | UINT32_C(1) << EVENT_MEMCPY |
                                  UINT32_C(1) << EVENT_MEMSET |
                                  UINT32_C(1) << EVENT_GPU_USER_ANNOTATION;
    const uint32_t work_kinds = SLICE_KINDS & ~(UINT32_C(1) << EVENT_TRACE_SPAN);
    for (uint32_t i = 0; i < places->count; i++) {
        struct timeline_place *place = &places->items[i];
        uint32_t kinds = place->kinds | place->kinds >> INSTANT_BITS;
        bool is_stream = place->kind == TIMELINE_THREAD && (kinds & device_kinds) != 0;
        place->kind = is_stream ? TIMELINE_STREAM : place->kind;
        place->has_work = (place->kinds & work_kinds) != 0;
        if (place->is_memory) {
            place->series_count = place->has_reserved ? PLACE_MEMORY_RESERVED + 1 : 1;
        }
    }
}

bool timeline_places_find(struct timeline_places *places, const struct timeline_items *items)
{
    const struct trace *trace = items->trace;
    struct placing p = {.places = places, .items = items, .latest_place = PLACE_NONE};
    *places = (struct timeline_places){0};
    key_map_init(&places->keys);
    key_map_init(&places->series);
    key_map_init(&p.ids);
    places->row_lane = scratch_alloc(trace->counter_count, sizeof *places->row_lane);
    p.of_track = scratch_none(trace->track_count);
    bool ok = places->row_lane != NULL && p.of_track != NULL && place_all(&p);
    judge_places(places);
    key_map_free(&p.ids);
    scratch_free(p.of_track);
    return ok;
}

void timeline_places_free(struct timeline_places *places)
{
    SCRATCH_FREE(places->items, places->of_event, places->series_lane, places->row_lane);
    key_map_free(&places->keys);
    key_map_free(&places->series);
    *places = (struct timeline_places){0};
}

bool timeline_place_of_thread(struct timeline_places *places,
                              uint32_t pid_text,
                              uint32_t tid_text,
                              uint32_t *place)
{
    const struct key key = {{pid_text, tid_text, 0, KEY_THREAD}};
    uint32_t number = key_map_add(&places->keys, key);
    /* What is new now has no events. */
    *place = number < places->count ? number : PLACE_NONE;
    return number != KEY_MAP_NONE;
}
