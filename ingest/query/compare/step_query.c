#include "ingest/query/compare/step_query.h"

#include "ingest/analysis/environment/environment.h"
#include "ingest/analysis/overview/health.h"

void query_odd_steps(const struct trace_results *results, struct query_odd_steps *out)
{
    size_t count = results_step_count(results);
    *out = (struct query_odd_steps){.median_ns = health_median_step_ns(results)};
    for (size_t i = 0; i < 2 && i < count; i++) {
        const struct step_row *row = &results->steps[i == 0 ? 0 : count - 1];
        if (health_is_odd_step(row, out->median_ns)) {
            out->items[out->count++] = (struct query_odd_step){i == 0 ? "first" : "last", row};
        }
    }
}

static bool step_change_in_environment(const struct trace_results *const sides[SIDE_COUNT],
                                       struct arena *arena,
                                       struct query_step_change *out,
                                       struct err *err)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!environment_of(&sides[side], 1, arena, &out->environment[side])) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the environment of a trace");
        }
    }
    return step_change_of(sides, &out->step) ||
           err_set(err, ERR_NO_MEMORY, "no memory to compare steps");
}

bool query_step_change(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const int64_t trace_ids[SIDE_COUNT],
                       struct query_step_change *out,
                       struct err *err)
{
    const struct trace_results *sides[SIDE_COUNT];
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct trace_results *overview = NULL;
        if (!store_overview(snapshot, arena, trace_ids[side], &overview, err)) {
            return false;
        }
        sides[side] = overview;
    }
    return step_change_in_environment(sides, arena, out, err);
}

bool query_change(struct store_snapshot *snapshot,
                  struct arena *arena,
                  const int64_t trace_ids[SIDE_COUNT],
                  struct query_change *out,
                  struct err *err)
{
    return query_step_change(snapshot, arena, trace_ids, &out->change, err) &&
           query_name_diff(snapshot, NAME_DIFF_OPERATORS, arena, trace_ids, &out->operators, err) &&
           query_name_diff(snapshot, NAME_DIFF_KERNELS, arena, trace_ids, &out->kernels, err);
}

bool query_change_of_results(const struct trace_results *const sides[SIDE_COUNT],
                             struct arena *arena,
                             struct query_change *out,
                             struct err *err)
{
    return step_change_in_environment(sides, arena, &out->change, err) &&
           name_diff_of(sides, NAME_DIFF_OPERATORS, arena, &out->operators, err) &&
           name_diff_of(sides, NAME_DIFF_KERNELS, arena, &out->kernels, err);
}

void query_cause_change(const struct step_change *step,
                        const struct cause_side sides[SIDE_COUNT],
                        struct cause_change *out)
{
    int64_t steps[SIDE_COUNT] = {1, 1};
    for (int side = 0; step->per_step && side < SIDE_COUNT; side++) {
        steps[side] = step->steps[side];
    }
    cause_change_of(sides, steps, out);
}
