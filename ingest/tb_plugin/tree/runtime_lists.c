#include "ingest/tb_plugin/tree/runtime_lists.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

struct runtime_order {
    const struct launch_correlation *links;
    const struct event_classes *sel;
};

static bool has_no_time(const struct event_classes *sel, uint32_t event)
{
    const struct trace_events *events = &sel->trace->events;
    return events->ts_ns[event] == 0 || events->ts_ns[event] + trace_dur_ns(events, event) == 0;
}

static int by_start_and_length(uint32_t a, uint32_t b, const void *ctx)
{
    const struct runtime_order *order = ctx;
    uint32_t event_a = order->links->runtime_event[a];
    uint32_t event_b = order->links->runtime_event[b];
    bool a_has_no_time = has_no_time(order->sel, event_a);
    bool b_has_no_time = has_no_time(order->sel, event_b);
    if (a_has_no_time || b_has_no_time) {
        return a_has_no_time - b_has_no_time;
    }
    return times_compare(order->sel, event_a, event_b);
}

static bool fill(struct runtime_lists *lists,
                 const struct launch_correlation *links,
                 const struct event_classes *sel)
{
    const struct runtime_order order = {links, sel};
    uint32_t *next = scratch_alloc(lists->count, sizeof *next);
    if (next == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < lists->count; i++) {
        lists->first[i + 1] += lists->first[i];
        next[i] = lists->first[i];
    }
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        lists->runtimes[next[lists->list_of[r]]++] = r;
    }
    scratch_free(next);
    for (uint32_t i = 0; i < lists->count; i++) {
        uint32_t *items = lists->runtimes + lists->first[i];
        uint32_t count = lists->first[i + 1] - lists->first[i];
        if (count > 1 && !sort_stable(items, count, by_start_and_length, &order)) {
            return false;
        }
    }
    return true;
}

static bool arrange(struct runtime_lists *lists,
                    const struct launch_correlation *links,
                    const struct event_classes *sel)
{
    lists->first = scratch_calloc((size_t)lists->count + 1, sizeof *lists->first);
    if (lists->first == NULL) {
        return false;
    }
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        lists->first[lists->list_of[r] + 1]++;
    }
    return fill(lists, links, sel);
}

bool runtime_lists_build(struct runtime_lists *lists,
                         const struct launch_correlation *links,
                         const struct event_classes *sel)
{
    const struct trace_events *events = &sel->trace->events;
    *lists = (struct runtime_lists){.zero_list = RUNTIME_LIST_NONE};
    lists->list_of = scratch_alloc(links->runtime_count, sizeof *lists->list_of);
    lists->runtimes = scratch_alloc(links->runtime_count, sizeof *lists->runtimes);
    lists->of_event = scratch_none(events->count);
    if (lists->list_of == NULL || lists->runtimes == NULL || lists->of_event == NULL) {
        return false;
    }
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        int64_t id = trace_external_id(events, links->runtime_event[r]);
        struct id_slot *slot = id_map_add(&lists->by_external_id, id);
        if (slot == NULL) {
            return false;
        }
        slot->value = slot->index;
        lists->list_of[r] = slot->index;
        lists->zero_list = id == 0 ? slot->index : lists->zero_list;
    }
    lists->count = lists->by_external_id.count;
    return arrange(lists, links, sel);
}

void runtime_lists_close(struct runtime_lists *lists)
{
    id_map_free(&lists->by_external_id);
    scratch_free(lists->list_of);
    lists->list_of = NULL;
}

void runtime_lists_free(struct runtime_lists *lists)
{
    id_map_free(&lists->by_external_id);
    SCRATCH_FREE(lists->first, lists->runtimes, lists->list_of, lists->of_event);
    *lists = (struct runtime_lists){0};
}
