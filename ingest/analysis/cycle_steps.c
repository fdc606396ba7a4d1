/* Cycles that an annotation marks from end to end: profiler steps, requests, or whatever event the
 * user names. */
#include "ingest/analysis/cycle_set.h"
#include "ingest/analysis/cycle_types.h"
#include "ingest/analysis/ns.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/sort.h"

/* ---- the marks ---- */

static bool is_mark(struct cycle_events *events, uint32_t at, uint32_t name)
{
    enum cycle_class class = (enum cycle_class)events->class[at];
    if (name == CYCLE_NONE) {
        return class == CYCLE_CLASS_ANNOTATION &&
               (cycle_name_flags(&events->names, cycle_name(events, at)) & CYCLE_NAME_STEP) != 0;
    }
    return cycle_name(events, at) == name && class != CYCLE_CLASS_COUNTER &&
           class != CYCLE_CLASS_SILENT;
}

/* The process with most marks, of equal ones the lowest pid. *count: its marks. False without
 * memory. */
static bool
find_process(struct cycle_events *events, uint32_t name, uint32_t *process, uint32_t *count)
{
    uint32_t *counts = scratch_calloc(events->process_count, sizeof *counts);
    if (counts == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < events->count; at++) {
        counts[cycle_process(events, at)] += is_mark(events, at, name);
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < events->process_count; i++) {
        bool is_better = counts[i] > counts[best] ||
                         (counts[i] == counts[best] && events->pid[i] < events->pid[best]);
        best = is_better ? i : best;
    }
    *process = best;
    *count = events->process_count == 0 ? 0 : counts[best];
    scratch_free(counts);
    return true;
}

static struct cycle step_between(int64_t start_ns, int64_t end_ns, uint32_t name)
{
    return (struct cycle){.start_ns = start_ns,
                          .end_ns = end_ns,
                          .first_ns = start_ns,
                          .last_ns = end_ns,
                          .window_start_ns = start_ns,
                          .window_end_ns = end_ns,
                          .name = name,
                          .host = CYCLE_NONE,
                          .is_settled = true,
                          .kind = CYCLE_STEP};
}

static int compare_starts(uint32_t a, uint32_t b, const void *ctx)
{
    int64_t start_a = cycle_start_ns(ctx, a);
    int64_t start_b = cycle_start_ns(ctx, b);
    return (start_a > start_b) - (start_a < start_b);
}

/* Positions of the marks by start. NULL without memory. */
static uint32_t *list_marks(struct cycle_events *events, uint32_t name, uint32_t *count)
{
    uint32_t process;
    if (!find_process(events, name, &process, count)) {
        return NULL;
    }
    uint32_t *marks = scratch_alloc(*count, sizeof *marks);
    uint32_t found = 0;
    for (uint32_t at = 0; marks != NULL && at < events->count && found < *count; at++) {
        if (cycle_process(events, at) == process && is_mark(events, at, name)) {
            marks[found++] = at;
        }
    }
    if (marks != NULL && !sort_stable(marks, *count, compare_starts, events)) {
        scratch_free(marks);
        return NULL;
    }
    return marks;
}

/* Where a mark keeps others out: requests of several threads overlap, steps are one row. */
static uint32_t lane_of(const struct cycle_events *events, uint32_t at, uint32_t name)
{
    return name == CYCLE_NONE ? 0 : cycle_track(events, at)->thread;
}

/* Marks inside another one of their lane, and empty ones, are none. */
static bool find_steps(struct cycle_set *set, struct cycle_events *events, uint32_t name)
{
    uint32_t count;
    uint32_t *marks = list_marks(events, name, &count);
    uint32_t *latest = scratch_none((size_t)events->thread_count + 1);
    set->items = scratch_calloc(marks == NULL ? 0 : count, sizeof *set->items);
    bool ok = marks != NULL && latest != NULL && set->items != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        int64_t start_ns = cycle_start_ns(events, marks[i]);
        int64_t end_ns = cycle_end_ns(events, marks[i]);
        uint32_t *before = &latest[lane_of(events, marks[i], name)];
        bool is_inside = *before != CYCLE_NONE && end_ns <= set->items[*before].end_ns;
        if (start_ns < end_ns && !is_inside) {
            struct cycle *step = &set->items[set->count];
            *step = step_between(start_ns, end_ns, name);
            step->mark = marks[i];
            *before = set->count++;
            step->number = set->count;
        }
    }
    scratch_free(marks);
    scratch_free(latest);
    return ok;
}

/* ---- what is in them ---- */

