/* From anchors to cycles [CMP-10.cycles.3] [CMP-10a.kinds] [CMP-10a.boundaries]. */
#include "ingest/analysis/cycles/set.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/num.h"
#include "ingest/index/sort.h"

/* A pause this long, or of five median anchors, breaks a chain [CMP-10.cycles.3]. */
#define PAUSE_MIN_NS INT64_C(50000000)
#define PAUSE_MEDIANS 5.0
/* The reference's cycles begin one microsecond behind what they follow [CMP-10.cycles.3]. */
#define AFTER_NS INT64_C(1000)

static struct cycle cycle_between(int64_t start_ns, int64_t end_ns, uint32_t name)
{
    return (struct cycle){.start_ns = start_ns,
                          .end_ns = end_ns,
                          .first_ns = INT64_MAX,
                          .last_ns = INT64_MIN,
                          .window_start_ns = INT64_MAX,
                          .window_end_ns = INT64_MIN,
                          .name = name,
                          .host = CYCLE_NONE};
}

/* Anchors that begin within half the duration of the earliest one left are one prefill, named after
 * the longest; half of it before its start nothing is left [CMP-10a.kinds.2]. Returns the first
 * anchor behind. */
static uint32_t group_prefills(struct cycle_owners *owners,
                               const struct cycle_events *events,
                               uint32_t first,
                               uint32_t number,
                               struct cycle *cycle)
{
    const struct cycle_anchor *earliest = &owners->anchors[first];
    int64_t start_ns = cycle_start_ns(events, earliest->at);
    int64_t dur_ns = cycle_anchor_ns(events, earliest);
    int64_t longest_ns = -1;
    uint32_t i = first;
    *cycle = cycle_between(start_ns, cycle_end_ns(events, earliest->at), CYCLE_NONE);
    for (; i < owners->anchor_count; i++) {
        struct cycle_anchor *anchor = &owners->anchors[i];
        int64_t later_ns = saturating_sub(cycle_start_ns(events, anchor->at), start_ns);
        if (i != first && later_ns >= dur_ns - later_ns) {
            break;
        }
        if (anchor->kind != ANCHOR_PREFILL) {
            continue;
        }
        int64_t anchor_ns = cycle_anchor_ns(events, anchor);
        cycle->end_ns = i64_max(cycle->end_ns, cycle_end_ns(events, anchor->at));
        cycle->name = anchor_ns > longest_ns ? cycle_name(events, anchor->at) : cycle->name;
        longest_ns = i64_max(longest_ns, anchor_ns);
        anchor->cycle = number;
    }
    cycle->kind = CYCLE_PREFILL;
    cycle->is_settled = true;
    return i;
}

static void
add_prefills(struct cycle_set *set, struct cycle_owners *owners, const struct cycle_events *events)
{
    uint32_t i = 0;
    while (i < owners->anchor_count) {
        if (owners->anchors[i].kind == ANCHOR_PREFILL) {
            i = group_prefills(owners, events, i, set->count, &set->items[set->count]);
            set->count++;
        } else {
            i++;
        }
    }
}

static uint32_t lowest_process(const struct cycle_owners *owners, const struct cycle_events *events)
{
    uint32_t lowest = cycle_process(events, owners->anchors[0].at);
    for (uint32_t i = 1; i < owners->anchor_count; i++) {
        uint32_t process = cycle_process(events, owners->anchors[i].at);
        lowest = events->pid[process] < events->pid[lowest] ? process : lowest;
    }
    return lowest;
}

/* Decodes and steps of the lowest pid, and what has no kind among typed ones: a cycle each
 * [CMP-10a.kinds.2]. */
static void add_others(struct cycle_set *set,
                       struct cycle_owners *owners,
                       const struct cycle_events *events,
                       bool is_typed)
{
    uint32_t lowest = owners->anchor_count == 0 ? 0 : lowest_process(owners, events);
    for (uint32_t i = 0; i < owners->anchor_count; i++) {
        struct cycle_anchor *anchor = &owners->anchors[i];
        bool is_untyped = is_typed && anchor->kind == ANCHOR_UNTYPED;
        if (anchor->kind == ANCHOR_PREFILL ||
            (!is_untyped && cycle_process(events, anchor->at) != lowest)) {
            continue;
        }
        struct cycle *cycle = &set->items[set->count];
        *cycle = cycle_between(cycle_start_ns(events, anchor->at), cycle_end_ns(events, anchor->at),
                               cycle_name(events, anchor->at));
        cycle->kind = is_typed ? CYCLE_DECODE : CYCLE_STEP;
        cycle->is_settled = !is_untyped;
        anchor->cycle = set->count++;
    }
}

