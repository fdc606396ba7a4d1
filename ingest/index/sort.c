#include "ingest/index/sort.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

#define INSERTION_RUN 12
#define DIGIT_BITS_MAX 11u

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
    scratch_free(scratch);
    return true;
}

uint32_t sort_places(uint32_t *counts, size_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t here = counts[i];
        counts[i] = sum;
        sum += here;
    }
    return sum;
}

/* ---- by key ---- */

struct keys {
    bool are_numbers;
    const int64_t *column;
    const struct trace_numbers *numbers;
};

static inline int64_t key_of(const struct keys *keys, uint32_t item)
{
    return keys->are_numbers ? trace_number(keys->numbers, item) : keys->column[item];
}

/* Keys above the smallest one: unsigned, so that digits order them. */
struct key_range {
    int64_t lowest;
    int64_t highest;
    bool in_order;
    uint32_t highest_item;
};

static uint64_t key_above(int64_t key, int64_t lowest)
{
    return (uint64_t)key - (uint64_t)lowest;
}

static struct key_range range_of(const uint32_t *items, size_t count, const struct keys *keys)
{
    struct key_range range = {key_of(keys, items[0]), key_of(keys, items[0]), true, items[0]};
    for (size_t i = 1; i < count; i++) {
        int64_t here = key_of(keys, items[i]);
        range.in_order = range.in_order && here >= range.highest;
        range.lowest = here < range.lowest ? here : range.lowest;
        range.highest = here > range.highest ? here : range.highest;
        range.highest_item = items[i] > range.highest_item ? items[i] : range.highest_item;
    }
    return range;
}

static unsigned bits_of(uint64_t value)
{
    unsigned bits = 0;
    for (; value != 0; value >>= 1) {
        bits++;
    }
    return bits;
}

/* ---- by bucket: keys that spread evenly, as times do ---- */

#define BUCKET_ITEMS 2
/* What stands in one bucket is put in order by insertion: of as many steps an item at most. */
#define BUCKET_STEPS_MAX 16

struct buckets {
    uint32_t *next; /* of each: first how many it has, then where its next item goes */
    size_t count;
    unsigned shift; /* of a key above the lowest */
    int64_t lowest;
};

static size_t bucket_of(const struct buckets *buckets, const struct keys *keys, uint32_t item)
{
    return (size_t)(key_above(key_of(keys, item), buckets->lowest) >> buckets->shift);
}

static bool count_buckets(struct buckets *buckets,
                          const uint32_t *items,
                          size_t count,
                          const struct keys *keys,
                          const struct key_range *range)
{
    unsigned bits = bits_of(count / BUCKET_ITEMS);
    unsigned key_bits = bits_of(key_above(range->highest, range->lowest));
    *buckets = (struct buckets){.count = (size_t)1 << bits,
                                .shift = key_bits > bits ? key_bits - bits : 0,
                                .lowest = range->lowest};
    buckets->next = scratch_calloc(buckets->count, sizeof *buckets->next);
    for (size_t i = 0; buckets->next != NULL && i < count; i++) {
        buckets->next[bucket_of(buckets, keys, items[i])]++;
    }
    return buckets->next != NULL;
}

static bool are_even(const struct buckets *buckets, size_t count)
{
    double steps = 0;
    for (size_t i = 0; i < buckets->count; i++) {
        steps += (double)buckets->next[i] * (double)buckets->next[i];
    }
    return steps <= (double)count * BUCKET_STEPS_MAX;
}

static void insert_all(uint32_t *items, size_t count, const struct keys *keys)
{
    int64_t highest = count == 0 ? 0 : key_of(keys, items[0]);
    for (size_t i = 1; i < count; i++) {
        uint32_t item = items[i];
        int64_t key = key_of(keys, item);
        if (key >= highest) {
            highest = key;
            continue;
        }
        size_t j = i;
        do {
            items[j] = items[j - 1];
            j--;
        } while (j > 0 && key < key_of(keys, items[j - 1]));
        items[j] = item;
    }
}

