#include "ingest/formats/chrome_json/recorders/flow_links.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <stdlib.h>
#include <string.h>

/* What a thread has: events that launch, and the begins of flows. */
struct item {
    int64_t ts_ns, end_ns; /* of a begin end_ns is INT64_MIN: it stands behind the events */
    uint32_t track, event;
};

struct links {
    struct trace *trace;
    const struct flow_links *flows;
    uint16_t category;
    struct item *items;
    size_t count;
    struct id_map launchers; /* by flow: its event */
    struct key_map ends;     /* tracks and times at which flows end */
    uint32_t *launcher_of;   /* by number of the end */
};

static bool is_flow(const struct links *links, uint32_t event, char phase)
{
    const struct trace_events *events = &links->trace->events;
    return trace_phase(events, event) == phase &&
           trace_category(events, event) == links->category &&
           (trace_flags(events, event) & EVENT_NO_TS) == 0;
}

static bool is_launcher(const struct links *links, uint32_t event)
{
    const struct trace_events *events = &links->trace->events;
    return trace_phase(events, event) == 'X' &&
           trace_kind(events, event) == links->flows->launcher &&
           (trace_flags(events, event) & EVENT_NO_TS) == 0;
}

/* By thread, then by time, the longer first: an event stands behind those around it. */
ORDER_BY(
    by_place, struct item, ORDER_UP(track), ORDER_UP(ts_ns), ORDER_DOWN(end_ns), ORDER_UP(event))

static bool list_items(struct links *links)
{
    const struct trace_events *events = &links->trace->events;
    links->items = scratch_alloc(events->count, sizeof *links->items);
    for (uint32_t i = 0; links->items != NULL && i < events->count; i++) {
        bool launches = is_launcher(links, i);
        if (launches || is_flow(links, i, 's')) {
            int64_t end_ns = saturating_add(events->ts_ns[i], trace_dur_ns(events, i));
            links->items[links->count++] = (struct item){
                events->ts_ns[i], launches ? end_ns : INT64_MIN, trace_event_track(events, i), i};
        }
    }
    if (links->items != NULL) {
        qsort(links->items, links->count, sizeof *links->items, by_place);
    }
    return links->items != NULL;
}

/* Gives each flow the innermost event in which it begins. */
static bool find_launchers(struct links *links)
{
    struct item *open = scratch_alloc(links->count + 1, sizeof *open);
    size_t depth = 0;
    bool ok = open != NULL;
    for (size_t i = 0; ok && i < links->count; i++) {
        const struct item *item = &links->items[i];
        while (depth > 0 &&
               (open[depth - 1].track != item->track || open[depth - 1].end_ns < item->ts_ns)) {
            depth--;
        }
        if (item->end_ns != INT64_MIN) {
            open[depth++] = *item;
        } else if (depth > 0) {
            int64_t id = trace_correlation(&links->trace->events, item->event);
            struct id_slot *slot = id_map_add(&links->launchers, id);
            ok = slot != NULL;
            if (ok && slot->value == ID_MAP_NONE) {
                slot->value = open[depth - 1].event;
            }
        }
    }
    scratch_free(open);
    return ok;
}

static struct key end_at(const struct links *links, uint32_t event)
{
    const struct trace_events *events = &links->trace->events;
    uint64_t ts_ns = (uint64_t)events->ts_ns[event];
    return (struct key){
        {trace_event_track(events, event), (uint32_t)ts_ns, (uint32_t)(ts_ns >> 32), 0}};
}

static bool find_ends(struct links *links)
{
    const struct trace_events *events = &links->trace->events;
    links->launcher_of = scratch_alloc(events->count, sizeof *links->launcher_of);
    bool ok = links->launcher_of != NULL;
    for (uint32_t i = 0; ok && i < events->count; i++) {
        const struct id_slot *slot =
            is_flow(links, i, 'f') ? id_map_find(&links->launchers, trace_correlation(events, i))
                                   : NULL;
        if (slot != NULL) {
            uint32_t end = key_map_add(&links->ends, end_at(links, i));
            ok = end != KEY_MAP_NONE;
            if (ok) {
                links->launcher_of[end] = slot->value;
            }
        }
    }
    return ok;
}

static bool is_work(const struct trace_events *events, uint32_t event)
{
    enum event_kind kind = trace_kind(events, event);
    return trace_phase(events, event) == 'X' &&
           (kind == EVENT_KERNEL || kind == EVENT_MEMCPY || kind == EVENT_MEMSET);
}

static bool set_ids(struct links *links)
{
    struct trace *trace = links->trace;
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        uint32_t end = is_work(&trace->events, i) ? key_map_find(&links->ends, end_at(links, i))
                                                  : KEY_MAP_NONE;
        if (end != KEY_MAP_NONE) {
            uint32_t launcher = links->launcher_of[end];
            int64_t id = (int64_t)launcher + 1;
            ok = links->flows->set(trace, launcher, id) && links->flows->set(trace, i, id);
        }
    }
    return ok;
}

bool flow_links_set(struct trace *trace, const struct flow_links *flows)
{
    struct links links = {.trace = trace, .flows = flows};
    uint32_t category = trace_add_category(trace, flows->category, strlen(flows->category));
    bool ok = category != UINT32_MAX;
    links.category = (uint16_t)category;
    id_map_init(&links.launchers);
    key_map_init(&links.ends);
    ok = ok && list_items(&links) && find_launchers(&links) && find_ends(&links) && set_ids(&links);
    id_map_free(&links.launchers);
    key_map_free(&links.ends);
    SCRATCH_FREE(links.items, links.launcher_of);
    return ok;
}
