#include "ingest/analysis/steps/breakdown.h"

#include "ingest/base/saturating.h"

void breakdown_begin(struct step_row *rows, const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        rows[i].cost_ns[TIME_OTHER] = i64_max(saturating_sub(step->end, step->start), 0);
    }
}

bool breakdown_take(struct ranges *free_time, const struct ranges *role_ranges)
{
    struct ranges left;
    if (role_ranges->count == 0) {
        return true;
    }
    if (!ranges_subtract(&left, free_time, role_ranges)) {
        return false;
    }
    ranges_free(free_time);
    *free_time = left;
    return true;
}

void breakdown_add_costs(struct step_row *rows,
                         const struct steps *steps,
                         enum time_category role,
                         const struct ranges *free_time)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        int64_t free_ns = ranges_length_within(free_time, step->start, step->end);
        int64_t *cost_ns = rows[i].cost_ns;
        cost_ns[role] = saturating_sub(cost_ns[TIME_OTHER], free_ns);
        cost_ns[TIME_OTHER] = free_ns;
    }
}

bool breakdown_add_overlap(struct step_row *rows,
                           const struct steps *steps,
                           const struct time_ranges *roles)
{
    const struct ranges *kernels = &roles->by_role[TIME_KERNEL];
    const struct ranges *computation =
        kernels->count != 0 ? kernels : &roles->by_role[TIME_CPU_EXEC];
    const struct ranges *communication = &roles->by_role[TIME_COMMUNICATION];
    struct ranges both;
    if (!ranges_intersect(&both, computation, communication)) {
        return false;
    }
    for (uint32_t i = 0; i < steps->count; i++) {
        int64_t start = steps->items[i].start;
        int64_t end = steps->items[i].end;
        rows[i].computation_ns = ranges_length_within(computation, start, end);
        rows[i].communication_ns = ranges_length_within(communication, start, end);
        rows[i].overlap_ns = ranges_length_within(&both, start, end);
    }
    ranges_free(&both);
    return true;
}

bool breakdown_run(struct step_row *rows,
                   int64_t cost_ns[TIME_CATEGORY_COUNT],
                   struct range span,
                   const struct steps *steps,
                   const struct time_ranges *roles)
{
    struct ranges free_time = {0};
    int64_t free_ns = saturating_sub(span.end, span.start);
    bool ok = ranges_merge(&free_time, span.start, span.end);
    breakdown_begin(rows, steps);
    for (int role = TIME_KERNEL; ok && role < TIME_OTHER; role++) {
        const struct ranges *role_ranges = &roles->by_role[role];
        if (role_ranges->count == 0) {
            continue;
        }
        ok = breakdown_take(&free_time, role_ranges);
        breakdown_add_costs(rows, steps, (enum time_category)role, &free_time);
        int64_t left_ns = ranges_length_within(&free_time, INT64_MIN, INT64_MAX);
        cost_ns[role] = saturating_sub(free_ns, left_ns);
        free_ns = left_ns;
    }
    cost_ns[TIME_OTHER] = free_ns;
    ranges_free(&free_time);
    return ok && breakdown_add_overlap(rows, steps, roles);
}
