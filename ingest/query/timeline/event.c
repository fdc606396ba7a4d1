#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/model/timeline.h"
#include "ingest/query/timeline/locate.h"
#include "ingest/query/timeline/query.h"
#include "ingest/store/store_events.h"
#include "ingest/store/store_timeline.h"

#include <stdlib.h>
#include <string.h>

#define ENCLOSING_FIRST 16
#define PARTNERS_ALONE_MAX 8
/* Operators around an event of which the forward one is looked for, and flows of each. */
#define FORWARD_LEVELS_MAX 16
#define FORWARD_FLOWS_MAX 16

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for an event and its flows");
}

static struct timeline_spot spot_of(const struct store_event *event)
{
    return (struct timeline_spot){.event = event->event,
                                  .start_ns = event->start_ns,
                                  .pid = event->pid,
                                  .tid = event->tid,
                                  .track = TIMELINE_NO_TRACK,
                                  .dur_ns = TIMELINE_INSTANT};
}

/* ---- what encloses the event ---- */

struct enclosure {
    struct arena *arena;
    uint32_t track, lane; /* of what is enclosed */
    int64_t start_ns;
    int64_t end_ns;
    struct timeline_partner *partners;
    uint32_t *labels; /* of the partners */
    size_t count;
    size_t cap;
};

static bool grow(struct enclosure *all)
{
    size_t cap = all->cap == 0 ? ENCLOSING_FIRST : 2 * all->cap;
    struct timeline_partner *partners = arena_calloc(all->arena, cap, sizeof *partners);
    uint32_t *labels = arena_calloc(all->arena, cap, sizeof *labels);
    if (partners == NULL || labels == NULL) {
        return false;
    }
    if (all->count > 0) {
        memcpy(partners, all->partners, all->count * sizeof *partners);
        memcpy(labels, all->labels, all->count * sizeof *labels);
    }
    all->partners = partners;
    all->labels = labels;
    all->cap = cap;
    return true;
}

static bool encloses(const struct enclosure *all, const struct timeline_block *block, uint32_t i)
{
    return block->track[i] == all->track && block->lane[i] < all->lane && block->dur_ns[i] >= 0 &&
           block->start_ns[i] <= all->start_ns &&
           block->start_ns[i] + block->dur_ns[i] >= all->end_ns;
}

static bool visit_block(void *context, const struct timeline_block *block, struct err *err)
{
    struct enclosure *all = context;
    for (uint32_t i = 0; i < block->item_count; i++) {
        if (!encloses(all, block, i)) {
            continue;
        }
        if (all->count == all->cap && !grow(all)) {
            return no_memory(err);
        }
        all->labels[all->count] = block->label[i];
        all->partners[all->count++] = (struct timeline_partner){.event = block->event[i],
                                                                .track = block->track[i],
                                                                .lane = block->lane[i],
                                                                .start_ns = block->start_ns[i],
                                                                .dur_ns = block->dur_ns[i],
                                                                .name = "",
                                                                .category = ""};
    }
    return true;
}

ORDER_BY(by_lane, struct timeline_partner, ORDER_UP(lane), ORDER_UP(start_ns))

static bool name_partners(struct store_snapshot *snapshot,
                          int64_t trace_id,
                          struct enclosure *all,
                          struct err *err)
{
    uint32_t *ids = arena_calloc(all->arena, all->count + 1, sizeof *ids);
    struct timeline_label *labels = NULL;
    size_t id_count = 0;
    if (ids == NULL) {
        return no_memory(err);
    }
    if (all->count > 0) {
        memcpy(ids, all->labels, all->count * sizeof *ids);
        qsort(ids, all->count, sizeof *ids, order_u32_at);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (i == 0 || ids[i] != ids[id_count - 1]) {
            ids[id_count++] = ids[i];
        }
    }
    if (!store_timeline_labels(snapshot, all->arena, trace_id, ids, id_count, &labels, err)) {
        return false;
    }
    for (size_t i = 0; i < all->count; i++) {
        const uint32_t *id = bsearch(&all->labels[i], ids, id_count, sizeof *ids, order_u32_at);
        if (id != NULL) {
            all->partners[i].name = labels[id - ids].name;
            all->partners[i].category = labels[id - ids].category;
        }
    }
    return true;
}

