#include "ingest/analysis/cycles/calls.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <string.h>

/* A function called not more often is no anchor [CMP-10.anchors.1]. */
#define TOP_CALLS_MIN 2
/* Totals this close are told apart by the average. */
#define CLOSE_TOTAL 0.9
#define PREFILL_COUNT_SHARE 0.1
#define PREFILL_AVERAGE_RATIO 3.0

struct nesting {
    const struct cycle_events *events;
    struct cycle_calls *calls;
    uint32_t *by_thread;    /* the calls, thread by thread, each in order of time */
    uint32_t *thread_first; /* one more than there are threads */
    uint32_t *open;         /* by name: calls of the present thread that are open */
    uint32_t *total_of;     /* by name: index into totals */
    struct call_total *totals;
    uint32_t total_count;
    size_t total_cap;
};

/* ---- threads ---- */

static bool sort_by_thread(struct nesting *n, enum cycle_class class)
{
    const struct cycle_events *events = n->events;
    uint32_t count = 0;
    n->thread_first = scratch_calloc((size_t)events->thread_count + 2, sizeof *n->thread_first);
    if (n->thread_first == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < events->count; at++) {
        if (events->class[at] == class) {
            n->thread_first[cycle_track(events, at)->thread + 2]++;
            count++;
        }
    }
    n->by_thread = scratch_alloc(count, sizeof *n->by_thread);
    if (n->by_thread == NULL) {
        return false;
    }
    for (uint32_t t = 0; t < events->thread_count; t++) {
        n->thread_first[t + 2] += n->thread_first[t + 1];
    }
    for (uint32_t at = 0; at < events->count; at++) {
        if (events->class[at] == class) {
            n->by_thread[n->thread_first[cycle_track(events, at)->thread + 1]++] = at;
        }
    }
    return true;
}

/* ---- one thread ---- */

static bool add_to_total(struct nesting *n, uint32_t at)
{
    uint32_t name = cycle_name(n->events, at);
    if (n->total_of[name] == CYCLE_NONE) {
        struct call_total *totals =
            scratch_grow(n->totals, n->total_count, &n->total_cap, sizeof *totals);
        if (totals == NULL) {
            return false;
        }
        n->totals = totals;
        n->total_of[name] = n->total_count;
        totals[n->total_count++] = (struct call_total){.name = name, .first = at};
    }
    struct call_total *total = &n->totals[n->total_of[name]];
    total->first = at < total->first ? at : total->first;
    int64_t dur_ns = saturating_sub(cycle_end_ns(n->events, at), cycle_start_ns(n->events, at));
    total->all_ns = saturating_add(total->all_ns, dur_ns);
    if (n->calls->depth[at] == 0) {
        total->top_count++;
        total->top_ns = saturating_add(total->top_ns, dur_ns);
    }
    return true;
}

/* The call that stays open when the one at `at` starts. */
static uint32_t close_ended(struct nesting *n, uint32_t top, uint32_t at)
{
    const struct cycle_events *events = n->events;
    while (top != CYCLE_NONE && cycle_start_ns(events, at) >= cycle_end_ns(events, top)) {
        n->open[cycle_name(events, top)]--;
        top = n->calls->parent[top];
    }
    return top;
}

static bool nest_thread(struct nesting *n, const uint32_t *calls, uint32_t count)
{
    uint32_t top = CYCLE_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = calls[i];
        uint32_t *open = &n->open[cycle_name(n->events, at)];
        top = close_ended(n, top, at);
        n->calls->parent[at] = top;
        n->calls->depth[at] = top == CYCLE_NONE ? 0 : n->calls->depth[top] + 1;
        if (*open == 0 && !add_to_total(n, at)) {
            return false;
        }
        (*open)++;
        top = at;
    }
    for (; top != CYCLE_NONE; top = n->calls->parent[top]) {
        n->open[cycle_name(n->events, top)]--;
    }
    return true;
}

/* ---- candidates ---- */

static double average_ns(const struct call_total *total)
{
    return (double)total->top_ns / total->top_count;
}

/* The longer total first; of two that are close the one whose calls are longer [CMP-10.anchors.1].
 */
