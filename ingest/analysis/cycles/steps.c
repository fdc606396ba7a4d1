/* Cycles that an annotation marks from end to end: profiler steps, requests, or whatever event the
 * user names. */
#include "ingest/analysis/cycles/rows/types.h"
#include "ingest/analysis/cycles/set.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <stdio.h>
#include <string.h>

#define STEPS_MIN 3

/* ---- steps of a serving engine ---- */

struct tally {
    uint32_t count;
    uint32_t first; /* position */
    int64_t total_ns;
};

struct tallies {
    struct tally of[ENGINE_COUNT][ENGINE_PHASE_COUNT];
    uint32_t count;
    bool is_detailed;
};

static bool
read_step(const struct cycle_events *events, uint32_t at, struct engine_annotation *said)
{
    return index_engine_step(events->index, events->row[at], said);
}

/* Once there is a detailed one, only those count [DEV-4c]. */
static struct tallies count_steps(const struct cycle_events *events)
{
    struct tallies tallies = {.count = 0};
    struct engine_annotation said;
    for (uint32_t at = 0; at < events->count; at++) {
        if (!read_step(events, at, &said) || (tallies.is_detailed && !said.is_detailed)) {
            continue;
        }
        if (said.is_detailed && !tallies.is_detailed) {
            tallies = (struct tallies){.is_detailed = true};
        }
        struct tally *tally = &tallies.of[said.engine][said.phase];
        int64_t dur_ns = saturating_sub(cycle_end_ns(events, at), cycle_start_ns(events, at));
        tally->first = tally->count == 0 ? at : tally->first;
        tally->total_ns = saturating_add(tally->total_ns, dur_ns);
        tally->count++;
        tallies.count++;
    }
    return tallies;
}

static struct cycle_engine
name_phase(const struct tallies *tallies, enum engine engine, enum engine_phase phase)
{
    struct cycle_engine out = {
        .engine = engine, .phase = phase, .is_detailed = tallies->is_detailed};
    (void)snprintf(out.text, sizeof out.text, "%s:%s", engine_text(engine),
                   engine_phase_text(phase));
    return out;
}

static bool takes_more(const struct tally *a, const struct tally *b)
{
    return a->count > 0 && (b->count == 0 || a->total_ns > b->total_ns ||
                            (a->total_ns == b->total_ns && a->first < b->first));
}

bool cycle_engine_find(struct cycle_engine *out, const struct cycle_events *events)
{
    const struct tallies tallies = count_steps(events);
    const struct tally *best = &tallies.of[0][0];
    *out = name_phase(&tallies, 0, 0);
    for (int engine = 0; engine < ENGINE_COUNT; engine++) {
        for (int phase = 0; phase < ENGINE_PHASE_COUNT; phase++) {
            const struct tally *tally = &tallies.of[engine][phase];
            if (takes_more(tally, best)) {
                best = tally;
                *out = name_phase(&tallies, (enum engine)engine, (enum engine_phase)phase);
            }
        }
    }
    return tallies.count >= STEPS_MIN;
}

bool cycle_engine_named(struct cycle_engine *out,
                        const struct cycle_events *events,
                        const char *text)
{
    const struct tallies tallies = count_steps(events);
    for (int engine = 0; engine < ENGINE_COUNT; engine++) {
        for (int phase = 0; phase < ENGINE_PHASE_COUNT; phase++) {
            *out = name_phase(&tallies, (enum engine)engine, (enum engine_phase)phase);
            if (strcmp(out->text, text) == 0) {
                return tallies.of[engine][phase].count > 0;
            }
        }
    }
    return false;
}

static bool
is_engine_step(const struct cycle_engine *engine, const struct cycle_events *events, uint32_t at)
{
    struct engine_annotation said;
    return read_step(events, at, &said) && said.engine == engine->engine &&
           said.phase == engine->phase && (said.is_detailed || !engine->is_detailed);
}

static enum cycle_kind kind_of_engine(const struct cycle_engine *engine)
{
    static const enum cycle_kind kinds[ENGINE_PHASE_COUNT] = {
        [ENGINE_PREFILL] = CYCLE_PREFILL,     [ENGINE_DECODE] = CYCLE_DECODE,
        [ENGINE_MIXED] = CYCLE_MIXED,         [ENGINE_IDLE] = CYCLE_IDLE,
        [ENGINE_DENOISING] = CYCLE_DIFFUSION,
    };
    return kinds[engine->phase];
}

/* ---- the marks ---- */

static bool are_profiler_steps(const struct cycle_marks *of)
{
    return of->engine == NULL && of->name == CYCLE_NONE;
}

static bool is_mark(struct cycle_events *events, uint32_t at, const struct cycle_marks *of)
{
    enum cycle_class class = (enum cycle_class)events->class[at];
    if (of->engine != NULL) {
        return is_engine_step(of->engine, events, at);
    }
    if (are_profiler_steps(of)) {
        return index_class(events->index, events->row[at]) == INDEX_STEP;
    }
    return cycle_name(events, at) == of->name && class != CYCLE_CLASS_COUNTER &&
           class != CYCLE_CLASS_SILENT;
}

