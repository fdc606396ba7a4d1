#include "ingest/tb_plugin/tables/gpu_counters.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/util/ranges.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/tb_plugin/clock.h"

#include <string.h>

#define BUCKETS_MAX 100
#define RANGE_NAME "PyTorch Profiler (0)"

struct row {
    uint8_t kind;
    uint32_t device;
    int64_t from, to; /* ticks of the file */
    double value;
};

struct counting {
    const struct kernels *kernels;
    const struct event_classes *sel;
    struct gpu_counters *out; /* has room for all rows */
    int64_t start, end;
    uint32_t *events; /* of one device, in order of time; room for twice as many */
    uint32_t event_count;
};

static void add_row(struct counting *c, const struct row *row)
{
    struct gpu_counters *out = c->out;
    uint32_t i = out->count++;
    out->kind[i] = row->kind;
    out->device[i] = row->device;
    out->from[i] = times_position(c->sel, row->from);
    out->to[i] = times_position(c->sel, row->to);
    memcpy(&out->value[i], &row->value, sizeof row->value);
}

/* The profiler's own range, the last one if it has several [TB-6c]. */
static bool find_own_range(struct counting *c)
{
    const struct event_classes *sel = c->sel;
    const struct events_in_time spans = sel->lists[LIST_SPAN];
    for (uint32_t i = spans.count; i-- > 0;) {
        uint32_t event = spans.items[i];
        if (strcmp(names_text(&sel->names, sel->name[event]), RANGE_NAME) == 0) {
            c->start = times_start(sel, event);
            c->end = times_end(sel, event);
            return true;
        }
    }
    return false;
}

/* That range, or the one of all events but memory records. */
static void find_range(struct counting *c)
{
    const struct event_classes *sel = c->sel;
    c->start = INT64_MAX;
    c->end = INT64_MIN;
    if (find_own_range(c)) {
        return;
    }
    for (uint32_t event = 0; event < sel->trace->events.count; event++) {
        if (sel->class[event] != INDEX_OTHER && sel->class[event] != INDEX_MEMORY) {
            c->start = i64_min(c->start, times_start(sel, event));
            c->end = i64_max(c->end, times_end(sel, event));
        }
    }
}

static void collect_device(struct counting *c, uint32_t device)
{
    const struct kernels *kernels = c->kernels;
    c->event_count = 0;
    for (uint32_t i = 0; i < kernels->count; i++) {
        if (kernel_device(c->sel->trace, kernels->events[i]) == (int64_t)device) {
            c->events[c->event_count++] = kernels->events[i];
        }
    }
}

/* ---- utilisation ---- */

/* The smallest power of ten of microseconds that divides the range into at most 100 buckets
 * [TB-10g]. */
static int64_t bucket_ticks(const struct counting *c)
{
    int64_t bucket = c->sel->clock != NULL ? TB_CLOCK_TICKS_PER_US : RESULTS_NS_PER_US;
    double length = (double)saturating_sub(c->end, c->start);
    while (length / (double)bucket > BUCKETS_MAX) {
        bucket *= 10;
    }
    return bucket;
}

static bool add_utilisation(struct counting *c, uint32_t device)
{
    struct ranges busy = {0};
    int64_t bucket = bucket_ticks(c);
    int64_t count = c->end > c->start ? saturating_sub(c->end, c->start) / bucket : 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < c->event_count; i++) {
        ok =
            ranges_merge(&busy, times_start(c->sel, c->events[i]), times_end(c->sel, c->events[i]));
    }
    for (int64_t i = 0; ok && i < count; i++) {
        struct row row = {.kind = GPU_COUNTER_UTILISATION,
                          .device = device,
                          .from = c->start + i * bucket,
                          .to = i + 1 == count ? c->end : c->start + (i + 1) * bucket};
        row.value = (double)ranges_length_within(&busy, row.from, row.to) /
                    (double)saturating_sub(row.to, row.from);
        add_row(c, &row);
    }
    ranges_free(&busy);
    return ok;
}

/* ---- SM efficiency ---- */

/* Kernels with blocks per SM, in order of start and, behind them, in order of end. */
static bool order_edges(struct counting *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->event_count; i++) {
        if (kernel_blocks_per_sm(c->sel->trace, c->events[i]) > 0) {
            c->events[kept++] = c->events[i];
        }
    }
    c->event_count = kept;
    if (kept > 0) {
        memcpy(c->events + kept, c->events, kept * sizeof *c->events);
    }
    return kernels_sort_by_end(c->events + kept, kept, c->sel);
}

