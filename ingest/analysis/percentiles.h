/* Percentiles of many groups at once: the values are sorted once, then one walk in that order tells
 * for each group when it passes the ranks it needs. */
#ifndef KS_ANALYSIS_PERCENTILES_H
#define KS_ANALYSIS_PERCENTILES_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERCENTILES_NO_GROUP UINT32_MAX

/* Linear interpolation between closest ranks, rounded to the nearest integer. */
struct percentiles {
    int64_t p50;
    int64_t p95;
    int64_t p99;
};

/* Values in ascending order, each with its group. */
struct percentile_items {
    int64_t *values;
    uint32_t *group;
    size_t count;
};
/* Value i belongs to group[i]. False without memory; must be freed in either case. */
bool percentile_items_sort(struct percentile_items *items,
                           const int64_t *values,
                           const uint32_t *group,
                           size_t count) KS_MUST_USE;
void percentile_items_free(struct percentile_items *items);

/* `coarse` joins groups: group g belongs to coarse[g] (PERCENTILES_NO_GROUP: to none); NULL: as they
 * are. `calls` counts the items of each joined group, of which there are `group_count`, and `out`
 * has one entry each. False without memory. */
bool percentiles_by_group(const struct percentile_items *items,
                          const uint32_t *coarse,
                          const int64_t *calls,
                          uint32_t group_count,
                          struct percentiles *out) KS_MUST_USE;

/* The items 0 .. count by ascending value; scratch_free() it. NULL without memory. */
uint32_t *percentiles_order(const int64_t *values, size_t count) KS_MUST_USE;

#endif