/* The process with most of the marks, of equal ones the lowest pid. CYCLE_NONE without memory. */
static uint32_t
find_process(const struct cycle_events *events, const uint32_t *marks, uint32_t count)
{
    uint32_t *counts = scratch_calloc(events->process_count, sizeof *counts);
    if (counts == NULL) {
        return CYCLE_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        counts[cycle_process(events, marks[i])]++;
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < events->process_count; i++) {
        bool is_better = counts[i] > counts[best] ||
                         (counts[i] == counts[best] && events->pid[i] < events->pid[best]);
        best = is_better ? i : best;
    }
    scratch_free(counts);
    return best;
}

static struct cycle step_between(int64_t start_ns, int64_t end_ns, const struct cycle_marks *of)
{
    return (struct cycle){.start_ns = start_ns,
                          .end_ns = end_ns,
                          .first_ns = start_ns,
                          .last_ns = end_ns,
                          .window_start_ns = start_ns,
                          .window_end_ns = end_ns,
                          .name = of->engine == NULL ? of->name : CYCLE_NONE,
                          .host = CYCLE_NONE,
                          .is_settled = true,
                          .kind = of->engine == NULL ? CYCLE_STEP : kind_of_engine(of->engine)};
}

static int compare_starts(uint32_t a, uint32_t b, const void *ctx)
{
    int64_t start_a = cycle_start_ns(ctx, a);
    int64_t start_b = cycle_start_ns(ctx, b);
    return (start_a > start_b) - (start_a < start_b);
}

struct marks {
    uint32_t *at;
    uint32_t count;
    size_t cap;
};