static bool
fill_buckets(const struct buckets *buckets, uint32_t *items, size_t count, const struct keys *keys)
{
    uint32_t *from = scratch_alloc(count, sizeof *from);
    if (from == NULL) {
        return false;
    }
    memcpy(from, items, count * sizeof *from);
    (void)sort_places(buckets->next, buckets->count);
    for (size_t i = 0; i < count; i++) {
        items[buckets->next[bucket_of(buckets, keys, from[i])]++] = from[i];
    }
    scratch_free(from);
    insert_all(items, count, keys);
    return true;
}

/* *is_done: the keys spread evenly enough. */
static bool sort_in_buckets(uint32_t *items,
                            size_t count,
                            const struct keys *keys,
                            const struct key_range *range,
                            bool *is_done)
{
    struct buckets buckets;
    bool ok = count_buckets(&buckets, items, count, keys, range);
    *is_done = ok && are_even(&buckets, count);
    ok = ok && (!*is_done || fill_buckets(&buckets, items, count, keys));
    scratch_free(buckets.next);
    return ok;
}

/* ---- by digit ---- */

/* Few items are not worth long tables. */
static unsigned digit_bits(unsigned bits, size_t count)
{
    unsigned widest = count < 2048 ? 8 : DIGIT_BITS_MAX;
    unsigned passes = (bits + widest - 1) / widest;
    return (bits + passes - 1) / passes;
}

/* Key and item in one word, the item below: passes then run through memory in order. */
static void
word_pass(const uint64_t *from, uint64_t *to, size_t count, unsigned shift, unsigned width)
{
    uint32_t next[1u << DIGIT_BITS_MAX];
    size_t digits = (size_t)1 << width;
    memset(next, 0, digits * sizeof *next);
    for (size_t i = 0; i < count; i++) {
        next[(from[i] >> shift) & (digits - 1)]++;
    }
    (void)sort_places(next, digits);
    for (size_t i = 0; i < count; i++) {
        to[next[(from[i] >> shift) & (digits - 1)]++] = from[i];
    }
}

/* Words for `count` keys, and as much room again; `from` is where they are. */
struct words {
    uint64_t *from;
    uint64_t *to;
    size_t count;
    unsigned item_bits;
    unsigned key_bits;
    int64_t lowest;
};

static bool words_fit(const struct key_range *range)
{
    return bits_of(range->highest_item) + bits_of(key_above(range->highest, range->lowest)) <= 64;
}

/* False without memory. */
static bool words_init(struct words *words, size_t count, const struct key_range *range)
{
    *words = (struct words){.from = scratch_alloc(count * 2, sizeof *words->from),
                            .count = count,
                            .item_bits = bits_of(range->highest_item),
                            .key_bits = bits_of(key_above(range->highest, range->lowest)),
                            .lowest = range->lowest};
    words->to = words->from == NULL ? NULL : words->from + count;
    return words->from != NULL;
}

static void words_free(struct words *words)
{
    scratch_free(words->from < words->to ? words->from : words->to);
}

static void words_sort(struct words *words)
{
    unsigned end = words->item_bits + words->key_bits;
    if (words->key_bits == 0) {
        return;
    }
    unsigned width = digit_bits(words->key_bits, words->count);
    for (unsigned shift = words->item_bits; shift < end; shift += width) {
        word_pass(words->from, words->to, words->count, shift, width);
        uint64_t *swap = words->from;
        words->from = words->to;
        words->to = swap;
    }
}

static uint64_t word_of(const struct words *words, int64_t key, uint32_t item)
{
    return key_above(key, words->lowest) << words->item_bits | item;
}

static uint32_t item_of(const struct words *words, size_t i)
{
    return (uint32_t)(words->from[i] & (((uint64_t)1 << words->item_bits) - 1));
}

static bool
sort_words(uint32_t *items, size_t count, const struct keys *keys, const struct key_range *range)
{
    struct words words;
    if (!words_init(&words, count, range)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        words.from[i] = word_of(&words, key_of(keys, items[i]), items[i]);
    }
    words_sort(&words);
    for (size_t i = 0; i < count; i++) {
        items[i] = item_of(&words, i);
    }
    words_free(&words);
    return true;
}

