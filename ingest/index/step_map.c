#include "ingest/index/step_map.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/index/index.h"
#include "ingest/index/sort.h"

/* The steps that have started lie in `open`, those on top have not ended. */
static void
sweep(struct step_map *map, const struct index_step *steps, uint32_t count, uint32_t *open)
{
    uint32_t open_count = 0;
    uint32_t next = 0;
    for (uint32_t i = 0; i < map->count; i++) {
        while (next < count && steps[next].start_ns <= map->from_ns[i]) {
            open[open_count++] = next++;
        }
        while (open_count > 0 && steps[open[open_count - 1]].end_ns <= map->from_ns[i]) {
            open_count--;
        }
        map->step[i] = open_count == 0 ? INDEX_NONE : open[open_count - 1];
    }
}

bool step_map_build(struct step_map *map, const struct index_step *steps, uint32_t count)
{
    *map = (struct step_map){.count = 2 * count};
    map->from_ns = scratch_alloc(map->count, sizeof *map->from_ns);
    map->step = scratch_calloc(map->count, sizeof *map->step);
    uint32_t *open = scratch_alloc(count, sizeof *open);
    bool ok = map->from_ns != NULL && map->step != NULL && open != NULL;
    if (ok) {
        for (uint32_t i = 0; i < count; i++) {
            map->from_ns[(size_t)2 * i] = steps[i].start_ns;
            map->from_ns[(size_t)2 * i + 1] = steps[i].end_ns;
        }
        ok = sort_pairs(map->from_ns, map->step, map->count);
    }
    if (ok) {
        sweep(map, steps, count, open);
    }
    scratch_free(open);
    return ok;
}

void step_map_free(struct step_map *map)
{
    SCRATCH_FREE(map->from_ns, map->step);
    *map = (struct step_map){.count = 0};
}

uint32_t step_map_begun(const struct step_map *map, uint32_t from, int64_t at_ns)
{
    size_t low = from;
    ORDER_SEARCH(low, map->count, at, map->from_ns[at] <= at_ns);
    return (uint32_t)low;
}

uint32_t step_map_find(const struct step_map *map, int64_t at_ns)
{
    uint32_t begun = step_map_begun(map, 0, at_ns);
    return begun == 0 ? INDEX_NONE : map->step[begun - 1];
}
