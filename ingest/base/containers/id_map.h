/* Hash map from 64-bit ids (correlation ids, external ids, times) to small numbers. TRACE_NO_ID is
 * a key like any other: events without an id belong together [TB-4.2] [TB-5.7]. */
#ifndef KS_BASE_CONTAINERS_ID_MAP_H
#define KS_BASE_CONTAINERS_ID_MAP_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_MAP_NONE UINT32_MAX

struct id_slot {
    int64_t key;
    uint32_t index; /* number of the key in order of insertion, from 0; ID_MAP_NONE: free slot */
    uint32_t value; /* the caller's; ID_MAP_NONE in a new slot */
};

struct id_map {
    struct id_slot *slots;
    size_t capacity; /* 0 or a power of two */
    uint32_t count;
};

void id_map_init(struct id_map *map); /* allocates nothing yet */
void id_map_free(struct id_map *map);
/* Returns the slot of `key`; adds it when new. Valid until the next id_map_add. NULL without
 * memory. */
struct id_slot *id_map_add(struct id_map *map, int64_t key) KS_MUST_USE;
/* NULL when the map lacks the key. */
struct id_slot *id_map_find(const struct id_map *map, int64_t key);

#endif
