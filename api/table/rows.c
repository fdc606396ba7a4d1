#include "api/table/rows.h"

#include <math.h>

int64_t rows_add(int64_t a, int64_t b)
{
    if (b < 0) {
        return a < INT64_MIN - b ? INT64_MIN : a + b;
    }
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

int64_t rows_sub(int64_t a, int64_t b)
{
    if (b < 0) {
        return a > INT64_MAX + b ? INT64_MAX : a - b;
    }
    return a < INT64_MIN + b ? INT64_MIN : a - b;
}

double rows_share(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns == 0 ? 0 : (double)part_ns / (double)whole_ns;
}

double rows_known_share(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns == 0 ? (double)NAN : (double)part_ns / (double)whole_ns;
}
