/* Which of several stretches of time runs when: steps of a trace, of a serving engine. */
#ifndef KS_INDEX_STEP_MAP_H
#define KS_INDEX_STEP_MAP_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct index_step {
    uint32_t event;
    int64_t start_ns, end_ns;
};

/* From from_ns[i] on step[i] is the one that started last of those that run, or INDEX_NONE. Of
 * steps that start together the last in the list counts. */
struct step_map {
    int64_t *from_ns;
    uint32_t *step;
    uint32_t count;
};

/* `steps` in order of start; not kept. O(n log n). False without memory; to be freed in either
 * case. */
bool step_map_build(struct step_map *map,
                    const struct index_step *steps,
                    uint32_t count) KS_MUST_USE;
void step_map_free(struct step_map *map);

/* The first stretch that begins after `at_ns`; those before `from` have begun. */
uint32_t step_map_begun(const struct step_map *map, uint32_t from, int64_t at_ns);
/* The step at a time, INDEX_NONE. */
uint32_t step_map_find(const struct step_map *map, int64_t at_ns);

#endif
