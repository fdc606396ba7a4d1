#include "ingest/analysis/relations/fwdbwd.h"

#include "ingest/base/memory/scratch.h"

struct flow {
    int64_t forward_ns;
    int64_t backward_ns;
    bool has_forward;
    bool has_backward;
};

struct flows {
    struct id_map by_id;
    struct flow *items;
    uint32_t *order; /* flows by forward_rank */
    uint32_t forward_count;
};

bool fwdbwd_is_end(const struct trace_events *events, uint32_t event)
{
    char phase = trace_phase(events, event);
    return trace_kind(events, event) == EVENT_FLOW_FWDBWD && (phase == 's' || phase == 'f') &&
           (trace_flags(events, event) & EVENT_NO_TS) == 0 &&
           trace_correlation(events, event) != TRACE_NO_ID;
}

static void note_flow(struct flows *flows, uint32_t flow, char phase, int64_t ts_ns)
{
    struct flow *item = &flows->items[flow];
    if (phase == 'f') {
        item->backward_ns = ts_ns;
        item->has_backward = true;
        return;
    }
    if (!item->has_forward) {
        flows->order[flows->forward_count++] = flow;
    }
    item->forward_ns = ts_ns;
    item->has_forward = true;
}

static bool read_flows(struct flows *flows, const struct trace_events *events)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < events->count; i++) {
        count += fwdbwd_is_end(events, i);
    }
    if (count == 0) {
        return true;
    }
    flows->items = scratch_calloc(count, sizeof *flows->items);
    flows->order = scratch_calloc(count, sizeof *flows->order);
    if (flows->items == NULL || flows->order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < events->count; i++) {
        if (!fwdbwd_is_end(events, i)) {
            continue;
        }
        const struct id_slot *slot = id_map_add(&flows->by_id, trace_correlation(events, i));
        if (slot == NULL) {
            return false;
        }
        note_flow(flows, slot->index, trace_phase(events, i), events->ts_ns[i]);
    }
    return true;
}

static bool pair_flows(struct fwdbwd *pairs, const struct flows *flows)
{
    for (uint32_t i = 0; i < flows->forward_count; i++) {
        const struct flow *flow = &flows->items[flows->order[i]];
        if (!flow->has_backward) {
            continue;
        }
        struct id_slot *forward = id_map_add(&pairs->by_forward, flow->forward_ns);
        const struct id_slot *backward = id_map_add(&pairs->by_backward, flow->backward_ns);
        if (forward == NULL || backward == NULL) {
            return false;
        }
        forward->value = backward->index;
    }
    return true;
}

bool fwdbwd_collect(struct fwdbwd *pairs, const struct trace *trace)
{
    *pairs = (struct fwdbwd){0};
    id_map_init(&pairs->by_forward);
    id_map_init(&pairs->by_backward);
    struct flows flows = {0};
    id_map_init(&flows.by_id);
    bool ok = read_flows(&flows, &trace->events) && pair_flows(pairs, &flows);
    id_map_free(&flows.by_id);
    SCRATCH_FREE(flows.items, flows.order);
    return ok;
}

void fwdbwd_free(struct fwdbwd *pairs)
{
    id_map_free(&pairs->by_forward);
    id_map_free(&pairs->by_backward);
    *pairs = (struct fwdbwd){0};
}
