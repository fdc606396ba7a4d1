#include "ingest/analysis/link.h"

#include "ingest/analysis/id_map.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/sort.h"
#include "ingest/analysis/times.h"

/* In device_runtime while linking: the rest is the number of the correlation that the device waits
 * for. */
#define WAITING (UINT32_C(1) << 31)

struct linking {
    struct links *links;
    const struct selection *sel;
    struct id_map calls;     /* correlation -> its latest runtime */
    uint32_t *first_runtime; /* by number of the correlation */
    uint32_t *waited;        /* devices that came before their runtime, by runtime */
};

static bool allocate(struct linking *l)
{
    const uint32_t *count = l->sel->type_count;
    size_t devices = (size_t)count[TYPE_KERNEL] + count[TYPE_MEMCPY] + count[TYPE_MEMSET];
    size_t runtimes = count[TYPE_RUNTIME];
    struct links *links = l->links;
    links->device_event = scratch_alloc(devices, sizeof *links->device_event);
    links->device_runtime = scratch_alloc(devices, sizeof *links->device_runtime);
    links->runtime_event = scratch_alloc(runtimes, sizeof *links->runtime_event);
    links->launched_first = scratch_calloc(runtimes + 1, sizeof *links->launched_first);
    links->stale = scratch_alloc(devices, sizeof *links->stale);
    l->first_runtime = scratch_none(devices + runtimes);
    l->waited = scratch_calloc(runtimes, sizeof *l->waited);
    return links->device_event != NULL && links->device_runtime != NULL &&
           links->runtime_event != NULL && links->launched_first != NULL && links->stale != NULL &&
           l->first_runtime != NULL && l->waited != NULL;
}

static bool see_event(struct linking *l, uint32_t event)
{
    struct links *links = l->links;
    struct id_slot *call = id_map_add(&l->calls, trace_correlation(&l->sel->trace->events, event));
    if (call == NULL) {
        return false;
    }
    if (l->sel->type[event] == TYPE_RUNTIME) {
        if (call->value == ID_MAP_NONE) {
            l->first_runtime[call->index] = links->runtime_count;
        }
        call->value = links->runtime_count;
        links->runtime_event[links->runtime_count++] = event;
        return true;
    }
    bool is_waiting = call->value == ID_MAP_NONE;
    links->device_runtime[links->device_count] = is_waiting ? WAITING | call->index : call->value;
    links->device_event[links->device_count++] = event;
    return true;
}

/* A correlation's first runtime takes all that waited for it; later ones find the queue empty.
 * Devices whose call never came go to `stale`, by device number. */
static void resolve_waiting(struct linking *l)
{
    struct links *links = l->links;
    for (uint32_t d = 0; d < links->device_count; d++) {
        uint32_t runtime = links->device_runtime[d];
        if (runtime & WAITING) {
            runtime = l->first_runtime[runtime & ~WAITING];
            if (runtime == LINK_NONE) {
                links->stale[links->stale_count++] = d;
                continue;
            }
            links->device_runtime[d] = runtime;
            l->waited[runtime]++;
        }
        links->launched_first[runtime + 1]++;
    }
}

static int by_correlation(uint32_t a, uint32_t b, const void *ctx)
{
    const uint32_t *device_runtime = ctx;
    return (device_runtime[a] > device_runtime[b]) - (device_runtime[a] < device_runtime[b]);
}

/* Correlations are numbered in the order in which the plugin began their queues. */
static bool order_stale(struct linking *l)
{
    struct links *links = l->links;
    if (!sort_stable(links->stale, links->stale_count, by_correlation, links->device_runtime)) {
        return false;
    }
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < links->stale_count; i++) {
        uint32_t device = links->stale[i];
        uint32_t event = links->device_event[device];
        links->device_runtime[device] = LINK_NONE;
        if (l->sel->type[event] == TYPE_KERNEL) {
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
    struct links *links = l->links;
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        links->launched_first[r + 1] += links->launched_first[r];
    }
    links->launched =
        scratch_alloc(links->launched_first[links->runtime_count], sizeof *links->launched);
    if (links->launched == NULL) {
        return false;
    }
    uint32_t *next = l->first_runtime; /* done with: as long as devices and runtimes together */
    memcpy(next, links->launched_first, links->runtime_count * sizeof *next);
    for (uint32_t d = 0; d < links->device_count; d++) {
        uint32_t runtime = links->device_runtime[d];
        if (runtime != LINK_NONE) {
            links->launched[next[runtime]++] = links->device_event[d];
        }
    }
    for (uint32_t r = 0; r < links->runtime_count; r++) {
        uint32_t *items = links->launched + links->launched_first[r];
        if (!sort_stable(items, l->waited[r], by_start_and_length, l->sel)) {
            return false;
        }
    }
    return true;
}

bool link_devices(struct links *links, const struct selection *sel)
{
    *links = (struct links){0};
    struct linking l = {.links = links, .sel = sel};
    id_map_init(&l.calls);
    bool ok = allocate(&l) && id_map_reserve(&l.calls, sel->type_count[TYPE_RUNTIME]);
    for (uint32_t i = 0; ok && i < sel->order_count; i++) {
        enum event_type type = (enum event_type)sel->type[sel->order[i]];
        if (type == TYPE_RUNTIME || select_is_device(type)) {
            ok = see_event(&l, sel->order[i]);
        }
    }
    id_map_free(&l.calls);
    if (ok) {
        resolve_waiting(&l);
        ok = order_stale(&l) && fill_launched(&l);
    }
    scratch_free(l.first_runtime);
    scratch_free(l.waited);
    return ok;
}

void link_drop_devices(struct links *links)
{
    scratch_free(links->device_event);
    scratch_free(links->device_runtime);
    links->device_event = NULL;
    links->device_runtime = NULL;
}

void link_free(struct links *links)
{
    link_drop_devices(links);
    scratch_free(links->runtime_event);
    scratch_free(links->launched_first);
    scratch_free(links->launched);
    scratch_free(links->stale);
    *links = (struct links){0};
}