/* What lies around a slice of a track, outermost first. */
static bool find_enclosing(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           const struct timeline_partner *of,
                           struct timeline_partner **out,
                           size_t *count,
                           struct err *err)
{
    int64_t start = of->start_ns;
    struct enclosure all = {.arena = arena,
                            .track = of->track,
                            .lane = of->lane,
                            .start_ns = start,
                            .end_ns = saturating_add(start, of->dur_ns < 0 ? 0 : of->dur_ns)};
    struct store_timeline_visitor visitor = {.context = &all, .block = visit_block};
    struct store_timeline_part part = {.first_track = of->track,
                                       .last_track = of->track,
                                       .start_ns = start,
                                       .end_ns = saturating_add(start, 1)};
    if (!store_timeline_read(snapshot, trace_id, &part, &visitor, err) ||
        !name_partners(snapshot, trace_id, &all, err)) {
        return false;
    }
    if (all.count > 0) {
        qsort(all.partners, all.count, sizeof *all.partners, by_lane);
    }
    *out = all.partners;
    *count = all.count;
    return true;
}

/* ---- flows ---- */

static bool add_flows(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      bool incoming,
                      struct timeline_event *out,
                      struct err *err)
{
    size_t room = TIMELINE_FLOWS_MAX - out->flow_count;
    struct timeline_flow *flows = NULL;
    size_t count = 0;
    if (!store_flows(snapshot, arena, trace_id, incoming, out->event.event, room + 1, &flows,
                     &count, err)) {
        return false;
    }
    if (count > room) {
        out->more_flows = true;
        count = room;
    }
    for (size_t i = 0; i < count; i++) {
        out->flows[out->flow_count++] =
            (struct timeline_partner){.event = incoming ? flows[i].from : flows[i].to,
                                      .track = TIMELINE_NO_TRACK,
                                      .dur_ns = TIMELINE_INSTANT,
                                      .name = "",
                                      .kind = flows[i].kind,
                                      .incoming = incoming};
    }
    return true;
}

ORDER_BY(spot_by_event, struct timeline_spot, ORDER_UP(event))

static void place_partners(struct timeline_event *out, struct timeline_spot *spots, size_t count)
{
    qsort(spots, count, sizeof *spots, spot_by_event);
    for (size_t i = 0; i < out->flow_count; i++) {
        struct timeline_partner *partner = &out->flows[i];
        struct timeline_spot key = {.event = partner->event};
        const struct timeline_spot *spot =
            bsearch(&key, spots, count, sizeof *spots, spot_by_event);
        if (spot != NULL && spot->track != TIMELINE_NO_TRACK) {
            partner->track = spot->track;
            partner->lane = spot->lane;
            partner->dur_ns = spot->dur_ns;
        }
    }
}

/* Of a few partners each is asked for alone: that does not read all texts of its block. */
static bool get_partners(struct store_snapshot *snapshot,
                         struct arena *arena,
                         int64_t trace_id,
                         const uint32_t *numbers,
                         size_t count,
                         struct store_event *partners,
                         struct err *err)
{
    if (count > PARTNERS_ALONE_MAX) {
        return store_events_get(snapshot, arena, trace_id, numbers, count, partners, err);
    }
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = store_event_get(snapshot, arena, trace_id, numbers[i], &partners[i], err);
    }
    return ok;
}

/* Numbers of the partners, ascending, each once. */
static size_t list_partners(const struct timeline_event *out, uint32_t *numbers)
{
    size_t count = 0;
    for (size_t i = 0; i < out->flow_count; i++) {
        numbers[i] = out->flows[i].event;
    }
    qsort(numbers, out->flow_count, sizeof *numbers, order_u32_at);
    for (size_t i = 0; i < out->flow_count; i++) {
        if (i == 0 || numbers[i] != numbers[count - 1]) {
            numbers[count++] = numbers[i];
        }
    }
    return count;
}

