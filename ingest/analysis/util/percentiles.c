#include "ingest/analysis/util/percentiles.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/num.h"
#include "ingest/index/sort.h"

#include <math.h>

static const double QUANTILE[PERCENTILES_QUANTILES] = {0.50, 0.95, 0.99};

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

bool percentile_walk_init(struct percentile_walk *walk, const int64_t *calls, uint32_t group_count)
{
    *walk = (struct percentile_walk){
        .progress = scratch_calloc(group_count, sizeof *walk->progress),
        .found = scratch_calloc(group_count, sizeof *walk->found),
        .calls = calls,
        .count = group_count,
    };
    if (walk->progress == NULL || walk->found == NULL) {
        return false;
    }
    for (uint32_t g = 0; g < group_count; g++) {
        walk->progress[g].next_rank = neighbours_of(calls[g], QUANTILE[0]).low;
    }
    return true;
}

void percentile_walk_free(struct percentile_walk *walk)
{
    SCRATCH_FREE(walk->progress, walk->found);
    *walk = (struct percentile_walk){.count = 0};
}

void percentile_walk_take(struct percentile_walk *walk,
                          uint32_t group,
                          uint32_t rank,
                          int64_t value)
{
    struct percentile_found *found = &walk->found[group];
    uint32_t next = UINT32_MAX;
    for (int q = 0; q < PERCENTILES_QUANTILES; q++) {
        struct neighbours at = neighbours_of(walk->calls[group], QUANTILE[q]);
        if (at.low == rank) {
            found->low[q] = value;
        }
        if (at.high == rank) {
            found->high[q] = value;
        }
        next = at.low > rank && at.low < next ? at.low : next;
        next = at.high > rank && at.high < next ? at.high : next;
    }
    walk->progress[group].next_rank = next;
}

void percentile_walk_see_all(struct percentile_walk *walk, uint32_t group, const int64_t *sorted)
{
    for (int q = 0; q < PERCENTILES_QUANTILES; q++) {
        struct neighbours at = neighbours_of(walk->calls[group], QUANTILE[q]);
        walk->found[group].low[q] = sorted[at.low];
        walk->found[group].high[q] = sorted[at.high];
    }
}

/* Of an odd number the one in the middle, which is the lower neighbour. */
static double median_of(const struct percentile_found *found, int64_t calls)
{
    double low = (double)found->low[0];
    return calls % 2 == 1 ? low : low / 2 + (double)found->high[0] / 2;
}

static int64_t interpolate(const struct percentile_found *found, int64_t calls, int q)
{
    const int64_t pair[2] = {found->low[q], found->high[q]};
    return llround(num_percentile_sorted(pair, 2, neighbours_of(calls, QUANTILE[q]).fraction));
}

void percentile_walk_finish(const struct percentile_walk *walk, struct percentiles *out)
{
    for (uint32_t g = 0; g < walk->count; g++) {
        out[g] = (struct percentiles){interpolate(&walk->found[g], walk->calls[g], 0),
                                      interpolate(&walk->found[g], walk->calls[g], 1),
                                      interpolate(&walk->found[g], walk->calls[g], 2),
                                      median_of(&walk->found[g], walk->calls[g])};
    }
}

bool percentiles_by_group(int64_t *values,
                          uint32_t *group,
                          size_t count,
                          const int64_t *calls,
                          uint32_t group_count,
                          struct percentiles *out)
{
    struct percentile_walk walk;
    bool ok = percentile_walk_init(&walk, calls, group_count) && sort_pairs(values, group, count);
    for (size_t i = 0; ok && i < count; i++) {
        percentile_walk_see(&walk, group[i], values[i]);
    }
    if (ok) {
        percentile_walk_finish(&walk, out);
    }
    percentile_walk_free(&walk);
    return ok;
}
