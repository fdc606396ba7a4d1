#include "ingest/analysis/sort.h"

#include "ingest/analysis/scratch.h"

#include <string.h>

#define INSERTION_RUN 12
#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)

struct order {
    int (*compare)(uint32_t a, uint32_t b, const void *ctx);
    const void *ctx;
};

static void insertion_sort(uint32_t *items, size_t count, const struct order *order)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t item = items[i];
        size_t j = i;
        while (j > 0 && order->compare(item, items[j - 1], order->ctx) < 0) {
            items[j] = items[j - 1];
            j--;
        }
        items[j] = item;
    }
}

/* Merges items[0, left) and items[left, count); only the left part is copied away. */
static void
merge(uint32_t *items, uint32_t *scratch, size_t left, size_t count, const struct order *order)
{
    if (order->compare(items[left], items[left - 1], order->ctx) >= 0) {
        return;
    }
    memcpy(scratch, items, left * sizeof *items);
    size_t from_left = 0;
    size_t from_right = left;
    size_t to = 0;
    while (from_left < left && from_right < count) {
        if (order->compare(items[from_right], scratch[from_left], order->ctx) < 0) {
            items[to++] = items[from_right++];
        } else {
            items[to++] = scratch[from_left++];
        }
    }
    memcpy(items + to, scratch + from_left, (left - from_left) * sizeof *items);
}

bool sort_stable(uint32_t *items,
                 size_t count,
                 int (*compare)(uint32_t a, uint32_t b, const void *ctx),
                 const void *ctx)
{
    const struct order order = {compare, ctx};
    for (size_t i = 0; i < count; i += INSERTION_RUN) {
        size_t left = count - i;
        insertion_sort(items + i, left < INSERTION_RUN ? left : INSERTION_RUN, &order);
    }
    if (count <= INSERTION_RUN) {
        return true;
    }
    uint32_t *scratch = scratch_alloc(count, sizeof *scratch);
    if (scratch == NULL) {
        return false;
    }
    for (size_t width = INSERTION_RUN; width < count; width *= 2) {
        for (size_t i = 0; i + width < count; i += 2 * width) {
            size_t both = count - i < 2 * width ? count - i : 2 * width;
            merge(items + i, scratch, width, both, &order);
        }
    }
    free(scratch);
    return true;
}

/* Key above the smallest one: unsigned, so that digits order it. */
static uint64_t key_above(const int64_t *key, uint32_t item, int64_t lowest)
{
    return (uint64_t)key[item] - (uint64_t)lowest;
}

static void radix_pass(const uint32_t *from,
                       uint32_t *to,
                       size_t count,
                       const int64_t *key,
                       int64_t lowest,
                       unsigned shift)
{
    size_t next[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) {
        next[(key_above(key, from[i], lowest) >> shift) & (DIGITS - 1)]++;
    }
    size_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = next[d];
        next[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        to[next[(key_above(key, from[i], lowest) >> shift) & (DIGITS - 1)]++] = from[i];
    }
}

bool sort_by_key(uint32_t *items, size_t count, const int64_t *key)
{
    if (count < 2) {
        return true;
    }
    int64_t lowest = key[items[0]];
    int64_t highest = lowest;
    bool in_order = true;
    for (size_t i = 1; i < count; i++) {
        int64_t here = key[items[i]];
        in_order = in_order && here >= highest;
        lowest = here < lowest ? here : lowest;
        highest = here > highest ? here : highest;
    }
    if (in_order) {
        return true;
    }
    uint32_t *scratch = scratch_alloc(count, sizeof *scratch);
    if (scratch == NULL) {
        return false;
    }
    uint32_t *from = items;
    uint32_t *to = scratch;
    uint64_t range = (uint64_t)highest - (uint64_t)lowest;
    for (unsigned shift = 0; shift < 64 && range >> shift != 0; shift += DIGIT_BITS) {
        radix_pass(from, to, count, key, lowest, shift);
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
    free(scratch);
    return true;
}
