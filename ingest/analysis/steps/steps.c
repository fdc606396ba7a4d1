#include "ingest/analysis/steps/steps.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

static void use_index_steps(struct steps *steps, const struct trace_index *index)
{
    for (uint32_t i = 0; i < index->step_count; i++) {
        const struct index_step *from = &index->steps[i];
        steps->items[i] =
            (struct step){.event = from->event, .start = from->start_ns, .end = from->end_ns};
    }
    steps->count = index->step_count;
    steps->has_steps = true;
}

/* Launched work in no step counts in a trace without steps. */
static void count_launches(struct steps *steps, const struct trace_index *index)
{
    const struct trace_events *events = &index->trace->events;
    for (uint32_t i = 0; i < index->launched_count; i++) {
        uint32_t event = index->launched[i];
        uint32_t step = steps->has_steps ? index->step[event] : 0;
        if (step == INDEX_NONE) {
            continue;
        }
        bool is_first = i == 0 || index->launch[index->launched[i - 1]] != index->launch[event];
        steps->items[step].launches += is_first;
        steps->items[step].device_activities++;
        if (steps->has_steps) {
            int64_t end = saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
            steps->window_end = i64_max(steps->window_end, end);
        }
    }
}

bool steps_from_index(struct steps *steps,
                      const struct event_classes *sel,
                      const struct trace_index *index)
{
    *steps = (struct steps){
        .sel = sel, .items = scratch_alloc((size_t)index->step_count + 1, sizeof *steps->items)};
    if (steps->items == NULL) {
        return false;
    }
    if (index->step_count > 0) {
        use_index_steps(steps, index);
    } else {
        steps->items[0] =
            (struct step){.event = STEP_NO_EVENT, .start = sel->first_ns, .end = sel->last_ns};
        steps->count = 1;
    }
    steps->window_start = steps->items[0].start;
    steps->window_end = steps->items[steps->count - 1].end;
    count_launches(steps, index);
    return true;
}

void steps_free(struct steps *steps)
{
    scratch_free(steps->items);
    *steps = (struct steps){0};
}
