#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"
#include "ingest/index/stages.h"

#include <stdlib.h>

/* ---- which thread's steps count ---- */

struct tally {
    uint32_t count;
    uint32_t first; /* event */
    int64_t total_ns;
};

static bool wins(const struct tally *a, const struct tally *b)
{
    if (a->count != b->count) {
        return a->count > b->count;
    }
    return a->total_ns != b->total_ns ? a->total_ns > b->total_ns : a->first < b->first;
}

/* Of the events that are named as steps. */
static bool thread_with_most(const struct trace_index *index,
                             const uint32_t *marks,
                             uint32_t mark_count,
                             uint32_t *thread)
{
    struct tally *tallies = scratch_calloc(index->thread_count, sizeof *tallies);
    uint32_t best = 0;
    for (uint32_t i = 0; tallies != NULL && i < mark_count; i++) {
        struct tally *tally = &tallies[index_thread(index, marks[i])];
        int64_t dur_ns = trace_dur_ns(&index->trace->events, marks[i]);
        tally->first = tally->count++ == 0 ? marks[i] : tally->first;
        tally->total_ns = saturating_add(tally->total_ns, dur_ns);
    }
    for (uint32_t t = 1; tallies != NULL && t < index->thread_count; t++) {
        best = wins(&tallies[t], &tallies[best]) ? t : best;
    }
    bool ok = tallies != NULL;
    scratch_free(tallies);
    *thread = best;
    return ok;
}

/* ---- the steps ---- */

static struct index_step step_of(const struct trace_index *index, uint32_t event)
{
    const struct trace_events *events = &index->trace->events;
    int64_t start_ns = events->ts_ns[event];
    return (struct index_step){event, start_ns,
                               saturating_add(start_ns, trace_dur_ns(events, event))};
}

/* `last`: by name the last step that is kept. Of two that overlap the shorter goes: its event
 * becomes INDEX_NONE. False without memory. */
static bool add_step(struct trace_index *index, struct id_map *last, uint32_t event)
{
    struct index_step step = step_of(index, event);
    struct id_slot *slot = id_map_add(last, index->trace->events.name[event]);
    if (slot == NULL) {
        return false;
    }
    struct index_step *before = slot->value == ID_MAP_NONE ? NULL : &index->steps[slot->value];
    if (before != NULL && before->end_ns > step.start_ns) {
        if (step.end_ns - step.start_ns <= before->end_ns - before->start_ns) {
            return true;
        }
        before->event = INDEX_NONE;
    }
    slot->value = index->step_count;
    index->steps[index->step_count++] = step;
    return true;
}

static void drop_shorter(struct trace_index *index)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < index->step_count; i++) {
        index->steps[kept] = index->steps[i];
        kept += index->steps[i].event != INDEX_NONE;
    }
    index->step_count = kept;
}

/* What is no step after all is an annotation. */
static void mark_steps(struct trace_index *index, const uint32_t *marks, uint32_t mark_count)
{
    for (uint32_t i = 0; i < mark_count; i++) {
        index->class[marks[i]] = INDEX_ANNOTATION;
    }
    for (uint32_t i = 0; i < index->step_count; i++) {
        index->class[index->steps[i].event] = INDEX_STEP;
    }
    index->class_count[INDEX_ANNOTATION] += mark_count - index->step_count;
    index->class_count[INDEX_STEP] = index->step_count;
}

static bool list_steps(struct trace_index *index, struct index_range range)
{
    struct id_map last;
    id_map_init(&last);
    bool ok = true;
    for (uint32_t i = range.first; ok && i < range.end; i++) {
        uint32_t event = index->in_order[i];
        ok = index->class[event] != INDEX_STEP || add_step(index, &last, event);
    }
    id_map_free(&last);
    drop_shorter(index);
    return ok;
}

/* ---- the step of each event ---- */

/* Events of a thread stand in order of start, as do the stretches; of many threads each may pass
 * over many stretches, so that they are not walked one by one. */
static void mark_thread(struct trace_index *index, const struct step_map *map, uint32_t thread)
{
    struct index_range range = index->threads[thread].events;
    uint32_t next = 0;
    uint32_t step = INDEX_NONE;
    for (uint32_t i = range.first; i < range.end; i++) {
        uint32_t event = index->in_order[i];
        int64_t at_ns = index->trace->events.ts_ns[event];
        if (next < map->count && map->from_ns[next] <= at_ns) {
            next = step_map_begun(map, next + 1, at_ns);
            step = map->step[next - 1];
        }
        index->step[event] = step;
    }
}

