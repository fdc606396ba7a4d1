#include "ingest/tb_plugin/tree/launch_correlation.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

#include <string.h>

struct linking {
    struct launch_correlation *links;
    const struct event_classes *sel;
    struct id_map calls; /* correlation -> the runtime that its next device belongs to */
    struct id_map stale; /* correlations without a call */
    uint32_t *next_call; /* by runtime: the next one with its correlation, LAUNCH_NONE */
    uint32_t *waited;    /* devices that came before their runtime, by runtime */
};

static bool allocate(struct linking *l)
{
    struct launch_correlation *links = l->links;
    size_t devices = links->device_count;
    size_t runtimes = links->runtime_count;
    links->device_runtime = scratch_alloc(devices, sizeof *links->device_runtime);
    links->launched_first = scratch_calloc(runtimes + 1, sizeof *links->launched_first);
    links->stale = scratch_alloc(devices, sizeof *links->stale);
    l->next_call = scratch_alloc(runtimes, sizeof *l->next_call);
    l->waited = scratch_calloc(runtimes, sizeof *l->waited);
    return links->device_runtime != NULL && links->launched_first != NULL && links->stale != NULL &&
           l->next_call != NULL && l->waited != NULL;
}

/* The last one first, so that each finds the next one of its correlation. */
static bool chain_calls(struct linking *l)
{
    const struct launch_correlation *links = l->links;
    for (uint32_t r = links->runtime_count; r-- > 0;) {
        uint32_t event = links->runtime_event[r];
        struct id_slot *call =
            id_map_add(&l->calls, trace_correlation(&l->sel->trace->events, event));
        if (call == NULL) {
            return false;
        }
        l->next_call[r] = call->value;
        call->value = r;
    }
    return true;
}

static bool comes_before(const struct linking *l, uint32_t event, uint32_t runtime)
{
    const int64_t *ts_ns = l->sel->trace->events.ts_ns;
    uint32_t other = l->links->runtime_event[runtime];
    return ts_ns[event] < ts_ns[other] || (ts_ns[event] == ts_ns[other] && event < other);
}

/* Has the number of its correlation meanwhile. */
static bool add_stale(struct linking *l, uint32_t device, int64_t correlation)
{
    const struct id_slot *slot = id_map_add(&l->stale, correlation);
    if (slot != NULL) {
        l->links->device_runtime[device] = slot->index;
        l->links->stale[l->links->stale_count++] = device;
    }
    return slot != NULL;
}

/* A device belongs to the latest of its calls; one that comes before all of them waited for the
 * first. Those whose call never came go to `stale`, by device number. */
static bool link_device(struct linking *l, uint32_t device)
{
    struct launch_correlation *links = l->links;
    uint32_t event = links->device_event[device];
    int64_t correlation = trace_correlation(&l->sel->trace->events, event);
    struct id_slot *call = id_map_find(&l->calls, correlation);
    if (call == NULL) {
        return add_stale(l, device, correlation);
    }
    uint32_t runtime = call->value;
    if (KS_UNLIKELY(comes_before(l, event, runtime))) {
        l->waited[runtime]++;
    }
    uint32_t next = l->next_call[runtime];
    while (KS_UNLIKELY(next != LAUNCH_NONE) && !comes_before(l, event, next)) {
        call->value = runtime = next;
        next = l->next_call[runtime];
    }
    links->device_runtime[device] = runtime;
    links->launched_first[runtime + 1]++;
    return true;
}

static bool link_all(struct linking *l)
{
    bool ok = chain_calls(l);
    for (uint32_t d = 0; ok && d < l->links->device_count; d++) {
        ok = link_device(l, d);
    }
    return ok;
}

static int by_correlation(uint32_t a, uint32_t b, const void *ctx)
{
    const uint32_t *device_runtime = ctx;
    return (device_runtime[a] > device_runtime[b]) - (device_runtime[a] < device_runtime[b]);
}

/* Correlations without a call are numbered in the order in which the plugin began their queues
 * [TB-4f]. */
static bool order_stale(struct linking *l)
{
    struct launch_correlation *links = l->links;
    if (!sort_stable(links->stale, links->stale_count, by_correlation, links->device_runtime)) {
        return false;
    }
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < links->stale_count; i++) {
        uint32_t device = links->stale[i];
        uint32_t event = links->device_event[device];
        links->device_runtime[device] = LAUNCH_NONE;
        if (l->sel->class[event] == INDEX_KERNEL) {
            links->stale[kernels++] = event;
        }
    }
    links->stale_count = kernels;
    return true;
}

static int by_start_and_length(uint32_t a, uint32_t b, const void *ctx)
{
    return times_compare(ctx, a, b);
}

/* The devices of each runtime in order of arrival, but those that waited sorted by (start, -end).
 */
static bool fill_launched(struct linking *l)
{
    struct launch_correlation *links = l->links;
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        links->launched_first[r + 1] += links->launched_first[r];
    }
    links->launched =
        scratch_alloc(links->launched_first[links->runtime_count], sizeof *links->launched);
    if (links->launched == NULL) {
        return false;
    }
    uint32_t *next = l->next_call; /* done with */
    memcpy(next, links->launched_first, links->runtime_count * sizeof *next);
    for (uint32_t d = 0; d < links->device_count; d++) {
        uint32_t runtime = links->device_runtime[d];
        if (runtime != LAUNCH_NONE) {
            links->launched[next[runtime]++] = links->device_event[d];
        }
    }
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        uint32_t *items = links->launched + links->launched_first[r];
        if (l->waited[r] > 1 && !sort_stable(items, l->waited[r], by_start_and_length, l->sel)) {
            return false;
        }
    }
    return true;
}

bool launch_correlation_build(struct launch_correlation *links, const struct event_classes *sel)
{
    *links = (struct launch_correlation){.device_event = sel->lists[LIST_DEVICE].items,
                                         .device_count = sel->lists[LIST_DEVICE].count,
                                         .runtime_event = sel->lists[LIST_RUNTIME].items,
                                         .runtime_count = sel->lists[LIST_RUNTIME].count};
    struct linking l = {.links = links, .sel = sel};
    id_map_init(&l.calls);
    id_map_init(&l.stale);
    bool ok = allocate(&l) && link_all(&l);
    id_map_free(&l.calls);
    id_map_free(&l.stale);
    ok = ok && order_stale(&l) && fill_launched(&l);
    SCRATCH_FREE(l.next_call, l.waited);
    return ok;
}

void launch_correlation_drop_devices(struct launch_correlation *links)
{
    scratch_free(links->device_runtime);
    links->device_runtime = NULL;
}

void launch_correlation_free(struct launch_correlation *links)
{
    launch_correlation_drop_devices(links);
    SCRATCH_FREE(links->launched_first, links->launched, links->stale);
    *links = (struct launch_correlation){0};
}
