/* Reproduces the order that NumPy gives kernels with equal totals [TB-18]. */
#ifndef KS_BASE_CONTAINERS_INTROSORT_H
#define KS_BASE_CONTAINERS_INTROSORT_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts `index` (a permutation of positions in `values`) ascending by value, exactly as NumPy's
 * argsort does with its unstable quicksort: equal values end up in its order. */
void introsort_positions(uint32_t *index, size_t count, const int64_t *values);

/* The order [TB-18] of `count` rows that are in order of their names: reversed, argsorted by
 * total, reversed again. order[i] is the row at position i. */
void introsort_kernel_order(uint32_t *order, const int64_t *reversed_totals, size_t count);

#endif
