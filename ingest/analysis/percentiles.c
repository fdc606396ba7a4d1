#include "ingest/analysis/percentiles.h"

#include "ingest/analysis/scratch.h"
#include "ingest/analysis/sort.h"
#include "ingest/base/num.h"

#include <math.h>

#define QUANTILES 3

static const double QUANTILE[QUANTILES] = {0.50, 0.95, 0.99};

/* A group on the walk: how many of its values have passed, and the neighbours of each quantile. */
struct progress {
    uint32_t seen;
    uint32_t next_rank; /* smallest rank still wanted */
    int64_t low[QUANTILES];
    int64_t high[QUANTILES];
};

struct neighbours {
    uint32_t low;
    uint32_t high;
    double fraction;
};

static struct neighbours neighbours_of(int64_t calls, double quantile)
{
    double position = (double)(calls - 1) * quantile;
    double low = floor(position);
    struct neighbours out = {(uint32_t)low, (uint32_t)low, position - low};
    out.high += (int64_t)out.low + 1 < calls;
    return out;
}

static void take(struct progress *group, int64_t calls, uint32_t rank, int64_t value)
{
    uint32_t next = UINT32_MAX;
    for (int q = 0; q < QUANTILES; q++) {
        struct neighbours at = neighbours_of(calls, QUANTILE[q]);
        if (at.low == rank) {
            group->low[q] = value;
        }
        if (at.high == rank) {
            group->high[q] = value;
        }
        next = at.low > rank && at.low < next ? at.low : next;
        next = at.high > rank && at.high < next ? at.high : next;
    }
    group->next_rank = next;
}

static int64_t interpolate(const struct progress *group, int64_t calls, int q)
{
    const int64_t pair[2] = {group->low[q], group->high[q]};
    return llround(num_percentile_sorted(pair, 2, neighbours_of(calls, QUANTILE[q]).fraction));
}

bool percentiles_by_group(const struct percentile_items *items,
                          const int64_t *calls,
                          uint32_t group_count,
                          struct percentiles *out)
{
    struct progress *groups = scratch_calloc(group_count, sizeof *groups);
    if (groups == NULL) {
        return false;
    }
    for (uint32_t g = 0; g < group_count; g++) {
        groups[g].next_rank = neighbours_of(calls[g], QUANTILE[0]).low;
    }
    for (size_t i = 0; i < items->count; i++) {
        uint32_t item = items->order[i];
        uint32_t g = items->group[item];
        g = items->coarse == NULL ? g : items->coarse[g];
        if (g == PERCENTILES_NO_GROUP) {
            continue;
        }
        uint32_t rank = groups[g].seen++;
        if (rank == groups[g].next_rank) {
            take(&groups[g], calls[g], rank, items->values[item]);
        }
    }
    for (uint32_t g = 0; g < group_count; g++) {
        out[g] = (struct percentiles){interpolate(&groups[g], calls[g], 0),
                                      interpolate(&groups[g], calls[g], 1),
                                      interpolate(&groups[g], calls[g], 2)};
    }
    scratch_free(groups);
    return true;
}

uint32_t *percentiles_order(const int64_t *values, size_t count)
{
    uint32_t *order = scratch_alloc(count, sizeof *order);
    if (order == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
    }
    if (!sort_by_key(order, count, values)) {
        scratch_free(order);
        return NULL;
    }
    return order;
}
