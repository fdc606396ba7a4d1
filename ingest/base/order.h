/* Which of two numbers comes first: below 0, 0, above 0, as qsort wants it. */
#ifndef KS_BASE_ORDER_H
#define KS_BASE_ORDER_H

#include <stdint.h>

static inline int order_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* For qsort and bsearch, of elements that are such numbers, or begin with one. */
static inline int order_i64_at(const void *a, const void *b)
{
    return order_i64(*(const int64_t *)a, *(const int64_t *)b);
}

static inline int order_u32_at(const void *a, const void *b)
{
    return order_i64(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Not of NaN. */
static inline int order_f64_at(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
