/* Begins and ends. Each stack is a chain through `partner`: an open begin's partner is the begin
 * below it until its end comes.
 *
 *     B1 B2 E B3        top of the thread's stack: B3 -> B1        partner[B2] = E
 */
#include "ingest/analysis/timeline/levels/items.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

#define STACK_EMPTY UINT32_MAX
#define OLD_ASYNC (UINT32_C(1) << 16) /* beside a category: S and F, which pids tell apart */
#define WORD_BITS 32

struct pairing {
    struct timeline_items *items;
    struct key_map ids; /* of asynchronous begins and ends */
    uint32_t *tops;     /* by stack: the innermost open begin */
    size_t tops_cap;
    uint32_t stack_count;
    uint64_t lone_ends;
};

/* Stacks of threads are numbered as the tracks, those of ids behind them. */
static uint32_t stack_of(struct pairing *p, uint32_t event)
{
    const struct trace *trace = p->items->trace;
    const struct trace_events *events = &trace->events;
    char phase = trace_phase(events, event);
    if (phase == 'B' || phase == 'E') {
        return trace_event_track(events, event);
    }
    bool is_old = phase == 'S' || phase == 'F';
    uint64_t id = (uint64_t)trace_correlation(events, event);
    struct key key = {
        {trace_category(events, event), (uint32_t)id, (uint32_t)(id >> WORD_BITS), 0}};
    if (is_old) {
        key.id[0] |= OLD_ASYNC;
        key.id[3] = trace->tracks[trace_event_track(events, event)].pid_text;
    }
    uint32_t number = key_map_add(&p->ids, key);
    bool fits = number < STACK_EMPTY - trace->track_count;
    return fits ? trace->track_count + number : STACK_EMPTY;
}

static bool add_stacks(struct pairing *p, uint32_t stack)
{
    while (p->stack_count <= stack) {
        uint32_t *tops = scratch_grow(p->tops, p->stack_count, &p->tops_cap, sizeof *tops);
        if (tops == NULL) {
            return false;
        }
        p->tops = tops;
        tops[p->stack_count++] = STACK_EMPTY;
    }
    return true;
}

static bool see_event(struct pairing *p, uint32_t event)
{
    uint32_t *partner = p->items->partner;
    uint32_t stack = stack_of(p, event);
    if (stack == STACK_EMPTY || !add_stacks(p, stack)) {
        return false;
    }
    uint32_t top = p->tops[stack];
    if (timeline_class_found(p->items, event) == ITEM_BEGIN) {
        partner[event] = top;
        p->tops[stack] = event;
    } else if (top == STACK_EMPTY) {
        partner[event] = event;
        p->lone_ends++;
    } else {
        p->tops[stack] = partner[top];
        partner[top] = event;
        partner[event] = ITEM_TAKEN;
    }
    return true;
}

static uint64_t close_stacks(struct pairing *p)
{
    uint32_t *partner = p->items->partner;
    uint64_t open_begins = 0;
    for (uint32_t stack = 0; stack < p->stack_count; stack++) {
        for (uint32_t event = p->tops[stack]; event != STACK_EMPTY; open_begins++) {
            uint32_t below = partner[event];
            partner[event] = ITEM_OPEN;
            event = below;
        }
    }
    return open_begins;
}

/* Begins and ends in order of time, equal times as the file has them. NULL without memory. */
static uint32_t *list_ends(const struct timeline_items *items, size_t *count)
{
    const struct trace_events *events = &items->trace->events;
    uint32_t *list = scratch_alloc(events->count, sizeof *list);
    *count = 0;
    for (uint32_t i = 0; list != NULL && i < events->count; i++) {
        if (timeline_class_found(items, i) >= ITEM_CLASS_COUNT) {
            list[(*count)++] = i;
        }
    }
    if (list != NULL && !sort_by_key(list, *count, events->ts_ns)) {
        scratch_free(list);
        list = NULL;
    }
    return list;
}

bool timeline_pair(struct timeline_items *items, struct warnings *warnings)
{
    struct pairing p = {.items = items};
    const struct trace_events *events = &items->trace->events;
    size_t count = 0;
    key_map_init(&p.ids);
    uint32_t *list = list_ends(items, &count);
    items->partner = scratch_alloc(events->count, sizeof *items->partner);
    bool ok = list != NULL && items->partner != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        ok = see_event(&p, list[i]);
    }
    if (ok) {
        warning_add_times(warnings, WARN_BEGIN_WITHOUT_END, WARNING_NO_OFFSET, close_stacks(&p));
        warning_add_times(warnings, WARN_END_WITHOUT_BEGIN, WARNING_NO_OFFSET, p.lone_ends);
    }
    key_map_free(&p.ids);
    SCRATCH_FREE(p.tops, list);
    return ok;
}
