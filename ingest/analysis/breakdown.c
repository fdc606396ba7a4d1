#include "ingest/analysis/breakdown.h"

#include "ingest/analysis/times.h"

static bool merge_steps(struct ranges *merged, const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        if (!ranges_merge(merged, steps->items[i].start, steps->items[i].end)) {
            return false;
        }
    }
    return true;
}

static void add_costs(struct step_row *rows,
                      const struct steps *steps,
                      enum role role,
                      const struct ranges *cost)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        rows[i].cost_ns[role] = ranges_length_within(cost, step->start, step->end);
    }
}

/* What `free_time` loses to the role is its cost. */
static bool take_role(struct step_row *rows,
                      const struct steps *steps,
                      struct ranges *free_time,
                      enum role role,
                      const struct ranges *role_ranges)
{
    struct ranges left;
    if (!ranges_subtract(&left, free_time, role_ranges)) {
        return false;
    }
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        rows[i].cost_ns[role] = ns_sub(ranges_length_within(free_time, step->start, step->end),
                                       ranges_length_within(&left, step->start, step->end));
    }
    ranges_free(free_time);
    *free_time = left;
    return true;
}

static bool add_role(struct step_row *rows,
                     const struct steps *steps,
                     const struct ranges *merged,
                     struct ranges *free_time,
                     enum role role,
                     const struct ranges *role_ranges)
{
    if (free_time->count > 0) {
        return role_ranges->count == 0 || take_role(rows, steps, free_time, role, role_ranges);
    }
    add_costs(rows, steps, role, role_ranges);
    ranges_free(free_time);
    return ranges_subtract(free_time, merged, role_ranges);
}

static bool add_overlap(struct step_row *rows, const struct steps *steps, const struct roles *roles)
{
    const struct ranges *kernels = &roles->by_role[ROLE_KERNEL];
    const struct ranges *computation =
        kernels->count != 0 ? kernels : &roles->by_role[ROLE_CPU_EXEC];
    const struct ranges *communication = &roles->by_role[ROLE_COMMUNICATION];
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

bool breakdown_steps(struct step_row *rows, const struct steps *steps, const struct roles *roles)
{
    struct ranges merged = {0};
    struct ranges free_time = {0};
    bool ok = merge_steps(&merged, steps);
    for (int role = ROLE_KERNEL; ok && role < ROLE_OTHER; role++) {
        ok = add_role(rows, steps, &merged, &free_time, (enum role)role, &roles->by_role[role]);
    }
    if (ok) {
        add_costs(rows, steps, ROLE_OTHER, &free_time);
        ok = add_overlap(rows, steps, roles);
    }
    ranges_free(&merged);
    ranges_free(&free_time);
    return ok;
}

static int64_t length_of(const struct ranges *list)
{
    return ranges_length_within(list, INT64_MIN, INT64_MAX);
}

bool breakdown_span(int64_t cost_ns[ROLE_COUNT],
                    int64_t start,
                    int64_t end,
                    const struct roles *roles)
{
    struct ranges free_time = {0};
    bool ok = ranges_merge(&free_time, start, end);
    int64_t free_ns = length_of(&free_time);
    for (int role = ROLE_KERNEL; ok && role < ROLE_OTHER; role++) {
        if (roles->by_role[role].count == 0) {
            cost_ns[role] = 0;
            continue;
        }
        struct ranges left = {0};
        ok = ranges_subtract(&left, &free_time, &roles->by_role[role]);
        ranges_free(&free_time);
        free_time = left;
        int64_t left_ns = length_of(&free_time);
        cost_ns[role] = ns_sub(free_ns, left_ns);
        free_ns = left_ns;
    }
    cost_ns[ROLE_OTHER] = free_ns;
    ranges_free(&free_time);
    return ok;
}
