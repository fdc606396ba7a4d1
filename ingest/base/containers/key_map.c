#include "ingest/base/containers/key_map.h"

#include "ingest/base/memory/scratch.h"

#include <stdbool.h>
#include <string.h>

#define CAPACITY_FIRST ((size_t)64)

static size_t hash(const struct key *key)
{
    uint64_t low = (uint64_t)key->id[1] << 32 | key->id[0];
    uint64_t high = (uint64_t)key->id[3] << 32 | key->id[2];
    uint64_t x = low * UINT64_C(0x9e3779b97f4a7c15) ^ high * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(x ^ x >> 32);
}

static bool equal(const struct key *a, const struct key *b)
{
    return memcmp(a->id, b->id, sizeof a->id) == 0;
}

void key_map_init(struct key_map *map)
{
    *map = (struct key_map){0};
}

void key_map_free(struct key_map *map)
{
    SCRATCH_FREE(map->keys, map->table);
    key_map_init(map);
}

static uint32_t *probe(const struct key_map *map, const struct key *key)
{
    size_t mask = map->table_cap - 1;
    size_t i = hash(key) & mask;
    while (map->table[i] != KEY_MAP_NONE && !equal(&map->keys[map->table[i]], key)) {
        i = (i + 1) & mask;
    }
    return &map->table[i];
}

static bool grow_table(struct key_map *map)
{
    size_t cap = map->table_cap == 0 ? CAPACITY_FIRST : map->table_cap * 2;
    uint32_t *table = scratch_none(cap);
    if (table == NULL) {
        return false;
    }
    scratch_free(map->table);
    map->table = table;
    map->table_cap = cap;
    for (uint32_t i = 0; i < map->count; i++) {
        *probe(map, &map->keys[i]) = i;
    }
    return true;
}

uint32_t key_map_add(struct key_map *map, struct key key)
{
    bool is_full = (size_t)map->count + 1 > map->table_cap / 4 * 3;
    if (is_full && !grow_table(map)) {
        return KEY_MAP_NONE;
    }
    uint32_t *at = probe(map, &key);
    if (*at == KEY_MAP_NONE) {
        struct key *keys = scratch_grow(map->keys, map->count, &map->keys_cap, sizeof *keys);
        if (keys == NULL) {
            return KEY_MAP_NONE;
        }
        map->keys = keys;
        map->keys[map->count] = key;
        *at = map->count++;
    }
    return *at;
}

uint32_t key_map_find(const struct key_map *map, struct key key)
{
    return map->count == 0 ? KEY_MAP_NONE : *probe(map, &key);
}
