/* Ranges of whole numbers, few and disjoint: what tells that a block has no such number. */
#ifndef KS_STORE_EVENTS_SEARCH_ZONE_MAP_H
#define KS_STORE_EVENTS_SEARCH_ZONE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZONE_MAP_RANGES_MAX 64

struct zone_range {
    int64_t first;
    int64_t last;
};

/* Ascending. */
struct zone_map {
    struct zone_range ranges[ZONE_MAP_RANGES_MAX + 1];
    size_t count;
};

/* Joined with those that it touches; where there are too many, the two nearest are joined. */
void zone_map_add(struct zone_map *set, int64_t first, int64_t last);
bool zone_map_has(const struct zone_map *set, int64_t number);
/* A decimal number (event_log.h) without what stands behind its point. */
int64_t number_whole_part(int64_t value, int64_t digits);

#endif
