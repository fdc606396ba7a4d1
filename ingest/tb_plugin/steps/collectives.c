#include "ingest/tb_plugin/steps/collectives.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

/* Modules carry their parent's id in that column, and no external id of their own. */
static int64_t external_id(const struct event_classes *sel, uint32_t event)
{
    bool is_module = sel->class[event] == INDEX_MODULE && !sel->lightning;
    return is_module ? TRACE_NO_ID : trace_external_id(&sel->trace->events, event);
}

static bool
add_node(struct tb_collectives *comms, const struct event_classes *sel, uint32_t event, size_t *cap)
{
    struct id_slot *slot = id_map_add(&comms->by_external_id, external_id(sel, event));
    if (slot == NULL) {
        return false;
    }
    struct tb_collective *nodes = scratch_grow(comms->nodes, slot->index, cap, sizeof *nodes);
    if (nodes == NULL) {
        return false;
    }
    comms->nodes = nodes;
    comms->nodes[slot->index] = (struct tb_collective){.event = event, .range_count = 1};
    return true;
}

static bool is_collective(const struct event_classes *sel, uint32_t event)
{
    enum index_class type = (enum index_class)sel->class[event];
    uint32_t flags = sel->names.flags[sel->name[event]];
    bool is_lightning = type == INDEX_MODULE && sel->lightning;
    return classify_is_host(type) && !is_lightning && (flags & NAME_COLLECTIVE) != 0;
}

static bool
is_candidate(const struct tb_collectives *comms, const struct event_classes *sel, uint32_t event)
{
    enum index_class type = (enum index_class)sel->class[event];
    return type == INDEX_KERNEL || (type == INDEX_MEMCPY && comms->joins_memcpy);
}

bool tb_collectives_collect(struct tb_collectives *comms, const struct event_classes *sel)
{
    *comms = (struct tb_collectives){0};
    id_map_init(&comms->by_external_id);
    if ((sel->seen_names & NAME_COLLECTIVE) == 0) {
        return true;
    }
    bool has_device_collectives = (sel->seen_names & (NAME_NCCL | NAME_CNCL)) != 0;
    comms->joins_memcpy = sel->mlu && has_device_collectives;

    size_t cap = 0;
    const struct events_in_time host = sel->lists[LIST_HOST];
    for (uint32_t i = 0; i < host.count; i++) {
        uint32_t event = host.items[i];
        if (is_collective(sel, event) && !add_node(comms, sel, event, &cap)) {
            return false;
        }
    }
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    for (uint32_t i = 0; has_device_collectives && i < work.count; i++) {
        uint32_t event = work.items[i];
        const struct id_slot *slot =
            is_candidate(comms, sel, event)
                ? id_map_find(&comms->by_external_id, trace_external_id(&sel->trace->events, event))
                : NULL;
        if (slot != NULL) {
            comms->nodes[slot->index].range_count++;
        }
    }
    return true;
}

void tb_collectives_free(struct tb_collectives *comms)
{
    id_map_free(&comms->by_external_id);
    scratch_free(comms->nodes);
    *comms = (struct tb_collectives){0};
}

void tb_collectives_mark(const struct tb_collectives *comms,
                         const struct event_classes *sel,
                         uint8_t *categories)
{
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    for (uint32_t i = 0; i < work.count; i++) {
        uint32_t event = work.items[i];
        if (tb_collectives_has_device_event(comms, sel, event)) {
            categories[event] = TIME_COMMUNICATION;
        }
    }
}

bool tb_collectives_has_device_event(const struct tb_collectives *comms,
                                     const struct event_classes *sel,
                                     uint32_t event)
{
    return comms->by_external_id.count != 0 && is_candidate(comms, sel, event) &&
           id_map_find(&comms->by_external_id, trace_external_id(&sel->trace->events, event)) !=
               NULL;
}

struct node_order {
    const struct tb_collectives *comms;
    const struct event_classes *sel;
};

static int by_start_and_length(uint32_t a, uint32_t b, const void *ctx)
{
    const struct node_order *order = ctx;
    return times_compare(order->sel, order->comms->nodes[a].event, order->comms->nodes[b].event);
}

static bool is_mixed(uint32_t seen_names)
{
    uint32_t libraries = seen_names & NAME_COLLECTIVE;
    return (libraries & (libraries - 1)) != 0;
}

bool tb_collectives_order(const struct tb_collectives *comms,
                          const struct event_classes *sel,
                          uint32_t **order)
{
    uint32_t count = comms->by_external_id.count;
    *order = NULL;
    if (count == 0 || is_mixed(sel->seen_names)) {
        return true;
    }
    uint32_t *numbers = scratch_alloc(count, sizeof *numbers);
    if (numbers == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = i;
    }
    const struct node_order ctx = {comms, sel};
    *order = numbers;
    return sort_stable(numbers, count, by_start_and_length, &ctx);
}
