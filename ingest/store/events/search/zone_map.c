#include "ingest/store/events/search/zone_map.h"

#include <string.h>

static uint64_t gap_behind(const struct zone_map *set, size_t i)
{
    return (uint64_t)set->ranges[i + 1].first - (uint64_t)set->ranges[i].last;
}

static void remove_range(struct zone_map *set, size_t i)
{
    memmove(&set->ranges[i], &set->ranges[i + 1], (set->count - i - 1) * sizeof set->ranges[i]);
    set->count--;
}

static void join_nearest(struct zone_map *set)
{
    size_t nearest = 0;
    for (size_t i = 1; i + 1 < set->count; i++) {
        if (gap_behind(set, i) < gap_behind(set, nearest)) {
            nearest = i;
        }
    }
    set->ranges[nearest].last = set->ranges[nearest + 1].last;
    remove_range(set, nearest + 1);
}

void zone_map_add(struct zone_map *set, int64_t first, int64_t last)
{
    size_t at = 0;
    while (at < set->count && set->ranges[at].last < first) {
        at++;
    }
    while (at < set->count && set->ranges[at].first <= last) {
        first = set->ranges[at].first < first ? set->ranges[at].first : first;
        last = set->ranges[at].last > last ? set->ranges[at].last : last;
        remove_range(set, at);
    }
    memmove(&set->ranges[at + 1], &set->ranges[at], (set->count - at) * sizeof set->ranges[at]);
    set->ranges[at] = (struct zone_range){.first = first, .last = last};
    set->count++;
    if (set->count > ZONE_MAP_RANGES_MAX) {
        join_nearest(set);
    }
}

bool zone_map_has(const struct zone_map *set, int64_t number)
{
    for (size_t i = 0; i < set->count; i++) {
        if (number >= set->ranges[i].first && number <= set->ranges[i].last) {
            return true;
        }
    }
    return false;
}

int64_t number_whole_part(int64_t value, int64_t digits)
{
    for (; digits > 0 && value != 0; digits--) {
        value /= 10;
    }
    return value;
}
