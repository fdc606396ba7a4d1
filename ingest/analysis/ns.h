/* Arithmetic on nanoseconds that cannot overflow: sums beyond 64 bits stay at the bound, so that
 * absurd times in a file give absurd figures and nothing worse. */
#ifndef KS_ANALYSIS_NS_H
#define KS_ANALYSIS_NS_H

#include <stdint.h>

static inline int64_t ns_add(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b) {
        return INT64_MAX;
    }
    if (b < 0 && a < INT64_MIN - b) {
        return INT64_MIN;
    }
    return a + b;
}

static inline int64_t ns_sub(int64_t a, int64_t b)
{
    if (b < 0 && a > INT64_MAX + b) {
        return INT64_MAX;
    }
    if (b > 0 && a < INT64_MIN + b) {
        return INT64_MIN;
    }
    return a - b;
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
