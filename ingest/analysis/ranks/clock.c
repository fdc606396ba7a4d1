/* Clocks of ranks from the ends of their collectives [RANK-2]. */
#include "ingest/analysis/ranks/run_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>
#include <string.h>

/* How far a rank that has no clock yet ended behind the one at hand. */
struct lead {
    int64_t ahead_ns;
    uint32_t member;
};

struct leads {
    struct lead *items;
    size_t count, cap;
    int64_t *values; /* of one rank */
    size_t values_cap;
};

static int64_t end_of(const struct ranks_event *item)
{
    return saturating_add(item->start_ns, item->duration_ns);
}

static bool add_lead(struct leads *leads, struct lead lead)
{
    struct lead *items = scratch_grow(leads->items, leads->count, &leads->cap, sizeof *items);
    if (items == NULL) {
        return false;
    }
    leads->items = items;
    items[leads->count++] = lead;
    return true;
}

/* Afterwards all ranks of the instance have a clock: it is not looked at again. */
static bool
add_leads_of(struct leads *leads, struct ranks_run *run, uint32_t member, uint32_t event)
{
    const struct ranks_event *own = &run->members[member].events[event];
    struct ranks_instance *instance = &run->instances[own->instance];
    bool ok = true;
    if (instance->is_expanded || !ranks_synchronises(run, own->instance)) {
        return true;
    }
    instance->is_expanded = true;
    for (uint32_t p = run->first[own->instance]; ok && p < run->first[own->instance + 1]; p++) {
        const struct ranks_part *part = &run->parts[p];
        int64_t ahead_ns = saturating_sub(end_of(ranks_part_event(run, part)), end_of(own));
        ok = run->members[part->member].is_placed ||
             add_lead(leads, (struct lead){ahead_ns, part->member});
    }
    return ok;
}

ORDER_BY(by_member, struct lead, ORDER_UP(member), ORDER_UP(ahead_ns))

/* Places the ranks that share instances with `member`, and adds them to the queue. */
static bool place_neighbours(
    struct ranks_run *run, struct leads *leads, uint32_t member, uint32_t *queue, size_t *queued)
{
    const struct ranks_member *from = &run->members[member];
    bool ok = true;
    leads->count = 0;
    for (uint32_t i = 0; ok && i < from->event_count; i++) {
        ok = add_leads_of(leads, run, member, i);
    }
    if (ok && leads->count > 0) {
        qsort(leads->items, leads->count, sizeof *leads->items, by_member);
    }
    for (size_t i = 0, end; ok && i < leads->count; i = end) {
        struct ranks_member *to = &run->members[leads->items[i].member];
        end = i;
        while (end < leads->count && leads->items[end].member == leads->items[i].member) {
            end++;
        }
        int64_t low = leads->items[i + (end - i - 1) / 2].ahead_ns;
        int64_t high = leads->items[i + (end - i) / 2].ahead_ns;
        to->offset_ns = saturating_add(from->offset_ns, ranks_middle(low, high));
        to->samples = (int64_t)(end - i);
        to->is_placed = true;
        queue[(*queued)++] = leads->items[i].member;
    }
    return ok;
}

static bool place_all(struct ranks_run *run)
{
    uint32_t *queue = scratch_alloc(run->member_count, sizeof *queue);
    struct leads leads = {.items = NULL};
    size_t queued = 0;
    size_t next = 0;
    bool ok = queue != NULL;
    for (uint32_t m = 0; ok && m < run->member_count; m++) {
        if (!run->members[m].is_placed) {
            run->members[m].is_placed = true;
            run->members[m].samples = RANK_UNKNOWN;
            queue[queued++] = m;
        }
        while (ok && next < queued) {
            ok = place_neighbours(run, &leads, queue[next++], queue, &queued);
        }
    }
    SCRATCH_FREE(leads.items, queue);
    return ok;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? saturating_sub(a, b) : saturating_sub(b, a);
}

/* Gives each part of an instance its distance from the middle end [RANK-2c]. */
static void
find_distances(const struct ranks_run *run, uint32_t instance, int64_t *ends, int64_t *out)
{
    uint32_t first = run->first[instance];
    uint32_t count = ranks_instance_size(run, instance);
    for (uint32_t i = 0; i < count; i++) {
        const struct ranks_part *part = &run->parts[first + i];
        out[first + i] = saturating_sub(end_of(ranks_part_event(run, part)),
                                        run->members[part->member].offset_ns);
    }
    memcpy(ends, out + first, count * sizeof *ends);
    int64_t middle = ranks_median(ends, count);
    for (uint32_t i = 0; i < count; i++) {
        out[first + i] = distance(out[first + i], middle);
    }
}

static bool find_residuals(struct ranks_run *run)
{
    size_t part_count = run->first[run->instance_count];
    int64_t *distances = scratch_alloc(part_count, sizeof *distances);
    int64_t *room = scratch_alloc(part_count, sizeof *room);
    uint32_t *begin = scratch_calloc(run->member_count + 2, sizeof *begin);
    bool ok = distances != NULL && room != NULL && begin != NULL;
    for (uint32_t i = 0; ok && i < run->instance_count; i++) {
        if (!ranks_synchronises(run, i)) {
            continue;
        }
        find_distances(run, i, room, distances);
        for (uint32_t p = run->first[i]; p < run->first[i + 1]; p++) {
            begin[run->parts[p].member + 2]++;
        }
    }
    for (size_t m = 0; ok && m < run->member_count; m++) {
        begin[m + 2] += begin[m + 1];
    }
    for (uint32_t i = 0; ok && i < run->instance_count; i++) {
        for (uint32_t p = run->first[i]; ranks_synchronises(run, i) && p < run->first[i + 1]; p++) {
            room[begin[run->parts[p].member + 1]++] = distances[p];
        }
    }
    for (size_t m = 0; ok && m < run->member_count; m++) {
        size_t count = begin[m + 1] - begin[m];
        run->members[m].residual_ns =
            count == 0 ? RANK_UNKNOWN : ranks_median(room + begin[m], count);
    }
    SCRATCH_FREE(distances, room, begin);
    return ok;
}

bool ranks_set_clocks(struct ranks_run *run)
{
    return place_all(run) && find_residuals(run);
}
