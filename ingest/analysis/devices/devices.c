#include "ingest/analysis/devices/devices.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/base/memory/scratch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CAPABILITY_BYTES 48

/* Kernels by device: members[first[d] .. first[d + 1]), events in order of time. */
struct by_device {
    const struct event_classes *sel;
    const struct trace *trace;
    uint32_t first[KERNEL_DEVICES + 1];
    uint32_t *members;
};

/* The interval of all steps. */
struct window {
    const struct event_classes *sel;
    int64_t start; /* times of times.h */
    int64_t end;
    double length; /* as times_weight(); negative when there is no step [TB-1.1] */
};

static int64_t valid_device(const struct event_classes *sel, uint32_t event)
{
    int64_t device = kernel_counts_for(sel, event);
    return device >= 0 && device < KERNEL_DEVICES ? device : -1;
}

static bool
split_by_device(struct by_device *b, const struct kernels *kernels, struct warnings *warnings)
{
    *b = (struct by_device){.sel = kernels->sel, .trace = kernels->sel->trace};
    b->members = scratch_alloc(kernels->count, sizeof *b->members);
    if (b->members == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < kernels->count; i++) {
        int64_t device = valid_device(b->sel, kernels->events[i]);
        if (device >= 0) {
            b->first[device + 1]++;
        } else if (kernel_counts_for(b->sel, kernels->events[i]) != TRACE_NO_ID) {
            warning_add(warnings, WARN_DEVICE_ID, WARNING_NO_OFFSET);
        }
    }
    uint32_t next[KERNEL_DEVICES];
    for (int d = 0; d < KERNEL_DEVICES; d++) {
        next[d] = b->first[d];
        b->first[d + 1] += b->first[d];
    }
    for (uint32_t i = 0; i < kernels->count; i++) {
        int64_t device = valid_device(b->sel, kernels->events[i]);
        if (device >= 0) {
            b->members[next[device]++] = kernels->events[i];
        }
    }
    return true;
}

static struct window window_of(const struct steps *steps)
{
    struct window window = {steps->sel, steps->window_start, steps->window_end, 0.0};
    window.length = steps->undefined
                        ? -18446744073709551615.0
                        : times_weight(steps->sel, saturating_sub(window.end, window.start));
    return window;
}

static double weight_within(const struct window *window, int64_t start, int64_t end)
{
    int64_t from = i64_max(start, window->start);
    int64_t to = i64_min(end, window->end);
    return to > from ? times_weight(window->sel, saturating_sub(to, from)) : 0.0;
}

static bool
add_utilisation(struct device_row *row, const struct by_device *b, const struct window *window)
{
    struct ranges busy = {0};
    bool ok = true;
    for (uint32_t i = b->first[row->id]; ok && i < b->first[row->id + 1]; i++) {
        uint32_t event = b->members[i];
        ok = ranges_merge(&busy, times_start(b->sel, event), times_end(b->sel, event));
    }
    double busy_length =
        times_weight(window->sel, ranges_length_within(&busy, window->start, window->end));
    row->utilisation = window->length == 0.0 ? 0.0 : busy_length / window->length;
    ranges_free(&busy);
    return ok;
}

/* ---- SM efficiency: kernels starting and ending, in order of time ---- */

struct sweep {
    double
        blocks; /* of the kernels now running; with the error that adding and subtracting leaves */
    double area;
    int64_t at;
    bool has_begun;
    bool has_range; /* some running time lies inside the window */
};

static void sweep_to(struct sweep *s, int64_t time, double blocks, const struct window *window)
{
    if (s->has_begun && time > s->at && s->blocks > 0) {
        double inside = weight_within(window, s->at, time);
        if (inside > 0) {
            s->area += (s->blocks < 1.0 ? s->blocks : 1.0) * inside;
            s->has_range = true;
        }
    }
    s->blocks += blocks;
    s->at = time;
    s->has_begun = true;
}

/* The device's kernels with blocks per SM, twice: in order of start and in order of end [TB-10c].
 */
static uint32_t *sweep_events(const struct by_device *b, int64_t device, uint32_t *count)
{
    uint32_t all = b->first[device + 1] - b->first[device];
    uint32_t *events = scratch_alloc((size_t)all * 2, sizeof *events);
    *count = 0;
    for (uint32_t i = b->first[device]; events != NULL && i < b->first[device + 1]; i++) {
        if (kernel_blocks_per_sm(b->trace, b->members[i]) > 0) {
            events[(*count)++] = b->members[i];
        }
    }
    if (events == NULL || *count == 0) {
        return events;
    }
    memcpy(events + *count, events, *count * sizeof *events);
    if (!kernels_sort_by_end(events + *count, *count, b->sel)) {
        scratch_free(events);
        return NULL;
    }
    return events;
}