static void describe_partners(struct timeline_event *out,
                              const uint32_t *numbers,
                              const struct store_event *partners,
                              size_t count)
{
    for (size_t i = 0; i < out->flow_count; i++) {
        struct timeline_partner *partner = &out->flows[i];
        const uint32_t *number =
            bsearch(&partner->event, numbers, count, sizeof *numbers, order_u32_at);
        if (number != NULL) {
            const struct store_event *event = &partners[number - numbers];
            partner->name = event->name;
            partner->start_ns = event->start_ns;
            partner->dur_ns = event->has_dur ? event->dur_ns : TIMELINE_INSTANT;
        }
    }
}

static bool find_partners(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t trace_id,
                          const struct timeline *timeline,
                          struct timeline_event *out,
                          struct err *err)
{
    uint32_t *numbers = arena_calloc(arena, out->flow_count + 1, sizeof *numbers);
    struct store_event *partners = arena_calloc(arena, out->flow_count + 1, sizeof *partners);
    struct timeline_spot *spots = arena_calloc(arena, out->flow_count + 1, sizeof *spots);
    size_t spot_count = 0;
    if (numbers == NULL || partners == NULL || spots == NULL) {
        return no_memory(err);
    }
    size_t count = list_partners(out, numbers);
    if (!get_partners(snapshot, arena, trace_id, numbers, count, partners, err)) {
        return false;
    }
    describe_partners(out, numbers, partners, count);
    for (size_t i = 0; i < count; i++) {
        if (partners[i].has_start) {
            spots[spot_count++] = spot_of(&partners[i]);
        }
    }
    if (!timeline_locate(snapshot, trace_id, timeline, false, spots, spot_count, err)) {
        return false;
    }
    place_partners(out, spots, spot_count);
    return true;
}

/* ---- the event ---- */

static bool find_place(struct store_snapshot *snapshot,
                       int64_t trace_id,
                       const struct timeline *timeline,
                       struct timeline_event *out,
                       struct err *err)
{
    struct timeline_spot spot = spot_of(&out->event);
    if (out->event.has_start &&
        !timeline_locate(snapshot, trace_id, timeline, true, &spot, 1, err)) {
        return false;
    }
    out->track = spot.track;
    out->lane = spot.lane;
    out->dur_ns = spot.dur_ns;
    return true;
}

/* ---- the stack of the event ---- */

static bool has_frame(const struct timeline_partner *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(places[i].category, "python_function") == 0) {
            return true;
        }
    }
    return false;
}

/* The flow of autograd that leads to an event; `*from` is where it begins. */
static bool find_forward(struct store_snapshot *snapshot,
                         struct arena *arena,
                         int64_t trace_id,
                         uint32_t event,
                         uint32_t *from,
                         bool *found,
                         struct err *err)
{
    struct timeline_flow *flows = NULL;
    size_t count = 0;
    if (!store_flows(snapshot, arena, trace_id, true, event, FORWARD_FLOWS_MAX, &flows, &count,
                     err)) {
        return false;
    }
    for (size_t i = 0; i < count && !*found; i++) {
        *found = flows[i].kind == TIMELINE_FLOW_FWDBWD;
        *from = flows[i].from;
    }
    return true;
}

static bool add_forward(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        const struct timeline *timeline,
                        uint32_t number,
                        struct timeline_event *out,
                        struct err *err)
{
    struct store_event event;
    struct timeline_partner *around = NULL;
    size_t count = 0;
    if (!store_event_get(snapshot, arena, trace_id, number, &event, err)) {
        return false;
    }
    struct timeline_spot spot = spot_of(&event);
    if (!event.has_start) {
        return true;
    }
    if (!timeline_locate(snapshot, trace_id, timeline, false, &spot, 1, err)) {
        return false;
    }
    const struct timeline_partner itself = {.event = number,
                                            .track = spot.track,
                                            .lane = spot.lane,
                                            .start_ns = event.start_ns,
                                            .dur_ns = spot.dur_ns,
                                            .name = event.name,
                                            .category = event.category};
    if (spot.track != TIMELINE_NO_TRACK &&
        !find_enclosing(snapshot, arena, trace_id, &itself, &around, &count, err)) {
        return false;
    }
    out->forward = arena_calloc(arena, count + 1, sizeof *out->forward);
    if (out->forward == NULL) {
        return no_memory(err);
    }
    if (count > 0) {
        memcpy(out->forward, around, count * sizeof *around);
    }
    out->forward[count] = itself;
    out->forward_count = count + 1;
    return true;
}

