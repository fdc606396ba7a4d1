#include "ingest/query/compare/step_query.h"

#include "ingest/analysis/environment/environment.h"

bool query_step_change(struct store *store,
                       struct arena *arena,
                       const int64_t trace_ids[SIDE_COUNT],
                       struct query_step_change *out,
                       struct err *err)
{
    const struct trace_results *sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct trace_results *overview = NULL;
        if (!store_overview(store, arena, trace_ids[side], &overview, err)) {
            return false;
        }
        sides[side] = overview;
        if (!environment_of(&sides[side], 1, arena, &out->environment[side])) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the environment of a trace");
        }
    }
    return step_change_of(sides, &out->step) ||
           err_set(err, ERR_NO_MEMORY, "no memory to compare steps");
}
