#include "ingest/analysis/collectives/log.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/tb_plugin/steps/collectives.h"

/* Places for the ranges of each node, in the order of the nodes. */
static void
place_ranges(struct collective_log *log, const struct tb_collectives *comms, const uint32_t *order)
{
    for (uint32_t i = 0; i < log->op_count; i++) {
        log->ops[i].first_range = log->range_count;
        log->range_count += comms->nodes[order[i]].range_count;
    }
}

static void fill_ranges(struct collective_log *log,
                        const struct tb_collectives *comms,
                        const struct event_classes *sel,
                        const uint32_t *order,
                        const uint32_t *place)
{
    for (uint32_t i = 0; i < log->op_count; i++) {
        collective_log_add_range(log, &log->ops[i], sel, comms->nodes[order[i]].event);
    }
    bool has_device_work = log->range_count > log->op_count;
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    for (uint32_t i = 0; has_device_work && i < work.count; i++) {
        uint32_t event = work.items[i];
        if (tb_collectives_has_device_event(comms, sel, event)) {
            const struct id_slot *slot =
                id_map_find(&comms->by_external_id, trace_external_id(&sel->trace->events, event));
            collective_log_add_range(log, &log->ops[place[slot->index]], sel, event);
        }
    }
    collective_log_sort_ranges(log);
}

static bool write_ops(struct collective_log *log,
                      struct arena *arena,
                      const struct tb_collectives *comms,
                      const struct event_classes *sel,
                      const uint32_t *order)
{
    for (uint32_t i = 0; i < log->op_count; i++) {
        uint32_t event = comms->nodes[order[i]].event;
        uint32_t name = sel->name[event];
        log->ops[i].name =
            arena_strndup(arena, names_text(&sel->names, name), names_len(&sel->names, name));
        log->ops[i].size_bytes = collective_event_bytes(sel, event);
        if (log->ops[i].name == NULL) {
            return false;
        }
    }
    return true;
}

static bool build(struct collective_log *log,
                  struct arena *arena,
                  const struct tb_collectives *comms,
                  const struct event_classes *sel,
                  const struct steps *steps,
                  const uint32_t *order)
{
    uint32_t *place = scratch_alloc(log->op_count, sizeof *place);
    log->ops = arena_calloc(arena, log->op_count, sizeof *log->ops);
    bool ok = place != NULL && log->ops != NULL;
    if (ok) {
        for (uint32_t i = 0; i < log->op_count; i++) {
            place[order[i]] = i;
        }
        place_ranges(log, comms, order);
        log->ranges = arena_calloc(arena, log->range_count, sizeof *log->ranges);
        ok = log->ranges != NULL && write_ops(log, arena, comms, sel, order);
    }
    if (ok) {
        fill_ranges(log, comms, sel, order, place);
        uint32_t *events = place; /* done with */
        for (uint32_t i = 0; i < log->op_count; i++) {
            events[i] = comms->nodes[order[i]].event;
        }
        collective_log_find_steps(log, sel, events, steps);
    }
    scratch_free(place);
    return ok;
}

bool tb_collectives_log(struct collective_log **out,
                        struct arena *arena,
                        const struct tb_collectives *comms,
                        const struct event_classes *sel,
                        const struct steps *steps)
{
    *out = NULL;
    uint32_t *order = NULL;
    if (!tb_collectives_order(comms, sel, &order)) {
        return false;
    }
    if (order == NULL) {
        return true;
    }
    struct collective_log *log = arena_calloc(arena, 1, sizeof *log);
    bool ok = log != NULL;
    if (ok) {
        log->op_count = comms->by_external_id.count;
        ok = build(log, arena, comms, sel, steps, order);
    }
    scratch_free(order);
    *out = ok ? log : NULL;
    return ok;
}