/* From the event outwards, over a few operators: the first one that has a forward operator. */
static bool find_forward_stack(struct store_snapshot *snapshot,
                               struct arena *arena,
                               int64_t trace_id,
                               const struct timeline *timeline,
                               struct timeline_event *out,
                               struct err *err)
{
    bool is_launched = out->launch_enclosing_count > 0;
    const struct timeline_partner *around = is_launched ? out->launch_enclosing : out->enclosing;
    size_t count = is_launched ? out->launch_enclosing_count : out->enclosing_count;
    uint32_t from = 0;
    bool found = false;
    if (has_frame(around, count) ||
        (!is_launched &&
         !find_forward(snapshot, arena, trace_id, out->event.event, &from, &found, err))) {
        return err->code == ERR_NONE;
    }
    for (size_t i = count; i-- > 0 && count - i <= FORWARD_LEVELS_MAX && !found;) {
        if (!find_forward(snapshot, arena, trace_id, around[i].event, &from, &found, err)) {
            return false;
        }
    }
    return !found || add_forward(snapshot, arena, trace_id, timeline, from, out, err);
}

/* Around the first call that launched the event. */
static bool find_launch_stack(struct store_snapshot *snapshot,
                              struct arena *arena,
                              int64_t trace_id,
                              struct timeline_event *out,
                              struct err *err)
{
    for (size_t i = 0; i < out->flow_count; i++) {
        const struct timeline_partner *flow = &out->flows[i];
        if (flow->incoming && flow->kind == TIMELINE_FLOW_LAUNCH &&
            flow->track != TIMELINE_NO_TRACK) {
            return find_enclosing(snapshot, arena, trace_id, flow, &out->launch_enclosing,
                                  &out->launch_enclosing_count, err);
        }
    }
    return true;
}

static bool find_stacks(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        const struct timeline *timeline,
                        struct timeline_event *out,
                        struct err *err)
{
    const struct timeline_partner itself = {.track = out->track,
                                            .lane = out->lane,
                                            .start_ns = out->event.start_ns,
                                            .dur_ns = out->dur_ns};
    return find_enclosing(snapshot, arena, trace_id, &itself, &out->enclosing,
                          &out->enclosing_count, err) &&
           find_launch_stack(snapshot, arena, trace_id, out, err) &&
           find_forward_stack(snapshot, arena, trace_id, timeline, out, err);
}

/* ---- all relations ---- */

static bool find_relations(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           const struct timeline *timeline,
                           struct timeline_event *out,
                           struct err *err)
{
    out->flows = arena_calloc(arena, TIMELINE_FLOWS_MAX, sizeof *out->flows);
    if (out->flows == NULL) {
        return no_memory(err);
    }
    bool is_slice =
        out->track != TIMELINE_NO_TRACK && timeline->tracks[out->track].kind != TIMELINE_COUNTER;
    return add_flows(snapshot, arena, trace_id, true, out, err) &&
           add_flows(snapshot, arena, trace_id, false, out, err) &&
           find_partners(snapshot, arena, trace_id, timeline, out, err) &&
           (!is_slice || find_stacks(snapshot, arena, trace_id, timeline, out, err));
}

bool query_timeline_event(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t trace_id,
                          uint32_t event,
                          struct timeline_event *out,
                          struct err *err)
{
    struct timeline *timeline = NULL;
    *out = (struct timeline_event){.track = TIMELINE_NO_TRACK, .dur_ns = TIMELINE_INSTANT};
    if (!store_event_get(snapshot, arena, trace_id, event, &out->event, err) ||
        !store_timeline(snapshot, arena, trace_id, &timeline, err)) {
        return false;
    }
    return timeline == NULL || (find_place(snapshot, trace_id, timeline, out, err) &&
                                find_relations(snapshot, arena, trace_id, timeline, out, err));
}
