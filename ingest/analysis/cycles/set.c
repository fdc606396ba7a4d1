#include "ingest/analysis/cycles/set.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

void cycle_set_free(struct cycle_set *set)
{
    SCRATCH_FREE(set->items, set->pieces, set->by_cycle, set->first_piece);
    *set = (struct cycle_set){.items = NULL};
}

bool cycle_set_add(struct cycle_set *set, const struct cycle_piece *piece)
{
    if (set->piece_count >= set->piece_max) {
        set->is_nonsense = true;
        return true;
    }
    struct cycle_piece *pieces =
        scratch_grow(set->pieces, set->piece_count, &set->piece_cap, sizeof *pieces);
    if (pieces == NULL) {
        return false;
    }
    set->pieces = pieces;
    pieces[set->piece_count++] = *piece;
    return true;
}

void cycle_take(struct cycle *cycle,
                const struct cycle_events *events,
                uint32_t at,
                int64_t start_ns,
                int64_t end_ns)
{
    if (!events->has_counters) {
        return;
    }
    uint32_t host = cycle_host(events, at);
    cycle->window_start_ns = i64_min(cycle->window_start_ns, start_ns);
    cycle->window_end_ns = i64_max(cycle->window_end_ns, end_ns);
    if (host != CYCLE_NONE) {
        cycle->has_many_hosts =
            cycle->has_many_hosts || (cycle->host != CYCLE_NONE && cycle->host != host);
        cycle->host = host;
    }
}

struct cycle_piece_times cycle_piece_times(const struct cycle_set *set,
                                           const struct cycle_events *events,
                                           const struct cycle_piece *piece)
{
    struct cycle_piece_times times = {.start_ns = cycle_start_ns(events, piece->at),
                                      .end_ns = cycle_end_ns(events, piece->at)};
    if (piece->is_cut) {
        const struct cycle *cycle = &set->items[piece->cycle];
        times.start_ns = i64_max(times.start_ns, cycle->start_ns);
        times.end_ns = i64_min(times.end_ns, cycle->end_ns);
    }
    bool is_operator = events->class[piece->at] == CYCLE_CLASS_OPERATOR;
    times.dur_ns = is_operator ? set->self_ns[events->row[piece->at]]
                               : saturating_sub(times.end_ns, times.start_ns);
    return times;
}

int64_t cycle_time_start(const struct cycle *cycle)
{
    return cycle->first_ns <= cycle->last_ns ? cycle->first_ns : cycle->start_ns;
}

int64_t cycle_time_ns(const struct cycle *cycle)
{
    int64_t end_ns = cycle->first_ns <= cycle->last_ns ? cycle->last_ns : cycle->end_ns;
    return saturating_sub(end_ns, cycle_time_start(cycle));
}

/* ---- kinds ---- */

static int64_t distance_ns(const struct cycle *a, const struct cycle *b)
{
    int64_t apart_ns = saturating_sub(cycle_time_ns(a), cycle_time_ns(b));
    return apart_ns < 0 ? saturating_sub(0, apart_ns) : apart_ns;
}

/* From first to last: a neighbour that was settled on the way counts [CMP-10a.kinds.4]. */
void cycle_set_settle(struct cycle_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        struct cycle *cycle = &set->items[i];
        const struct cycle *before = i > 0 && cycle[-1].is_settled ? cycle - 1 : NULL;
        const struct cycle *after = i + 1 < set->count && cycle[1].is_settled ? cycle + 1 : NULL;
        if (cycle->is_settled || (before == NULL && after == NULL)) {
            continue;
        }
        bool takes_before = after == NULL || (before != NULL && distance_ns(cycle, before) <=
                                                                    distance_ns(cycle, after));
        cycle->kind = takes_before ? before->kind : after->kind;
        cycle->is_settled = true;
    }
}

/* ---- order ---- */

bool cycle_set_sort(struct cycle_set *set)
{
    set->by_cycle = scratch_alloc(set->piece_count, sizeof *set->by_cycle);
    set->first_piece = scratch_calloc((size_t)set->count + 2, sizeof *set->first_piece);
    if (set->by_cycle == NULL || set->first_piece == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < set->piece_count; i++) {
        set->first_piece[set->pieces[i].cycle + 2]++;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        set->first_piece[i + 2] += set->first_piece[i + 1];
    }
    for (uint32_t i = 0; i < set->piece_count; i++) {
        const struct cycle_piece *piece = &set->pieces[i];
        set->by_cycle[set->first_piece[piece->cycle + 1]++] =
            piece->at | (piece->is_cut ? CYCLE_CUT : 0);
    }
    scratch_free(set->pieces);
    set->pieces = NULL;
    return true;
}
