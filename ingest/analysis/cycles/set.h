/* The cycles that were found, and the pieces of events in each of them. */
#ifndef KS_ANALYSIS_CYCLES_SET_H
#define KS_ANALYSIS_CYCLES_SET_H

#include "ingest/analysis/cycles/events.h"
#include "ingest/analysis/cycles/owners.h"
#include "ingest/base/attr.h"
#include "ingest/index/engine_annotation.h"
#include "ingest/model/results/cycles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- cycles of a serving engine: its annotated steps of one phase [DEV-4i] ---- */

#define CYCLE_ENGINE_TEXT_BYTES 32

/* The steps of an engine in a phase. */
struct cycle_engine {
    enum engine engine;
    enum engine_phase phase;
    bool is_detailed;                   /* then only detailed annotations are steps [DEV-4c] */
    char text[CYCLE_ENGINE_TEXT_BYTES]; /* "vllm:decode" */
};

/* The phase that takes most time, of equal ones the first, if the trace has at least three steps.
 * False: it has not. */
bool cycle_engine_find(struct cycle_engine *out, const struct cycle_events *events) KS_MUST_USE;
/* The phase of that name, as in `text`. False: no step of the trace is of it. */
bool cycle_engine_named(struct cycle_engine *out,
                        const struct cycle_events *events,
                        const char *text) KS_MUST_USE;

/* ---- the set ---- */

/* More steps than this through the list of cycles, for events that overlap many of them, and a
 * trace is taken to be nonsense: it then has no cycles. */
#define CYCLE_OVERLAPS_MAX ((uint64_t)1 << 27)
/* The same for pieces that count, over one an event. */
#define CYCLE_PIECES_MORE_MAX ((uint32_t)1 << 22)

struct cycle {
    int64_t start_ns; /* boundary */
    int64_t end_ns;
    int64_t first_ns; /* its time: what the Python calls in it span; start > end: none */
    int64_t last_ns;
    int64_t window_start_ns; /* what all its events span: where counters are looked for */
    int64_t window_end_ns;
    uint32_t name;       /* string id of the anchor; CYCLE_NONE: ProfilerStep, or see cycle_set */
    uint32_t mark;       /* position of the annotation that the cycle is, if it is one */
    uint32_t host;       /* the host of its events, CYCLE_NONE: none of them has one */
    bool has_many_hosts; /* there are several */
    bool is_settled;     /* false: neither prefill nor decode was found for it */
    enum cycle_kind kind;
    uint32_t number;
};

/* Numbers of events, which cycles are fewer than, keep one bit for marks. */
#define CYCLE_INDEX_MAX ((uint32_t)INT32_MAX)
#define CYCLE_CUT ((uint32_t)1 << 31)

/* An event that counts, or the part of it that lies in a cycle. */
struct cycle_piece {
    uint32_t cycle : 31; /* index */
    uint32_t is_cut : 1; /* at the boundary of the cycle */
    uint32_t at;
};

struct cycle_piece_times {
    int64_t start_ns;
    int64_t end_ns;
    int64_t dur_ns; /* of operators: self time */
};

struct cycle_set {
    struct cycle *items; /* by start */
    uint32_t count;
    struct cycle_piece *pieces; /* until they are sorted, in order of their arrival */
    uint32_t piece_count;
    size_t piece_cap;
    uint32_t piece_max;
    uint32_t *by_cycle; /* positions, CYCLE_CUT: by_cycle[first_piece[c] .. first_piece[c + 1]) */
    uint32_t *first_piece;
    const int64_t *self_ns; /* by row: of operators; not owned */
    uint64_t overlaps;
    bool is_nonsense;                     /* a limit was reached */
    char engine[CYCLE_ENGINE_TEXT_BYTES]; /* name of the anchor where it is an engine's phase */
};

void cycle_set_free(struct cycle_set *set);

/* Cycles of the anchors (cycle_bounds.c). False without memory. */
bool cycle_set_bound(struct cycle_set *set,
                     struct cycle_owners *owners,
                     const struct cycle_events *events,
                     bool is_typed) KS_MUST_USE;
/* What is in each cycle (cycle_fill.c) [CMP-10.cycles.4] [CMP-10a.boundaries]. */
bool cycle_set_fill(struct cycle_set *set,
                    struct cycle_events *events,
                    const struct cycle_owners *owners,
                    const int64_t *self_ns) KS_MUST_USE;
/* Gives kinds to cycles that have none, from their neighbours; drops those at the beginning that
 * get none [CMP-10a.kinds.4]. Must come after cycle_set_fill and before cycle_set_sort. */
void cycle_set_settle(struct cycle_set *set);
/* Which events are cycles. */
struct cycle_marks {
    const struct cycle_engine *engine; /* its steps; NULL: */
    uint32_t name; /* the events of that name; CYCLE_NONE: the ProfilerStep#N annotations */
};
/* Cycles that are the intervals of these events, in the process that has most of them. They hold
 * what starts in them, device work where its call starts. Numbered by start, from 1
 * (cycle_steps.c); sorted. False without memory. */
bool cycle_set_steps(struct cycle_set *set,
                     struct cycle_events *events,
                     const struct cycle_marks *marks,
                     const int64_t *self_ns) KS_MUST_USE;
/* Fills by_cycle from the pieces, each cycle's in the order of their arrival. */
bool cycle_set_sort(struct cycle_set *set) KS_MUST_USE;

/* A piece by its place in by_cycle. */
static inline struct cycle_piece
cycle_piece_at(const struct cycle_set *set, uint32_t cycle, uint32_t place)
{
    uint32_t entry = set->by_cycle[place];
    return (struct cycle_piece){.cycle = cycle & CYCLE_INDEX_MAX,
                                .is_cut = (entry & CYCLE_CUT) != 0,
                                .at = entry & ~CYCLE_CUT};
}

struct cycle_piece_times cycle_piece_times(const struct cycle_set *set,
                                           const struct cycle_events *events,
                                           const struct cycle_piece *piece);

/* Its dur_ns alone. */
static inline int64_t cycle_piece_dur_ns(const struct cycle_set *set,
                                         const struct cycle_events *events,
                                         const struct cycle_piece *piece)
{
    if (events->class[piece->at] == CYCLE_CLASS_OPERATOR) {
        return set->self_ns[events->row[piece->at]];
    }
    return piece->is_cut ? cycle_piece_times(set, events, piece).dur_ns
                         : trace_dur_ns(&events->trace->events, events->row[piece->at]);
}

/* Start and length of the cycle's time; of its boundary where no Python call is in it. */
int64_t cycle_time_start(const struct cycle *cycle);
int64_t cycle_time_ns(const struct cycle *cycle);

/* Appends a piece. False without memory; the limit is not an error. */
bool cycle_set_add(struct cycle_set *set, const struct cycle_piece *piece) KS_MUST_USE;

/* The event is in the cycle from start to end: its window and hosts, which are told where there are
 * counters only. */
void cycle_take(struct cycle *cycle,
                const struct cycle_events *events,
                uint32_t at,
                int64_t start_ns,
                int64_t end_ns);

/* Self times of operators by row: without the operators that lie in them (cycle_steps.c). NULL
 * without memory. */
int64_t *cycle_self_times(const struct trace_index *index) KS_MUST_USE;

#endif