static bool
add_sm_efficiency(struct device_row *row, const struct by_device *b, const struct window *window)
{
    uint32_t count = 0;
    uint32_t *starts = sweep_events(b, row->id, &count);
    if (starts == NULL) {
        return false;
    }
    const uint32_t *ends = starts + count;
    struct sweep s = {0};
    uint32_t started = 0;
    for (uint32_t ended = 0; ended < count;) {
        bool starts_next = started < count && times_start_key(b->sel, starts[started]) <=
                                                  times_end_key(b->sel, ends[ended]);
        uint32_t event = starts_next ? starts[started] : ends[ended];
        double blocks = kernel_blocks_per_sm(b->trace, event);
        if (starts_next) {
            sweep_to(&s, times_start(b->sel, event), blocks, window);
            started++;
        } else {
            sweep_to(&s, times_end(b->sel, event), -blocks, window);
            ended++;
        }
    }
    if (s.has_range && window->length != 0.0) {
        row->sm_efficiency = s.area / window->length;
    }
    scratch_free(starts);
    return true;
}

static void
add_occupancy(struct device_row *row, const struct by_device *b, const struct window *window)
{
    double weighted = 0.0;
    double length = 0.0;
    for (uint32_t i = b->first[row->id]; i < b->first[row->id + 1]; i++) {
        uint32_t event = b->members[i];
        double occupancy_pct = kernel_occupancy_pct(b->trace, event);
        if (occupancy_pct >= 0) {
            double inside =
                weight_within(window, times_start(b->sel, event), times_end(b->sel, event));
            weighted += occupancy_pct * inside;
            length += inside;
        }
    }
    if (length > 0) {
        row->occupancy_pct = weighted / length;
    }
}

static void add_tensor_share(struct device_row *row, const struct launched_time *launched)
{
    if (!launched->has_kernels) {
        return;
    }
    int64_t total = launched->device[row->id];
    row->tensor_share = total == 0 ? 0 : (double)launched->device_tensor[row->id] / (double)total;
}

bool device_says(const struct device_properties *from,
                 struct arena *arena,
                 const char **name,
                 const char **capability)
{
    const unsigned both = DEVICE_HAS_COMPUTE_MAJOR | DEVICE_HAS_COMPUTE_MINOR;
    char text[CAPABILITY_BYTES];
    (void)snprintf(text, sizeof text, "%" PRId64 ".%" PRId64, from->compute_major,
                   from->compute_minor);
    bool has_name = (from->has & DEVICE_HAS_NAME) != 0;
    bool has_capability = (from->has & both) == both;
    *name = has_name ? arena_strdup(arena, from->name) : NULL;
    *capability = has_capability ? arena_strdup(arena, text) : NULL;
    return (!has_name || *name != NULL) && (!has_capability || *capability != NULL);
}

/* The first entry of deviceProperties with the device's id [TB-10.2]. */
static bool add_properties(struct device_row *row, struct arena *arena, const struct trace *trace)
{
    const struct device_properties *found = NULL;
    for (uint32_t i = 0; found == NULL && i < trace->device_count; i++) {
        const struct device_properties *entry = &trace->devices[i];
        found = (entry->has & DEVICE_HAS_ID) != 0 && entry->id == row->id ? entry : NULL;
    }
    if (found == NULL) {
        return true;
    }
    if (found->has & DEVICE_HAS_TOTAL_MEMORY_MIB) {
        row->memory_bytes = (double)found->total_memory_mib * 1048576.0;
    }
    if (found->has & DEVICE_HAS_TOTAL_MEMORY) {
        row->memory_bytes = (double)found->total_memory_bytes;
    }
    return device_says(found, arena, &row->name, &row->capability);
}

bool devices_run(struct trace_results *results,
                 struct arena *arena,
                 const struct kernels *kernels,
                 const struct steps *steps,
                 const struct launched_time *launched)
{
    struct by_device b;
    struct window window = window_of(steps);
    bool is_mlu =
        kernels->sel->mlu; /* the fork has no rows of SMs, occupancy and Tensor Cores [TB-17e] */
    bool ok = split_by_device(&b, kernels, &results->warnings);
    struct device_row *rows = ok ? arena_calloc(arena, KERNEL_DEVICES, sizeof *rows) : NULL;
    size_t count = 0;
    ok = rows != NULL;
    for (int64_t id = 0; ok && id < KERNEL_DEVICES; id++) {
        if (b.first[id] == b.first[id + 1]) {
            continue;
        }
        struct device_row *row = &rows[count++];
        *row = device_row_unknown(id);
        ok = add_properties(row, arena, b.trace) && add_utilisation(row, &b, &window);
        if (ok && !is_mlu) {
            ok = add_sm_efficiency(row, &b, &window);
            add_occupancy(row, &b, &window);
            add_tensor_share(row, launched);
        }
    }
    results->devices = rows;
    results->device_count = ok ? count : 0;
    scratch_free(b.members);
    return ok;
}
