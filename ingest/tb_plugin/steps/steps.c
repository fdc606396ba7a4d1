#include "ingest/tb_plugin/steps/steps.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/base/memory/scratch.h"

/* A last step with less than this share of the device work of the one before is taken for cut off
 * [TB-6i]. */
#define TAIL_SHARE 0.8

/* Of a step, before it is adjusted. */
struct step_bounds {
    int64_t start_key; /* of the step, for comparisons */
    int64_t end_key;
    int64_t device_start; /* of the device work that it launched */
    int64_t device_end;
};

static bool counts_for_host_range(const struct event_classes *sel, uint32_t event)
{
    enum index_class type = (enum index_class)sel->class[event];
    return type == INDEX_PYTHON || type == INDEX_OPERATOR || type == INDEX_STEP ||
           (sel->mlu && type == INDEX_ANNOTATION);
}

/* The one step of a trace without steps: from the first host event to the last end of one [TB-6d].
 */
static void use_host_range(struct steps *steps)
{
    const struct event_classes *sel = steps->sel;
    struct step *step = &steps->items[0];
    *step = (struct step){.event = STEP_NO_EVENT, .start = INT64_MAX, .end = INT64_MIN};
    for (uint32_t event = 0; event < sel->trace->events.count; event++) {
        if (counts_for_host_range(sel, event)) {
            step->start = i64_min(step->start, times_start(sel, event));
            step->end = i64_max(step->end, times_end(sel, event));
        }
    }
    steps->count = 1;
    steps->undefined = step->start > step->end;
}

static void use_profiler_steps(struct steps *steps, const struct event_classes *sel)
{
    uint32_t marked = sel->class_count[INDEX_STEP];
    const struct events_in_time host = sel->lists[LIST_HOST];
    for (uint32_t i = 0; steps->count < marked && i < host.count; i++) {
        uint32_t event = host.items[i];
        if (sel->class[event] == INDEX_STEP) {
            steps->items[steps->count++] = (struct step){
                .event = event, .start = times_start(sel, event), .end = times_end(sel, event)};
        }
    }
    steps->has_steps = true;
}

static void add_launch(struct step *step,
                       struct step_bounds *bounds,
                       const struct launch_correlation *links,
                       const struct event_classes *sel,
                       uint32_t runtime)
{
    uint32_t end = links->launched_first[runtime + 1];
    for (uint32_t i = links->launched_first[runtime]; i < end; i++) {
        uint32_t event = links->launched[i];
        bounds->device_start = i64_min(bounds->device_start, times_start(sel, event));
        bounds->device_end = i64_max(bounds->device_end, times_end(sel, event));
        step->device_activities++;
    }
    step->launches += end > links->launched_first[runtime];
}

/* Runtimes and steps side by side in order of time; a runtime belongs to the step that contains it
 * [TB-6g] [TB-4.1]. */
static void match_runtimes(struct steps *steps,
                           struct step_bounds *bounds,
                           bool *matched,
                           const struct launch_correlation *links,
                           const struct event_classes *sel)
{
    uint32_t i = 0;
    uint32_t r = 0;
    while (i < steps->count && r < links->runtime_count) {
        struct step *step = &steps->items[i];
        uint32_t event = links->runtime_event[r];
        int64_t start_key = times_start_key(sel, event);
        bool is_inside =
            start_key >= bounds[i].start_key && times_end_key(sel, event) <= bounds[i].end_key;
        if (is_inside) {
            add_launch(step, &bounds[i], links, sel, r);
            matched[r] = true;
        }
        if (is_inside || start_key < bounds[i].end_key) {
            r++;
        } else {
            i++;
        }
    }
}

/* Device work of no step that ends before the first step's does is the end of what came before it
 * [TB-6g]. */
static int64_t end_before_first_step(const struct steps *steps,
                                     const struct step_bounds *bounds,
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
        int64_t end = times_end(sel, links->device_event[d]);
        if (end < bounds[0].device_start) {
            previous_end = i64_max(previous_end, end);
        }
    }
    return previous_end;
}

static void adjust(struct steps *steps, const struct step_bounds *bounds, int64_t previous_end)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        struct step *step = &steps->items[i];
        step->start = i64_max(previous_end, step->start);
        if (step->device_activities > 0) {
            step->end = i64_max(step->end, bounds[i].device_end);
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

/* Before anything is matched. */
static void find_bounds(const struct steps *steps, struct step_bounds *bounds)
{
    const struct event_classes *sel = steps->sel;
    for (uint32_t i = 0; i < steps->count; i++) {
        uint32_t event = steps->items[i].event;
        bool is_marked = event != STEP_NO_EVENT;
        bounds[i] =
            (struct step_bounds){.start_key = is_marked ? times_start_key(sel, event) : INT64_MAX,
                                 .end_key = is_marked ? times_end_key(sel, event) : INT64_MIN,
                                 .device_start = INT64_MAX,
                                 .device_end = INT64_MIN};
    }
    for (uint32_t event = 0;
         steps->items[0].event == STEP_NO_EVENT && event < sel->trace->events.count; event++) {
        if (counts_for_host_range(sel, event)) {
            bounds[0].start_key = i64_min(bounds[0].start_key, times_start_key(sel, event));
            bounds[0].end_key = i64_max(bounds[0].end_key, times_end_key(sel, event));
        }
    }
}

bool tb_steps_build(struct steps *steps,
                    const struct event_classes *sel,
                    const struct launch_correlation *links)
{
    uint32_t marked = sel->class_count[INDEX_STEP];
    *steps = (struct steps){.sel = sel,
                            .items = scratch_alloc((size_t)marked + 1, sizeof *steps->items)};
    if (steps->items == NULL) {
        return false;
    }
    if (marked > 0) {
        use_profiler_steps(steps, sel);
    } else {
        use_host_range(steps);
    }
    struct step_bounds *bounds = scratch_alloc(steps->count, sizeof *bounds);
    bool *matched = scratch_calloc(links->runtime_count, sizeof *matched);
    bool ok = bounds != NULL && matched != NULL;
    if (ok) {
        find_bounds(steps, bounds);
        match_runtimes(steps, bounds, matched, links, sel);
        if (has_device_work(steps)) {
            adjust(steps, bounds, end_before_first_step(steps, bounds, matched, links, sel));
            cut_tail(steps);
        }
    }
    SCRATCH_FREE(bounds, matched);
    steps->window_start = steps->items[0].start;
    steps->window_end = steps->items[steps->count - 1].end;
    return ok;
}
