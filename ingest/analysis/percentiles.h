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

/* Item i has values[i] and belongs to group group[i], or, with `coarse`, to coarse[group[i]]
 * (PERCENTILES_NO_GROUP: to none). `order` lists the items by ascending value. `calls` counts the
 * items of each group. `out` has one entry a group. False without memory. */
struct percentile_items {
    const int64_t *values;
    const uint32_t *order;
    const uint32_t *group;
    const uint32_t *coarse; /* NULL: none */
    size_t count;
};
bool percentiles_by_group(const struct percentile_items *items,
                          const int64_t *calls,
                          uint32_t group_count,
                          struct percentiles *out) KS_MUST_USE;

/* The items 0 .. count by ascending value; scratch_free() it. NULL without memory. */
uint32_t *percentiles_order(const int64_t *values, size_t count) KS_MUST_USE;

#endif