/* What is named as a step, in file order; to be freed. NULL without memory. */
static uint32_t *list_marks(const struct trace_index *index, uint32_t count)
{
    uint32_t *marks = scratch_alloc(count, sizeof *marks);
    uint32_t listed = 0;
    for (uint32_t i = 0; marks != NULL && listed < count; i++) {
        if (index->class[i] == INDEX_STEP) {
            marks[listed++] = i;
        }
    }
    return marks;
}

static bool mark_events(struct trace_index *index)
{
    struct step_map map;
    bool ok = step_map_build(&map, index->steps, index->step_count);
    for (uint32_t t = 0; ok && t < index->thread_count; t++) {
        mark_thread(index, &map, t);
    }
    for (uint32_t i = 0; ok && i < index->device_count; i++) {
        uint32_t event = index->device_work[i];
        uint32_t call = index->launch[event];
        index->step[event] = call == INDEX_NONE ? INDEX_NONE : index->step[call];
    }
    step_map_free(&map);
    return ok;
}

static bool find_profiler_steps(struct trace_index *index)
{
    uint32_t mark_count = index->class_count[INDEX_STEP];
    uint32_t thread = 0;
    uint32_t *marks = list_marks(index, mark_count);
    index->steps = scratch_alloc(mark_count, sizeof *index->steps);
    bool ok = marks != NULL && index->steps != NULL &&
              thread_with_most(index, marks, mark_count, &thread) &&
              list_steps(index, index->threads[thread].events);
    if (ok) {
        mark_steps(index, marks, mark_count);
    }
    scratch_free(marks);
    return ok;
}

/* ---- steps of a serving engine ---- */

/* By start; the longer first, so that a step stands before those inside it. */
ORDER_BY(compare_steps, struct index_step, ORDER_UP(start_ns), ORDER_DOWN(end_ns), ORDER_UP(event))

/* Once there is a detailed one, only those count: the others lie inside them. */
static bool
find_engine_steps(const struct trace_index *index, struct index_step **out, size_t *count)
{
    struct engine_annotation said;
    size_t cap = 0;
    bool has_detailed = false;
    for (uint32_t i = 0; i < index->trace->events.count; i++) {
        if (!index_engine_step(index, i, &said) || (has_detailed && !said.is_detailed)) {
            continue;
        }
        if (said.is_detailed && !has_detailed) {
            has_detailed = true;
            *count = 0;
        }
        struct index_step *grown = scratch_grow(*out, *count, &cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        *out = grown;
        grown[(*count)++] = step_of(index, i);
    }
    return true;
}

bool index_engine_steps(const struct trace_index *index, struct index_step **out, uint32_t *count)
{
    size_t found = 0;
    *out = NULL;
    bool ok = find_engine_steps(index, out, &found);
    if (found > 0) {
        qsort(*out, found, sizeof **out, compare_steps);
    }
    *count = (uint32_t)found;
    return ok;
}

static bool use_engine_steps(struct trace_index *index)
{
    bool ok = index_engine_steps(index, &index->steps, &index->step_count);
    index->has_engine_steps = index->step_count > 0;
    for (uint32_t i = 0; ok && i < index->step_count; i++) {
        index->class[index->steps[i].event] = INDEX_STEP;
    }
    index->class_count[INDEX_ANNOTATION] -= index->step_count;
    index->class_count[INDEX_STEP] = index->step_count;
    return ok;
}

bool index_engine_step(const struct trace_index *index,
                       uint32_t event,
                       struct engine_annotation *out)
{
    enum index_class class = index_class(index, event);
    return (class == INDEX_ANNOTATION || class == INDEX_STEP) &&
           engine_annotation_read(
               strtab_text(index->trace->strings, index->trace->events.name[event]), out);
}

bool index_find_steps(struct trace_index *index)
{
    bool ok =
        index->class_count[INDEX_STEP] > 0 ? find_profiler_steps(index) : use_engine_steps(index);
    return ok && (index->step_count == 0 || mark_events(index));
}