static void radix_pass(const uint32_t *from,
                       uint32_t *to,
                       size_t count,
                       const struct keys *keys,
                       int64_t lowest,
                       unsigned shift)
{
    const size_t digits = (size_t)1 << DIGIT_BITS_MAX;
    uint32_t next[1u << DIGIT_BITS_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        next[(key_above(key_of(keys, from[i]), lowest) >> shift) & (digits - 1)]++;
    }
    (void)sort_places(next, digits);
    for (size_t i = 0; i < count; i++) {
        to[next[(key_above(key_of(keys, from[i]), lowest) >> shift) & (digits - 1)]++] = from[i];
    }
}

static bool
sort_items(uint32_t *items, size_t count, const struct keys *keys, const struct key_range *range)
{
    uint32_t *scratch = scratch_alloc(count, sizeof *scratch);
    if (scratch == NULL) {
        return false;
    }
    uint32_t *from = items;
    uint32_t *to = scratch;
    uint64_t highest = key_above(range->highest, range->lowest);
    for (unsigned shift = 0; shift < 64 && highest >> shift != 0; shift += DIGIT_BITS_MAX) {
        radix_pass(from, to, count, keys, range->lowest, shift);
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
    scratch_free(scratch);
    return true;
}

static bool sort_keys(uint32_t *items, size_t count, const struct keys *keys)
{
    if (count <= INSERTION_RUN) {
        insert_all(items, count, keys);
        return true;
    }
    struct key_range range = range_of(items, count, keys);
    bool is_done = range.in_order;
    if (!is_done && !sort_in_buckets(items, count, keys, &range, &is_done)) {
        return false;
    }
    if (is_done) {
        return true;
    }
    return words_fit(&range) ? sort_words(items, count, keys, &range)
                             : sort_items(items, count, keys, &range);
}

bool sort_by_key(uint32_t *items, size_t count, const int64_t *key)
{
    return sort_keys(items, count, &(struct keys){.column = key});
}

bool sort_by_number(uint32_t *items, size_t count, const struct trace_numbers *numbers)
{
    return sort_keys(items, count, &(struct keys){.are_numbers = true, .numbers = numbers});
}

/* ---- pairs ---- */

static struct key_range range_of_pairs(const int64_t *keys, const uint32_t *items, size_t count)
{
    struct key_range range = {keys[0], keys[0], true, items[0]};
    for (size_t i = 1; i < count; i++) {
        range.in_order = range.in_order && keys[i] >= range.highest;
        range.lowest = keys[i] < range.lowest ? keys[i] : range.lowest;
        range.highest = keys[i] > range.highest ? keys[i] : range.highest;
        range.highest_item = items[i] > range.highest_item ? items[i] : range.highest_item;
    }
    return range;
}

static bool sort_pair_words(int64_t *keys, uint32_t *items, size_t count, struct key_range *range)
{
    struct words words;
    if (!words_init(&words, count, range)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        words.from[i] = word_of(&words, keys[i], items[i]);
    }
    words_sort(&words);
    for (size_t i = 0; i < count; i++) {
        keys[i] = (int64_t)((words.from[i] >> words.item_bits) + (uint64_t)words.lowest);
        items[i] = item_of(&words, i);
    }
    words_free(&words);
    return true;
}

/* By the places of the pairs. */
static bool sort_wide_pairs(int64_t *keys, uint32_t *items, size_t count)
{
    uint32_t *places = scratch_alloc(count, sizeof *places);
    int64_t *old_keys = scratch_alloc(count, sizeof *old_keys);
    uint32_t *old_items = scratch_alloc(count, sizeof *old_items);
    bool ok = places != NULL && old_keys != NULL && old_items != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        places[i] = (uint32_t)i;
        old_keys[i] = keys[i];
        old_items[i] = items[i];
    }
    ok = ok && sort_by_key(places, count, old_keys);
    for (size_t i = 0; ok && i < count; i++) {
        keys[i] = old_keys[places[i]];
        items[i] = old_items[places[i]];
    }
    SCRATCH_FREE(places, old_keys, old_items);
    return ok;
}

bool sort_pairs(int64_t *keys, uint32_t *items, size_t count)
{
    if (count == 0) {
        return true;
    }
    struct key_range range = range_of_pairs(keys, items, count);
    if (range.in_order) {
        return true;
    }
    return words_fit(&range) ? sort_pair_words(keys, items, count, &range)
                             : sort_wide_pairs(keys, items, count);
}
