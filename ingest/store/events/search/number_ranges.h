/* Ranges of whole numbers, few and disjoint: what tells that a block has no such number. */
#ifndef KS_STORE_EVENTS_SEARCH_NUMBER_RANGES_H
#define KS_STORE_EVENTS_SEARCH_NUMBER_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_RANGES_MAX 64

struct number_range {
    int64_t first;
    int64_t last;
};

/* Ascending. */
struct number_ranges {
    struct number_range ranges[NUMBER_RANGES_MAX + 1];
    size_t count;
};

/* Joined with those that it touches; where there are too many, the two nearest are joined. */
void number_ranges_add(struct number_ranges *set, int64_t first, int64_t last);
bool number_ranges_has(const struct number_ranges *set, int64_t number);
/* A decimal number (event_log.h) without what stands behind its point. */
int64_t number_whole_part(int64_t value, int64_t digits);

#endif
