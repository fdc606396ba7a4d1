/* Stable sorts of index arrays. */
#ifndef KS_INDEX_SORT_H
#define KS_INDEX_SORT_H

#include "ingest/base/attr.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Merge sort; `compare` answers below 0 when a stands before b, 0 when they keep their order.
 * Linear on input that is in order already. False without memory (the items are then in any order).
 */
bool sort_stable(uint32_t *items,
                 size_t count,
                 int (*compare)(uint32_t a, uint32_t b, const void *ctx),
                 const void *ctx) KS_MUST_USE;

/* Radix sort by key[item], ascending. Linear; nothing is done to input in order. False without
 * memory. */
bool sort_by_key(uint32_t *items, size_t count, const int64_t *key) KS_MUST_USE;
/* The same by a column of a trace. */
bool sort_by_number(uint32_t *items, size_t count, const struct trace_numbers *numbers) KS_MUST_USE;
/* The same for keys[i] of items[i], both of which are put in order. */
bool sort_pairs(int64_t *keys, uint32_t *items, size_t count) KS_MUST_USE;

/* From how many items stand in each of `count` places to where its first one stands. Answers how
 * many there are. */
uint32_t sort_places(uint32_t *counts, size_t count);

#endif