/* The last step that starts at or before the time, if the time lies in it; CYCLE_NONE. */
static uint32_t step_at(const struct cycle_set *set, int64_t time_ns)
{
    uint32_t low = 0;
    uint32_t high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->items[middle].start_ns <= time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
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

/* By position: the step in which the event starts. The event's own thread comes first, for requests
 * of several threads overlap. Needs events in order of time. NULL without memory. */
static uint32_t *steps_by_thread(const struct cycle_set *set, const struct cycle_events *events)
{
    uint32_t *step_of = scratch_none(events->count);
    uint32_t *on_thread = scratch_none(events->thread_count);
    uint32_t begun = 0;
    for (uint32_t at = 0; step_of != NULL && on_thread != NULL && at < events->count; at++) {
        uint32_t *own = &on_thread[cycle_track(events, at)->thread];
        int64_t time_ns = cycle_start_ns(events, at);
        if (begun < set->count && set->items[begun].mark == at) {
            *own = begun++;
        }
        bool is_in_own = *own != CYCLE_NONE && time_ns < set->items[*own].end_ns;
        step_of[at] = is_in_own ? *own : step_at(set, time_ns);
    }
    if (on_thread == NULL) {
        scratch_free(step_of);
        return NULL;
    }
    scratch_free(on_thread);
    return step_of;
}

/* The event that decides in which step this one is: of device work, the call that started it. */
static uint32_t asked_by(const struct cycle_events *events, uint32_t at)
{
    bool is_launched = events->class[at] == CYCLE_CLASS_GPU && events->launch != NULL &&
                       events->launch[at] != CYCLE_NONE;
    return is_launched ? events->launch[at] : at;
}

static bool
add_to_step(struct cycle_set *set, const struct cycle_events *events, uint32_t step, uint32_t at)
{
    const struct cycle_piece piece = {.cycle = step & CYCLE_INDEX_MAX, .at = at};
    cycle_take(&set->items[step], events, at, cycle_start_ns(events, at), cycle_end_ns(events, at));
    return cycle_set_add(set, &piece);
}

/* `step_of` may be NULL: steps follow one another. */
static bool fill_steps(struct cycle_set *set, struct cycle_events *events, const uint32_t *step_of)
{
    uint32_t step = CYCLE_NONE;
    /* At most one piece an event; what is not written takes no memory. */
    set->piece_cap = events->count;
    set->pieces = scratch_alloc(events->count, sizeof *set->pieces);
    if (set->pieces == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < events->count; at++) {
        enum cycle_class class = (enum cycle_class)events->class[at];
        bool is_event = class != CYCLE_CLASS_COUNTER && class != CYCLE_CLASS_SILENT;
        if (!is_event || cycle_type_of(events, at) == CYCLE_TYPE_NONE) {
            continue;
        }
        uint32_t asker = asked_by(events, at);
        step =
            step_of == NULL ? step_near(set, step, cycle_start_ns(events, asker)) : step_of[asker];
        if (step != CYCLE_NONE && !add_to_step(set, events, step, at)) {
            return false;
        }
    }
    return true;
}

bool cycle_set_steps(struct cycle_set *set,
                     struct cycle_events *events,
                     uint32_t name,
                     const int64_t *self_ns)
{
    *set = (struct cycle_set){.piece_max = events->count, .self_ns = self_ns};
    if (!find_steps(set, events, name)) {
        return false;
    }
    if (name == CYCLE_NONE) {
        return set->count == 0 || fill_steps(set, events, NULL);
    }
    uint32_t *step_of = steps_by_thread(set, events);
    bool ok = step_of != NULL && fill_steps(set, events, step_of);
    scratch_free(step_of);
    return ok;
}

/* ---- self times ---- */

static void take_self_times(const struct cycle_events *events,
                            uint32_t *open,
                            uint32_t *below,
                            int64_t *self_ns)
{
    for (uint32_t at = 0; at < events->count; at++) {
        if (events->class[at] != CYCLE_CLASS_OPERATOR) {
            continue;
        }
        uint32_t *top = &open[cycle_track(events, at)->thread];
        while (*top != CYCLE_NONE && cycle_start_ns(events, at) >= cycle_end_ns(events, *top)) {
            *top = below[*top];
        }
        self_ns[at] = ns_sub(cycle_end_ns(events, at), cycle_start_ns(events, at));
        if (*top != CYCLE_NONE) {
            int64_t end_ns = ns_min(cycle_end_ns(events, at), cycle_end_ns(events, *top));
            self_ns[*top] -= ns_sub(end_ns, cycle_start_ns(events, at));
        }
        below[at] = *top;
        *top = at;
    }
}

int64_t *cycle_self_times(const struct cycle_events *events)
{
    uint32_t *open = scratch_none(events->thread_count);
    uint32_t *below = scratch_alloc(events->count, sizeof *below);
    int64_t *self_ns = scratch_alloc(events->count, sizeof *self_ns);
    bool ok = open != NULL && below != NULL && self_ns != NULL;
    if (ok) {
        take_self_times(events, open, below, self_ns);
    }
    scratch_free(open);
    scratch_free(below);
    if (!ok) {
        scratch_free(self_ns);
        return NULL;
    }
    return self_ns;
}
