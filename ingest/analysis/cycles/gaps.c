/* Outer boundaries of anchors, and what lies between two of them. */
#include "ingest/analysis/cycles/owners.h"
#include "ingest/base/containers/segment_tree.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/index/sort.h"

/* Calls that end before a call they hold: an anchor looks through so many of them, no more. */
#define CROOKED_CALLS_MAX 256

/* ---- outer boundaries ---- */

/* The anchors as points (start, end), to ask whether one lies in a range that is not in another. */
struct anchor_points {
    uint32_t count;
    int64_t *start_ns;                  /* ascending: anchors are in order of time */
    int64_t *end_ns;                    /* ascending */
    struct segment_tree least_end;      /* over anchors in order of start */
    struct segment_tree greatest_start; /* over anchors in order of end */
};

static void points_free(struct anchor_points *points)
{
    SCRATCH_FREE(points->start_ns, points->end_ns);
    segment_tree_free(&points->least_end);
    segment_tree_free(&points->greatest_start);
}

static bool points_fill(struct anchor_points *points,
                        const struct cycle_owners *owners,
                        const struct cycle_events *events,
                        int64_t *values,
                        uint32_t *order)
{
    for (uint32_t i = 0; i < points->count; i++) {
        points->start_ns[i] = cycle_start_ns(events, owners->anchors[i].at);
        values[i] = cycle_end_ns(events, owners->anchors[i].at);
        order[i] = i;
    }
    if (!segment_tree_init(&points->least_end, values, points->count, false) ||
        !sort_by_key(order, points->count, values)) {
        return false;
    }
    for (uint32_t i = 0; i < points->count; i++) {
        points->end_ns[i] = values[order[i]];
    }
    for (uint32_t i = 0; i < points->count; i++) {
        values[i] = points->start_ns[order[i]];
    }
    return segment_tree_init(&points->greatest_start, values, points->count, true);
}

static bool points_init(struct anchor_points *points,
                        const struct cycle_owners *owners,
                        const struct cycle_events *events)
{
    *points = (struct anchor_points){.count = owners->anchor_count};
    points->start_ns = scratch_alloc(points->count, sizeof *points->start_ns);
    points->end_ns = scratch_alloc(points->count, sizeof *points->end_ns);
    int64_t *values = scratch_alloc(points->count, sizeof *values);
    uint32_t *order = scratch_alloc(points->count, sizeof *order);
    bool ok = points->start_ns != NULL && points->end_ns != NULL && values != NULL &&
              order != NULL && points_fill(points, owners, events, values, order);
    SCRATCH_FREE(values, order);
    return ok;
}

/* Whether some anchor lies in `call` but not in `anchor`, which lies in it. */
static bool holds_another(const struct anchor_points *points,
                          const struct cycle_events *events,
                          uint32_t call,
                          uint32_t anchor)
{
    int64_t start_ns = cycle_start_ns(events, call);
    int64_t end_ns = cycle_end_ns(events, call);
    uint32_t from = (uint32_t)order_i64_below(points->start_ns, points->count, sizeof(int64_t), 0,
                                              start_ns, false);
    uint32_t to = (uint32_t)order_i64_below(points->start_ns, points->count, sizeof(int64_t), 0,
                                            cycle_start_ns(events, anchor), false);
    if (from < to && segment_tree_query(&points->least_end, from, to) <= end_ns) {
        return true;
    }
    from = (uint32_t)order_i64_below(points->end_ns, points->count, sizeof(int64_t), 0,
                                     cycle_end_ns(events, anchor), true);
    to = (uint32_t)order_i64_below(points->end_ns, points->count, sizeof(int64_t), 0, end_ns, true);
    return from < to && segment_tree_query(&points->greatest_start, from, to) >= start_ns;
}

/* The highest call above the anchor that holds the same anchors as it [CMP-10a.owners.1]. */
static uint32_t outer_call(const struct anchor_points *points,
                           const struct cycle_events *events,
                           const struct cycle_calls *calls,
                           uint32_t anchor)
{
    uint32_t outer = anchor;
    uint32_t crooked = 0;
    uint32_t call = calls->depth[anchor] == CYCLE_NONE ? CYCLE_NONE : calls->parent[anchor];
    for (; call != CYCLE_NONE; call = calls->parent[call]) {
        if (cycle_end_ns(events, call) < cycle_end_ns(events, anchor)) {
            if (++crooked > CROOKED_CALLS_MAX) {
                break;
            }
        } else if (holds_another(points, events, call, anchor)) {
            break;
        } else {
            outer = call;
        }
    }
    return outer;
}