/* The running sum keeps the error that adding and subtracting leaves, as the plugin's does
 * [TB-10.0]. */
static bool add_sm_efficiency(struct counting *c, uint32_t device)
{
    const struct event_classes *sel = c->sel;
    if (!order_edges(c)) {
        return false;
    }
    const uint32_t *ends = c->events + c->event_count;
    uint32_t started = 0;
    uint32_t ended = 0;
    double blocks = 0;
    int64_t last = 0;
    int64_t last_key = INT64_MAX;
    while (ended < c->event_count) {
        bool starts_next = started < c->event_count && times_start_key(sel, c->events[started]) <=
                                                           times_end_key(sel, ends[ended]);
        uint32_t event = starts_next ? c->events[started++] : ends[ended++];
        int64_t now = starts_next ? times_start(sel, event) : times_end(sel, event);
        int64_t key = starts_next ? times_start_key(sel, event) : times_end_key(sel, event);
        const struct row row = {.kind = GPU_COUNTER_SM_EFFICIENCY,
                                .device = device,
                                .from = last,
                                .to = now,
                                .value = blocks < 1.0 ? blocks : 1.0};
        if (key > last_key && blocks > 0) {
            add_row(c, &row);
        }
        double change = kernel_blocks_per_sm(sel->trace, event);
        blocks += starts_next ? change : -change;
        last = now;
        last_key = key;
    }
    return true;
}

/* ---- all of it ---- */

static uint64_t device_bits(const struct kernels *kernels)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < kernels->count; i++) {
        int64_t device = kernel_device(kernels->sel->trace, kernels->events[i]);
        if (device >= 0 && device < KERNEL_DEVICES) {
            bits |= UINT64_C(1) << device;
        }
    }
    return bits;
}

static bool
count_kind(struct counting *c, uint64_t devices, bool (*add)(struct counting *c, uint32_t device))
{
    for (uint32_t device = 0; device < KERNEL_DEVICES; device++) {
        if ((devices >> device & 1) != 0) {
            collect_device(c, device);
            if (!add(c, device)) {
                return false;
            }
        }
    }
    return true;
}

/* Two for each kernel, and the buckets. */
static bool make_columns(struct gpu_counters *out, struct arena *arena, uint32_t kernel_count)
{
    size_t most = (size_t)kernel_count * 2 + (size_t)KERNEL_DEVICES * BUCKETS_MAX;
    return (out->kind = arena_alloc(arena, most * sizeof *out->kind)) != NULL &&
           (out->device = arena_alloc(arena, most * sizeof *out->device)) != NULL &&
           (out->from = arena_alloc(arena, most * sizeof *out->from)) != NULL &&
           (out->to = arena_alloc(arena, most * sizeof *out->to)) != NULL &&
           (out->value = arena_alloc(arena, most * sizeof *out->value)) != NULL;
}

static bool list_devices(struct gpu_counters *out, struct arena *arena, uint64_t devices)
{
    out->devices = arena_calloc(arena, KERNEL_DEVICES, sizeof *out->devices);
    for (uint32_t device = 0; out->devices != NULL && device < KERNEL_DEVICES; device++) {
        if ((devices >> device & 1) != 0) {
            out->devices[out->device_count++] = device;
        }
    }
    return out->devices != NULL;
}

bool gpu_counters_build(struct gpu_counters **out,
                        struct arena *arena,
                        const struct kernels *kernels)
{
    uint64_t devices = device_bits(kernels);
    struct counting c = {.kernels = kernels, .sel = kernels->sel};
    *out = NULL;
    if (devices == 0) {
        return true;
    }
    c.events = scratch_alloc((size_t)kernels->count * 2, sizeof *c.events);
    c.out = arena_calloc(arena, 1, sizeof *c.out);
    bool ok = c.events != NULL && c.out != NULL && make_columns(c.out, arena, kernels->count) &&
              list_devices(c.out, arena, devices);
    if (ok) {
        find_range(&c);
        c.out->start = times_position(c.sel, c.start);
        c.out->end = times_position(c.sel, c.end);
        ok = count_kind(&c, devices, add_utilisation) && count_kind(&c, devices, add_sm_efficiency);
    }
    scratch_free(c.events);
    *out = ok ? c.out : NULL;
    return ok;
}
