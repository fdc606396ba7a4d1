#include "ingest/analysis/util/lttb.h"

#include <math.h>

struct bin {
    size_t first, end;
};

/* The points between the first and the last, in near-equal bins, the larger ones first. */
static struct bin bin_at(size_t index, size_t inner, size_t bins)
{
    size_t size = inner / bins;
    size_t larger = inner % bins;
    size_t first = 1 + index * size + (index < larger ? index : larger);
    return (struct bin){first, first + size + (index < larger)};
}

static double mean(const double *values, struct bin bin)
{
    double sum = 0;
    for (size_t i = bin.first; i < bin.end; i++) {
        sum += values[i];
    }
    return sum / (double)(bin.end - bin.first);
}

size_t lttb_choose(const double *x, const double *y, size_t count, size_t wanted, size_t *chosen)
{
    if (count <= wanted) {
        for (size_t i = 0; i < count; i++) {
            chosen[i] = i;
        }
        return count;
    }
    size_t bins = wanted - 2;
    chosen[0] = 0;
    for (size_t b = 0; b < bins; b++) {
        struct bin bin = bin_at(b, count - 2, bins);
        struct bin next =
            b + 1 < bins ? bin_at(b + 1, count - 2, bins) : (struct bin){count - 1, count};
        double next_x = mean(x, next);
        double next_y = mean(y, next);
        double last_x = x[chosen[b]];
        double last_y = y[chosen[b]];
        double largest = -1;
        chosen[b + 1] = bin.first;
        for (size_t i = bin.first; i < bin.end; i++) {
            double area =
                fabs((last_x - next_x) * (y[i] - last_y) - (last_x - x[i]) * (next_y - last_y));
            if (area > largest) {
                largest = area;
                chosen[b + 1] = i;
            }
        }
    }
    chosen[wanted - 1] = count - 1;
    return wanted;
}