bool cycle_owners_bound(struct cycle_owners *owners,
                        const struct cycle_events *events,
                        const struct cycle_calls *calls)
{
    struct anchor_points points;
    bool ok = points_init(&points, owners, events);
    for (uint32_t i = 0; ok && i < owners->anchor_count; i++) {
        struct cycle_anchor *anchor = &owners->anchors[i];
        uint32_t outer = outer_call(&points, events, calls, anchor->at);
        anchor->bound_start_ns = cycle_start_ns(events, outer);
        anchor->bound_end_ns = cycle_end_ns(events, outer);
    }
    points_free(&points);
    return ok;
}

/* ---- gaps ---- */

struct gap_order {
    const struct cycle_owners *owners;
    const struct cycle_events *events;
};

/* By process, then by outer boundary. */
static int compare_anchors(uint32_t a, uint32_t b, const void *context)
{
    const struct gap_order *order = context;
    const struct cycle_anchor *left = &order->owners->anchors[a];
    const struct cycle_anchor *right = &order->owners->anchors[b];
    int found =
        order_i64(cycle_process(order->events, left->at), cycle_process(order->events, right->at));
    if (found == 0) {
        found = order_i64(left->bound_start_ns, right->bound_start_ns);
    }
    return found != 0 ? found : order_i64(left->bound_end_ns, right->bound_end_ns);
}

struct gap {
    int64_t start_ns;
    int64_t end_ns;
    uint32_t later; /* anchor */
};

struct gaps {
    struct gap *items;       /* by process, then ascending; they do not overlap */
    uint32_t *process_first; /* one more than there are processes */
};

static bool gaps_list(struct gaps *gaps,
                      const struct cycle_owners *owners,
                      const struct cycle_events *events,
                      uint32_t *order)
{
    struct gap_order context = {owners, events};
    uint32_t count = 0;
    uint32_t process = 0;
    for (uint32_t i = 0; i < owners->anchor_count; i++) {
        order[i] = i;
    }
    if (!sort_stable(order, owners->anchor_count, compare_anchors, &context)) {
        return false;
    }
    for (uint32_t i = 0; i < owners->anchor_count; i++) {
        const struct cycle_anchor *anchor = &owners->anchors[order[i]];
        bool is_first = i == 0 || cycle_process(events, anchor->at) !=
                                      cycle_process(events, owners->anchors[order[i - 1]].at);
        while (process <= cycle_process(events, anchor->at)) {
            gaps->process_first[process++] = count;
        }
        if (is_first) {
            continue;
        }
        int64_t start_ns = owners->anchors[order[i - 1]].bound_end_ns;
        if (start_ns <= anchor->bound_start_ns) {
            gaps->items[count++] = (struct gap){start_ns, anchor->bound_start_ns, order[i]};
        }
    }
    while (process <= events->process_count) {
        gaps->process_first[process++] = count;
    }
    return true;
}

/* The last gap of the process that starts at or before the event, if it holds all of it
 * [CMP-10a.owners.2]. */
static uint32_t gap_owner(const struct gaps *gaps, const struct cycle_events *events, uint32_t at)
{
    uint32_t first = gaps->process_first[cycle_process(events, at)];
    size_t low = first;
    ORDER_SEARCH(low, gaps->process_first[cycle_process(events, at) + 1], middle,
                 gaps->items[middle].start_ns <= cycle_start_ns(events, at));
    bool is_inside = low > first && cycle_end_ns(events, at) <= gaps->items[low - 1].end_ns;
    return is_inside ? gaps->items[low - 1].later : CYCLE_NONE;
}

bool cycle_owners_fill_gaps(struct cycle_owners *owners, const struct cycle_events *events)
{
    struct gaps gaps = {
        .items = scratch_calloc(owners->anchor_count, sizeof *gaps.items),
        .process_first =
            scratch_alloc((size_t)events->process_count + 1, sizeof *gaps.process_first),
    };
    uint32_t *order = scratch_alloc(owners->anchor_count, sizeof *order);
    bool ok = gaps.items != NULL && gaps.process_first != NULL && order != NULL &&
              gaps_list(&gaps, owners, events, order);
    for (uint32_t at = 0; ok && at < events->count; at++) {
        enum cycle_class class = (enum cycle_class)events->class[at];
        if (owners->owner[at] == CYCLE_NONE && class != CYCLE_CLASS_GPU &&
            class != CYCLE_CLASS_COUNTER && class != CYCLE_CLASS_SILENT) {
            owners->owner[at] = gap_owner(&gaps, events, at);
        }
    }
    SCRATCH_FREE(gaps.items, gaps.process_first, order);
    return ok;
}
