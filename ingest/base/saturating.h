/* Saturating arithmetic on nanoseconds: sums beyond 64 bits stay at the bound, so that absurd times
 * in a file give absurd results and nothing worse. */
#ifndef KS_BASE_SATURATING_H
#define KS_BASE_SATURATING_H

#include "ingest/base/attr.h"

#include <math.h>
#include <stdint.h>

static inline int64_t saturating_add(int64_t a, int64_t b)
{
#if defined(__GNUC__)
    int64_t sum;
    return KS_UNLIKELY(__builtin_add_overflow(a, b, &sum)) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
#else
    if (b > 0 && a > INT64_MAX - b) {
        return INT64_MAX;
    }
    return b < 0 && a < INT64_MIN - b ? INT64_MIN : a + b;
#endif
}

static inline int64_t saturating_sub(int64_t a, int64_t b)
{
#if defined(__GNUC__)
    int64_t rest;
    return KS_UNLIKELY(__builtin_sub_overflow(a, b, &rest)) ? (b < 0 ? INT64_MAX : INT64_MIN)
                                                            : rest;
#else
    if (b < 0 && a > INT64_MAX + b) {
        return INT64_MAX;
    }
    return b > 0 && a < INT64_MIN + b ? INT64_MIN : a - b;
#endif
}

static inline int64_t saturating_mul(int64_t a, int64_t b)
{
#if defined(__GNUC__)
    int64_t product;
    return KS_UNLIKELY(__builtin_mul_overflow(a, b, &product))
               ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN)
               : product;
#else
    bool fits = a == 0 || b == 0 ||
                (a > 0 ? (b > 0 ? a <= INT64_MAX / b : b >= INT64_MIN / a)
                       : (b > 0 ? a >= INT64_MIN / b : a >= INT64_MAX / b));
    return fits ? a * b : ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN);
#endif
}

static inline int64_t i64_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t i64_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of whole nanoseconds; not NaN. */
static inline int64_t saturating_s_to_ns(double seconds)
{
    double ns = seconds * 1e9;
    return fabs(ns) < 9.2e18 ? (int64_t)llrint(ns) : (ns > 0 ? INT64_MAX : -INT64_MAX);
}

/* Microseconds as doubles. To whole picoseconds, which undoes what 1000 / 1000 rounds. NaN stays.
 */
static inline double us_to_ns(double us)
{
    return round(us * 1e6) / 1e3;
}

/* The closest double, which a time since the epoch keeps to 0.25 us. */
static inline double ns_to_us(int64_t ns)
{
    const int64_t exact_ns = INT64_C(1) << 53;
    if (ns < exact_ns && ns > -exact_ns) {
        return (double)ns / 1000.0;
    }
    int64_t whole_us = ns / 1000;
    int64_t rest_ns = ns % 1000;
    return (double)whole_us + (double)rest_ns / 1000.0;
}

#endif
