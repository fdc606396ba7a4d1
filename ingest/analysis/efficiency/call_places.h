/* In which step and which module each counted call started [CAU-4.4]. */
#ifndef KS_ANALYSIS_EFFICIENCY_CALL_PLACES_H
#define KS_ANALYSIS_EFFICIENCY_CALL_PLACES_H

#include "ingest/analysis/efficiency/counted_calls.h"
#include "ingest/index/index.h"

struct call_places {
    uint32_t *module; /* by call: string id; STRTAB_NONE: none */
    uint32_t *step;   /* by call: of `steps`; INDEX_NONE: none */
    struct index_step *steps;
    uint32_t step_count;
};

/* False without memory; must be freed in either case. O(n log n). */
bool call_places_find(struct call_places *places,
                      const struct causes *causes,
                      const struct counted_calls *calls) KS_MUST_USE;
void call_places_free(struct call_places *places);

#endif
