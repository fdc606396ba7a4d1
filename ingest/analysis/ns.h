/* Arithmetic on nanoseconds that cannot overflow: sums beyond 64 bits stay at the bound, so that
 * absurd times in a file give absurd figures and nothing worse. */
#ifndef KS_ANALYSIS_NS_H
#define KS_ANALYSIS_NS_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* *sum: the 64 bits of it. */
static inline bool ns_sum_overflows(int64_t a, int64_t b, int64_t *sum)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_add_overflow(a, b, sum);
#else
    *sum = (int64_t)((uint64_t)a + (uint64_t)b);
    return ((a ^ *sum) & (b ^ *sum)) < 0;
#endif
}

static inline bool ns_difference_overflows(int64_t a, int64_t b, int64_t *difference)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_sub_overflow(a, b, difference);
#else
    *difference = (int64_t)((uint64_t)a - (uint64_t)b);
    return ((a ^ b) & (a ^ *difference)) < 0;
#endif
}

static inline int64_t ns_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (KS_UNLIKELY(ns_sum_overflows(a, b, &sum))) {
        return b < 0 ? INT64_MIN : INT64_MAX;
    }
    return sum;
}

static inline int64_t ns_sub(int64_t a, int64_t b)
{
    int64_t difference;
    if (KS_UNLIKELY(ns_difference_overflows(a, b, &difference))) {
        return b > 0 ? INT64_MIN : INT64_MAX;
    }
    return difference;
}

static inline int64_t ns_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t ns_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Microseconds as the plugin's doubles have them: the unit in which it forms weighted means. */
static inline double ns_to_us(int64_t ns)
{
    return (double)ns / 1000.0;
}

#endif