static int compare_candidates(uint32_t a, uint32_t b, const void *context)
{
    const struct call_total *totals = context;
    double total_a = (double)totals[a].top_ns;
    double total_b = (double)totals[b].top_ns;
    double larger = total_a > total_b ? total_a : total_b;
    double smaller = total_a > total_b ? total_b : total_a;
    bool is_close = smaller >= CLOSE_TOTAL * larger;
    double rank_a = is_close ? average_ns(&totals[a]) : total_a;
    double rank_b = is_close ? average_ns(&totals[b]) : total_b;
    if (rank_a > rank_b) {
        return -1;
    }
    return rank_a < rank_b;
}

static int compare_first(uint32_t a, uint32_t b, const void *context)
{
    const struct call_total *totals = context;
    return totals[a].first < totals[b].first ? -1 : totals[a].first > totals[b].first;
}

static bool list_candidates(struct nesting *n, struct cycle_events *events, enum cycle_class class)
{
    uint32_t never = class == CYCLE_CLASS_PYTHON ? CYCLE_NAME_NEVER_ANCHOR : CYCLE_NAME_COLLECTIVE;
    uint32_t count = 0;
    uint32_t *order = scratch_alloc(n->total_count, sizeof *order);
    n->calls->candidates = scratch_alloc(n->total_count, sizeof *n->calls->candidates);
    bool ok = order != NULL && n->calls->candidates != NULL;
    for (uint32_t i = 0; ok && i < n->total_count; i++) {
        if (n->totals[i].top_count > TOP_CALLS_MIN &&
            (cycle_name_flags(&events->names, n->totals[i].name) & never) == 0) {
            order[count++] = i;
        }
    }
    ok = ok && sort_stable(order, count, compare_first, n->totals) &&
         sort_stable(order, count, compare_candidates, n->totals);
    for (uint32_t i = 0; ok && i < count; i++) {
        n->calls->candidates[i] = n->totals[order[i]];
    }
    n->calls->candidate_count = count;
    scratch_free(order);
    return ok;
}

/* ---- all ---- */

static bool nest_all(struct nesting *n, struct cycle_events *events, enum cycle_class class)
{
    size_t names = strtab_count(events->trace->strings);
    n->calls->parent = scratch_none(events->count);
    n->calls->depth = scratch_none(events->count);
    n->open = scratch_calloc(names, sizeof *n->open);
    n->total_of = scratch_none(names);
    bool ok = n->calls->parent != NULL && n->calls->depth != NULL && n->open != NULL &&
              n->total_of != NULL && sort_by_thread(n, class);
    for (uint32_t t = 0; ok && t < events->thread_count; t++) {
        uint32_t first = n->thread_first[t];
        uint32_t count = n->thread_first[t + 1] - first;
        ok = count < 2 || nest_thread(n, n->by_thread + first, count);
    }
    return ok && list_candidates(n, events, class);
}

bool cycle_calls_nest(struct cycle_calls *calls,
                      struct cycle_events *events,
                      enum cycle_class class)
{
    *calls = (struct cycle_calls){.parent = NULL};
    struct nesting n = {.events = events, .calls = calls};
    bool ok = nest_all(&n, events, class);
    SCRATCH_FREE(n.by_thread, n.thread_first, n.open, n.total_of, n.totals);
    if (ok && calls->candidate_count == 0) {
        memset(calls->parent, 0xFF, events->count * sizeof *calls->parent);
        memset(calls->depth, 0xFF, events->count * sizeof *calls->depth);
    }
    return ok;
}

void cycle_calls_free(struct cycle_calls *calls)
{
    SCRATCH_FREE(calls->parent, calls->depth, calls->candidates);
    *calls = (struct cycle_calls){.parent = NULL};
}

uint32_t cycle_calls_prefill(const struct cycle_calls *calls, uint32_t anchor)
{
    const struct call_total *decode = NULL;
    const struct call_total *best = NULL;
    for (uint32_t i = 0; i < calls->candidate_count; i++) {
        if (calls->candidates[i].name == anchor) {
            decode = &calls->candidates[i];
        }
    }
    for (uint32_t i = 0; decode != NULL && i < calls->candidate_count; i++) {
        const struct call_total *total = &calls->candidates[i];
        bool fits = total != decode &&
                    total->top_count <= PREFILL_COUNT_SHARE * decode->top_count &&
                    average_ns(total) > PREFILL_AVERAGE_RATIO * average_ns(decode);
        if (fits && (best == NULL || total->all_ns > best->all_ns)) {
            best = total;
        }
    }
    return best == NULL ? CYCLE_NONE : best->name;
}
