#include "ingest/analysis/history/prefix.h"

#include "ingest/base/memory/scratch.h"

#include <math.h>

static struct wide two_sum(double a, double b)
{
    double sum = a + b;
    double part = sum - a;
    return (struct wide){sum, (a - (sum - part)) + (b - part)};
}

static struct wide two_product(double a, double b)
{
    double product = a * b;
    return (struct wide){product, fma(a, b, -product)};
}

static struct wide wide_add(struct wide a, struct wide b)
{
    struct wide sum = two_sum(a.high, b.high);
    sum.low += a.low + b.low;
    return two_sum(sum.high, sum.low);
}

static struct wide wide_sub(struct wide a, struct wide b)
{
    return wide_add(a, (struct wide){-b.high, -b.low});
}

static struct wide wide_square(struct wide a)
{
    struct wide square = two_product(a.high, a.high);
    square.low += 2 * a.high * a.low;
    return two_sum(square.high, square.low);
}

static struct wide wide_divide(struct wide a, double divisor)
{
    double high = a.high / divisor;
    struct wide back = two_product(high, divisor);
    struct wide rest = wide_sub(a, back);
    return two_sum(high, (rest.high + rest.low) / divisor);
}

/* Of a value, exact beside the origin. */
static struct wide scaled(const struct prefix_sums *sums, double value)
{
    return two_sum(ldexp(value, -sums->exponent), -ldexp(sums->origin, -sums->exponent));
}

static int largest_exponent(const double *values, size_t count)
{
    double largest = 0;
    int exponent = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(values[i]));
    }
    (void)frexp(largest, &exponent);
    return exponent;
}

bool prefix_sums_build(struct prefix_sums *sums, const double *values, size_t count)
{
    *sums = (struct prefix_sums){.values = values,
                                 .count = count,
                                 .origin = count == 0 ? 0 : values[0],
                                 .exponent = largest_exponent(values, count),
                                 .sum = scratch_calloc(count + 1, sizeof *sums->sum),
                                 .square = scratch_calloc(count + 1, sizeof *sums->square),
                                 .same_since = scratch_calloc(count, sizeof *sums->same_since)};
    if (sums->sum == NULL || sums->square == NULL || sums->same_since == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct wide value = scaled(sums, values[i]);
        bool is_same = i > 0 && values[i] == values[i - 1];
        sums->sum[i + 1] = wide_add(sums->sum[i], value);
        sums->square[i + 1] = wide_add(sums->square[i], wide_square(value));
        sums->same_since[i] = is_same ? sums->same_since[i - 1] : i;
    }
    return true;
}

void prefix_sums_free(struct prefix_sums *sums)
{
    SCRATCH_FREE(sums->sum, sums->square, sums->same_since);
    *sums = (struct prefix_sums){0};
}

struct piece prefix_piece(const struct prefix_sums *sums, size_t first, size_t end)
{
    struct piece piece = {.count = end - first};
    double count = (double)piece.count;
    if (sums->same_since[end - 1] <= first) {
        struct wide value = scaled(sums, sums->values[first]);
        piece.mean = sums->values[first];
        piece.scaled_mean = value.high + value.low;
        return piece;
    }
    struct wide sum = wide_sub(sums->sum[end], sums->sum[first]);
    struct wide square = wide_sub(sums->square[end], sums->square[first]);
    struct wide mean = wide_divide(sum, count);
    struct wide around = wide_sub(square, wide_divide(wide_square(sum), count));
    struct wide whole = wide_add(mean, (struct wide){ldexp(sums->origin, -sums->exponent), 0});
    piece.mean = ldexp(whole.high, sums->exponent);
    piece.scaled_mean = mean.high + mean.low;
    piece.scaled_variance = fmax((around.high + around.low) / count, 0);
    piece.std = ldexp(sqrt(piece.scaled_variance), sums->exponent);
    return piece;
}