static bool
find_marks(struct cycle_events *events, const struct cycle_marks *of, struct marks *marks)
{
    for (uint32_t at = 0; at < events->count; at++) {
        if (!is_mark(events, at, of)) {
            continue;
        }
        uint32_t *grown = scratch_grow(marks->at, marks->count, &marks->cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        marks->at = grown;
        grown[marks->count++] = at;
    }
    return true;
}

/* Positions of the marks by start, of one process. False without memory; to be freed in either
 * case. */
static bool
list_marks(struct cycle_events *events, const struct cycle_marks *of, struct marks *marks)
{
    *marks = (struct marks){.at = NULL};
    if (!find_marks(events, of, marks)) {
        return false;
    }
    uint32_t process = find_process(events, marks->at, marks->count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < marks->count; i++) {
        marks->at[kept] = marks->at[i];
        kept += cycle_process(events, marks->at[i]) == process;
    }
    marks->count = kept;
    return process != CYCLE_NONE && sort_stable(marks->at, kept, compare_starts, events);
}

/* Where a mark keeps others out: requests of several threads overlap, steps are one row. */
static uint32_t
lane_of(const struct cycle_events *events, uint32_t at, const struct cycle_marks *of)
{
    return are_profiler_steps(of) ? 0 : cycle_track(events, at)->thread;
}

/* Marks inside another one of their lane, and empty ones, are none. */
static bool
find_steps(struct cycle_set *set, struct cycle_events *events, const struct cycle_marks *of)
{
    struct marks marks;
    uint32_t *latest = scratch_none((size_t)events->thread_count + 1);
    bool ok = list_marks(events, of, &marks) && latest != NULL;
    set->items = ok ? scratch_calloc(marks.count, sizeof *set->items) : NULL;
    ok = ok && set->items != NULL;
    for (uint32_t i = 0; ok && i < marks.count; i++) {
        int64_t start_ns = cycle_start_ns(events, marks.at[i]);
        int64_t end_ns = cycle_end_ns(events, marks.at[i]);
        uint32_t *before = &latest[lane_of(events, marks.at[i], of)];
        bool is_inside = *before != CYCLE_NONE && end_ns <= set->items[*before].end_ns;
        if (start_ns < end_ns && !is_inside) {
            struct cycle *step = &set->items[set->count];
            *step = step_between(start_ns, end_ns, of);
            step->mark = marks.at[i];
            *before = set->count++;
            step->number = set->count;
        }
    }
    SCRATCH_FREE(marks.at, latest);
    return ok;
}

/* ---- what is in them ---- */

/* The last step that starts at or before the time, if the time lies in it; CYCLE_NONE. */
static uint32_t step_at(const struct cycle_set *set, int64_t time_ns)
{
    uint32_t low = (uint32_t)order_i64_below(set->items, set->count, sizeof *set->items,
                                             offsetof(struct cycle, start_ns), time_ns, true);
    return low > 0 && time_ns < set->items[low - 1].end_ns ? low - 1 : CYCLE_NONE;
}

/* The same, tried first with the step of the event before. */
static uint32_t step_near(const struct cycle_set *set, uint32_t step, int64_t time_ns)
{
    bool is_same = step != CYCLE_NONE && set->items[step].start_ns <= time_ns &&
                   time_ns < set->items[step].end_ns &&
                   (step + 1 == set->count || time_ns < set->items[step + 1].start_ns);
    return is_same ? step : step_at(set, time_ns);
}

/* By row: the step in which the event starts. The event's own thread comes first, for requests
 * of several threads overlap. Needs events in order of time. NULL without memory. */
static uint32_t *steps_by_thread(const struct cycle_set *set, const struct cycle_events *events)
{
    uint32_t *step_of = scratch_none(events->trace->events.count);
    uint32_t *on_thread = scratch_none(events->thread_count);
    uint32_t begun = 0;
    for (uint32_t at = 0; step_of != NULL && on_thread != NULL && at < events->count; at++) {
        uint32_t *own = &on_thread[cycle_track(events, at)->thread];
        int64_t time_ns = cycle_start_ns(events, at);
        if (begun < set->count && set->items[begun].mark == at) {
            *own = begun++;
        }
        bool is_in_own = *own != CYCLE_NONE && time_ns < set->items[*own].end_ns;
        step_of[events->row[at]] = is_in_own ? *own : step_at(set, time_ns);
    }
    if (on_thread == NULL) {
        scratch_free(step_of);
        return NULL;
    }
    scratch_free(on_thread);
    return step_of;
}

static bool counts(const struct cycle_events *events, uint32_t at)
{
    enum cycle_class class = (enum cycle_class)events->class[at];
    return class != CYCLE_CLASS_COUNTER && class != CYCLE_CLASS_SILENT &&
           cycle_type_of(events, at) != CYCLE_TYPE_NONE;
}

/* By position: the step that the event counts in, CYCLE_NONE. `step_of` may be NULL: steps follow
 * one another. NULL without memory. */
static uint32_t *
find_counting(struct cycle_set *set, const struct cycle_events *events, const uint32_t *step_of)
{
    uint32_t step = CYCLE_NONE;
    uint32_t *counting = scratch_alloc(events->count, sizeof *counting);
    for (uint32_t at = 0; counting != NULL && at < events->count; at++) {
        counting[at] = CYCLE_NONE;
        if (!counts(events, at)) {
            continue;
        }
        uint32_t asker = cycle_asking_row(events, at);
        step = step_of == NULL ? step_near(set, step, cycle_row_start_ns(events, asker))
                               : step_of[asker];
        counting[at] = step;
        if (step != CYCLE_NONE) {
            cycle_take(&set->items[step], events, at, cycle_start_ns(events, at),
                       cycle_end_ns(events, at));
            set->first_piece[step + 2]++;
        }
    }
    return counting;
}

static bool
fill_steps(struct cycle_set *set, const struct cycle_events *events, const uint32_t *step_of)
{
    set->first_piece = scratch_calloc((size_t)set->count + 2, sizeof *set->first_piece);
    uint32_t *counting = set->first_piece == NULL ? NULL : find_counting(set, events, step_of);
    if (counting == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        set->first_piece[i + 2] += set->first_piece[i + 1];
    }
    set->piece_count = set->first_piece[set->count + 1];
    set->by_cycle = scratch_alloc(set->piece_count, sizeof *set->by_cycle);
    for (uint32_t at = 0; set->by_cycle != NULL && at < events->count; at++) {
        if (counting[at] != CYCLE_NONE) {
            set->by_cycle[set->first_piece[counting[at] + 1]++] = at;
        }
    }
    scratch_free(counting);
    return set->by_cycle != NULL;
}

bool cycle_set_steps(struct cycle_set *set,
                     struct cycle_events *events,
                     const struct cycle_marks *marks,
                     const int64_t *self_ns)
{
    *set = (struct cycle_set){.self_ns = self_ns};
    if (marks->engine != NULL) {
        memcpy(set->engine, marks->engine->text, sizeof set->engine);
    }
    if (!find_steps(set, events, marks)) {
        return false;
    }
    if (are_profiler_steps(marks)) {
        return fill_steps(set, events, NULL);
    }
    uint32_t *step_of = steps_by_thread(set, events);
    bool ok = step_of != NULL && fill_steps(set, events, step_of);
    scratch_free(step_of);
    return ok;
}

/* ---- self times ---- */

int64_t *cycle_self_times(const struct trace_index *index)
{
    const struct trace_events *events = &index->trace->events;
    int64_t *self_ns = scratch_calloc(events->count, sizeof *self_ns);
    int64_t *covered_ns = scratch_alloc(events->count, sizeof *covered_ns);
    bool ok = self_ns != NULL && covered_ns != NULL;
    for (uint32_t i = 0; ok && i < index->count; i++) {
        uint32_t event = index->in_order[i];
        if (index_class(index, event) != INDEX_OPERATOR) {
            continue;
        }
        int64_t start_ns = events->ts_ns[event];
        int64_t end_ns = saturating_add(start_ns, trace_dur_ns(events, event));
        uint32_t around = index->op[event];
        self_ns[event] = saturating_sub(end_ns, start_ns);
        covered_ns[event] = start_ns;
        if (around != INDEX_NONE && end_ns > covered_ns[around]) {
            self_ns[around] -= saturating_sub(end_ns, i64_max(start_ns, covered_ns[around]));
            covered_ns[around] = end_ns;
        }
    }
    scratch_free(covered_ns);
    if (!ok) {
        scratch_free(self_ns);
        return NULL;
    }
    return self_ns;
}