/* ---- order ---- */

/* Sorts by start and drops cycles that are marked by an end before their start; anchors follow. */
static bool sort_cycles(struct cycle_set *set, struct cycle_owners *owners)
{
    uint32_t *order = scratch_alloc(set->count, sizeof *order);
    uint32_t *place = scratch_none(set->count);
    int64_t *starts = scratch_alloc(set->count, sizeof *starts);
    struct cycle *sorted = scratch_alloc(set->count, sizeof *sorted);
    bool ok = order != NULL && place != NULL && starts != NULL && sorted != NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; ok && i < set->count; i++) {
        starts[i] = set->items[i].start_ns;
        order[i] = i;
    }
    ok = ok && sort_by_key(order, set->count, starts);
    for (uint32_t i = 0; ok && i < set->count; i++) {
        const struct cycle *cycle = &set->items[order[i]];
        if (cycle->end_ns >= cycle->start_ns) {
            place[order[i]] = count;
            sorted[count++] = *cycle;
        }
    }
    for (uint32_t i = 0; ok && i < owners->anchor_count; i++) {
        uint32_t cycle = owners->anchors[i].cycle;
        owners->anchors[i].cycle = cycle == CYCLE_NONE ? CYCLE_NONE : place[cycle];
    }
    SCRATCH_FREE(order, place, starts);
    if (!ok) {
        scratch_free(sorted);
        return false;
    }
    scratch_free(set->items);
    set->items = sorted;
    set->count = count;
    return true;
}

/* ---- chains ---- */

static bool is_chained(const struct cycle *cycle)
{
    return cycle->is_settled && cycle->kind != CYCLE_PREFILL;
}

/* The pause that breaks a chain; false without memory. */
static bool pause_limit(const struct cycle_set *set, double *limit_ns)
{
    int64_t *durations = scratch_alloc(set->count, sizeof *durations);
    int64_t *sorted = scratch_alloc(set->count, sizeof *sorted);
    uint32_t *order = scratch_alloc(set->count, sizeof *order);
    uint32_t count = 0;
    bool ok = durations != NULL && sorted != NULL && order != NULL;
    for (uint32_t i = 0; ok && i < set->count; i++) {
        if (is_chained(&set->items[i])) {
            order[count] = count;
            durations[count++] = set->items[i].end_ns - set->items[i].start_ns;
        }
    }
    ok = ok && sort_by_key(order, count, durations);
    for (uint32_t i = 0; ok && i < count; i++) {
        sorted[i] = durations[order[i]];
    }
    if (ok) {
        double medians_ns = PAUSE_MEDIANS * num_percentile_sorted(sorted, count, 0.5);
        *limit_ns = medians_ns > PAUSE_MIN_NS ? medians_ns : (double)PAUSE_MIN_NS;
    }
    SCRATCH_FREE(durations, sorted, order);
    return ok;
}

/* A chained cycle begins behind the end of the one before; what is left with no time gets an end
 * before its start [CMP-10a.boundaries.1]. */
static bool chain_cycles(struct cycle_set *set)
{
    double limit_ns;
    if (!pause_limit(set, &limit_ns)) {
        return false;
    }
    int64_t previous_ns = 0;
    bool in_chain = false;
    for (uint32_t i = 0; i < set->count; i++) {
        struct cycle *cycle = &set->items[i];
        if (!is_chained(cycle)) {
            in_chain = false;
            continue;
        }
        int64_t end_ns = cycle->end_ns;
        bool follows = in_chain && (double)saturating_sub(cycle->start_ns, previous_ns) < limit_ns;
        cycle->start_ns = saturating_add(follows ? previous_ns : cycle->start_ns, AFTER_NS);
        if (cycle->start_ns >= end_ns) {
            cycle->end_ns = saturating_sub(cycle->start_ns, 1);
        }
        previous_ns = end_ns;
        in_chain = true;
    }
    return true;
}

bool cycle_set_bound(struct cycle_set *set,
                     struct cycle_owners *owners,
                     const struct cycle_events *events,
                     bool is_typed)
{
    *set = (struct cycle_set){.items = NULL};
    set->items = scratch_calloc(owners->anchor_count, sizeof *set->items);
    if (set->items == NULL) {
        return false;
    }
    add_prefills(set, owners, events);
    add_others(set, owners, events, is_typed);
    if (!sort_cycles(set, owners) || !chain_cycles(set) || !sort_cycles(set, owners)) {
        return false;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        set->items[i].number = i + 1;
    }
    return true;
}
