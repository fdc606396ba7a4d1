#include "ingest/analysis/percentiles.h"

#include "ingest/analysis/scratch.h"
#include "ingest/analysis/sort.h"
#include "ingest/base/num.h"

#include <math.h>

#define QUANTILES 3

static const double QUANTILE[QUANTILES] = {0.50, 0.95, 0.99};

/* A group on the walk: how many of its values have passed, and the smallest rank still wanted. */
struct progress {
    uint32_t seen;
    uint32_t next_rank;
};

/* The values on both sides of each quantile. */
struct found {
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

/* The rank wanted next. */
static uint32_t take(struct found *found, int64_t calls, uint32_t rank, int64_t value)
{
    uint32_t next = UINT32_MAX;
    for (int q = 0; q < QUANTILES; q++) {
        struct neighbours at = neighbours_of(calls, QUANTILE[q]);
        if (at.low == rank) {
            found->low[q] = value;
        }
        if (at.high == rank) {
            found->high[q] = value;
        }
        next = at.low > rank && at.low < next ? at.low : next;
        next = at.high > rank && at.high < next ? at.high : next;
    }
    return next;
}

static int64_t interpolate(const struct found *found, int64_t calls, int q)
{
    const int64_t pair[2] = {found->low[q], found->high[q]};
    return llround(num_percentile_sorted(pair, 2, neighbours_of(calls, QUANTILE[q]).fraction));
}

static void walk(const struct percentile_items *items,
                 const uint32_t *coarse,
                 const int64_t *calls,
                 struct progress *progress,
                 struct found *found)
{
    for (size_t i = 0; i < items->count; i++) {
        uint32_t g = coarse == NULL ? items->group[i] : coarse[items->group[i]];
        if (g == PERCENTILES_NO_GROUP) {
            continue;
        }
        uint32_t rank = progress[g].seen++;
        if (KS_UNLIKELY(rank == progress[g].next_rank)) {
            progress[g].next_rank = take(&found[g], calls[g], rank, items->values[i]);
        }
    }
}

bool percentiles_by_group(const struct percentile_items *items,
                          const uint32_t *coarse,
                          const int64_t *calls,
                          uint32_t group_count,
                          struct percentiles *out)
{
    if (group_count == 0) {
        return true;
    }
    struct progress *progress = scratch_calloc(group_count, sizeof *progress);
    struct found *found = scratch_calloc(group_count, sizeof *found);
    bool ok = progress != NULL && found != NULL;
    if (ok) {
        for (uint32_t g = 0; g < group_count; g++) {
            progress[g].next_rank = neighbours_of(calls[g], QUANTILE[0]).low;
        }
        walk(items, coarse, calls, progress, found);
        for (uint32_t g = 0; g < group_count; g++) {
            out[g] = (struct percentiles){interpolate(&found[g], calls[g], 0),
                                          interpolate(&found[g], calls[g], 1),
                                          interpolate(&found[g], calls[g], 2)};
        }
    }
    scratch_free(progress);
    scratch_free(found);
    return ok;
}

bool percentile_items_sort(struct percentile_items *items,
                           const int64_t *values,
                           const uint32_t *group,
                           size_t count)
{
    uint32_t *order = percentiles_order(values, count);
    *items = (struct percentile_items){.values = scratch_alloc(count, sizeof *items->values),
                                       .group = scratch_alloc(count, sizeof *items->group),
                                       .count = count};
    bool ok = order != NULL && items->values != NULL && items->group != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        items->values[i] = values[order[i]];
        items->group[i] = group[order[i]];
    }
    scratch_free(order);
    return ok;
}

void percentile_items_free(struct percentile_items *items)
{
    scratch_free(items->values);
    scratch_free(items->group);
    *items = (struct percentile_items){.values = NULL};
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
