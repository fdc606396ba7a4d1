#include "ingest/base/containers/id_map.h"

#include "ingest/base/memory/scratch.h"

#define CAPACITY_FIRST ((size_t)64)

/* Slots that are tried together: a line of the processor's cache. */
#define NEIGHBOURS ((size_t)4)

/* From group to group of slots: the key's own way, so that keys which meet part again. An odd
 * number of groups, and so a way through all of them. */
static size_t stride(int64_t key)
{
    uint64_t x = (uint64_t)key;
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return ((size_t)x | 1) * NEIGHBOURS;
}

void id_map_init(struct id_map *map)
{
    *map = (struct id_map){0};
}

void id_map_free(struct id_map *map)
{
    scratch_free(map->slots);
    id_map_init(map);
}

static bool ends_search(const struct id_slot *slot, int64_t key)
{
    return slot->index == ID_MAP_NONE || slot->key == key;
}

/* One of the key's neighbours, from its own place on; NULL: others have them all. */
static struct id_slot *probe_group(struct id_slot *group, int64_t key)
{
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        struct id_slot *slot = &group[((size_t)key + i) % NEIGHBOURS];
        if (ends_search(slot, key)) {
            return slot;
        }
    }
    return NULL;
}

/* The slot of the key, or the free one where it belongs. Ids are mostly consecutive numbers that
 * are asked for in their order: they lie side by side, and memory is read in order too. */
static struct id_slot *probe(const struct id_map *map, int64_t key)
{
    size_t mask = map->capacity - NEIGHBOURS;
    size_t group = (size_t)key & mask;
    struct id_slot *slot = probe_group(&map->slots[group], key);
    if (KS_LIKELY(slot != NULL)) {
        return slot;
    }
    for (size_t step = stride(key); slot == NULL; slot = probe_group(&map->slots[group], key)) {
        group = (group + step) & mask;
    }
    return slot;
}

static bool resize(struct id_map *map, size_t capacity)
{
    struct id_slot *slots = scratch_alloc(capacity, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < capacity; i++) {
        slots[i].index = ID_MAP_NONE;
    }
    struct id_map bigger = {slots, capacity, map->count};
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].index != ID_MAP_NONE) {
            *probe(&bigger, map->slots[i].key) = map->slots[i];
        }
    }
    scratch_free(map->slots);
    *map = bigger;
    return true;
}

static bool has_room(size_t capacity, size_t count)
{
    return count <= capacity / 4 * 3;
}

static bool reserve(struct id_map *map, size_t count)
{
    size_t capacity = map->capacity == 0 ? CAPACITY_FIRST : map->capacity;
    while (!has_room(capacity, count)) {
        capacity *= 2;
    }
    return capacity == map->capacity || resize(map, capacity);
}

struct id_slot *id_map_add(struct id_map *map, int64_t key)
{
    if (!has_room(map->capacity, (size_t)map->count + 1) && !reserve(map, (size_t)map->count + 1)) {
        return NULL;
    }
    struct id_slot *slot = probe(map, key);
    if (slot->index == ID_MAP_NONE) {
        *slot = (struct id_slot){key, map->count++, ID_MAP_NONE};
    }
    return slot;
}

struct id_slot *id_map_find(const struct id_map *map, int64_t key)
{
    if (map->capacity == 0) {
        return NULL;
    }
    struct id_slot *slot = probe(map, key);
    return slot->index == ID_MAP_NONE ? NULL : slot;
}
