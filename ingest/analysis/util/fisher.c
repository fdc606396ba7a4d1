/* The number x of cycles of the first side that have it runs over low..high when the margins stand
 * (K = k1 + k2 cycles have it). A table is as likely as its weight C(n1, x) * C(n2, K - x), and the
 * weights of neighbours have the ratio
 *
 *     w(x + 1) / w(x) = (K - x) (n1 - x) / ((x + 1) (n2 - K + x + 1)) */
#include "ingest/analysis/util/fisher.h"

#include <math.h>
#include <stdbool.h>

/* Weights of tables that are equal in whole numbers differ in doubles by less. */
#define EQUAL_WEIGHTS 1e-7

struct table {
    int64_t n1, n2, sum; /* cycles a side, and those of both that have it */
    int64_t low, high;   /* of those of the first side that have it */
    int64_t seen;
};

/* ---- in whole numbers ---- */

/* False: it does not fit. */
static bool binomial(int64_t n, int64_t k, uint64_t *out)
{
    int64_t few = k < n - k ? k : n - k;
    uint64_t value = 1;
    for (int64_t i = 0; i < few; i++) {
        uint64_t factor = (uint64_t)(n - i);
        if (factor == 0 || value > UINT64_MAX / factor) {
            return false;
        }
        value = value * factor / (uint64_t)(i + 1); /* always whole */
    }
    *out = value;
    return true;
}

/* All weights together are C(n1 + n2, K), so that where this fits each of them does. */
static bool exact_p(const struct table *table, double *p)
{
    uint64_t all = 0;
    uint64_t first = 0;
    uint64_t second = 0;
    if (!binomial(table->n1 + table->n2, table->sum, &all) ||
        !binomial(table->n1, table->seen, &first) ||
        !binomial(table->n2, table->sum - table->seen, &second)) {
        return false;
    }
    uint64_t seen = first * second;
    uint64_t unlikely = 0;
    for (int64_t x = table->low; x <= table->high; x++) {
        if (!binomial(table->n1, x, &first) || !binomial(table->n2, table->sum - x, &second)) {
            return false;
        }
        unlikely += first * second <= seen ? first * second : 0;
    }
    *p = (double)unlikely / (double)all;
    return true;
}

/* ---- in doubles ---- */

static double ratio(const struct table *table, int64_t x)
{
    return (double)(table->sum - x) * (double)(table->n1 - x) /
           ((double)(x + 1) * (double)(table->n2 - table->sum + x + 1));
}

/* The likeliest table. */
static int64_t mode(const struct table *table)
{
    double at = floor((double)(table->sum + 1) * (double)(table->n1 + 1) /
                      (double)(table->n1 + table->n2 + 2));
    int64_t x = (int64_t)at;
    return x < table->low ? table->low : x > table->high ? table->high : x;
}

/* Weights in units of the likeliest table's, from there outwards: none is above 1. */
static double weight_at(const struct table *table, int64_t from, int64_t to)
{
    double weight = 1;
    for (int64_t x = from; x < to; x++) {
        weight *= ratio(table, x);
    }
    for (int64_t x = from; x > to; x--) {
        weight /= ratio(table, x - 1);
    }
    return weight;
}

static double double_p(const struct table *table)
{
    int64_t middle = mode(table);
    double limit = weight_at(table, middle, table->seen) * (1 + EQUAL_WEIGHTS);
    double all = 0;
    double unlikely = 0;
    double weight = 1;
    for (int64_t x = middle; x <= table->high; x++) {
        all += weight;
        unlikely += weight <= limit ? weight : 0;
        weight *= ratio(table, x);
    }
    weight = 1;
    for (int64_t x = middle; x > table->low; x--) {
        weight /= ratio(table, x - 1);
        all += weight;
        unlikely += weight <= limit ? weight : 0;
    }
    return unlikely / all;
}

double fisher_p(int64_t k1, int64_t n1, int64_t k2, int64_t n2)
{
    struct table table = {.n1 = n1, .n2 = n2, .sum = k1 + k2, .seen = k1};
    table.low = table.sum > n2 ? table.sum - n2 : 0;
    table.high = table.sum < n1 ? table.sum : n1;
    if (n1 <= 0 || n2 <= 0 || table.low == table.high) {
        return 1;
    }
    double p;
    return exact_p(&table, &p) ? p : double_p(&table);
}
