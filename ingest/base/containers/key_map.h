/* Numbers distinct tuples of up to four 32-bit ids in order of insertion: the groups of a GROUP BY.
 */
#ifndef KS_BASE_CONTAINERS_KEY_MAP_H
#define KS_BASE_CONTAINERS_KEY_MAP_H

#include "ingest/base/attr.h"

#include <stddef.h>
#include <stdint.h>

#define KEY_MAP_NONE UINT32_MAX

struct key {
    uint32_t id[4]; /* unused ones are 0 */
};

struct key_map {
    struct key *keys; /* by number */
    uint32_t count;
    size_t keys_cap;
    uint32_t *table; /* numbers */
    size_t table_cap;
};

void key_map_init(struct key_map *map); /* allocates nothing yet */
void key_map_free(struct key_map *map);
/* Returns the number of the tuple; adds it when new. KEY_MAP_NONE without memory. */
uint32_t key_map_add(struct key_map *map, struct key key) KS_MUST_USE;
/* KEY_MAP_NONE when the map lacks the tuple. */
uint32_t key_map_find(const struct key_map *map, struct key key);

#endif
