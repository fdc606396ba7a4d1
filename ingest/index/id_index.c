#include "ingest/index/id_index.h"

#include "ingest/base/memory/scratch.h"

/* An array may have so many places an event; the map takes 21 to 43 bytes for each id. */
#define SPAN_FACTOR 12

static bool fill_map(struct id_map *map,
                     const struct trace_numbers *ids,
                     const uint32_t *events,
                     uint32_t count)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = id_map_add(map, trace_number(ids, events[i])) != NULL;
    }
    return ok;
}

bool id_index_init(struct id_index *index,
                   const struct trace_numbers *ids,
                   const uint32_t *events,
                   uint32_t count)
{
    int64_t lowest = INT64_MAX;
    int64_t highest = INT64_MIN;
    *index = (struct id_index){.of_no_id = ID_MAP_NONE};
    id_map_init(&index->map);
    for (uint32_t i = 0; i < count; i++) {
        int64_t id = trace_number(ids, events[i]);
        lowest = id != TRACE_NO_ID && id < lowest ? id : lowest;
        highest = id > highest ? id : highest;
    }
    if (lowest > highest) {
        return true;
    }
    uint64_t span = (uint64_t)highest - (uint64_t)lowest;
    if (span / SPAN_FACTOR >= count) {
        return fill_map(&index->map, ids, events, count);
    }
    index->values = scratch_none((size_t)span + 1);
    index->span = index->values == NULL ? 0 : span + 1;
    index->lowest = lowest;
    return index->values != NULL;
}

void id_index_free(struct id_index *index)
{
    scratch_free(index->values);
    id_map_free(&index->map);
    *index = (struct id_index){.values = NULL};
}

uint32_t *id_index_find_far(struct id_index *index, int64_t id)
{
    if (id == TRACE_NO_ID) {
        return &index->of_no_id;
    }
    struct id_slot *slot = id_map_find(&index->map, id);
    return slot == NULL ? NULL : &slot->value;
}
