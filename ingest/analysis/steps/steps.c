#include "ingest/analysis/steps/steps.h"

#include "ingest/analysis/classify/tb_clock.h"
#include "ingest/base/memory/scratch.h"

/* A last step with less than this share of the device work of the one before is taken for cut off
 * [TB-6i]. */
#define TAIL_SHARE 0.8

struct device_span {
    int64_t start;
    int64_t end;
};

static bool counts_for_host_range(const struct event_classes *sel, enum event_type type)
{
    return type == TYPE_PYTHON || type == TYPE_OPERATOR || type == TYPE_PROFILER_STEP ||
           (sel->mlu && type == TYPE_USER_ANNOTATION);
}

/* The one step of a trace without steps: from the first host event to the last end of one [TB-6d].
 */
static void use_host_range(struct steps *steps, const struct event_classes *sel)
{
    struct step *step = &steps->items[0];
    *step = (struct step){.event = STEP_NO_EVENT,
                          .start = INT64_MAX,
                          .end = INT64_MIN,
                          .start_key = INT64_MAX,
                          .end_key = INT64_MIN};
    for (uint32_t event = 0; event < sel->trace->events.count; event++) {
        if (counts_for_host_range(sel, (enum event_type)sel->type[event])) {
            step->start = i64_min(step->start, tb_clock_start(sel, event));
            step->end = i64_max(step->end, tb_clock_end(sel, event));
            step->start_key = i64_min(step->start_key, tb_clock_start_key(sel, event));
            step->end_key = i64_max(step->end_key, tb_clock_end_key(sel, event));
        }
    }
    steps->count = 1;
    steps->undefined = step->start > step->end;
}

static void use_profiler_steps(struct steps *steps, const struct event_classes *sel)
{
    uint32_t marked = sel->type_count[TYPE_PROFILER_STEP];
    const struct events_in_time host = sel->lists[LIST_HOST];
    for (uint32_t i = 0; steps->count < marked && i < host.count; i++) {
        uint32_t event = host.items[i];
        if (sel->type[event] == TYPE_PROFILER_STEP) {
            steps->items[steps->count++] =
                (struct step){.event = event,
                              .start = tb_clock_start(sel, event),
                              .end = tb_clock_end(sel, event),
                              .start_key = tb_clock_start_key(sel, event),
                              .end_key = tb_clock_end_key(sel, event)};
        }
    }
    steps->has_profiler_steps = true;
}

static void add_launch(struct step *step,
                       struct device_span *span,
                       const struct launch_correlation *links,
                       const struct event_classes *sel,
                       uint32_t runtime)
{
    uint32_t end = links->launched_first[runtime + 1];
    for (uint32_t i = links->launched_first[runtime]; i < end; i++) {
        uint32_t event = links->launched[i];
        span->start = i64_min(span->start, tb_clock_start(sel, event));
        span->end = i64_max(span->end, tb_clock_end(sel, event));
        step->device_activities++;
    }
    step->launches += end > links->launched_first[runtime];
}

/* Runtimes and steps side by side in order of time; a runtime belongs to the step that contains it
 * [TB-6g] [TB-4.1]. */
static void match_runtimes(struct steps *steps,
                           struct device_span *spans,
                           bool *matched,
                           const struct launch_correlation *links,
                           const struct event_classes *sel)
{
    uint32_t i = 0;
    uint32_t r = 0;
    while (i < steps->count && r < links->runtime_count) {
        struct step *step = &steps->items[i];
        uint32_t event = links->runtime_event[r];
        int64_t start_key = tb_clock_start_key(sel, event);
        bool is_inside =
            start_key >= step->start_key && tb_clock_end_key(sel, event) <= step->end_key;
        if (is_inside) {
            add_launch(step, &spans[i], links, sel, r);
            matched[r] = true;
        }
        if (is_inside || start_key < step->end_key) {
            r++;
        } else {
            i++;
        }
    }
}

/* Device work of no step that ends before the first step's does is the end of what came before it
 * [TB-6g]. */
