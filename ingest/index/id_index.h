/* Small numbers by id for ids that are known beforehand: an array where these lie close together,
 * as those that a recorder counts up do, else a hash map. */
#ifndef KS_INDEX_ID_INDEX_H
#define KS_INDEX_ID_INDEX_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct id_index {
    uint32_t *values; /* by id above the lowest one; NULL: the map has them */
    uint64_t span;    /* of values */
    int64_t lowest;
    uint32_t of_no_id; /* the value of TRACE_NO_ID, which is far from all others */
    struct id_map map;
};

/* For the ids of these events and TRACE_NO_ID; all values are ID_MAP_NONE. False without memory;
 * must be freed in either case. */
bool id_index_init(struct id_index *index,
                   const struct trace_numbers *ids,
                   const uint32_t *events,
                   uint32_t count) KS_MUST_USE;
void id_index_free(struct id_index *index);

uint32_t *id_index_find_far(struct id_index *index, int64_t id); /* part of id_index_find */

/* Where the value of an id stands. NULL for ids that can have none. */
static inline uint32_t *id_index_find(struct id_index *index, int64_t id)
{
    uint64_t above = (uint64_t)id - (uint64_t)index->lowest;
    return KS_LIKELY(above < index->span) ? &index->values[above] : id_index_find_far(index, id);
}

#endif