static int64_t end_before_first_step(const struct steps *steps,
                                     const struct device_span *spans,
                                     const bool *matched,
                                     const struct launch_correlation *links,
                                     const struct event_classes *sel)
{
    int64_t previous_end = steps->items[0].start;
    if (steps->items[0].device_activities == 0) {
        return previous_end;
    }
    for (uint32_t d = 0; d < links->device_count; d++) {
        uint32_t runtime = links->device_runtime[d];
        if (runtime != LAUNCH_NONE && matched[runtime]) {
            continue;
        }
        int64_t end = tb_clock_end(sel, links->device_event[d]);
        if (end < spans[0].start) {
            previous_end = i64_max(previous_end, end);
        }
    }
    return previous_end;
}

static void adjust(struct steps *steps, const struct device_span *spans, int64_t previous_end)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        struct step *step = &steps->items[i];
        step->start = i64_max(previous_end, step->start);
        if (step->device_activities > 0) {
            step->end = i64_max(step->end, spans[i].end);
        }
        step->end = i64_max(step->end, step->start);
        previous_end = step->end;
    }
}

static void cut_tail(struct steps *steps)
{
    if (steps->count < 2) {
        return;
    }
    uint32_t kept = steps->count;
    while (kept > 1 && steps->items[kept - 1].device_activities == 0) {
        kept--;
    }
    if (kept > 1) {
        double last = (double)steps->items[kept - 1].device_activities;
        double before = (double)steps->items[kept - 2].device_activities;
        kept -= last < TAIL_SHARE * before;
    }
    steps->count = kept;
}

static bool has_device_work(const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        if (steps->items[i].device_activities > 0) {
            return true;
        }
    }
    return false;
}

static void set_window(struct steps *steps)
{
    steps->window_start = steps->items[0].start;
    steps->window_end = steps->items[steps->count - 1].end;
}

bool steps_build(struct steps *steps,
                 const struct event_classes *sel,
                 const struct launch_correlation *links)
{
    uint32_t marked = sel->type_count[TYPE_PROFILER_STEP];
    *steps = (struct steps){.sel = sel,
                            .items = scratch_alloc((size_t)marked + 1, sizeof *steps->items)};
    if (steps->items == NULL) {
        return false;
    }
    if (marked > 0) {
        use_profiler_steps(steps, sel);
    } else {
        use_host_range(steps, sel);
    }
    struct device_span *spans = scratch_alloc(steps->count, sizeof *spans);
    bool *matched = scratch_calloc(links->runtime_count, sizeof *matched);
    bool ok = spans != NULL && matched != NULL;
    if (ok) {
        for (uint32_t i = 0; i < steps->count; i++) {
            spans[i] = (struct device_span){INT64_MAX, INT64_MIN};
        }
        match_runtimes(steps, spans, matched, links, sel);
        if (has_device_work(steps)) {
            adjust(steps, spans, end_before_first_step(steps, spans, matched, links, sel));
            cut_tail(steps);
        }
    }
    scratch_free(spans);
    scratch_free(matched);
    set_window(steps);
    return ok;
}

/* ---- by the index ---- */

static void use_index_steps(struct steps *steps, const struct trace_index *index)
{
    for (uint32_t i = 0; i < index->step_count; i++) {
        const struct index_step *from = &index->steps[i];
        steps->items[i] = (struct step){.event = from->event,
                                        .start = from->start_ns,
                                        .end = from->end_ns,
                                        .start_key = from->start_ns,
                                        .end_key = from->end_ns};
    }
    steps->count = index->step_count;
    steps->has_profiler_steps = true;
}

/* Launched work in no step counts in a trace without steps. */
static void count_launches(struct steps *steps, const struct trace_index *index)
{
    const struct trace_events *events = &index->trace->events;
    for (uint32_t i = 0; i < index->launched_count; i++) {
        uint32_t event = index->launched[i];
        uint32_t step = steps->has_profiler_steps ? index->step[event] : 0;
        if (step == INDEX_NONE) {
            continue;
        }
        bool is_first = i == 0 || index->launch[index->launched[i - 1]] != index->launch[event];
        steps->items[step].launches += is_first;
        steps->items[step].device_activities++;
        if (steps->has_profiler_steps) {
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
        use_host_range(steps, sel);
    }
    set_window(steps);
    count_launches(steps, index);
    return true;
}

void steps_free(struct steps *steps)
{
    scratch_free(steps->items);
    *steps = (struct steps){0};
}
